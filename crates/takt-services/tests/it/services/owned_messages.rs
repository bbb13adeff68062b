//! Requests whose memory the server may keep.

use std::sync::Arc;

use crate::common::{Client, builder, message};
use crate::services::browse::describe;
use takt_services::{Server, ServerBudgets};
use takt_ua::binary::Encoder;
use takt_ua::enumerations::BrowseDirection;
use takt_ua::ids;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{BrowseDescription, BrowseRequest};

fn browse(client: &mut Client, node: u32) -> Vec<u8> {
    message(&BrowseRequest {
        request_header: client.header(),
        nodes_to_browse: vec![BrowseDescription {
            browse_direction: BrowseDirection::Inverse,
            ..describe(node)
        }],
        ..BrowseRequest::default()
    })
}

fn handle(
    server: &Arc<Server>,
    client: &mut Client,
    request: &mut Vec<u8>,
) -> (RequestOutcome, Vec<u8>) {
    let mut response = Vec::new();
    let mut encoder = Encoder::growing(&mut response, 16 << 20);
    let outcome = server.handle_owned(&mut client.connection, 7, request, &mut encoder);
    (outcome, response)
}

/// Returns a response without its time.
fn timeless(mut response: Vec<u8>) -> Vec<u8> {
    response.drain(4..12);
    response
}

#[test]
fn a_request_of_several_slices_keeps_its_message_without_a_copy() {
    let budgets = ServerBudgets {
        work_per_slice: 200,
        ..ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut client = Client::new(&server);
    let mut request = browse(&mut client, ids::PROPERTY_TYPE);
    let copy = request.clone();
    let (outcome, response) = handle(&server, &mut client, &mut request);
    assert_eq!((outcome, response.len()), (RequestOutcome::Deferred, 0));
    assert_eq!(request.capacity(), 0, "the memory is the server's");
    let (id, response) = client.completed();
    assert_eq!(id, 7);
    assert!(timeless(response) == timeless(client.raw(&copy)));
}

#[test]
fn a_request_of_one_slice_leaves_its_message() {
    let server = builder().build().unwrap();
    let mut client = Client::new(&server);
    let mut request = browse(&mut client, ids::OBJECTS_FOLDER);
    let copy = request.clone();
    let (outcome, response) = handle(&server, &mut client, &mut request);
    assert_eq!(outcome, RequestOutcome::Complete);
    assert!(request == copy);
    assert!(timeless(response) == timeless(client.raw(&copy)));
}

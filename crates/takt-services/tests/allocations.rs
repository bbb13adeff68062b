//! Read, Write and Call of cells and stored values allocate nothing, published or not, counted at malloc level; nor does the
//! publishing of what a callback gives.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is a test"
)]

#[path = "services/common.rs"]
mod common;

use std::sync::Arc;

use common::{Client, VALUE, message, read_id, server, write_of};
use takt_cell::Cell;
use takt_services::{Outcome, Value};
use takt_ua::binary::Encoder;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{ReadRequest, WriteRequest};
use takt_ua::{DataValue, NodeId, Variant};

const REQUESTS: usize = 10_000;

/// One Variable for each kind of value.
fn variables(client: &Client) -> Vec<NodeId> {
    let space = client.server.address_space();
    let cell = |value: Variant| Value::Cell(Arc::new(Cell::of(&value)));
    let numbers: Vec<u32> = (0..1024).collect();
    [
        ("cell", cell(Variant::from(1_u32))),
        ("stored", Value::stored(2.5_f64)),
        ("text", Value::stored("some text")),
        ("array in a cell", cell(Variant::from(numbers.clone()))),
        ("array", Value::stored(numbers.clone())),
        (
            "published array",
            Value::stored(numbers).publish_current(8192).unwrap(),
        ),
        (
            "cached callback",
            Value::callback(|| DataValue::good(7_u32))
                .publish_current(16)
                .unwrap(),
        ),
    ]
    .into_iter()
    .map(|(name, value)| {
        space
            .add_variable(name)
            .value(value)
            .writable()
            .add()
            .unwrap()
    })
    .chain([NodeId::from(takt_ua::ids::SERVER_SERVICE_LEVEL)])
    .collect()
}

/// Handles a request many times and counts what it allocates.
fn allocations(client: &mut Client, request: &[u8]) -> u64 {
    let mut buffer = vec![0; 64 << 10];
    let mut handle = |client: &mut Client| {
        let mut response = Encoder::fixed(&mut buffer);
        let server = Arc::clone(&client.server);
        let outcome = server.handle(&mut client.connection, 1, request, &mut response);
        assert_eq!(outcome, Outcome::Complete);
        // A fault would be shorter than any answer to these requests.
        assert!(response.position() > 28, "{} bytes", response.position());
    };
    // What is set up once per thread.
    for _ in 0..100 {
        handle(client);
    }
    let ((), allocations) = takt_malloc::count(|| (0..REQUESTS).for_each(|_| handle(client)));
    allocations
}

#[test]
fn the_hot_path_allocates_nothing() {
    let mut client = Client::new(&server());
    let nodes = variables(&client);
    for node in &nodes {
        let read = ReadRequest {
            request_header: client.header(),
            timestamps_to_return: TimestampsToReturn::Both,
            nodes_to_read: vec![read_id(node.clone(), VALUE)],
            ..ReadRequest::default()
        };
        assert_eq!(
            allocations(&mut client, &message(&read)),
            0,
            "Read of {node}"
        );
    }
    let read = ReadRequest {
        request_header: client.header(),
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: nodes
            .iter()
            .map(|node| read_id(node.clone(), VALUE))
            .collect(),
        ..ReadRequest::default()
    };
    assert_eq!(allocations(&mut client, &message(&read)), 0, "Read of all");

    for node in &nodes[..6] {
        let value = client.read_value(node.clone()).value.unwrap();
        let write = WriteRequest {
            request_header: client.header(),
            nodes_to_write: vec![write_of(node.clone(), DataValue::good(value))],
        };
        let request = message(&write);
        assert_eq!(
            client.write(write.nodes_to_write.clone()).unwrap(),
            [takt_ua::StatusCode::Good]
        );
        assert_eq!(allocations(&mut client, &request), 0, "Write of {node}");
    }
}

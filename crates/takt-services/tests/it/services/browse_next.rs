//! Continuation points and BrowseNext (OPC 10000-4, 5.9.3 and 7.9).

use std::sync::Arc;

use crate::common::{Client, builder, decode, message, server};
use crate::services::browse::{browse, browse_up_to, describe, names};
use takt_services::ServerBudgets;
use takt_space::NodeDefinition;
use takt_ua::binary::Encoder;
use takt_ua::structures::*;
use takt_ua::{ByteString, NodeId, QualifiedName, StatusCode, ids};

fn next(client: &mut Client, point: &ByteString, release: bool) -> BrowseResult {
    let request_header = client.header();
    let request = BrowseNextRequest {
        request_header,
        release_continuation_points: release,
        continuation_points: vec![point.clone()],
    };
    client
        .call::<_, BrowseNextResponse>(request)
        .unwrap()
        .results
        .remove(0)
}

/// A folder with this many Variables.
fn folder(client: &Client, count: u32) -> NodeId {
    let space = client.server.address_space();
    let folder = space
        .add_object((1, "Folder"))
        .type_definition(ids::FOLDER_TYPE)
        .add()
        .unwrap();
    for number in 0..count {
        let name = format!("V{number}");
        space
            .add_variable((1, name.as_str()))
            .node_id(NodeId::string(1, &name))
            .below(folder.clone(), ids::ORGANIZES)
            .add()
            .unwrap();
    }
    folder
}

fn children(folder: &NodeId) -> BrowseDescription {
    BrowseDescription {
        reference_type_id: ids::HIERARCHICAL_REFERENCES.into(),
        include_subtypes: true,
        ..describe(folder.clone())
    }
}

#[test]
fn continuation_points_give_everything_once() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 25);
    for limit in [1, 2, 7, 24, 25, 26] {
        let mut result = browse_up_to(&mut client, limit, vec![children(&folder)])
            .unwrap()
            .remove(0);
        let mut all: Vec<String> = Vec::new();
        loop {
            assert_eq!(result.status_code, StatusCode::Good);
            assert!(result.references.len() <= limit as usize);
            all.extend(names(&result).into_iter().map(str::to_owned));
            if result.continuation_point.is_null() {
                break;
            }
            let point = result.continuation_point.clone();
            result = next(&mut client, &point, false);
            let again = next(&mut client, &point, false);
            assert_eq!(
                again.status_code,
                StatusCode::BadContinuationPointInvalid,
                "it serves once"
            );
        }
        let expected: Vec<String> = (0..25).map(|number| format!("V{number}")).collect();
        assert_eq!(all, expected, "with {limit} at a time");
    }
}

#[test]
fn continuation_points_survive_changes() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 10);
    let space = Arc::clone(client.server.address_space());
    let first = browse_up_to(&mut client, 5, vec![children(&folder)])
        .unwrap()
        .remove(0);
    assert_eq!(names(&first), ["V0", "V1", "V2", "V3", "V4"]);
    for gone in ["V0", "V2", "V7"] {
        space
            .edit()
            .delete_node(&NodeId::string(1, gone), true)
            .unwrap();
    }
    space
        .add_variable((1, "New"))
        .below(folder.clone(), ids::ORGANIZES)
        .add()
        .unwrap();
    let rest = next(&mut client, &first.continuation_point, false);
    assert_eq!(names(&rest), ["V5", "V6", "V8", "V9", "New"]);

    let first = browse_up_to(&mut client, 2, vec![children(&folder)])
        .unwrap()
        .remove(0);
    space
        .edit()
        .delete_node(&NodeId::string(1, "V3"), true)
        .unwrap();
    let lost = next(&mut client, &first.continuation_point, false);
    assert_eq!(
        lost.status_code,
        StatusCode::BadContinuationPointInvalid,
        "nobody knows where it was"
    );
    let first = browse_up_to(&mut client, 2, vec![children(&folder)])
        .unwrap()
        .remove(0);
    space.edit().delete_node(&folder, true).unwrap();
    let gone = next(&mut client, &first.continuation_point, false);
    assert_eq!(gone.status_code, StatusCode::BadNodeIdUnknown);
}

#[test]
fn continuation_points_are_limited() {
    let budgets = ServerBudgets {
        max_browse_continuation_points: 2,
        ..ServerBudgets::default()
    };
    let mut client = Client::new(&builder().budgets(budgets).build().unwrap());
    let folder = folder(&client, 5);
    let mut results = browse_up_to(&mut client, 2, vec![children(&folder); 3]).unwrap();
    assert_eq!(results[2].status_code, StatusCode::BadNoContinuationPoints);
    assert!(results[2].references.is_empty());
    let released = next(&mut client, &results[0].continuation_point, true);
    assert_eq!(
        (released.status_code, released.references.len()),
        (StatusCode::Good, 0)
    );
    results = browse_up_to(&mut client, 2, vec![children(&folder)]).unwrap();
    assert_eq!(results[0].status_code, StatusCode::Good);
    // Another Session cannot use the continuation points.
    let mut other = Client::new(&Arc::clone(&client.server));
    let stolen = next(&mut other, &results[0].continuation_point, false);
    assert_eq!(stolen.status_code, StatusCode::BadContinuationPointInvalid);
    for nonsense in [
        ByteString::null(),
        ByteString::from(&[1, 2, 3]),
        ByteString::from(&[0xFF; 8]),
    ] {
        let result = next(&mut client, &nonsense, false);
        assert_eq!(result.status_code, StatusCode::BadContinuationPointInvalid);
    }
}

#[test]
fn references_beyond_the_response_size_come_with_browse_next() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 100);
    let server = Arc::clone(&client.server);
    let handle = |client: &mut Client, request: &[u8], size: usize| {
        let mut buffer = vec![0; size];
        let mut response = Encoder::fixed(&mut buffer);
        server.handle(&mut client.connection, 1, request, &mut response);
        response.written().to_vec()
    };
    for size in [128, 200, 256, 1000, 4096] {
        for operations in [1, 3] {
            let request = BrowseRequest {
                request_header: client.header(),
                nodes_to_browse: vec![children(&folder); operations],
                ..BrowseRequest::default()
            };
            let response = handle(&mut client, &message(&request), size);
            let results = match decode::<BrowseResponse>(&response) {
                Ok(response) => response.results,
                Err(status) => {
                    assert_eq!(status, StatusCode::BadResponseTooLarge);
                    assert!(size < 200, "{size} bytes are enough for something");
                    continue;
                }
            };
            for mut result in results {
                let mut count = result.references.len();
                while !result.continuation_point.is_null() {
                    let request = BrowseNextRequest {
                        request_header: client.header(),
                        continuation_points: vec![result.continuation_point.clone()],
                        ..BrowseNextRequest::default()
                    };
                    let response = handle(&mut client, &message(&request), size);
                    result = decode::<BrowseNextResponse>(&response)
                        .unwrap()
                        .results
                        .remove(0);
                    assert_eq!(result.status_code, StatusCode::Good);
                    assert!(!result.references.is_empty());
                    count += result.references.len();
                }
                assert_eq!(count, 100, "{size} bytes, {operations} operations");
            }
        }
    }
}

#[test]
fn references_to_nowhere_are_left_out() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 2);
    let space = Arc::clone(client.server.address_space());
    space
        .edit()
        .delete_node(&NodeId::string(1, "V0"), false)
        .unwrap();
    assert_eq!(names(&browse(&mut client, children(&folder))), ["V1"]);
    // When the node is added again, the reference is visible again, and only once.
    let attributes = takt_space::ClassAttributes::Object { event_notifier: 0 };
    let node = NodeDefinition::new(
        NodeId::string(1, "V0"),
        QualifiedName::new(1, "V0"),
        attributes,
    );
    let parent = takt_space::NewReference::inverse(ids::ORGANIZES, folder.clone());
    space.edit().add_node(node, &[parent]).unwrap();
    assert_eq!(names(&browse(&mut client, children(&folder))), ["V0", "V1"]);
}

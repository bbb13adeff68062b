//! Requests that take more than one slice: same results, other connections served in between, and every kind of end.

use std::sync::Arc;

use crate::common::{Client, FIRST_ID, builder, decode, message};
use crate::services::browse::describe;
use takt_services::{Server, ServerBudgets};
use takt_ua::binary::Encoder;
use takt_ua::enumerations::{BrowseDirection, MonitoringMode};
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::*;
use takt_ua::{NodeId, QualifiedName, StatusCode, ids};

/// Units of work per slice: few enough for many slices, and enough that no operation of these tests exceeds its reserve.
const SMALL: u32 = 200;

fn budgets(work_per_slice: u32) -> ServerBudgets {
    ServerBudgets {
        work_per_slice,
        ..ServerBudgets::default()
    }
}

fn server(work_per_slice: u32) -> Arc<Server> {
    builder().budgets(budgets(work_per_slice)).build().unwrap()
}

/// Returns a Browse of all references to a type with thousands of instances, repeated `nodes` times.
fn long_browse(client: &mut Client, nodes: usize) -> Vec<u8> {
    let description = BrowseDescription {
        browse_direction: BrowseDirection::Inverse,
        ..describe(ids::PROPERTY_TYPE)
    };
    message(&BrowseRequest {
        request_header: client.header(),
        nodes_to_browse: vec![description; nodes],
        ..BrowseRequest::default()
    })
}

fn element(reference_type: u32, is_inverse: bool, name: &str) -> RelativePathElement {
    RelativePathElement {
        reference_type_id: reference_type.into(),
        is_inverse,
        include_subtypes: true,
        target_name: QualifiedName::new(0, name),
    }
}

/// Returns a description for all references of a node, in both directions.
fn both(node: u32) -> BrowseDescription {
    BrowseDescription {
        browse_direction: BrowseDirection::Both,
        ..describe(node)
    }
}

/// Returns a path from a type to its instances and back, repeated `turns` times.
fn long_path(client: &mut Client, turns: usize) -> Vec<u8> {
    let turn = [
        element(ids::HAS_TYPE_DEFINITION, true, "EURange"),
        element(ids::HAS_TYPE_DEFINITION, false, "PropertyType"),
    ];
    message(&TranslateBrowsePathsToNodeIdsRequest {
        request_header: client.header(),
        browse_paths: vec![BrowsePath {
            starting_node: ids::PROPERTY_TYPE.into(),
            relative_path: RelativePath {
                elements: turn.iter().cycle().take(2 * turns).cloned().collect(),
            },
        }],
    })
}

/// Returns a response without its time.
fn timeless(mut response: Vec<u8>) -> Vec<u8> {
    // The time is at the beginning of the ResponseHeader, behind the four bytes of the TypeId.
    response.drain(4..12);
    response
}

/// Sends a request that must take more than one slice.
fn defer(client: &mut Client, request: &[u8], request_id: u32) {
    client.defer(request, request_id).unwrap();
}

fn fault_of(response: &[u8]) -> StatusCode {
    decode::<BrowseResponse>(response).unwrap_err()
}

#[test]
fn small_slices_give_the_result_of_one_big_slice() {
    let (small, big) = (server(SMALL), server(u32::MAX));
    let mut clients = [Client::new(&small), Client::new(&big)];
    let mut same = |request: &dyn Fn(&mut Client) -> Vec<u8>| {
        let [small, big] = clients.each_mut().map(|client| {
            let request = request(client);
            timeless(client.raw(&request))
        });
        assert!(small == big, "the responses differ");
        big
    };
    same(&|client| long_browse(client, 3));
    same(&|client| long_path(client, 2));
    for max_references in [1, 7, 100, 1_000] {
        let browse = same(&|client| {
            message(&BrowseRequest {
                request_header: client.header(),
                requested_max_references_per_node: max_references,
                nodes_to_browse: [ids::PROPERTY_TYPE, ids::OBJECTS_FOLDER, ids::FOLDER_TYPE]
                    .map(both)
                    .to_vec(),
                ..BrowseRequest::default()
            })
        });
        let mut restored = browse;
        // Any time, because the response cannot be decoded without one.
        restored.splice(4..4, [0; 8]);
        let browsed: BrowseResponse = decode(&restored).unwrap();
        let points: Vec<_> = browsed
            .results
            .into_iter()
            .map(|result| result.continuation_point)
            .collect();
        for release in [false, true] {
            same(&|client| {
                message(&BrowseNextRequest {
                    request_header: client.header(),
                    release_continuation_points: release,
                    continuation_points: points.clone(),
                })
            });
        }
    }
    assert!(small.longest_slice() <= u64::from(SMALL));
    assert!(big.longest_slice() > 10_000, "{}", big.longest_slice());
}

#[test]
fn a_long_request_waits_for_its_next_slice_and_holds_memory_meanwhile() {
    let server = server(SMALL);
    let mut client = Client::new(&server);
    let before = server.memory().used();
    let request = long_browse(&mut client, 2);
    defer(&mut client, &request, 5);
    assert!(server.memory().used() >= before + request.len());
    let mut slices = 0;
    while server.work() {
        slices += 1;
        assert!(client.connection.take_completed().is_none());
    }
    assert!(slices > 20, "{slices}");
    // The response is charged until the transport takes it.
    assert!(server.memory().used() > before + 10_000);
    let (id, response) = client.connection.take_completed().unwrap();
    let browsed: BrowseResponse = decode(&response).unwrap();
    assert_eq!((id, browsed.results.len()), (5, 2));
    assert_eq!(server.memory().used(), before);
    assert!(!server.work());
}

#[test]
fn one_long_request_does_not_wait_for_twenty_four_of_another_connection() {
    let server = server(SMALL);
    let (mut hostile, mut friendly) = (Client::new(&server), Client::new(&server));
    let before = server.memory().used();
    for id in 0..24 {
        let request = long_browse(&mut hostile, 2);
        defer(&mut hostile, &request, id);
    }
    // A request that takes less than its share of a slice is answered at once.
    let small = message(&BrowseRequest {
        request_header: friendly.header(),
        nodes_to_browse: vec![describe(ids::SERVER_SERVER_STATUS_BUILD_INFO)],
        ..BrowseRequest::default()
    });
    let mut response = Vec::new();
    let outcome = server.handle(
        &mut friendly.connection,
        1,
        &small,
        &mut Encoder::growing(&mut response, 1 << 20),
    );
    assert_eq!(outcome, RequestOutcome::Complete);
    let request = long_browse(&mut friendly, 2);
    defer(&mut friendly, &request, 1);
    let slices_until = |client: &mut Client| {
        let mut slices = 0;
        while client.connection.take_completed().is_none() {
            assert!(server.work());
            slices += 1;
        }
        slices
    };
    let friendly = slices_until(&mut friendly);
    let first_of_hostile = slices_until(&mut hostile);
    assert!(
        first_of_hostile <= 4,
        "the two take turns: {friendly}, {first_of_hostile}"
    );
    while server.work() {}
    let answers = std::iter::from_fn(|| hostile.connection.take_completed());
    let ids: Vec<u32> = answers.map(|(id, _)| id).collect();
    assert_eq!(ids, (1..24).collect::<Vec<_>>(), "in order");
    assert_eq!(server.memory().used(), before);
}

#[test]
fn cancel_ends_a_long_request_and_releases_its_continuation_points() {
    let budgets = ServerBudgets {
        max_browse_continuation_points: 1,
        ..budgets(SMALL)
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut client = Client::new(&server);
    let before = server.memory().used();
    let request = |client: &mut Client| {
        message(&BrowseRequest {
            request_header: client.header(),
            requested_max_references_per_node: 10,
            nodes_to_browse: [
                vec![both(ids::PROPERTY_TYPE)],
                vec![describe(ids::FOLDER_TYPE); 200],
            ]
            .concat(),
            ..BrowseRequest::default()
        })
    };
    let browse = request(&mut client);
    let request_handle = client.handle;
    defer(&mut client, &browse, 9);
    for _ in 0..3 {
        assert!(server.work());
    }
    let request_header = client.header();
    let cancelled: CancelResponse = client
        .call(CancelRequest {
            request_header,
            request_handle,
        })
        .unwrap();
    assert_eq!(cancelled.cancel_count, 1);
    let (id, response) = client.connection.take_completed().unwrap();
    assert_eq!(id, 9);
    assert_eq!(fault_of(&response), StatusCode::BadRequestCancelledByClient);
    while server.work() {}
    assert!(client.connection.take_completed().is_none());
    assert_eq!(server.memory().used(), before);

    let browse = request(&mut client);
    let browsed: BrowseResponse = decode(&client.raw(&browse)).unwrap();
    assert_eq!(browsed.results[0].status_code, StatusCode::Good);
    assert!(!browsed.results[0].continuation_point.is_null());
}

#[test]
fn a_closed_session_and_a_closed_channel_end_long_requests() {
    let server = server(SMALL);
    let before = server.memory().used();
    let mut client = Client::new(&server);
    let request = long_browse(&mut client, 2);
    defer(&mut client, &request, 1);
    let request_header = client.header();
    let _: CloseSessionResponse = client
        .call(CloseSessionRequest {
            request_header,
            delete_subscriptions: true,
        })
        .unwrap();
    while server.work() {}
    let (_, response) = client.connection.take_completed().unwrap();
    assert_eq!(fault_of(&response), StatusCode::BadSessionClosed);
    assert_eq!(server.memory().used(), before);

    let mut client = Client::new(&server);
    for id in 0..3 {
        let request = long_browse(&mut client, 2);
        defer(&mut client, &request, id);
    }
    assert!(server.work());
    server.disconnect(client.connection);
    assert!(!server.work());
    // The Session still exists, and its messages do not.
    assert!(server.memory().used() < before + 2_000);
}

#[test]
fn a_connection_has_a_limited_number_of_long_requests() {
    let server = server(SMALL);
    let mut client = Client::new(&server);
    for id in 0..65 {
        let request = long_browse(&mut client, 2);
        defer(&mut client, &request, id);
    }
    let (id, response) = client.connection.take_completed().unwrap();
    assert_eq!(
        (id, fault_of(&response)),
        (64, StatusCode::BadTooManyOperations)
    );
}

#[test]
fn a_long_request_needs_memory() {
    let budgets = ServerBudgets {
        max_memory: 100_000,
        ..budgets(SMALL)
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut client = Client::new(&server);
    // The copy of the request fits into the memory, the response does not.
    let request = long_browse(&mut client, 10);
    let response = client.raw(&request);
    assert_eq!(fault_of(&response), StatusCode::BadOutOfMemory);
    let before = server.memory().used();
    let all = server.memory().charge(server.memory().available()).unwrap();
    // Messages have a reserve, which has to be taken as well.
    let reserve = server.memory().limit() - server.memory().used();
    let reserve = server.memory().charge_message(reserve).unwrap();
    let request = long_browse(&mut client, 2);
    assert_eq!(
        client.defer(&request, 1),
        Err(StatusCode::BadOutOfMemory),
        "not even its copy fits"
    );
    drop((all, reserve));
    assert_eq!(server.memory().used(), before);
}

#[test]
fn the_work_of_a_browse_is_limited_and_the_rest_comes_with_browse_next() {
    let everything = {
        let mut client = Client::new(&server(u32::MAX));
        let request = long_browse(&mut client, 1);
        let browsed: BrowseResponse = decode(&client.raw(&request)).unwrap();
        browsed.results[0].references.clone()
    };
    let budgets = ServerBudgets {
        max_work_per_request: 1_000,
        ..budgets(SMALL)
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut client = Client::new(&server);
    let request = long_browse(&mut client, 1);
    let browsed: BrowseResponse = decode(&client.raw(&request)).unwrap();
    let mut result = browsed.results[0].clone();
    let (mut references, mut requests) = (Vec::new(), 1);
    loop {
        assert_eq!(result.status_code, StatusCode::Good);
        references.extend(result.references);
        if result.continuation_point.is_null() {
            break;
        }
        let request_header = client.header();
        let next: BrowseNextResponse = client
            .call(BrowseNextRequest {
                request_header,
                continuation_points: vec![result.continuation_point],
                ..BrowseNextRequest::default()
            })
            .unwrap();
        result = next.results[0].clone();
        requests += 1;
    }
    assert!(requests > 3, "{requests}");
    assert_eq!(references, everything);

    // As many nodes as there can be continuation points.
    let request = long_browse(&mut client, 100);
    let browsed: BrowseResponse = decode(&client.raw(&request)).unwrap();
    let statuses = browsed.results.iter().map(|result| result.status_code);
    let (good, others): (Vec<_>, Vec<_>) = statuses.partition(|status| status.is_good());
    assert_eq!(good.len(), 16);
    assert!(
        others
            .iter()
            .all(|status| *status == StatusCode::BadNoContinuationPoints)
    );
    let slices = server.longest_slice();
    assert!(slices <= u64::from(SMALL), "{slices}");
}

#[test]
fn the_work_of_a_translate_browse_paths_is_limited() {
    let budgets = ServerBudgets {
        max_work_per_request: 20_000,
        ..budgets(SMALL)
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut client = Client::new(&server);
    let translate = |client: &mut Client, turns| {
        let request = long_path(client, turns);
        let response = client.raw(&request);
        decode::<TranslateBrowsePathsToNodeIdsResponse>(&response)
            .map(|translated| translated.results[0].clone())
    };
    let good = translate(&mut client, 1).unwrap();
    assert_eq!(good.status_code, StatusCode::Good);
    assert_eq!(
        good.targets[0].target_id.node_id,
        NodeId::from(ids::PROPERTY_TYPE)
    );
    let much = translate(&mut client, 1_000).unwrap();
    assert_eq!(much.status_code, StatusCode::BadTooManyOperations);
    // A request with so many elements is not even decoded.
    let too_much = translate(&mut client, 10_000);
    assert_eq!(too_much, Err(StatusCode::BadTooManyOperations));
    assert!(server.longest_slice() <= u64::from(SMALL));
}

#[test]
fn changes_between_slices_break_nothing() {
    let server = server(SMALL);
    let mut client = Client::new(&server);
    let space = server.address_space();
    let folder = space
        .add_object((1, "Folder"))
        .type_definition(ids::FOLDER_TYPE)
        .add()
        .unwrap();
    let node = |number: usize| NodeId::numeric(1, 10_000 + number as u32);
    for number in 0..1_000 {
        space
            .add_object((1, format!("V{number}").as_str()))
            .node_id(node(number))
            .below(folder.clone(), ids::ORGANIZES)
            .add()
            .unwrap();
    }
    let request = message(&BrowseRequest {
        request_header: client.header(),
        nodes_to_browse: vec![describe(folder.clone()); 2],
        ..BrowseRequest::default()
    });
    defer(&mut client, &request, 1);
    let mut number = 0;
    while server.work() {
        // Nodes are deleted at both ends, and at the current position of the Browse.
        for gone in [number, 999 - number, 400 + number] {
            let _ = space.edit().delete_node(&node(gone), true);
        }
        number += 1;
    }
    assert!(number > 10, "{number}");
    let (_, response) = client.connection.take_completed().unwrap();
    let browsed: BrowseResponse = decode(&response).unwrap();
    assert!(browsed.results[0].references.len() > 500);
    for result in &browsed.results {
        assert_eq!(result.status_code, StatusCode::Good);
        let mut targets: Vec<_> = result
            .references
            .iter()
            .map(|reference| format!("{:?}", reference.node_id))
            .collect();
        let all = targets.len();
        targets.sort();
        targets.dedup();
        assert_eq!(targets.len(), all, "no reference comes twice");
    }
}

#[test]
fn monitored_items_are_created_and_nodes_registered_in_slices() {
    let (small, big) = (server(SMALL), server(u32::MAX));
    let mut clients = [Client::new(&small), Client::new(&big)];
    let mut same = |request: &dyn Fn(&mut Client) -> Vec<u8>| {
        let [small, big] = clients.each_mut().map(|client| {
            let request = request(client);
            timeless(client.raw(&request))
        });
        assert!(small == big, "the responses differ");
    };
    same(&|client| {
        message(&CreateSubscriptionRequest {
            request_header: client.header(),
            requested_publishing_interval: 1000.0,
            publishing_enabled: true,
            ..CreateSubscriptionRequest::default()
        })
    });
    same(&|client| {
        let item = |number: usize| MonitoredItemCreateRequest {
            item_to_monitor: ReadValueId {
                // Every third node does not exist.
                node_id: match number % 3 {
                    0 => NodeId::numeric(1, 77),
                    _ => ids::SERVER_SERVER_STATUS.into(),
                },
                attribute_id: 13,
                ..ReadValueId::default()
            },
            monitoring_mode: MonitoringMode::Reporting,
            requested_parameters: MonitoringParameters {
                client_handle: number as u32,
                sampling_interval: 1000.0,
                queue_size: 1,
                ..MonitoringParameters::default()
            },
        };
        message(&CreateMonitoredItemsRequest {
            request_header: client.header(),
            subscription_id: FIRST_ID,
            items_to_create: (0..300).map(item).collect(),
            ..CreateMonitoredItemsRequest::default()
        })
    });
    same(&|client| {
        message(&RegisterNodesRequest {
            request_header: client.header(),
            nodes_to_register: (0..1_000)
                .map(|number| NodeId::numeric(1, number))
                .collect(),
        })
    });
    same(&|client| {
        message(&UnregisterNodesRequest {
            request_header: client.header(),
            nodes_to_unregister: (0..1_000)
                .map(|number| NodeId::numeric(1, number))
                .collect(),
        })
    });
    assert!(small.longest_slice() <= u64::from(SMALL));
    assert!(big.longest_slice() > 2_000, "{}", big.longest_slice());
}

#[test]
fn short_requests_end_a_turn_when_they_took_a_slice_together() {
    let server = server(10_000);
    let mut client = Client::new(&server);
    // A request that answers nothing, and examines all instances of a type.
    let description = BrowseDescription {
        browse_direction: BrowseDirection::Inverse,
        reference_type_id: ids::ORGANIZES.into(),
        ..describe(ids::PROPERTY_TYPE)
    };
    let browse = message(&BrowseRequest {
        request_header: client.header(),
        nodes_to_browse: vec![description],
        ..BrowseRequest::default()
    });
    assert!(!server.is_turn_over());
    let mut requests = 0_u64;
    while !server.is_turn_over() {
        requests += 1;
        let response: BrowseResponse = decode(&client.raw(&browse)).unwrap();
        assert_eq!(response.results[0].references, []);
        assert!(requests < 1000, "requests are not counted");
    }
    let slice = u64::from(server.budgets().work_per_slice);
    assert!(server.longest_slice() < slice);
    assert!(server.longest_slice() * requests >= slice, "{requests}");
    assert!(!server.work(), "no request is left");
    assert!(!server.is_turn_over());
}

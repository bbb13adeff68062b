//! Changes of many MonitoredItems: small slices have the same results as one big slice.

use takt_services::ServerBudgets;
use takt_ua::StatusCode;
use takt_ua::enumerations::MonitoringMode;
use takt_ua::structures::*;

use crate::common::{Client, FIRST_ID, VALUE, decode, message, read_id};
use crate::services::slices_of_operations::{SMALL, VARIABLES, answer, server, sliced, variable};

/// Returns ids of the `count` MonitoredItems of Subscription 1, for a request.
fn items_of(count: u32) -> Vec<u32> {
    // Every fifth item does not exist, some are repeated.
    (1..=count)
        .map(|id| match id % 5 {
            0 => 1_000_000 + id,
            1 => 1 + id / 2,
            _ => id,
        })
        .collect()
}

pub(crate) fn create_items(client: &mut Client, count: u32) -> Vec<u8> {
    let item = |number: u32| MonitoredItemCreateRequest {
        item_to_monitor: read_id(variable(number % VARIABLES), VALUE),
        monitoring_mode: MonitoringMode::Reporting,
        requested_parameters: MonitoringParameters {
            client_handle: number,
            sampling_interval: 1000.0,
            queue_size: 1,
            ..MonitoringParameters::default()
        },
    };
    message(&CreateMonitoredItemsRequest {
        request_header: client.header(),
        subscription_id: FIRST_ID,
        items_to_create: (0..count).map(item).collect(),
        ..CreateMonitoredItemsRequest::default()
    })
}

pub(crate) fn create_subscription(client: &mut Client) -> Vec<u8> {
    message(&CreateSubscriptionRequest {
        request_header: client.header(),
        requested_publishing_interval: 1000.0,
        publishing_enabled: true,
        ..CreateSubscriptionRequest::default()
    })
}

#[test]
fn monitored_items_are_changed_linked_and_deleted_in_slices() {
    const COUNT: u32 = 400;
    let (small, big) = (sliced(SMALL), sliced(u32::MAX));
    let mut clients = [Client::new(&small), Client::new(&big)];
    let mut same = |request: &dyn Fn(&mut Client) -> Vec<u8>| {
        let [small, big] = clients.each_mut().map(|client| {
            let request = request(client);
            answer(client, &request, 4)
        });
        assert!(small == big, "the responses differ");
        assert!(small.len() > 28, "no fault");
        small
    };
    same(&create_subscription);
    same(&|client| create_items(client, COUNT));
    let modify = |id: u32| MonitoredItemModifyRequest {
        monitored_item_id: id,
        requested_parameters: MonitoringParameters {
            sampling_interval: 500.0 * f64::from(1 + id % 7),
            queue_size: id % 4,
            ..MonitoringParameters::default()
        },
    };
    same(&|client| {
        message(&ModifyMonitoredItemsRequest {
            request_header: client.header(),
            subscription_id: FIRST_ID,
            items_to_modify: items_of(COUNT).into_iter().map(modify).collect(),
            ..ModifyMonitoredItemsRequest::default()
        })
    });
    for mode in [MonitoringMode::Disabled, MonitoringMode::Sampling] {
        same(&|client| {
            message(&SetMonitoringModeRequest {
                request_header: client.header(),
                subscription_id: FIRST_ID,
                monitoring_mode: mode,
                monitored_item_ids: items_of(COUNT),
            })
        });
    }
    for (add, remove) in [(COUNT, 0), (10, COUNT / 2), (0, COUNT)] {
        let linked = same(&|client| {
            message(&SetTriggeringRequest {
                request_header: client.header(),
                subscription_id: FIRST_ID,
                triggering_item_id: 2,
                links_to_add: items_of(add),
                links_to_remove: items_of(remove),
            })
        });
        let mut linked = linked;
        linked.splice(4..4, [0; 8]);
        let linked: SetTriggeringResponse = decode(&linked).unwrap();
        let lengths = (linked.add_results.len(), linked.remove_results.len());
        assert_eq!(lengths, (add as usize, remove as usize));
        if add == COUNT {
            let bad = StatusCode::BadMonitoredItemIdInvalid;
            assert_eq!(linked.add_results[4], bad);
            assert_eq!(linked.add_results[2], StatusCode::Good);
        }
    }
    same(&|client| {
        message(&DeleteMonitoredItemsRequest {
            request_header: client.header(),
            subscription_id: FIRST_ID,
            monitored_item_ids: items_of(COUNT),
        })
    });
    let longest = small.longest_slice();
    assert!(longest <= u64::from(SMALL), "{longest}");
    assert!(big.longest_slice() > 4_000, "{}", big.longest_slice());
}

/// Returns a Session with a Subscription, whose memory is limited, and the used part of it.
fn with_memory(limit: usize) -> (Client, usize) {
    let server = server(ServerBudgets {
        work_per_slice: SMALL,
        max_memory_per_session: limit,
        ..ServerBudgets::default()
    });
    let before = server.memory().used();
    let mut client = Client::new(&server);
    let request = create_subscription(&mut client);
    decode::<CreateSubscriptionResponse>(&client.raw(&request)).unwrap();
    (client, server.memory().used() - before)
}

#[test]
fn items_are_not_created_without_memory_for_the_rest_of_the_request() {
    // The number is so low that all items can be decoded in the first slice, but not created.
    const COUNT: u32 = 100;
    let (_, used) = with_memory(1 << 20);
    // The request is longer than the remaining memory.
    let (mut client, _) = with_memory(used + 2_000);
    let before = client.server.memory().used();
    let request = create_items(&mut client, COUNT);
    assert!(request.len() > 2_000);
    let response = client.raw(&request);
    let refused = decode::<CreateMonitoredItemsResponse>(&response).unwrap_err();
    assert_eq!(refused, StatusCode::BadOutOfMemory);
    assert_eq!(client.server.memory().used(), before, "there are no items");
}

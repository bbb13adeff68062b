//! Subscriptions of many MonitoredItems that are removed or transferred, and queues of many values that are discarded: work in
//! slices. Removed Subscriptions and items no longer exist for clients; their memory counts until it is given back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_services::Server;
use takt_space::Value;
use takt_ua::StatusCode;
use takt_ua::enumerations::MonitoringMode;
use takt_ua::structures::*;

use crate::common::{Client, FIRST_ID, VALUE, catch_up, decode, message, read_id};
use crate::services::slices_of_items::{create_items, create_subscription};
use crate::services::slices_of_operations::{SMALL, sliced};

/// Number of MonitoredItems of each Subscription.
const ITEMS: u32 = 2_000;

/// Gives a Session a Subscription with many MonitoredItems.
fn subscribe(client: &mut Client) {
    let request = create_subscription(client);
    decode::<CreateSubscriptionResponse>(&client.raw(&request)).unwrap();
    let request = create_items(client, ITEMS);
    let created: CreateMonitoredItemsResponse = decode(&client.raw(&request)).unwrap();
    let mut created = created.results.iter();
    assert!(created.all(|item| item.status_code.is_good()));
}

/// A server with a Subscription of many items that will be removed.
struct Removal {
    server: Arc<Server>,
    client: Client,
    /// Memory of the Sessions with the Subscription, and without it.
    full: usize,
    empty: usize,
}

impl Removal {
    fn new() -> Self {
        let server = sliced(SMALL);
        let mut client = Client::new(&server);
        let empty = server.memory_of_sessions().used();
        subscribe(&mut client);
        let full = server.memory_of_sessions().used();
        assert!(full > empty + 100_000, "{empty}, {full}");
        Self {
            server,
            client,
            full,
            empty,
        }
    }

    /// Checks that the Subscription no longer exists for clients, and that its memory is given back in many slices.
    fn finish(self, now: Instant) {
        let Self {
            server,
            client,
            full,
            empty,
        } = self;
        let left = server.memory_of_sessions().used();
        let half = usize::midpoint(full, empty);
        assert!(left > half, "{left} of {full} bytes");
        let mut other = Client::new(&server);
        assert!(
            other
                .read_value(takt_ua::ids::SERVER_SERVICE_LEVEL)
                .value
                .is_some(),
            "others are served"
        );
        let request = CloseSessionRequest {
            request_header: other.header(),
            ..CloseSessionRequest::default()
        };
        other.call::<_, CloseSessionResponse>(request).unwrap();
        let slices = catch_up(&server, now);
        assert!(slices > 20, "{slices}");
        let longest = server.longest_slice();
        assert!(longest <= u64::from(SMALL), "{longest}");
        let left = server.memory_of_sessions().used();
        assert!(left <= empty, "{left} and {empty} bytes");
        drop(client);
    }
}

#[test]
fn a_subscription_of_many_items_is_deleted_in_slices() {
    let mut removal = Removal::new();
    let client = &mut removal.client;
    let delete = DeleteSubscriptionsRequest {
        request_header: client.header(),
        subscription_ids: vec![FIRST_ID, FIRST_ID],
    };
    let deleted: DeleteSubscriptionsResponse = client.call(delete).unwrap();
    let gone = StatusCode::BadSubscriptionIdInvalid;
    assert_eq!(deleted.results, [StatusCode::Good, gone]);
    let publish = PublishRequest {
        request_header: client.header(),
        ..PublishRequest::default()
    };
    let refused = client.defer(&message(&publish), 1);
    assert_eq!(refused, Err(StatusCode::BadNoSubscription));
    removal.finish(Instant::now());
}

#[test]
fn subscriptions_of_many_items_are_deleted_with_their_session_in_slices() {
    let mut removal = Removal::new();
    let client = &mut removal.client;
    let close = CloseSessionRequest {
        request_header: client.header(),
        delete_subscriptions: true,
    };
    let _: CloseSessionResponse = client.call(close).unwrap();
    removal.finish(Instant::now());
}

#[test]
fn a_subscription_of_many_items_ends_with_its_lifetime_in_slices() {
    let mut removal = Removal::new();
    let client = &mut removal.client;
    let modify = |client: &mut Client| {
        let modify = ModifySubscriptionRequest {
            request_header: client.header(),
            subscription_id: FIRST_ID,
            requested_publishing_interval: 1000.0,
            requested_lifetime_count: 3,
            requested_max_keep_alive_count: 1,
            ..ModifySubscriptionRequest::default()
        };
        client.call::<_, ModifySubscriptionResponse>(modify)
    };
    modify(client).unwrap();
    // Nothing is sampled meanwhile.
    let server = Arc::clone(&removal.server);
    let close = CloseSessionRequest {
        request_header: client.header(),
        delete_subscriptions: false,
    };
    let _: CloseSessionResponse = client.call(close).unwrap();
    let mut now = Instant::now();
    server.tick(now);
    // Until the lifetime is over, one slice per second is enough.
    while server.next_deadline().is_some_and(|next| next > now) {
        now += Duration::from_secs(1);
        server.tick(now);
        assert!(now < Instant::now() + Duration::from_secs(60));
    }
    removal.finish(now);
}

/// Publishes until nothing is left. Returns the number of values.
fn publish_all(client: &mut Client, mut now: Instant) -> usize {
    let mut values = 0;
    for request_id in 1.. {
        let publish = PublishRequest {
            request_header: client.header(),
            ..PublishRequest::default()
        };
        client.defer(&message(&publish), request_id).unwrap();
        let published: PublishResponse = loop {
            if let Some((_, response)) = client.connection.take_completed() {
                break decode(&response).unwrap();
            }
            now += Duration::from_secs(1);
            catch_up(&client.server, now);
        };
        let data = published.notification_message.notification_data;
        if data.is_empty() {
            break;
        }
        for data in data {
            values += match data.decode_as::<DataChangeNotification>() {
                Ok(change) => change.monitored_items.len(),
                Err(_) => 0,
            };
        }
    }
    values
}

#[test]
fn initial_values_after_a_transfer_are_queued_in_slices() {
    let server = sliced(SMALL);
    let mut clients = [Client::new(&server), Client::new(&server)];
    let [old, new] = &mut clients;
    subscribe(old);
    let now = Instant::now() + Duration::from_secs(10);
    assert_eq!(publish_all(old, now), ITEMS as usize);
    let transfer = TransferSubscriptionsRequest {
        request_header: new.header(),
        subscription_ids: vec![FIRST_ID],
        send_initial_values: true,
    };
    let transferred: TransferSubscriptionsResponse = new.call(transfer).unwrap();
    assert_eq!(transferred.results[0].status_code, StatusCode::Good);
    assert!(
        server.next_deadline().unwrap() <= Instant::now(),
        "not all are queued yet"
    );
    let slices = catch_up(&server, Instant::now());
    assert!(slices > 20, "{slices}");
    let now = Instant::now() + Duration::from_secs(100);
    assert_eq!(publish_all(new, now), ITEMS as usize);
    let longest = server.longest_slice();
    assert!(longest <= u64::from(SMALL), "{longest}");
}

/// Tests items with long queues, which `change` empties: the memory is given back in slices.
fn discards(change: impl FnOnce(&mut Client, Vec<u32>)) {
    const VALUES: u32 = 5_000;
    let server = sliced(SMALL);
    let value = Value::stored(0_u32);
    let space = server.address_space();
    let node = space.add_variable("a").value(value.clone()).add().unwrap();
    let mut client = Client::new(&server);
    let request = create_subscription(&mut client);
    decode::<CreateSubscriptionResponse>(&client.raw(&request)).unwrap();
    let item = MonitoredItemCreateRequest {
        item_to_monitor: read_id(node, VALUE),
        monitoring_mode: MonitoringMode::Reporting,
        requested_parameters: MonitoringParameters {
            queue_size: VALUES,
            ..MonitoringParameters::default()
        },
    };
    let request = CreateMonitoredItemsRequest {
        request_header: client.header(),
        subscription_id: FIRST_ID,
        items_to_create: vec![item; 4],
        ..CreateMonitoredItemsRequest::default()
    };
    let created: CreateMonitoredItemsResponse = client.call(request).unwrap();
    let items = created.results.iter().map(|item| item.monitored_item_id);
    let Value::Stored(stored) = value else {
        panic!("it is stored");
    };
    let before = server.memory_of_sessions().used();
    (0..VALUES).for_each(|value| stored.set(value));
    let full = server.memory_of_sessions().used();
    assert!(full > before + 4 * 50 * VALUES as usize, "{before}, {full}");
    change(&mut client, items.collect());
    let left = server.memory_of_sessions().used();
    assert!(left > usize::midpoint(before, full), "{left} of {full}");
    let slices = catch_up(&server, Instant::now());
    assert!(slices > 50, "{slices}");
    let left = server.memory_of_sessions().used();
    assert!(left < before + 20_000, "{before}, {full}, {left}");
    let longest = server.longest_slice();
    assert!(longest <= u64::from(SMALL), "{longest}");
}

#[test]
fn long_queues_of_deleted_items_are_given_back_in_slices() {
    discards(|client, items| {
        let delete = DeleteMonitoredItemsRequest {
            request_header: client.header(),
            subscription_id: FIRST_ID,
            monitored_item_ids: items,
        };
        let deleted: DeleteMonitoredItemsResponse = client.call(delete).unwrap();
        assert_eq!(deleted.results, [StatusCode::Good; 4]);
    });
}

#[test]
fn long_queues_of_disabled_items_are_given_back_in_slices() {
    discards(|client, items| {
        let disable = SetMonitoringModeRequest {
            request_header: client.header(),
            subscription_id: FIRST_ID,
            monitoring_mode: MonitoringMode::Disabled,
            monitored_item_ids: items,
        };
        let disabled: SetMonitoringModeResponse = client.call(disable).unwrap();
        assert_eq!(disabled.results, [StatusCode::Good; 4]);
    });
}

#[test]
fn discarded_values_of_a_shorter_queue_are_freed_in_slices() {
    discards(|client, items| {
        let modify = |monitored_item_id| MonitoredItemModifyRequest {
            monitored_item_id,
            ..MonitoredItemModifyRequest::default()
        };
        let modify = ModifyMonitoredItemsRequest {
            request_header: client.header(),
            subscription_id: FIRST_ID,
            items_to_modify: items.into_iter().map(modify).collect(),
            ..ModifyMonitoredItemsRequest::default()
        };
        let modified: ModifyMonitoredItemsResponse = client.call(modify).unwrap();
        let mut modified = modified.results.iter();
        assert!(modified.all(|item| item.status_code.is_good()));
    });
}

//! Subscriptions and MonitoredItems: changes are pushed, none is lost, and no request waits in vain.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use takt_app::{Client, MonitoredItemOptions, Subscription, SubscriptionOptions};
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, Variant};

use crate::conformance::plant::{attribute, fault, node, standard};

const PATIENCE: Duration = Duration::from_secs(60);

fn options(publishing_interval: u64) -> SubscriptionOptions {
    SubscriptionOptions {
        publishing_interval: Duration::from_millis(publishing_interval),
        ..SubscriptionOptions::default()
    }
}

fn queue(queue_size: u32) -> MonitoredItemOptions {
    MonitoredItemOptions {
        queue_size,
        ..MonitoredItemOptions::default()
    }
}

/// Returns a Subscription in its own session.
fn subscribe(client: &Client, publishing_interval: u64) -> Subscription {
    let own = Client::connect(client.endpoint(), client.options().clone()).unwrap();
    Subscription::create(own, options(publishing_interval)).unwrap()
}

/// Returns the next change's value.
fn next(subscription: &mut Subscription) -> Variant {
    let change = subscription.next(PATIENCE).unwrap();
    change.expect("a change").value.value.unwrap_or_default()
}

pub(crate) fn every_value_that_is_written_is_pushed(client: &mut Client) {
    let mut subscription = subscribe(client, 10);
    let handle = subscription.monitor(&node("UInt32"), queue(1000)).unwrap();
    assert_eq!(next(&mut subscription), Variant::from(42_u32));
    for number in 0..200_u32 {
        client.write(&node("UInt32"), number.into()).unwrap();
        if number % 50 == 0 {
            // Other requests work in the Subscription's session.
            let read = subscription.client().read_good(&node("String"));
            assert_eq!(read.unwrap(), "Takt".into());
        }
    }
    for number in 0..200_u32 {
        let change = subscription.next(PATIENCE).unwrap().expect("a change");
        assert_eq!(change.client_handle, handle);
        assert_eq!(change.value.value, Some(number.into()));
        assert!(change.value.source_timestamp.is_some() && !change.is_overflow());
    }
    assert_eq!(subscription.lost_messages(), 0);
    client.write(&node("UInt32"), 42_u32.into()).unwrap();
}

pub(crate) fn many_variables_are_watched_at_once(client: &mut Client) {
    let mut subscription = subscribe(client, 20);
    let names = ["UInt32", "Double", "String", "Array", "Percent", "Broken"];
    let mut handles = BTreeMap::new();
    for name in names {
        let handle = subscription.monitor(&node(name), queue(1)).unwrap();
        handles.insert(handle, name);
    }
    while !handles.is_empty() {
        let change = subscription.next(PATIENCE).unwrap().expect("a first value");
        if let Some("Broken") = handles.remove(&change.client_handle) {
            assert_eq!(change.value.status_code(), StatusCode::BadSensorFailure);
        }
    }
    // A callback is sampled.
    client.write(&node("Percent"), 75.0_f64.into()).unwrap();
    assert_eq!(next(&mut subscription), Variant::from(75.0_f64));
    // The clock advances.
    let time = standard(takt_ua::ids::SERVER_SERVER_STATUS_CURRENT_TIME);
    let handle = subscription.monitor(&time, queue(1)).unwrap();
    for _ in 0..3 {
        let change = subscription.next(PATIENCE).unwrap().expect("a new time");
        assert_eq!(change.client_handle, handle);
    }
    subscription.forget(handle).unwrap();
    while subscription
        .next(Duration::from_millis(200))
        .unwrap()
        .is_some()
    {}
}

pub(crate) fn a_queue_overflow_is_reported(client: &mut Client) {
    let mut subscription = subscribe(client, 300);
    subscription.monitor(&node("UInt32"), queue(2)).unwrap();
    next(&mut subscription);
    for number in 1..=20_u32 {
        client.write(&node("UInt32"), number.into()).unwrap();
    }
    let mut overflows = 0;
    loop {
        let change = subscription.next(PATIENCE).unwrap().expect("a change");
        overflows += u32::from(change.is_overflow());
        if change.value.value == Some(20_u32.into()) {
            break;
        }
    }
    assert!(overflows > 0);
}

pub(crate) fn an_idle_subscription_stays_alive(client: &mut Client) {
    let own = Client::connect(client.endpoint(), client.options().clone()).unwrap();
    let quick = SubscriptionOptions {
        max_keep_alive_count: 2,
        lifetime_count: 6,
        ..options(10)
    };
    let mut subscription = Subscription::create(own, quick).unwrap();
    subscription.monitor(&node("UInt32"), queue(1)).unwrap();
    next(&mut subscription);
    let epoch = subscription.client().epoch();
    assert_eq!(subscription.next(Duration::from_millis(500)).unwrap(), None);
    client.write(&node("UInt32"), 5_u32.into()).unwrap();
    assert_eq!(next(&mut subscription), Variant::from(5_u32));
    assert_eq!(subscription.client().epoch(), epoch);
}

pub(crate) fn a_lost_session_is_made_again(client: &mut Client) {
    let mut subscription = subscribe(client, 10);
    let handle = subscription.monitor(&node("UInt32"), queue(10)).unwrap();
    next(&mut subscription);
    subscription.client().close();
    client.write(&node("UInt32"), 77_u32.into()).unwrap();
    let change = subscription.next(PATIENCE).unwrap().expect("a change");
    assert_eq!(change.client_handle, handle);
    assert_eq!(change.value.value, Some(77_u32.into()));
}

/// Creates a Subscription by plain requests.
fn by_hand(client: &mut Client) -> u32 {
    let created = client.call(CreateSubscriptionRequest {
        requested_publishing_interval: 10.0,
        requested_lifetime_count: 1000,
        requested_max_keep_alive_count: 10,
        publishing_enabled: true,
        ..CreateSubscriptionRequest::default()
    });
    let created = created.unwrap();
    assert_eq!(created.revised_publishing_interval, 10.0);
    created.subscription_id
}

fn create(client: &mut Client, id: u32, nodes: &[NodeId]) -> Vec<StatusCode> {
    let items_to_create = nodes
        .iter()
        .map(|node| MonitoredItemCreateRequest {
            item_to_monitor: attribute(node.clone(), takt_app::Attribute::Value),
            monitoring_mode: MonitoringMode::Reporting,
            ..MonitoredItemCreateRequest::default()
        })
        .collect();
    let response = client.call(CreateMonitoredItemsRequest {
        subscription_id: id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_create,
        ..CreateMonitoredItemsRequest::default()
    });
    let results = response.unwrap().results.into_iter();
    results.map(|result| result.status_code).collect()
}

pub(crate) fn messages_are_sent_again(client: &mut Client) {
    let id = by_hand(client);
    assert_eq!(create(client, id, &[node("UInt32")]), [StatusCode::Good]);
    let began = Instant::now();
    let published = client.call(PublishRequest::default()).unwrap();
    assert!(began.elapsed() < PATIENCE);
    let message = published.notification_message;
    assert_eq!(
        (published.subscription_id, message.sequence_number),
        (id, 1)
    );
    let republish = |client: &mut Client, number| {
        client.call(RepublishRequest {
            subscription_id: id,
            retransmit_sequence_number: number,
            ..RepublishRequest::default()
        })
    };
    let again = republish(client, 1).unwrap();
    assert_eq!(again.notification_message, message);
    let unknown = fault(republish(client, 2));
    assert_eq!(unknown, StatusCode::BadMessageNotAvailable);
    let acknowledged = client.call(PublishRequest {
        subscription_acknowledgements: vec![SubscriptionAcknowledgement {
            subscription_id: id,
            sequence_number: 1,
        }],
        ..PublishRequest::default()
    });
    assert_eq!(acknowledged.unwrap().results, [StatusCode::Good]);
    let forgotten = fault(republish(client, 1));
    assert_eq!(forgotten, StatusCode::BadMessageNotAvailable);
    let deleted = client.call(DeleteSubscriptionsRequest {
        subscription_ids: vec![id],
        ..DeleteSubscriptionsRequest::default()
    });
    assert_eq!(deleted.unwrap().results, [StatusCode::Good]);
}

pub(crate) fn invalid_monitored_items_are_refused(client: &mut Client) {
    let id = by_hand(client);
    let nodes = [
        node("Nothing"),
        node("Plant"),
        node("WriteOnly"),
        NodeId::NULL,
    ];
    assert_eq!(
        create(client, id, &nodes),
        [
            StatusCode::BadNodeIdUnknown,
            StatusCode::BadAttributeIdInvalid,
            // An unreadable item is reported with its first value (OPC 10000-4, 5.13.2.1).
            StatusCode::Good,
            StatusCode::BadNodeIdInvalid
        ]
    );
    let unknown = client.call(CreateMonitoredItemsRequest {
        subscription_id: id + 1,
        items_to_create: vec![MonitoredItemCreateRequest::default()],
        ..CreateMonitoredItemsRequest::default()
    });
    assert_eq!(fault(unknown), StatusCode::BadSubscriptionIdInvalid);
    let nothing = client.call(CreateMonitoredItemsRequest {
        subscription_id: id,
        ..CreateMonitoredItemsRequest::default()
    });
    assert_eq!(fault(nothing), StatusCode::BadNothingToDo);
}

pub(crate) fn publishing_needs_a_subscription(client: &mut Client) {
    let nobody = client.call(PublishRequest::default());
    assert_eq!(fault(nobody), StatusCode::BadNoSubscription);
}

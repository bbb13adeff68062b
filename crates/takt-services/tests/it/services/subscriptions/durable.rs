//! Durable Subscriptions (OPC 10000-4, 5.14.9).

use std::sync::atomic::{AtomicU32, Ordering};

use takt_services::{Saving, ServerBudgets, SubscriptionBudgets};
use takt_ua::ids;

use super::*;
use crate::common::builder;

pub(super) fn set_durable(subscriber: &mut Subscriber, hours: u32) -> Result<Variant, StatusCode> {
    let request = CallRequest {
        request_header: subscriber.client.header(),
        methods_to_call: vec![CallMethodRequest {
            object_id: ids::SERVER.into(),
            method_id: ids::SERVER_SET_SUBSCRIPTION_DURABLE.into(),
            input_arguments: vec![subscriber.id.into(), hours.into()],
        }],
    };
    let mut response: CallResponse = subscriber.client.call(request).unwrap();
    let result = response.results.remove(0);
    match result.status_code {
        StatusCode::Good => Ok(result.output_arguments[0].clone()),
        status => Err(status),
    }
}

fn server_with(budgets: SubscriptionBudgets) -> Arc<Server> {
    let budgets = ServerBudgets {
        subscriptions: budgets,
        ..ServerBudgets::default()
    };
    builder().budgets(budgets).build().unwrap()
}

#[test]
fn a_durable_subscription_collects_values_without_a_session_until_it_is_transferred() {
    let server = crate::common::server();
    let value = Value::stored(0_u32);
    let node = variable(&server, "Count", &value);
    let mut before = Subscriber::new(&server);
    assert_eq!(set_durable(&mut before, 2), Ok(2_u32.into()));
    before.watch(&node, 1, 1000);
    assert_eq!(before.values().len(), 1);
    // The Session ends, its Subscriptions stay.
    let request = CloseSessionRequest {
        request_header: before.client.header(),
        delete_subscriptions: false,
    };
    let _: CloseSessionResponse = before.client.call(request).unwrap();
    for number in 1..=600_u32 {
        set(&value, number);
    }
    // Longer than the lifetime that the client has requested, and shorter than two hours.
    let mut after = Subscriber::new(&server);
    after.now = before.now.max(after.now);
    after.wait_for(Duration::from_secs(3600));
    let id = before.id;
    after.create(|_| {}).unwrap();
    let request = TransferSubscriptionsRequest {
        request_header: after.client.header(),
        subscription_ids: vec![id],
        send_initial_values: false,
    };
    let transferred: TransferSubscriptionsResponse = after.client.call(request).unwrap();
    assert_eq!(transferred.results[0].status_code, StatusCode::Good);
    let mut received = Vec::new();
    for _ in 0..20 {
        received.extend(after.values());
    }
    let numbers: Vec<u32> = received
        .iter()
        .filter_map(|(_, value)| u32::try_from(value.as_i64()?).ok())
        .collect();
    assert_eq!(numbers, (1..=600).collect::<Vec<_>>());
}

#[test]
fn hours_queues_and_their_number_are_bounded() {
    let server = server_with(SubscriptionBudgets {
        max_durable_subscriptions: 1,
        ..SubscriptionBudgets::default()
    });
    let node = variable(&server, "Count", &Value::stored(0_u32));
    let mut first = Subscriber::new(&server);
    let plain = first.watch(&node, 1, u32::MAX);
    assert_eq!(plain.revised_queue_size, 10_000);
    assert_eq!(set_durable(&mut first, 1), Err(StatusCode::BadInvalidState));
    let mut second = Subscriber::new(&server);
    assert_eq!(set_durable(&mut second, 0), Ok(72_u32.into()));
    assert_eq!(set_durable(&mut second, 1000), Ok(72_u32.into()));
    assert_eq!(set_durable(&mut second, 1), Ok(1_u32.into()));
    let durable = second.watch(&node, 1, u32::MAX);
    assert_eq!(durable.revised_queue_size, 100_000);
    let mut third = Subscriber::new(&server);
    let refused = set_durable(&mut third, 1);
    assert_eq!(refused, Err(StatusCode::BadTooManySubscriptions));
    third.id = 999;
    let unknown = set_durable(&mut third, 1);
    assert_eq!(unknown, Err(StatusCode::BadSubscriptionIdInvalid));
}

#[test]
fn a_modified_subscription_tells_the_lifetime_that_it_keeps() {
    let server = crate::common::server();
    let mut subscriber = Subscriber::new(&server);
    let modified = |subscriber: &mut Subscriber| -> ModifySubscriptionResponse {
        let request = ModifySubscriptionRequest {
            request_header: subscriber.client.header(),
            subscription_id: subscriber.id,
            requested_publishing_interval: 1000.0,
            requested_lifetime_count: 100,
            requested_max_keep_alive_count: 10,
            ..ModifySubscriptionRequest::default()
        };
        subscriber.client.call(request).unwrap()
    };
    assert_eq!(modified(&mut subscriber).revised_lifetime_count, 100);
    assert_eq!(set_durable(&mut subscriber, 2), Ok(2_u32.into()));
    // Two hours in seconds.
    assert_eq!(modified(&mut subscriber).revised_lifetime_count, 7200);
}

/// Takes over a Subscription of an earlier server, by its SubscriptionId.
pub(super) fn take_over(subscriber: &mut Subscriber, id: u32) -> TransferResult {
    let request = TransferSubscriptionsRequest {
        request_header: subscriber.client.header(),
        subscription_ids: vec![id],
        send_initial_values: false,
    };
    let mut transferred: TransferSubscriptionsResponse = subscriber.client.call(request).unwrap();
    transferred.results.remove(0)
}

#[test]
fn a_durable_subscription_outlives_its_server() {
    let server = crate::common::server();
    let value = Value::stored(0_u32);
    let node = variable(&server, "Count", &value);
    let mut before = Subscriber::new(&server);
    assert!(server.saved_subscriptions(Saving::AtEnd).is_none());
    assert_eq!(set_durable(&mut before, 2), Ok(2_u32.into()));
    let id = before.id;
    let watched = before.watch(&node, 7, 1000);
    // One message is not acknowledged.
    assert_eq!(before.values().len(), 1);
    for number in 1..=600_u32 {
        set(&value, number);
    }
    let saved = server.saved_subscriptions(Saving::AtEnd).unwrap();
    drop((before, server));

    let server = crate::common::server();
    let value = Value::stored(600_u32);
    assert_eq!(variable(&server, "Count", &value), node);
    assert_eq!(server.restore_subscriptions(&saved).unwrap(), 1);
    let mut after = Subscriber::new(&server);
    assert_ne!(after.id, id);
    // Nobody has the Subscription until it is transferred, whatever the NodeId of the Session is.
    let request = ModifySubscriptionRequest {
        request_header: after.client.header(),
        subscription_id: id,
        ..ModifySubscriptionRequest::default()
    };
    let modified: Result<ModifySubscriptionResponse, _> = after.client.call(request);
    assert_eq!(modified.unwrap_err(), StatusCode::BadSubscriptionIdInvalid);
    let transferred = take_over(&mut after, id);
    assert_eq!(transferred.status_code, StatusCode::Good);
    assert_eq!(transferred.available_sequence_numbers, [1]);
    set(&value, 601);
    after.wait_for(2 * INTERVAL);
    let mut received = Vec::new();
    for _ in 0..20 {
        received.extend(after.values());
    }
    assert!(received.iter().all(|(handle, _)| *handle == 7));
    let numbers: Vec<u32> = received
        .iter()
        .filter_map(|(_, value)| u32::try_from(value.as_i64()?).ok())
        .collect();
    // The value at the start of the new server is the last one of the old server: it is no change.
    assert_eq!(numbers, (1..=601).collect::<Vec<_>>());
    // Items keep their ids, and new ones get others.
    after.id = id;
    let next = after.watch(&node, 8, 1);
    assert_eq!(next.monitored_item_id, watched.monitored_item_id + 1);
}

#[test]
fn a_crashed_server_uses_no_number_twice() {
    let server = crate::common::server();
    let value = Value::stored(0_u32);
    let node = variable(&server, "Count", &value);
    let mut before = Subscriber::new(&server);
    assert_eq!(set_durable(&mut before, 1), Ok(1_u32.into()));
    before.watch(&node, 7, 10);
    let saved = server.saved_subscriptions(Saving::WhileServing).unwrap();
    // The client receives more, and creates another item, before the crash.
    let values = before.values();
    assert_eq!(values, [(7, 0_u32.into())]);
    let last_item = before.watch(&node, 8, 10).monitored_item_id;

    let server = crate::common::server();
    let value = Value::stored(0_u32);
    assert_eq!(variable(&server, "Count", &value), node);
    assert_eq!(server.restore_subscriptions(&saved).unwrap(), 1);
    let mut after = Subscriber::new(&server);
    assert_eq!(
        take_over(&mut after, before.id).status_code,
        StatusCode::Good
    );
    // The value was not published yet when it was saved.
    assert_eq!(after.values(), [(7, 0_u32.into())]);
    let message = take_over(&mut Subscriber::new(&server), before.id);
    assert!(
        matches!(message.available_sequence_numbers[..], [number] if number > 1_000_000),
        "{message:?}"
    );
    let mut last = Subscriber::new(&server);
    take_over(&mut last, before.id);
    last.id = before.id;
    assert!(last.watch(&node, 9, 10).monitored_item_id > last_item + 1_000_000);
}

#[test]
fn the_observer_learns_of_each_change() {
    let server = crate::common::server();
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let observer = move || {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    server.set_durable_observer(Some(Box::new(observer)));
    let node = variable(&server, "Count", &Value::stored(0_u32));
    let mut subscriber = Subscriber::new(&server);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(set_durable(&mut subscriber, 1), Ok(1_u32.into()));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let mut is_told = |change: &mut dyn FnMut(&mut Subscriber)| {
        let before = calls.load(Ordering::Relaxed);
        change(&mut subscriber);
        calls.load(Ordering::Relaxed) > before
    };
    assert!(is_told(&mut |subscriber| {
        subscriber.watch(&node, 7, 10);
    }));
    assert!(is_told(&mut |subscriber| {
        let request = ModifySubscriptionRequest {
            request_header: subscriber.client.header(),
            subscription_id: subscriber.id,
            requested_publishing_interval: 10_000.0,
            ..ModifySubscriptionRequest::default()
        };
        let _: ModifySubscriptionResponse = subscriber.client.call(request).unwrap();
    }));
    assert!(is_told(&mut |subscriber| {
        let request = SetPublishingModeRequest {
            request_header: subscriber.client.header(),
            publishing_enabled: false,
            subscription_ids: vec![subscriber.id],
        };
        let _: SetPublishingModeResponse = subscriber.client.call(request).unwrap();
    }));
    // Another client gets it: the owner is saved, too.
    assert!(is_told(&mut |subscriber| {
        let mut other = Subscriber::new(&server);
        let transferred = take_over(&mut other, subscriber.id);
        assert_eq!(transferred.status_code, StatusCode::Good);
    }));
    // Nobody publishes, so its hour passes.
    assert!(is_told(&mut |subscriber| {
        assert!(server.saved_subscriptions(Saving::WhileServing).is_some());
        for _ in 0..400 {
            subscriber.wait_for(Duration::from_secs(10));
        }
        assert!(server.saved_subscriptions(Saving::WhileServing).is_none());
    }));
    server.set_durable_observer(None);
    assert_eq!(Arc::strong_count(&calls), 1);
}

#[test]
fn damaged_bytes_restore_nothing() {
    use takt_services::RestoreError;

    let server = crate::common::server();
    let mut subscriber = Subscriber::new(&server);
    assert_eq!(set_durable(&mut subscriber, 1), Ok(1_u32.into()));
    let saved = server.saved_subscriptions(Saving::AtEnd).unwrap();
    for end in 0..saved.len() {
        assert!(
            server.restore_subscriptions(&saved[..end]).is_err(),
            "{end}"
        );
    }
    let mut version = saved.clone();
    version[4] = 200;
    let refused = server.restore_subscriptions(&version).unwrap_err();
    assert!(matches!(refused, RestoreError::Format), "{refused}");
    // A Subscription with this SubscriptionId exists.
    assert_eq!(server.restore_subscriptions(&saved).unwrap(), 0);
}

#[test]
fn links_and_items_without_a_node_outlive_the_server() {
    let server = crate::common::server();
    let names = ["Trigger", "Linked", "Gone"];
    let nodes = names.map(|name| variable(&server, name, &Value::stored(0_u32)));
    let mut before = Subscriber::new(&server);
    assert_eq!(set_durable(&mut before, 1), Ok(1_u32.into()));
    let ids = [1, 2, 3].map(|handle| {
        let place = usize::try_from(handle - 1).unwrap();
        before.watch(&nodes[place], handle, 10).monitored_item_id
    });
    let request = SetMonitoringModeRequest {
        request_header: before.client.header(),
        subscription_id: before.id,
        monitoring_mode: MonitoringMode::Sampling,
        monitored_item_ids: vec![ids[1]],
    };
    let _: SetMonitoringModeResponse = before.client.call(request).unwrap();
    let request = SetTriggeringRequest {
        request_header: before.client.header(),
        subscription_id: before.id,
        triggering_item_id: ids[0],
        links_to_add: vec![ids[1]],
        links_to_remove: Vec::new(),
    };
    let _: SetTriggeringResponse = before.client.call(request).unwrap();
    while !before.values().is_empty() {}
    let saved = server.saved_subscriptions(Saving::AtEnd).unwrap();

    let server = crate::common::server();
    let [trigger, linked] = [0_u32, 0].map(Value::stored);
    assert_eq!(variable(&server, "Trigger", &trigger), nodes[0]);
    assert_eq!(variable(&server, "Linked", &linked), nodes[1]);
    assert_eq!(server.restore_subscriptions(&saved).unwrap(), 1);
    let mut after = Subscriber::new(&server);
    assert_eq!(
        take_over(&mut after, before.id).status_code,
        StatusCode::Good
    );
    let gone = after.changes();
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert_eq!(
        (gone[0].0, gone[0].1.status_code()),
        (3, StatusCode::BadNodeIdUnknown)
    );
    set(&linked, 5_u32);
    assert!(after.values().is_empty());
    set(&trigger, 1_u32);
    // With the value that the linked item had sampled at the first server.
    let expected = [(1, 1_u32), (2, 0), (2, 5)].map(|(handle, value)| (handle, value.into()));
    assert_eq!(after.values(), expected);
}

/// A server with a Variable `Level` in each of these namespaces.
fn server_of_levels(uris: [&str; 2], values: [&Value; 2]) -> (Arc<Server>, [NodeId; 2]) {
    let server = builder().namespace(uris[0]).namespace(uris[1]);
    let server = server.build().unwrap();
    let nodes = [2, 3].map(|namespace| NodeId::string(namespace, "Level"));
    for (node, value) in nodes.iter().zip(values) {
        let space = server.address_space();
        let variable = space.add_variable("Level").node_id(node.clone());
        variable.value(value.clone()).add().unwrap();
    }
    (server, nodes)
}

#[test]
fn items_follow_their_namespaces_and_never_name_another_node() {
    let tag = |namespace| Variant::from(NodeId::numeric(namespace, 5));
    let (one, two) = (Value::stored(1_u32), Value::stored(tag(3)));
    let (server, [of_one, of_two]) = server_of_levels(["urn:one", "urn:two"], [&one, &two]);
    let mut before = Subscriber::new(&server);
    assert_eq!(set_durable(&mut before, 1), Ok(1_u32.into()));
    before.watch(&of_one, 1, 10);
    before.watch(&of_two, 2, 10);
    // One message is not acknowledged, and one value is queued.
    assert_eq!(before.values(), [(1, 1_u32.into()), (2, tag(3))]);
    set(&two, NodeId::numeric(2, 5));
    let saved = server.saved_subscriptions(Saving::AtEnd).unwrap();

    // The model is another one: `urn:one` is gone, and the NodeIds of both items name other nodes.
    let (two, three) = (Value::stored(20_u32), Value::stored(30_u32));
    let (server, _) = server_of_levels(["urn:two", "urn:three"], [&two, &three]);
    assert_eq!(server.restore_subscriptions(&saved).unwrap(), 1);
    let mut after = Subscriber::new(&server);
    let id = before.id;
    assert_eq!(take_over(&mut after, id).status_code, StatusCode::Good);
    let request = RepublishRequest {
        request_header: after.client.header(),
        subscription_id: id,
        retransmit_sequence_number: 1,
    };
    let repeated: RepublishResponse = after.client.call(request).unwrap();
    let data = &repeated.notification_message.notification_data[0];
    let data: DataChangeNotification = data.decode_as().unwrap();
    assert_eq!(data.monitored_items[1].value.value, Some(tag(2)));

    set(&three, 31_u32);
    set(&two, 21_u32);
    let mut received = Vec::new();
    for _ in 0..5 {
        received.extend(after.changes());
    }
    let of = |handle: u32| -> Vec<&DataValue> {
        let of_item = received.iter().filter(|(item, _)| *item == handle);
        of_item.map(|(_, value)| value).collect()
    };
    let gone: Vec<_> = of(1).iter().map(|value| value.status_code()).collect();
    assert_eq!(gone, [StatusCode::BadNodeIdUnknown]);
    let values: Vec<_> = of(2).iter().map(|value| value.value.clone()).collect();
    let unknown = NodeId::numeric(u16::MAX, 5);
    let expected = [unknown.into(), 21_u32.into()];
    assert_eq!(values, expected.map(Some));
}

//! Cost of sampling: the budget, slices, and Sessions without a channel.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::common::builder;
use takt_services::{ServerBudgets, SubscriptionBudgets};

/// Returns a server with a sampling budget in units per second.
fn server_with(max_sampling_load: u32) -> Arc<Server> {
    let subscriptions = SubscriptionBudgets {
        max_sampling_load,
        ..SubscriptionBudgets::default()
    };
    let budgets = ServerBudgets {
        subscriptions,
        ..ServerBudgets::default()
    };
    builder().budgets(budgets).build().unwrap()
}

fn sampled(node_id: &NodeId, handle: u32, interval: f64) -> MonitoredItemCreateRequest {
    let mut item = item(node_id, handle, 1);
    item.requested_parameters.sampling_interval = interval;
    item
}

fn stored(server: &Server, name: &str) -> NodeId {
    variable(server, name, &Value::stored(1_u32))
}

/// Returns the total sampling rate of results, in samples per second.
fn rate(results: &[MonitoredItemCreateResult]) -> f64 {
    let intervals = results.iter();
    intervals
        .map(|result| 1000.0 / result.revised_sampling_interval)
        .sum()
}

#[test]
fn items_beyond_the_budget_get_longer_intervals() {
    let server = server_with(10_000);
    let node = stored(&server, "a");
    let mut greedy = Subscriber::new(&server);
    let mut all = Vec::new();
    for _ in 0..20 {
        let items = (0..500).map(|handle| sampled(&node, handle, 1.0)).collect();
        all.extend(greedy.monitor(items).unwrap());
    }
    assert!(all.iter().all(|result| result.status_code.is_good()));
    assert!(rate(&all) <= 5001.0, "half of the budget: {}", rate(&all));
    assert!(rate(&all) > 4900.0, "and not less: {}", rate(&all));
    // The load is rounded up for each item.
    assert!(server.sampling_load() <= 5012, "{}", server.sampling_load());
    // Another Session still gets a part of the budget.
    let mut modest = Subscriber::new(&server);
    let created = modest.monitor(vec![sampled(&node, 1, 1.0)]).unwrap();
    assert_eq!(created[0].revised_sampling_interval, 1.0);
    // An item that is modified without a change keeps its interval.
    let first = all[0].revised_sampling_interval;
    let request = ModifyMonitoredItemsRequest {
        request_header: greedy.client.header(),
        subscription_id: greedy.id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_modify: vec![MonitoredItemModifyRequest {
            monitored_item_id: all[0].monitored_item_id,
            requested_parameters: sampled(&node, 1, first).requested_parameters,
        }],
    };
    let modified: ModifyMonitoredItemsResponse = greedy.client.call(request).unwrap();
    assert_eq!(modified.results[0].revised_sampling_interval, first);
    // The whole load is given back.
    for subscriber in [&mut greedy, &mut modest] {
        let request = DeleteSubscriptionsRequest {
            request_header: subscriber.client.header(),
            subscription_ids: vec![subscriber.id],
        };
        let deleted: DeleteSubscriptionsResponse = subscriber.client.call(request).unwrap();
        assert_eq!(deleted.results, [StatusCode::Good]);
    }
    assert_eq!(server.sampling_load(), 0);
}

#[test]
fn deleted_and_modified_items_give_their_part_back() {
    let server = server_with(100_000);
    let node = stored(&server, "a");
    let mut subscriber = Subscriber::new(&server);
    let items = vec![sampled(&node, 1, 10.0), sampled(&node, 2, 10.0)];
    let created = subscriber.monitor(items).unwrap();
    assert_eq!(server.sampling_load(), 200);
    let request = ModifyMonitoredItemsRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_modify: vec![MonitoredItemModifyRequest {
            monitored_item_id: created[0].monitored_item_id,
            requested_parameters: sampled(&node, 1, 100.0).requested_parameters,
        }],
    };
    let modified: ModifyMonitoredItemsResponse = subscriber.client.call(request).unwrap();
    assert_eq!(modified.results[0].revised_sampling_interval, 100.0);
    // 100 samples in a second for the second item, and 10 for the first one.
    assert_eq!(server.sampling_load(), 110);
    let request = DeleteMonitoredItemsRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        monitored_item_ids: vec![created[1].monitored_item_id],
    };
    let deleted: DeleteMonitoredItemsResponse = subscriber.client.call(request).unwrap();
    assert_eq!(deleted.results, [StatusCode::Good]);
    assert_eq!(server.sampling_load(), 10);
}

/// Returns a Variable whose samples are counted.
fn counted(server: &Server, name: &str) -> (NodeId, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let value = Value::callback(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        DataValue::good(1_u32)
    });
    (variable(server, name, &value), count)
}

#[test]
fn one_tick_samples_a_bounded_number_of_items() {
    let server = server_with(u32::MAX);
    let (node, count) = counted(&server, "a");
    let mut subscriber = Subscriber::new(&server);
    let items = (0..5000)
        .map(|handle| sampled(&node, handle, 100.0))
        .collect();
    subscriber.monitor(items).unwrap();
    let created = count.swap(0, Ordering::Relaxed);
    assert_eq!(created, 5000, "each item has a first value");
    // All items have been sampled at their creation for more than half a period by then.
    subscriber.now = Instant::now() + INTERVAL;
    server.tick(subscriber.now);
    let first = count.load(Ordering::Relaxed);
    assert!((1..=1000).contains(&first), "{first} samples in one slice");
    assert!(
        server.next_deadline().unwrap() <= subscriber.now,
        "the rest is due at once"
    );
    let slices = subscriber.catch_up();
    assert!(slices >= 4, "{slices} slices");
    let longest = server.longest_slice();
    let limit = u64::from(server.budgets().work_per_slice);
    assert!(longest > limit / 4 && longest <= limit, "{longest} units");
    assert_eq!(count.load(Ordering::Relaxed), 5000, "each item once");
}

#[test]
fn without_a_channel_items_without_queues_are_not_sampled() {
    let server = server_with(100_000);
    let (node, count) = counted(&server, "a");
    let mut subscriber = Subscriber::new(&server);
    subscriber.monitor(vec![sampled(&node, 1, 10.0)]).unwrap();
    subscriber.wait(1);
    assert!(count.swap(0, Ordering::Relaxed) > 0);
    // The channel is closed, the Session stays.
    let other = Client::connect(&server);
    let lost = std::mem::replace(&mut subscriber.client, other);
    let token = lost.token.clone();
    server.disconnect(lost.connection);
    subscriber.wait_for(Duration::from_millis(400));
    assert_eq!(count.load(Ordering::Relaxed), 0);
    // Sampling continues when the Session is activated for another channel.
    subscriber.client.token = token;
    subscriber.client.activate().unwrap();
    subscriber.wait(1);
    assert!(count.load(Ordering::Relaxed) > 0);
}

#[test]
fn without_a_channel_queues_are_filled() {
    let server = server_with(100_000);
    let (value, by_exception) = (Value::stored(1_u32), Value::stored(1_u32));
    let (value_id, exception_id) = (
        variable(&server, "a", &value),
        variable(&server, "b", &by_exception),
    );
    let mut subscriber = Subscriber::new(&server);
    let mut fast = sampled(&value_id, 1, 10.0);
    fast.requested_parameters.queue_size = 10;
    subscriber.monitor(vec![fast]).unwrap();
    subscriber.watch(&exception_id, 2, 3);
    subscriber.wait(1);
    let other = Client::connect(&server);
    let lost = std::mem::replace(&mut subscriber.client, other);
    let token = lost.token.clone();
    server.disconnect(lost.connection);
    for number in 2..10_u32 {
        set(&value, number);
        set(&by_exception, number);
        subscriber.wait_for(Duration::from_millis(50));
    }
    subscriber.client.token = token;
    subscriber.client.activate().unwrap();
    let changes = subscriber.values();
    let sampled: Vec<_> = changes
        .iter()
        .filter(|(handle, _)| *handle == 1)
        .map(|(_, value)| value.clone())
        .collect();
    // The values before the loss were not received either.
    assert!(
        sampled.ends_with(&[2_u32, 3, 4, 5, 6, 7, 8, 9].map(Variant::from)),
        "{sampled:?}"
    );
    let reported: Vec<_> = changes
        .iter()
        .filter(|(handle, _)| *handle == 2)
        .map(|(_, value)| value.clone())
        .collect();
    assert_eq!(reported, [7_u32, 8, 9].map(Variant::from));
}

#[test]
fn without_a_channel_the_lifetime_of_a_subscription_goes_on() {
    let server = server_with(100_000);
    let (node, count) = counted(&server, "a");
    let mut subscriber = Subscriber::new(&server);
    subscriber.monitor(vec![sampled(&node, 1, 10.0)]).unwrap();
    let other = Client::new(&server);
    let lost = std::mem::replace(&mut subscriber.client, other);
    server.disconnect(lost.connection);
    count.store(0, Ordering::Relaxed);
    assert!(server.sampling_load() > 0);
    // The shortest lifetime is 5 s, which are 50 publishing intervals.
    subscriber.wait(51);
    assert_eq!(count.load(Ordering::Relaxed), 0);
    assert_eq!(server.sampling_load(), 0, "the Subscription is gone");
}

#[test]
fn a_transferred_subscription_is_sampled_again() {
    let server = server_with(100_000);
    let (node, count) = counted(&server, "a");
    let mut subscriber = Subscriber::new(&server);
    subscriber.monitor(vec![sampled(&node, 1, 10.0)]).unwrap();
    let other = Client::new(&server);
    let lost = std::mem::replace(&mut subscriber.client, other);
    server.disconnect(lost.connection);
    subscriber.wait(2);
    count.store(0, Ordering::Relaxed);
    let request = TransferSubscriptionsRequest {
        request_header: subscriber.client.header(),
        subscription_ids: vec![subscriber.id],
        send_initial_values: false,
    };
    let transferred: TransferSubscriptionsResponse = subscriber.client.call(request).unwrap();
    assert!(transferred.results[0].status_code.is_good());
    subscriber.wait(1);
    assert!(count.load(Ordering::Relaxed) > 0);
}

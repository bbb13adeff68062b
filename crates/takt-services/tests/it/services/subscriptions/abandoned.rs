//! Subscriptions whose clients are gone: they cost no sampling, and make room for others.

use std::sync::atomic::{AtomicUsize, Ordering};

use takt_services::{ServerBudgets, SubscriptionBudgets};

use super::durable::{set_durable, take_over};
use super::*;
use crate::common::builder;

/// InfoBits of a value after which others are missing (OPC 10000-4, 7.39.1).
const OVERFLOW: u32 = 1 << 7 | 1 << 10;

fn server_with(budgets: ServerBudgets) -> Arc<Server> {
    builder().budgets(budgets).build().unwrap()
}

fn subscriptions(change: impl FnOnce(&mut SubscriptionBudgets)) -> ServerBudgets {
    let mut budgets = ServerBudgets::default();
    change(&mut budgets.subscriptions);
    budgets
}

/// Adds a Variable that counts its samples.
fn counted(server: &Server, name: &str) -> (NodeId, Arc<AtomicUsize>) {
    let count = Arc::<AtomicUsize>::default();
    let samples = Arc::clone(&count);
    let value = Value::callback(move || {
        let count = samples.fetch_add(1, Ordering::Relaxed);
        DataValue::good(u32::try_from(count).unwrap())
    });
    (variable(server, name, &value), count)
}

/// Closes the Session and leaves its Subscriptions.
fn leave(subscriber: &mut Subscriber) {
    let request = CloseSessionRequest {
        request_header: subscriber.client.header(),
        delete_subscriptions: false,
    };
    let _: CloseSessionResponse = subscriber.client.call(request).unwrap();
}

/// Closes the channel. Returns the token of the Session, which stays.
fn disconnect(subscriber: &mut Subscriber) -> NodeId {
    let other = Client::connect(&subscriber.server);
    let lost = std::mem::replace(&mut subscriber.client, other);
    subscriber.server.disconnect(lost.connection);
    subscriber.is_waiting = false;
    lost.token
}

/// Returns a Subscriber with a long lifetime.
fn long(server: &Arc<Server>) -> Subscriber {
    let mut subscriber = Subscriber::new(server);
    let request = DeleteSubscriptionsRequest {
        request_header: subscriber.client.header(),
        subscription_ids: vec![subscriber.id],
    };
    let created = subscriber.create(|request| request.requested_lifetime_count = 20_000);
    subscriber.id = created.unwrap().subscription_id;
    let _: DeleteSubscriptionsResponse = subscriber.client.call(request).unwrap();
    subscriber
}

/// Returns the changes of some intervals.
fn all_changes(subscriber: &mut Subscriber) -> Vec<(u32, DataValue)> {
    (0..4).flat_map(|_| subscriber.changes()).collect()
}

fn fast(node: &NodeId, handle: u32, queue_size: u32, interval: f64) -> MonitoredItemCreateRequest {
    let mut item = item(node, handle, queue_size);
    item.requested_parameters.sampling_interval = interval;
    item
}

/// Returns the InfoBits of an Overflow.
fn overflow(value: &DataValue) -> u32 {
    value.status.map_or(0, |status| status.0 & OVERFLOW)
}

#[test]
fn an_abandoned_subscription_is_not_sampled_until_it_has_a_client_again() {
    let server = crate::common::server();
    let (node, count) = counted(&server, "a");
    let value = Value::stored(1_u32);
    let stored = variable(&server, "b", &value);
    let constant = variable(&server, "c", &Value::stored(7_u32));
    let mut before = Subscriber::new(&server);
    before.monitor(vec![fast(&node, 1, 10, 10.0)]).unwrap();
    for (node, handle, queue_size) in [
        (&stored, 2, 10),
        (&stored, 3, 1),
        (&constant, 4, 10),
        (&constant, 5, 1),
    ] {
        before.watch(node, handle, queue_size);
    }
    all_changes(&mut before);
    leave(&mut before);
    count.store(0, Ordering::Relaxed);
    assert_eq!(server.sampling_load(), 0);
    set(&value, 2_u32);
    set(&value, 3_u32);
    let mut ticks = 0;
    for _ in 0..100 {
        before.now += Duration::from_millis(10);
        ticks += before.catch_up();
    }
    assert_eq!(count.load(Ordering::Relaxed), 0);
    // The memory of Sessions is looked at each 100 ms, and nothing else happens.
    assert!(ticks <= 12, "{ticks}");

    let mut after = Subscriber::new(&server);
    after.now = before.now;
    assert!(take_over(&mut after, before.id).status_code.is_good());
    after.id = before.id;
    let changes = all_changes(&mut after);
    let of = |handle: u32| -> Vec<_> {
        let all = changes.iter().filter(|(it, _)| *it == handle);
        all.map(|(_, value)| (value.value.clone().unwrap(), overflow(value)))
            .collect()
    };
    // Not 2: the client is told that something is missing.
    assert_eq!(of(2), [(3_u32.into(), OVERFLOW)]);
    assert_eq!(of(3), [(3_u32.into(), 0)]);
    assert_eq!(of(4), [(7_u32.into(), OVERFLOW)]);
    assert_eq!(of(5), []);
    assert!(count.load(Ordering::Relaxed) > 0 && server.sampling_load() > 0);
    set(&value, 4_u32);
    let next = all_changes(&mut after);
    let next = next.iter().filter(|(handle, _)| [2, 3].contains(handle));
    let next: Vec<_> = next.map(|(_, value)| overflow(value)).collect();
    assert_eq!(next, [0, 0], "later values are complete");
}

#[test]
fn an_abandoned_subscription_ends_with_its_lifetime() {
    let server = crate::common::server();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut before = Subscriber::new(&server);
    before.watch(&node, 1, 10);
    leave(&mut before);
    let mut after = Subscriber::new(&server);
    after.now = before.now;
    // The lifetime is 5 s, of which the client that takes it over gets all.
    after.wait_for(Duration::from_millis(4_500));
    assert!(take_over(&mut after, before.id).status_code.is_good());
    let own = std::mem::replace(&mut after.id, before.id);
    leave(&mut after);
    after.wait_for(Duration::from_millis(4_500));
    let mut last = Subscriber::new(&server);
    last.now = after.now;
    last.wait_for(Duration::from_millis(1_000));
    for id in [before.id, own] {
        let gone = take_over(&mut last, id).status_code;
        assert_eq!(gone, StatusCode::BadSubscriptionIdInvalid);
    }
}

#[test]
fn a_session_without_a_channel_loses_nothing_for_a_while() {
    let server = server_with(subscriptions(|budgets| {
        budgets.max_absence = Duration::from_secs(10);
    }));
    let (node, count) = counted(&server, "a");
    let mut subscriber = long(&server);
    subscriber
        .monitor(vec![fast(&node, 1, 100, 1000.0)])
        .unwrap();
    subscriber.wait(1);
    // Two seconds more in each round: the first one stays below the ten seconds, the second one does not.
    for (seconds, is_sampled) in [(7, true), (10, false)] {
        let token = disconnect(&mut subscriber);
        for _ in 0..seconds {
            subscriber.wait_for(Duration::from_secs(1));
        }
        count.store(0, Ordering::Relaxed);
        subscriber.wait_for(Duration::from_secs(2));
        assert_eq!(count.load(Ordering::Relaxed) > 0, is_sampled, "{seconds} s");
        assert_eq!(server.sampling_load() > 0, is_sampled);
        subscriber.client.token = token;
        subscriber.client.activate().unwrap();
        let changes = all_changes(&mut subscriber);
        let lost = changes.iter().any(|(_, value)| overflow(value) != 0);
        assert_eq!(lost, !is_sampled, "{changes:?}");
        assert!(server.sampling_load() > 0);
    }
}

#[test]
fn without_a_channel_there_is_no_publishing_timer() {
    let server = crate::common::server();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut subscriber = long(&server);
    let created = subscriber.create(|request| {
        request.requested_publishing_interval = 1.0;
        request.requested_lifetime_count = 10_000;
    });
    subscriber.id = created.unwrap().subscription_id;
    subscriber.watch(&node, 1, 1);
    all_changes(&mut subscriber);
    disconnect(&mut subscriber);
    let mut ticks = 0;
    for _ in 0..5_000 {
        subscriber.now += Duration::from_millis(1);
        ticks += subscriber.catch_up();
    }
    // Some for the Session.
    assert!(ticks < 20, "{ticks}");
    // The lifetime goes on.
    let mut other = Subscriber::new(&server);
    other.now = subscriber.now;
    // The lifetime is 10 000 intervals of 1 ms, and half of it is over.
    other.wait_for(Duration::from_millis(6_000));
    let ended = take_over(&mut other, subscriber.id).status_code;
    assert_eq!(ended, StatusCode::BadSubscriptionIdInvalid);
}

#[test]
fn clients_that_are_gone_leave_half_of_the_sampling_budget() {
    let server = server_with(subscriptions(|budgets| budgets.max_sampling_load = 1_000));
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut gone: Vec<Subscriber> = (0..8)
        .map(|_| {
            let mut subscriber = long(&server);
            for _ in 0..20 {
                let items = (0..100)
                    .map(|handle| fast(&node, handle, 10, 1.0))
                    .collect();
                subscriber.monitor(items).unwrap();
            }
            subscriber
        })
        .collect();
    assert!(server.sampling_load() > 900, "{}", server.sampling_load());
    for subscriber in &mut gone {
        disconnect(subscriber);
    }
    let mut new = Subscriber::new(&server);
    let created = new.monitor(vec![fast(&node, 1, 1, 10.0)]).unwrap();
    assert_eq!(created[0].revised_sampling_interval, 10.0);
}

/// Fills the memory that a Session may have with items. Returns their number.
fn fill(subscriber: &mut Subscriber, node: &NodeId) -> usize {
    let mut count = 0;
    loop {
        let items = (0..100).map(|handle| item(node, handle, 10)).collect();
        let created = subscriber.monitor(items).unwrap();
        let good = created.iter().filter(|one| one.status_code.is_good());
        let good = good.count();
        count += good;
        if good < 100 {
            return count;
        }
    }
}

fn small_server() -> (Arc<Server>, NodeId) {
    let server = server_with(ServerBudgets::default().with_memory(8 << 20));
    let node = variable(&server, "a", &Value::stored(1_u32));
    (server, node)
}

#[test]
fn abandoned_subscriptions_give_their_memory_to_others_the_oldest_first() {
    let (server, node) = small_server();
    let mut gone: Vec<Subscriber> = (0..10).map(|_| long(&server)).collect();
    let taken: Vec<usize> = gone.iter_mut().map(|one| fill(one, &node)).collect();
    assert!(taken[0] > 1_000, "{taken:?}");
    let used = server.memory_of_sessions().used();
    gone.iter_mut().for_each(leave);
    // Nobody needs it while nobody comes; only the part for newcomers is given back.
    let mut new = Subscriber::new(&server);
    new.now = gone.iter().map(|one| one.now).max().unwrap();
    new.wait(20);
    let limit = server.memory_of_sessions().limit();
    assert!(used > limit / 4 * 3, "{used} of {limit}");
    let left = server.memory_of_sessions().used();
    assert!(left < limit / 4 * 3, "{left} of {limit}");
    let first = take_over(&mut new, gone[0].id).status_code;
    assert_eq!(first, StatusCode::BadSubscriptionIdInvalid);
    // A newcomer gets as much as the first one in the end.
    let mut items = 0;
    for _ in 0..20 {
        items += fill(&mut new, &node);
        new.wait(1);
    }
    assert!(items > taken[0] / 2, "{items} of {}", taken[0]);
}

#[test]
fn subscriptions_with_a_client_never_make_room() {
    let (server, node) = small_server();
    let mut busy: Vec<Subscriber> = (0..10).map(|_| long(&server)).collect();
    let items: usize = busy.iter_mut().map(|one| fill(one, &node)).sum();
    let mut durable = long(&server);
    set_durable(&mut durable, 1).unwrap();
    let kept = fill(&mut durable, &node);
    assert!(kept > 0);
    leave(&mut durable);
    // A Session without a channel for a while is no reason either.
    disconnect(&mut busy[0]);
    let mut new = Subscriber::new(&server);
    let created = fill(&mut new, &node);
    assert!(created < items / 10, "{created} of {items}");
    new.wait_for(Duration::from_secs(2));
    assert!(take_over(&mut new, durable.id).status_code.is_good());
    for one in busy.iter_mut().skip(1) {
        one.send_publish(&[]).unwrap();
    }
    assert!(server.memory_of_sessions().available() < 1 << 20);
}

#[test]
fn small_requests_go_on_without_memory_for_large_ones() {
    let server = server_with(ServerBudgets::default().with_memory(8 << 20));
    let value = Value::stored(0_u32);
    let node = variable(&server, "a", &value);
    let mut modest: Vec<Subscriber> = (0..5).map(|_| long(&server)).collect();
    for one in &mut modest {
        one.watch(&node, 1, 1);
        all_changes(one);
    }
    let mut greedy: Vec<Subscriber> = (0..30).map(|_| long(&server)).collect();
    for one in &mut greedy {
        fill(one, &node);
    }
    let rest = server.memory_of_sessions().available();
    let _taken = server.memory_of_sessions().charge(rest).unwrap();
    let mut new = Client::connect(&server);
    new.create().unwrap();
    new.activate().unwrap();
    assert!(new.read_value(node).value.is_some());
    for number in 1..20_u32 {
        set(&value, number);
        for one in &mut modest {
            let changes = one.values();
            assert_eq!(changes, [(1, number.into())]);
        }
    }
    // Keep-alive messages, too.
    for one in &mut modest {
        one.send_publish(&[]).unwrap();
        one.wait(6);
        let published = one.published().unwrap().unwrap();
        assert!(published.notification_message.notification_data.is_empty());
    }
}

#[test]
fn abandoned_subscriptions_give_their_places_to_others() {
    let server = server_with(subscriptions(|budgets| {
        budgets.max_subscriptions = 4;
        budgets.max_monitored_items = 30;
    }));
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut gone: Vec<Subscriber> = (0..3).map(|_| Subscriber::new(&server)).collect();
    for one in &mut gone {
        let items = (0..10).map(|handle| item(&node, handle, 1)).collect();
        let created = one.monitor(items).unwrap();
        assert!(created.iter().all(|one| one.status_code.is_good()));
    }
    let mut new = Subscriber::new(&server);
    let refused = new.create(|_| {});
    assert_eq!(refused.unwrap_err(), StatusCode::BadTooManySubscriptions);
    let full = new.watch(&node, 1, 1).status_code;
    assert_eq!(full, StatusCode::BadTooManyMonitoredItems);
    gone.iter_mut().for_each(leave);
    assert!(new.watch(&node, 1, 1).status_code.is_good());
    assert!(new.create(|_| {}).is_ok());
    // The first one made room for the item, and none had to make room for the Subscription.
    let states: Vec<_> = gone.iter().map(|one| take_over(&mut new, one.id)).collect();
    let states: Vec<bool> = states.iter().map(|one| one.status_code.is_good()).collect();
    assert_eq!(states, [false, true, true]);
}

#[test]
fn a_subscription_without_its_client_lives_for_an_hour_at_most() {
    let server = crate::common::server();
    let mut subscriber = Subscriber::new(&server);
    let created = subscriber.create(|request| request.requested_lifetime_count = u32::MAX);
    // An hour has so many intervals of 100 ms.
    assert_eq!(created.unwrap().revised_lifetime_count, 36_000);
    let created = subscriber.create(|request| {
        request.requested_lifetime_count = u32::MAX;
        request.requested_publishing_interval = 1e9;
    });
    let created = created.unwrap();
    let millis = created.revised_publishing_interval * f64::from(created.revised_lifetime_count);
    assert_eq!(millis, 3_600_000.0);
}

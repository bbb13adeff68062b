//! The Subscription Service Set (OPC 10000-4, 5.14).

use takt_ua::enumerations::MessageSecurityMode;

use super::*;
use crate::common::{builder, server};
use takt_services::{ServerBudgets, SubscriptionBudgets};

#[test]
fn the_first_value_comes_with_the_first_interval_and_changes_with_the_next() {
    let server = server();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    assert_eq!(subscriber.watch(&node, 7, 10).status_code, StatusCode::Good);
    assert_eq!(subscriber.values(), [(7, Variant::from(1_u32))]);
    set(&value, 2_u32);
    set(&value, 3_u32);
    assert_eq!(
        subscriber.values(),
        [(7, Variant::from(2_u32)), (7, Variant::from(3_u32))],
        "every value that was set"
    );
}

#[test]
fn messages_are_numbered_kept_and_acknowledged() {
    let server = server();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 7, 10);
    let mut messages = Vec::new();
    for number in 2..5_u32 {
        subscriber.send_publish(&[]).unwrap();
        subscriber.wait(1);
        messages.push(subscriber.published().unwrap().unwrap());
        set(&value, number);
    }
    let numbers: Vec<u32> = messages
        .iter()
        .map(|message| message.notification_message.sequence_number)
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(messages[2].available_sequence_numbers, [1, 2, 3]);

    let republish = |subscriber: &mut Subscriber, number| {
        let request = RepublishRequest {
            request_header: subscriber.client.header(),
            subscription_id: subscriber.id,
            retransmit_sequence_number: number,
        };
        let response: Result<RepublishResponse, _> = subscriber.client.call(request);
        response.map(|response| response.notification_message)
    };
    assert_eq!(
        republish(&mut subscriber, 2).unwrap(),
        messages[1].notification_message
    );
    subscriber.send_publish(&[2, 9]).unwrap();
    subscriber.wait(1);
    let response = subscriber.published().unwrap().unwrap();
    assert_eq!(
        response.results,
        [StatusCode::Good, StatusCode::BadSequenceNumberUnknown]
    );
    assert_eq!(response.available_sequence_numbers, [1, 3, 4]);
    assert_eq!(
        republish(&mut subscriber, 2),
        Err(StatusCode::BadMessageNotAvailable)
    );
}

#[test]
fn keep_alives_are_sent_without_notifications() {
    let mut subscriber = Subscriber::new(&server());
    subscriber.send_publish(&[]).unwrap();
    subscriber.wait(1);
    let first = subscriber.published().unwrap().unwrap();
    assert!(first.notification_message.notification_data.is_empty());
    assert_eq!(first.notification_message.sequence_number, 1);
    subscriber.send_publish(&[]).unwrap();
    subscriber.wait(5);
    assert!(subscriber.published().is_none());
    subscriber.wait(1);
    let second = subscriber.published().unwrap().unwrap();
    assert_eq!(
        second.notification_message.sequence_number, 1,
        "nothing was sent in between"
    );
}

#[test]
fn a_late_subscription_answers_at_once() {
    let server = server();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 7, 10);
    subscriber.wait(2);
    subscriber.send_publish(&[]).unwrap();
    let response = subscriber.published().unwrap().unwrap();
    assert_eq!(changes(&response).len(), 1);
}

#[test]
fn notifications_beyond_one_message_follow_at_once() {
    let server = server();
    let value = Value::stored(0_u32);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    let few = subscriber
        .create(|create| create.max_notifications_per_publish = 4)
        .unwrap();
    subscriber.id = few.subscription_id;
    subscriber.watch(&node, 7, 100);
    for number in 1..10_u32 {
        set(&value, number);
    }
    subscriber.wait(1);
    for (count, more) in [(4, true), (4, true), (2, false)] {
        subscriber.send_publish(&[]).unwrap();
        let mut response = subscriber.published().unwrap().unwrap();
        if response.subscription_id != few.subscription_id {
            // The other Subscription is late, too.
            subscriber.send_publish(&[]).unwrap();
            response = subscriber.published().unwrap().unwrap();
        }
        assert_eq!(changes(&response).len(), count);
        assert_eq!(response.more_notifications, more);
    }
}

#[test]
fn the_highest_priority_is_served_first() {
    let server = server();
    let node = variable(&server, "a", &Value::stored(0_u32));
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 1, 1);
    let urgent = subscriber.create(|create| create.priority = 200).unwrap();
    subscriber.wait(2);
    let mut order = Vec::new();
    for _ in 0..2 {
        subscriber.send_publish(&[]).unwrap();
        order.push(subscriber.published().unwrap().unwrap().subscription_id);
    }
    assert_eq!(order, [urgent.subscription_id, subscriber.id]);
}

#[test]
fn publish_requests_without_subscriptions_are_answered_at_once() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    subscriber.send_publish(&[]).unwrap();
    let request = DeleteSubscriptionsRequest {
        request_header: subscriber.client.header(),
        subscription_ids: vec![subscriber.id, 999],
    };
    let deleted: DeleteSubscriptionsResponse = subscriber.client.call(request).unwrap();
    assert_eq!(
        deleted.results,
        [StatusCode::Good, StatusCode::BadSubscriptionIdInvalid]
    );
    assert_eq!(
        subscriber.published(),
        Some(Err(StatusCode::BadNoSubscription))
    );
    assert_eq!(
        subscriber.send_publish(&[]),
        Err(StatusCode::BadNoSubscription)
    );
}

#[test]
fn too_many_publish_requests_displace_the_oldest() {
    let budgets = ServerBudgets {
        subscriptions: SubscriptionBudgets {
            max_publish_requests: 2,
            ..SubscriptionBudgets::default()
        },
        ..ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut subscriber = Subscriber::new(&server);
    for _ in 0..3 {
        subscriber.send_publish(&[]).unwrap();
    }
    let (id, response) = subscriber.client.connection.take_completed().unwrap();
    // The ids of a Subscriber's requests begin with 101.
    assert_eq!(id, 101);
    assert_eq!(
        decode::<PublishResponse>(&response),
        Err(StatusCode::BadTooManyPublishRequests)
    );
    assert!(subscriber.published().is_none());
}

#[test]
fn a_lifetime_without_publish_requests_ends_it() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    let second = subscriber.create(|_| {}).unwrap().subscription_id;
    // The shortest lifetime is 5 s.
    for _ in 0..24 {
        subscriber.wait(2);
        // A request that names a Subscription begins its lifetime anew; only the first one is left alone.
        let request = SetPublishingModeRequest {
            request_header: subscriber.client.header(),
            publishing_enabled: true,
            subscription_ids: vec![second],
        };
        let _: SetPublishingModeResponse = subscriber.client.call(request).unwrap();
    }
    subscriber.wait(3);
    subscriber.send_publish(&[]).unwrap();
    let ended = subscriber.published().unwrap().unwrap();
    assert_eq!(ended.subscription_id, subscriber.id);
    assert_eq!(status_change(&ended), StatusCode::BadTimeout);
    subscriber.send_publish(&[]).unwrap();
    let other = subscriber.published().unwrap().unwrap();
    assert_eq!(other.subscription_id, second);
    let node = NodeId::from(takt_ua::ids::SERVER_SERVICE_LEVEL);
    let items = vec![item(&node, 1, 1)];
    let gone = Err(StatusCode::BadSubscriptionIdInvalid);
    assert_eq!(subscriber.monitor(items), gone);
}

#[test]
fn closing_the_session_answers_and_deletes() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    subscriber.send_publish(&[]).unwrap();
    let request = CloseSessionRequest {
        request_header: subscriber.client.header(),
        delete_subscriptions: true,
    };
    let _: CloseSessionResponse = subscriber.client.call(request).unwrap();
    assert_eq!(
        subscriber.published(),
        Some(Err(StatusCode::BadSessionClosed))
    );
    assert_eq!(server.next_deadline(), None, "nothing is left to do");
}

#[test]
fn a_subscription_can_be_taken_over_by_another_session() {
    let server = server();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut old = Subscriber::new(&server);
    old.watch(&node, 7, 10);
    old.send_publish(&[]).unwrap();
    let mut new = Subscriber::new(&server);
    let transfer = |subscriber: &mut Subscriber, id| {
        let request = TransferSubscriptionsRequest {
            request_header: subscriber.client.header(),
            subscription_ids: vec![id, 999],
            send_initial_values: true,
        };
        let response: TransferSubscriptionsResponse = subscriber.client.call(request).unwrap();
        let results = response.results.into_iter();
        results.map(|result| result.status_code).collect::<Vec<_>>()
    };
    assert_eq!(
        transfer(&mut new, old.id),
        [StatusCode::Good, StatusCode::BadSubscriptionIdInvalid]
    );
    let told = old.published().unwrap().unwrap();
    assert_eq!(
        status_change(&told),
        StatusCode::GoodSubscriptionTransferred
    );
    assert_eq!(new.values().last(), Some(&(7, Variant::from(1_u32))));

    let mut stranger = Subscriber::of(Client::connect_as(&server, Some(4711)));
    assert_eq!(
        transfer(&mut stranger, old.id),
        [
            StatusCode::BadUserAccessDenied,
            StatusCode::BadSubscriptionIdInvalid
        ]
    );
}

#[test]
fn an_anonymous_user_without_security_takes_over_nothing() {
    let server = server();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let over_tcp = || Client::connect_over_tcp(&server, MessageSecurityMode::None);
    let mut old = Subscriber::of(over_tcp());
    old.watch(&node, 7, 10);
    let mut stranger = Subscriber::of(over_tcp());
    let taken = durable::take_over(&mut stranger, old.id);
    assert_eq!(taken.status_code, StatusCode::BadUserAccessDenied);
    // The Subscription stays where it is.
    assert_eq!(old.values(), [(7, Variant::from(1_u32))]);
}

#[test]
fn publishing_can_be_switched_off_and_on() {
    let server = server();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 7, 10);
    let mode = |subscriber: &mut Subscriber, publishing_enabled| {
        let request = SetPublishingModeRequest {
            request_header: subscriber.client.header(),
            publishing_enabled,
            subscription_ids: vec![subscriber.id],
        };
        let response: SetPublishingModeResponse = subscriber.client.call(request).unwrap();
        assert_eq!(response.results, [StatusCode::Good]);
    };
    mode(&mut subscriber, false);
    assert!(subscriber.changes().is_empty(), "a keep-alive");
    mode(&mut subscriber, true);
    assert_eq!(subscriber.values(), [(7, Variant::from(1_u32))]);
}

#[test]
fn parameters_are_revised() {
    let mut subscriber = Subscriber::new(&server());
    let created = subscriber
        .create(|create| {
            create.requested_publishing_interval = 0.0;
            create.requested_lifetime_count = 1;
            create.requested_max_keep_alive_count = 10;
        })
        .unwrap();
    assert_eq!(created.revised_publishing_interval, 1.0);
    assert_eq!(created.revised_max_keep_alive_count, 100, "100 ms");
    assert_eq!(created.revised_lifetime_count, 5_000, "5 s");
    let request = ModifySubscriptionRequest {
        request_header: subscriber.client.header(),
        subscription_id: created.subscription_id,
        requested_publishing_interval: 250.0,
        requested_lifetime_count: 100,
        requested_max_keep_alive_count: 20,
        ..ModifySubscriptionRequest::default()
    };
    let modified: ModifySubscriptionResponse = subscriber.client.call(request).unwrap();
    assert_eq!(modified.revised_publishing_interval, 250.0);
    assert_eq!(modified.revised_lifetime_count, 100);
}

#[test]
fn expired_publish_requests_are_answered_with_bad_timeout() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    subscriber.client.timeout_hint = 250;
    subscriber.send_publish(&[]).unwrap();
    subscriber.wait(1);
    assert!(subscriber.published().unwrap().is_ok());
    subscriber.send_publish(&[]).unwrap();
    subscriber.wait(3);
    assert_eq!(subscriber.published(), Some(Err(StatusCode::BadTimeout)));

    subscriber.client.timeout_hint = 0;
    subscriber.send_publish(&[]).unwrap();
    let request = CancelRequest {
        request_handle: subscriber.client.handle,
        request_header: subscriber.client.header(),
    };
    let cancelled: CancelResponse = subscriber.client.call(request).unwrap();
    assert_eq!(cancelled.cancel_count, 1);
    assert_eq!(
        subscriber.published(),
        Some(Err(StatusCode::BadRequestCancelledByClient))
    );
}

#[test]
fn the_deadline_is_the_next_interval() {
    let server = server();
    assert_eq!(server.next_deadline(), None);
    let before = Instant::now();
    let _subscriber = Subscriber::new(&server);
    let deadline = server.next_deadline().unwrap();
    assert!(deadline >= before + INTERVAL && deadline <= Instant::now() + INTERVAL);
}

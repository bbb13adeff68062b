//! Durable Subscriptions (OPC 10000-4, 5.14.9).

use takt_services::{ServerLimits, SubscriptionLimits};
use takt_ua::ids;

use super::*;
use crate::common::builder;

fn set_durable(subscriber: &mut Subscriber, hours: u32) -> Result<Variant, StatusCode> {
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

fn server_with(limits: SubscriptionLimits) -> Arc<Server> {
    let limits = ServerLimits {
        subscriptions: limits,
        ..ServerLimits::default()
    };
    builder().limits(limits).build().unwrap()
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
    let server = server_with(SubscriptionLimits {
        max_durable_subscriptions: 1,
        ..SubscriptionLimits::default()
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

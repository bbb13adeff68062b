//! SessionDiagnostics and SubscriptionDiagnostics (OPC 10000-5, 12.11, 12.12 and 12.15).

use takt_ua::binary::Decode;
use takt_ua::{Elements, Structure, Variant, ids};

use super::*;
use crate::common::builder;

const SUBSCRIPTIONS: u32 = ids::SERVER_SERVER_DIAGNOSTICS_SUBSCRIPTION_DIAGNOSTICS_ARRAY;
const SESSIONS: u32 =
    ids::SERVER_SERVER_DIAGNOSTICS_SESSIONS_DIAGNOSTICS_SUMMARY_SESSION_DIAGNOSTICS_ARRAY;

fn structures<S: Structure + for<'a> Decode<'a>>(value: DataValue) -> Vec<S> {
    let status = value.status_code();
    let Some(Variant::Array(array)) = value.value else {
        panic!("an array, not {status}");
    };
    let Elements::ExtensionObject(all) = array.elements else {
        panic!("structures");
    };
    all.iter().map(|one| one.decode_as().unwrap()).collect()
}

/// A client that still has the ids of an earlier run would otherwise find the Session or Subscription of another client under them
/// (OPC 10000-4, 5.14.2.2).
#[test]
fn sessions_and_subscriptions_of_each_run_have_other_ids() {
    let runs = [(); 2].map(|()| {
        let mut subscriber = Subscriber::new(&Server::builder("Test", "urn:test").build().unwrap());
        let second = subscriber.create(|_| {}).unwrap().subscription_id;
        let following = subscriber.id.wrapping_add(1).max(1);
        assert_eq!(second, following);
        let count =
            ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CUMULATED_SUBSCRIPTION_COUNT;
        assert_eq!(
            subscriber.client.read_value(count).value,
            Some(2_u32.into())
        );
        let sessions: Vec<SessionDiagnosticsDataType> =
            structures(subscriber.client.read_value(SESSIONS));
        (sessions[0].session_id.clone(), subscriber.id)
    });
    assert_ne!(runs[0].0, runs[1].0);
    assert_ne!(runs[0].1, runs[1].1);
}

#[test]
fn requests_of_each_session_are_counted() {
    let server = builder().build().unwrap();
    let mut other = Client::new(&server);
    let mut client = Client::new(&server);
    for _ in 0..3 {
        client.read_value(2258_u32);
    }
    let request_header = client.header();
    let nothing: Result<ReadResponse, _> = client.call(ReadRequest {
        request_header,
        ..ReadRequest::default()
    });
    assert!(nothing.is_err());
    let all: Vec<SessionDiagnosticsDataType> = structures(other.read_value(SESSIONS));
    let [first, second] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!(
        (
            first.read_count.total_count,
            first.total_request_count.total_count
        ),
        (1, 1)
    );
    assert_eq!(
        (
            second.read_count.total_count,
            second.read_count.error_count,
            second.total_request_count.total_count,
            second.total_request_count.error_count,
            second.write_count.total_count,
        ),
        (4, 1, 4, 1, 0)
    );
    assert!(second.client_connection_time <= second.client_last_contact_time);
    assert!(second.actual_session_timeout >= 1000.0);
}

#[test]
fn the_life_of_a_subscription_is_counted() {
    let server = builder().build().unwrap();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut observer = Client::new(&server);
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 1, 2);
    let mut disabled = item(&node, 2, 1);
    disabled.monitoring_mode = MonitoringMode::Disabled;
    subscriber.monitor(vec![disabled]).unwrap();
    subscriber.wait(1);
    for number in 2..6_u32 {
        set(&value, number);
        subscriber.wait_for(Duration::from_millis(10));
    }
    let received = subscriber.values().len();
    let mut of_engine = || -> SubscriptionDiagnosticsDataType {
        let mut all = structures(observer.read_value(SUBSCRIPTIONS));
        assert_eq!(all.len(), 1);
        all.remove(0)
    };
    let before = of_engine();
    assert_eq!(before.subscription_id, subscriber.id);
    assert_eq!(before.publishing_interval, 100.0);
    assert!(before.publishing_enabled);
    assert_eq!(
        (
            before.monitored_item_count,
            before.disabled_monitored_item_count
        ),
        (2, 1)
    );
    assert!(received > 0 && before.data_change_notifications_count >= 1);
    assert!(before.publish_request_count >= 1);
    assert_eq!(before.modify_count, 0);
    assert!(
        before.monitoring_queue_overflow_count >= 2,
        "four changes in one interval, and a queue of two: {before:?}"
    );
    let republish = RepublishRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        retransmit_sequence_number: 77,
    };
    let missing: Result<RepublishResponse, _> = subscriber.client.call(republish);
    assert_eq!(missing.unwrap_err(), StatusCode::BadMessageNotAvailable);
    for publishing_enabled in [false, true] {
        let request = SetPublishingModeRequest {
            request_header: subscriber.client.header(),
            publishing_enabled,
            subscription_ids: vec![subscriber.id],
        };
        let _: SetPublishingModeResponse = subscriber.client.call(request).unwrap();
    }
    let after = of_engine();
    assert_eq!(
        (
            after.republish_request_count,
            after.republish_message_count,
            after.enable_count,
            after.disable_count
        ),
        (1, 0, 1, 1)
    );
    let sessions: Vec<SessionDiagnosticsDataType> = structures(observer.read_value(SESSIONS));
    let of_session = sessions
        .iter()
        .find(|one| one.session_id == after.session_id);
    let of_session = of_session.unwrap();
    assert_eq!(
        (
            of_session.current_subscriptions_count,
            of_session.current_monitored_items_count,
            of_session.republish_count.error_count,
        ),
        (1, 2, 1)
    );
}

#[test]
fn diagnostics_can_be_monitored() {
    let server = builder().build().unwrap();
    let mut subscriber = Subscriber::new(&server);
    let mut sampled = item(&NodeId::from(SUBSCRIPTIONS), 1, 1);
    sampled.requested_parameters.sampling_interval = 50.0;
    subscriber.monitor(vec![sampled]).unwrap();
    subscriber.wait(5);
    let changes = subscriber.values();
    let (_, last) = changes.last().unwrap();
    let all: Vec<SubscriptionDiagnosticsDataType> = structures(DataValue::good(last.clone()));
    assert_eq!(all[0].monitored_item_count, 1, "sampled under the lock");
}

//! A Subscription whose connection is cut continues on another one, without a lost value.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::eventually;
use crate::support::relay::{PATIENCE, Relay, count, options, start};
use takt_app::{
    Client, ClientError, ClientOptions, MonitoredItemOptions, Subscription, SubscriptionOptions,
};
use takt_cell::Cell;
use takt_ua::{DateTime, NodeId, StatusCode, Variant, ids};

/// Returns the next values up to `last`. Errors of the connection are passed over.
fn values(subscription: &mut Subscription, last: f64) -> (Vec<f64>, usize) {
    let (mut values, mut errors) = (Vec::new(), 0);
    let begin = Instant::now();
    while values.last() != Some(&last) {
        assert!(begin.elapsed() < PATIENCE, "{values:?}");
        match subscription.next(Duration::from_millis(100)) {
            Ok(Some(change)) => match change.value.value {
                Some(Variant::Double(value)) => values.push(value),
                other => panic!("{other:?}"),
            },
            Ok(None) => {}
            Err(ClientError::Closed { .. }) => errors += 1,
            Err(error) => panic!("{error}"),
        }
    }
    (values, errors)
}

fn resumes(security: &str) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let cell = Arc::new(Cell::of(&Variant::Double(0.0)));
    let provider = start(directory.path(), &cell);
    let relay = Relay::start(&provider.endpoints()[1]);
    let client = Client::connect(&relay.endpoint, options(directory.path(), security)).unwrap();
    let first = client.epoch();
    let every = Duration::from_millis(10);
    let mut subscription = Subscription::create(
        client,
        SubscriptionOptions {
            publishing_interval: every,
            ..SubscriptionOptions::default()
        },
    )
    .unwrap();
    let item = MonitoredItemOptions {
        sampling_interval: every,
        queue_size: 100,
        ..MonitoredItemOptions::default()
    };
    subscription
        .monitor(&NodeId::string(1, "Count"), item)
        .unwrap();
    assert_eq!(values(&mut subscription, 0.0).0, [0.0]);
    for round in 0..3_u32 {
        let begin = round * 20;
        count(&cell, begin + 1..begin + 10);
        relay.cut();
        count(&cell, begin + 10..begin + 21);
        let expected: Vec<f64> = (begin + 1..begin + 21).map(f64::from).collect();
        let (values, errors) = values(&mut subscription, f64::from(begin + 20));
        assert_eq!(values, expected);
        assert_eq!(errors, 1, "the loss is reported once");
        assert!(subscription.client().is_connected());
    }
    assert_eq!(subscription.client().epoch(), first, "one session");
    assert_eq!(subscription.lost_messages(), 0);
}

#[test]
fn a_subscription_goes_on_after_its_connection_was_cut() {
    resumes("none");
}

#[test]
fn a_subscription_goes_on_over_a_secured_channel() {
    resumes("encrypt");
}

/// Clients whose connections are cut, and that are dropped then, leave no sessions behind but the last one, which the next client
/// with the same options closes.
#[test]
fn lost_connections_leave_no_sessions() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let cell = Arc::new(Cell::of(&Variant::Double(0.0)));
    let provider = start(directory.path(), &cell);
    let relay = Relay::start(&provider.endpoints()[1]);
    let shared = options(directory.path(), "none");
    for round in 0..6 {
        let mut client = Client::connect(&relay.endpoint, shared.clone()).unwrap();
        let sessions = client.read_good(&NodeId::from(
            ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SESSION_COUNT,
        ));
        assert_eq!(sessions.unwrap(), Variant::UInt32(1), "round {round}");
        if round % 2 == 0 {
            relay.cut();
            eventually("the end is noticed", || client.is_hung_up());
        } else {
            client.disconnect();
        }
    }
}

#[test]
fn a_session_that_the_server_has_lost_is_replaced() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let cell = Arc::new(Cell::of(&Variant::Double(7.0)));
    let provider = start(directory.path(), &cell);
    let relay = Relay::start(&provider.endpoints()[1]);
    let short = ClientOptions {
        // The server keeps a session for a second at least.
        session_timeout: Duration::from_millis(1),
        ..options(directory.path(), "none")
    };
    let client = Client::connect(&relay.endpoint, short).unwrap();
    let first = client.epoch();
    let mut subscription = Subscription::create(client, SubscriptionOptions::default()).unwrap();
    let node = NodeId::string(1, "Count");
    subscription
        .monitor(&node, MonitoredItemOptions::default())
        .unwrap();
    assert_eq!(values(&mut subscription, 7.0).0, [7.0]);
    let endpoint = &provider.endpoints()[1];
    let mut observer = Client::connect(endpoint, options(directory.path(), "none")).unwrap();
    relay.cut();
    eventually("the server has lost the session", || {
        let sessions = observer.read_good(&NodeId::from(
            ids::SERVER_SERVER_DIAGNOSTICS_SERVER_DIAGNOSTICS_SUMMARY_CURRENT_SESSION_COUNT,
        ));
        sessions.unwrap() == Variant::UInt32(1)
    });
    cell.set_f64(8.0, StatusCode::Good, DateTime::now())
        .unwrap();
    let (values, _) = values(&mut subscription, 8.0);
    assert_eq!(values, [8.0]);
    assert_eq!(subscription.client().epoch(), first + 1);
}

//! A cell that nobody sets any more is the last usable value for everybody: at its Provider, in its memory, at a registry that forwards,
//! mirrors and records it. In another process also while the Provider stands still as a whole.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_app::serve::ServeOptions;
use takt_app::{
    Client, CurrentValue, HistoryRange, MonitoredItemOptions, Provider, Subscription,
    SubscriptionOptions, Variable,
};
use takt_cell::Cell;
use takt_registry::{MirrorOptions, Registry, RegistryHistoryOptions, RegistryOptions};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant};

use crate::support::{PATIENCE, Process, client_options, connect, eventually, node, options};

const LAST: StatusCode = StatusCode::UncertainLastUsableValue;

/// Helper process, not a test of its own: sets its cells until it is killed.
#[test]
fn the_provider() {
    let Some(directory) = crate::support::provider_directory() else {
        return;
    };
    let cell = || Arc::new(Cell::of(&Variant::UInt64(0)).share().unwrap());
    let (watched, free) = (cell(), cell());
    watched.deadline(Duration::from_millis(50)).unwrap();
    let _provider = Provider::builder("Current")
        .without_registry()
        .variable(Variable::cell("Watched", &watched))
        .variable(Variable::cell("Free", &free))
        .serve(options(&directory))
        .start()
        .unwrap();
    println!("ready");
    for round in 1_u64.. {
        for cell in [&watched, &free] {
            let now = DateTime::now();
            cell.set_u64(round, StatusCode::Good, now).unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn status(current: &CurrentValue) -> StatusCode {
    current.read_scalar::<u64>().unwrap().1.status
}

#[test]
fn a_value_of_a_provider_that_stands_still_is_the_last_usable_one() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = Process::start("deadline::the_provider", directory.path());
    let mut client = connect(directory.path());
    let watched = client.current_value(&node("Watched")).unwrap().unwrap();
    let free = client.current_value(&node("Free")).unwrap().unwrap();
    for _ in 0..2 {
        eventually("the value is good", || status(&watched) == StatusCode::Good);
        provider.signal(Signal::STOP);
        eventually("all its threads stand still", || provider.is_stopped());
        eventually("the deadline is over", || status(&watched) == LAST);
        let value = watched.get().unwrap();
        assert_eq!(value.status, Some(LAST));
        assert!(value.value.is_some());
        // No request is sent: the Provider would not answer.
        let read = client.read_current(&watched, Duration::ZERO).unwrap();
        assert_eq!(read.status, Some(LAST));
        assert_eq!(status(&free), StatusCode::Good, "without a deadline");
        assert!(watched.is_alive());
        provider.signal(Signal::CONT);
    }
}

fn serve(directory: &Path) -> ServeOptions {
    options(&directory.join("runtime"))
}

fn client(directory: &Path, name: &str) -> Client {
    let endpoint = format!("opc.iox2://{name}").parse().unwrap();
    Client::connect(&endpoint, client_options(&directory.join("runtime"))).unwrap()
}

/// Follows a Variable by a Subscription.
fn follow(client: Client, node: &NodeId) -> Subscription {
    let every = Duration::from_millis(10);
    let options = SubscriptionOptions {
        publishing_interval: every,
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(client, options).unwrap();
    let item = MonitoredItemOptions {
        sampling_interval: every,
        ..MonitoredItemOptions::default()
    };
    subscription.monitor(node, item).unwrap();
    subscription
}

/// Waits for a change to this value and status.
fn expect(name: &str, subscription: &mut Subscription, value: f64, status: StatusCode) {
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < PATIENCE, "{name}: {value} {status:?}");
        let change = subscription.next(Duration::from_millis(100)).unwrap();
        let found = change.map(|change| (change.value.status_code(), change.value.value));
        if found == Some((status, Some(Variant::Double(value)))) {
            return;
        }
    }
}

#[test]
fn everybody_sees_that_a_cell_is_not_set_any_more() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let directory = directory.path();
    let cell = Arc::new(Cell::of(&Variant::Double(1.5)).share().unwrap());
    let provider = Provider::builder("Press")
        .registry("opc.iox2://SemanticRegistryServer")
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(Variable::cell("Level", &cell))
        .serve(serve(directory))
        .start()
        .unwrap();
    let mut endpoints = provider.endpoints().iter();
    let by_tcp = endpoints.find(|it| !it.is_shared_memory()).unwrap().clone();
    let mut serve = serve(directory);
    serve.security.certificates = Some(directory.join("pki"));
    let _registry = Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.join("registry.redb"),
        history: RegistryHistoryOptions {
            patterns: vec!["Press/*".to_owned()],
            interval: Duration::from_millis(20),
            ..RegistryHistoryOptions::default()
        },
        mirrors: vec![MirrorOptions {
            interval: Duration::from_millis(50),
            ..MirrorOptions::new("Copy", by_tcp).unwrap()
        }],
        serve,
        ..RegistryOptions::default()
    })
    .unwrap();
    eventually("the Provider registers", || provider.is_registered());
    let own = node("Level");
    let mut at_registry = client(directory, "SemanticRegistryServer");
    let mut found = |path: &str| {
        let mut node = None;
        eventually(path, || {
            node = at_registry.find(path).ok().map(|it| it.node_id.node_id);
            node.is_some()
        });
        node.unwrap()
    };
    let (forwarded, mirrored) = (found("Press/Level"), found("Copy/Press/Level"));
    let mut followers = [
        ("direct", "Press", &own),
        ("forwarded", "SemanticRegistryServer", &forwarded),
        ("mirrored", "SemanticRegistryServer", &mirrored),
    ]
    .map(|(name, server, node)| (name, follow(client(directory, server), node)));
    let mut direct = client(directory, "Press");
    let current = direct.current_value(&own).unwrap().unwrap();

    let set = |value: f64| {
        let now = DateTime::now();
        cell.set_f64(value, StatusCode::Good, now).unwrap();
    };
    for value in [2.5, 3.5] {
        set(value);
        for (name, follower) in &mut followers {
            expect(name, follower, value, StatusCode::Good);
        }
        cell.deadline(Duration::from_millis(20)).unwrap();
        for (name, follower) in &mut followers {
            expect(name, follower, value, LAST);
        }
        let good = |read: DataValue| (read.status_code(), read.value);
        let expected = (LAST, Some(Variant::Double(value)));
        assert_eq!(good(direct.read(&own).unwrap()), expected);
        assert_eq!(good(current.get().unwrap()), expected);
        assert_eq!(good(at_registry.read(&forwarded).unwrap()), expected);
        assert_eq!(good(at_registry.read(&mirrored).unwrap()), expected);
        // Sets from now on are not under time.
        cell.deadline(Duration::from_secs(3600)).unwrap();
    }
    set(4.5);
    // The history knows from when on the value was the last one, and that it is none any more.
    let all = HistoryRange {
        start: Some(DateTime(1)),
        end: Some(DateTime(i64::MAX)),
        ..HistoryRange::default()
    };
    let mut recorded = Vec::new();
    eventually("the history has all changes", || {
        let values = at_registry.history_raw(&forwarded, all).unwrap();
        recorded = values
            .iter()
            .map(|it| (it.value.clone(), it.status_code()))
            .collect();
        recorded.last() == Some(&(Some(Variant::Double(4.5)), StatusCode::Good))
    });
    let expected = [
        (2.5, StatusCode::Good),
        (2.5, LAST),
        (3.5, StatusCode::Good),
        (3.5, LAST),
    ];
    let expected = expected.map(|(value, status)| (Some(Variant::Double(value)), status));
    assert!(
        recorded.windows(4).any(|four| four == expected),
        "{recorded:?}"
    );
}

//! History of Events of a Provider: recorded, filtered, paged, and kept over a restart.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use takt_app::client::Client;
use takt_app::serve::ServeOptions;
use takt_app::{Attribute, ClientOptions, Event, EventQuery, HistoryRange, Provider, Variable};
use takt_ua::enumerations::{FilterOperator, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{ByteString, DateTime, ExtensionObject, NodeId, StatusCode, Variant, ids};

const PATIENCE: Duration = Duration::from_secs(30);

const SERVER: NodeId = NodeId::numeric(0, ids::SERVER);

const ALL: HistoryRange = HistoryRange {
    start: Some(DateTime(1)),
    end: Some(DateTime(i64::MAX)),
    limit: 0,
    bounds: false,
};

fn start(directory: &Path, has_history: bool) -> Provider {
    let builder = Provider::builder("Press")
        .without_registry()
        .variable(Variable::stored("Level", 0_i32))
        .serve(ServeOptions {
            runtime_directory: Some(directory.join("runtime")),
            ..ServeOptions::default()
        })
        .state_directory(directory.join("state"));
    let builder = match has_history {
        true => builder.historized_events(),
        false => builder,
    };
    builder.start().unwrap()
}

fn connect(directory: &Path) -> Client {
    let options = ClientOptions {
        runtime_directory: Some(directory.join("runtime")),
        ..ClientOptions::named("test")
    };
    Client::connect(&"opc.iox2://Press".parse().unwrap(), options).unwrap()
}

/// Reports Events with the severities 1 to `count`, all at the same time.
fn report(provider: &Provider, count: u16) -> DateTime {
    let time = DateTime::now();
    for severity in 1..=count {
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, provider.node_id("Level"))
            .source_name("Level")
            .severity(severity)
            .time(time)
            .message("high");
        assert!(provider.events().report(event));
    }
    time
}

fn severities(client: &mut Client, range: HistoryRange, query: &EventQuery) -> Vec<u16> {
    let events = client.history_events(&SERVER, range, query).unwrap();
    let severity = |fields: &Vec<Variant>| match fields.as_slice() {
        [Variant::UInt16(severity), ..] => *severity,
        other => panic!("{other:?}"),
    };
    events.iter().map(severity).collect()
}

fn recorded(client: &mut Client, count: usize) {
    let query = EventQuery::new(["Severity"]);
    let until = Instant::now() + PATIENCE;
    loop {
        let found = client.history_events(&SERVER, ALL, &query);
        if found.is_ok_and(|found| found.len() == count) {
            return;
        }
        assert!(Instant::now() < until, "{count} Events are not recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the Provider records.
fn notifier_bits(client: &mut Client, wanted: u8) {
    let until = Instant::now() + PATIENCE;
    loop {
        let bits = client
            .read_attribute(&SERVER, Attribute::EventNotifier)
            .unwrap();
        if bits.value == Some(Variant::Byte(wanted)) {
            return;
        }
        assert!(Instant::now() < until, "{bits:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn events_are_recorded_filtered_and_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let provider = start(directory.path(), true);
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b101);
    let time = report(&provider, 50);
    recorded(&mut client, 50);
    let query = EventQuery::new(["Severity", "Time", "Message", "SourceNode"]);
    let all: Vec<u16> = (1..=50).collect();
    assert_eq!(severities(&mut client, ALL, &query), all);
    let backwards = HistoryRange {
        start: ALL.end,
        end: ALL.start,
        ..ALL
    };
    let reversed: Vec<u16> = (1..=50).rev().collect();
    assert_eq!(severities(&mut client, backwards, &query), reversed);
    let newest = HistoryRange {
        start: None,
        limit: 3,
        ..ALL
    };
    assert_eq!(severities(&mut client, newest, &query), [50, 49, 48]);
    let before = HistoryRange {
        end: Some(time),
        ..ALL
    };
    assert_eq!(severities(&mut client, before, &query), [] as [u16; 0]);

    let high = query
        .clone()
        .compare("Severity", FilterOperator::GreaterThan, 47_u16);
    assert_eq!(severities(&mut client, ALL, &high), [48, 49, 50]);
    let first = client
        .history_events(&SERVER, ALL, &query)
        .unwrap()
        .remove(0);
    // All have the Time that was reported, although the store needs different ones.
    assert_eq!(first[1], Variant::from(time));
    assert_eq!(first[3], Variant::from(provider.node_id("Level")));

    drop((client, provider));
    let provider = start(directory.path(), true);
    let mut client = connect(directory.path());
    recorded(&mut client, 50);
    // A Time that the store has already.
    let late = Event::new(ids::SYSTEM_EVENT_TYPE, provider.node_id("Level"));
    assert!(provider.events().report(late.severity(900).time(time)));
    recorded(&mut client, 51);
    assert_eq!(provider.history_counts().lost, 0);
}

#[test]
fn pages_continue_and_points_are_bound_to_their_notifier() {
    let directory = tempfile::tempdir().unwrap();
    let provider = start(directory.path(), true);
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b101);
    report(&provider, 5);
    recorded(&mut client, 5);
    let details = ReadEventDetails {
        num_values_per_node: 2,
        start_time: DateTime(1),
        end_time: DateTime(i64::MAX),
        filter: EventQuery::new(["Severity"]).filter(),
    };
    let mut read = |node: NodeId, point: ByteString| {
        let response: HistoryReadResponse = client
            .call(HistoryReadRequest {
                history_read_details: ExtensionObject::from_structure(&details),
                timestamps_to_return: TimestampsToReturn::Neither,
                nodes_to_read: vec![HistoryReadValueId {
                    node_id: node,
                    continuation_point: point,
                    ..HistoryReadValueId::default()
                }],
                ..HistoryReadRequest::default()
            })
            .unwrap();
        let result = response.results.into_iter().next().unwrap();
        let events = result.history_data.decode_as::<HistoryEvent>();
        (
            result.status_code,
            result.continuation_point,
            events.map_or(0, |found| found.events.len()),
        )
    };
    let (status, point, count) = read(SERVER, ByteString::default());
    assert_eq!((status, count), (StatusCode::Good, 2));
    let (status, next, count) = read(SERVER, point.clone());
    assert_eq!((status, count), (StatusCode::Good, 2));
    let (status, ..) = read(SERVER, point);
    assert_eq!(status, StatusCode::BadContinuationPointInvalid, "used");
    let (status, end, count) = read(SERVER, next);
    assert_eq!((status, count, end.is_empty()), (StatusCode::Good, 1, true));
    let (status, ..) = read(NodeId::from(ids::OBJECTS_FOLDER), ByteString::default());
    assert_eq!(status, StatusCode::BadHistoryOperationUnsupported);
    let (status, ..) = read(NodeId::string(1, "Level"), ByteString::default());
    assert_eq!(status, StatusCode::BadHistoryOperationUnsupported);
}

#[test]
fn wrong_requests_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let provider = start(directory.path(), true);
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b101);
    report(&provider, 1);
    recorded(&mut client, 1);
    let mut status = |range: HistoryRange, query: &EventQuery| {
        let refused = client.history_events(&SERVER, range, query);
        refused.unwrap_err().status_code()
    };
    let query = EventQuery::new(["Severity"]);
    let no_end = HistoryRange { end: None, ..ALL };
    let invalid = StatusCode::BadHistoryOperationInvalid;
    assert_eq!(status(no_end, &query), invalid);
    let no_fields = EventQuery::default();
    assert_eq!(status(ALL, &no_fields), StatusCode::BadEventFilterInvalid);
    let no_type = query.of_type(NodeId::string(1, "none"));
    assert_eq!(status(ALL, &no_type), StatusCode::BadEventFilterInvalid);
    drop(client);
    drop(provider);

    let _provider = start(directory.path(), false);
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b001);
    let query = EventQuery::new(["Severity"]);
    let refused = client.history_events(&SERVER, ALL, &query).unwrap_err();
    assert_eq!(refused.status_code(), StatusCode::BadServiceUnsupported);
}

#[test]
fn the_registry_records_events_of_providers() {
    use takt_registry::{Registry, RegistryHistoryOptions, RegistryOptions};
    let directory = tempfile::tempdir().unwrap();
    let serve = ServeOptions {
        runtime_directory: Some(directory.path().join("runtime")),
        ..ServeOptions::default()
    };
    let _registry = Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.path().join("registry.redb"),
        history: RegistryHistoryOptions {
            events: vec!["Server".to_owned(), "Pr*".to_owned()],
            ..RegistryHistoryOptions::default()
        },
        serve: serve.clone(),
        ..RegistryOptions::default()
    })
    .unwrap();
    let provider = Provider::builder("Press")
        .variable(Variable::stored("Level", 0_i32))
        .serve(serve)
        .state_directory(directory.path().join("state"))
        .start()
        .unwrap();
    let options = ClientOptions {
        runtime_directory: Some(directory.path().join("runtime")),
        ..ClientOptions::named("test")
    };
    let registry = "opc.iox2://SemanticRegistryServer".parse().unwrap();
    let mut client = Client::connect(&registry, options).unwrap();
    let query = EventQuery::new(["Severity", "SourceName"]).compare(
        "SourceName",
        FilterOperator::Equals,
        "Press/test",
    );
    // Events before the registry subscribes to the Provider are not seen.
    let until = Instant::now() + PATIENCE;
    loop {
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, ids::SERVER)
            .source_name("Press/test")
            .severity(321);
        assert!(provider.events().report(event));
        let found = client.history_events(&SERVER, ALL, &query).unwrap();
        if let Some(fields) = found.first() {
            assert_eq!(fields[0], Variant::from(321_u16));
            break;
        }
        assert!(Instant::now() < until, "no Event is recorded");
        std::thread::sleep(Duration::from_millis(100));
    }
    // The Events about the Provider itself are recorded at its Object.
    let object = client.find("Press").unwrap().node_id.node_id;
    let bits = client.read_attribute(&object, Attribute::EventNotifier);
    assert_eq!(bits.unwrap().value, Some(Variant::Byte(0b101)));
    drop(provider);
    let query = EventQuery::new(["SourceName"]);
    let until = Instant::now() + PATIENCE;
    while client
        .history_events(&object, ALL, &query)
        .unwrap()
        .is_empty()
    {
        assert!(
            Instant::now() < until,
            "the end of the Provider is not recorded"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

const FOLDER: &str = "TAKT_TEST_EVENT_HISTORY";

/// The recording process: it runs only if the other test starts it.
#[test]
fn record_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let provider = start(Path::new(&folder), true);
    let mut client = connect(Path::new(&folder));
    notifier_bits(&mut client, 0b101);
    loop {
        let before = provider.history_counts().recorded;
        report(&provider, 10);
        // A reader sees durable Events only, and so does the number of records.
        while provider.history_counts().recorded < before + 10 {
            std::thread::sleep(Duration::from_millis(5));
        }
        println!("durable");
    }
}

#[test]
fn durable_events_survive_kill_9() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let directory = tempfile::tempdir().unwrap();
    let mut durable = 0;
    for round in 1..=3_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["record_until_killed", "--exact", "--nocapture"])
            .env(FOLDER, directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..round {
            let found = lines.any(|line| line.unwrap().contains("durable"));
            assert!(found, "the process records nothing");
            durable += 10;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let _provider = start(directory.path(), true);
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b101);
    let query = EventQuery::new(["Severity"]);
    let found = severities(&mut client, ALL, &query);
    assert!(found.len() >= durable, "{} of {durable}", found.len());
    // In the order of the reports; a process that was killed may have begun the next ten.
    for pair in found.windows(2) {
        assert!(pair[1] == pair[0] % 10 + 1 || pair[1] == 1, "{found:?}");
    }
}

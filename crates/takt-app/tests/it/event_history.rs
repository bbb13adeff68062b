//! History of Events of a Provider: recorded, filtered, paged, and kept over a restart.

use std::path::Path;
use std::time::{Duration, Instant};

use takt_app::client::Client;
use takt_app::serve::ServeOptions;
use takt_app::users::{User, UserFile, UserProof};
use takt_app::{
    Attribute, ClientOptions, Event, EventQuery, HistoryRange, HistoryStoreOptions, Identity,
    Provider, ProviderBuilder, Variable,
};
use takt_crypto::PasswordHash;
use takt_space::{RoleSet, UserRole};
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

/// A Provider without history of Events.
fn plain(directory: &Path) -> ProviderBuilder {
    Provider::builder("Press")
        .without_registry()
        .variable(Variable::stored("Level", 0_i32))
        .serve(serve(directory))
        .state_directory(directory.join("state"))
}

fn serve(directory: &Path) -> ServeOptions {
    ServeOptions {
        runtime_directory: Some(directory.join("runtime")),
        ..ServeOptions::default()
    }
}

fn start(directory: &Path) -> Provider {
    plain(directory).historized_events().start().unwrap()
}

fn connect(directory: &Path) -> Client {
    connect_to(directory, "opc.iox2://Press")
}

fn connect_to(directory: &Path, endpoint: &str) -> Client {
    let options = ClientOptions {
        runtime_directory: Some(directory.join("runtime")),
        ..ClientOptions::named("test")
    };
    Client::connect(&endpoint.parse().unwrap(), options).unwrap()
}

fn value(client: &mut Client, id: u32) -> Option<Variant> {
    let value = client.read_attribute(&NodeId::from(id), Attribute::Value);
    value.unwrap().value
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

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn recorded(client: &mut Client, count: usize) {
    let query = EventQuery::new(["Severity"]);
    eventually(&format!("{count} Events are recorded"), || {
        let found = client.history_events(&SERVER, ALL, &query);
        found.is_ok_and(|found| found.len() == count)
    });
}

/// Waits until the Provider records.
fn notifier_bits(client: &mut Client, wanted: u8) {
    eventually(&format!("EventNotifier is {wanted:#b}"), || {
        let bits = client.read_attribute(&SERVER, Attribute::EventNotifier);
        bits.unwrap().value == Some(Variant::Byte(wanted))
    });
}

#[test]
fn events_are_recorded_filtered_and_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let provider = start(directory.path());
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
    // The Time counts, not that of the record: one point in time has all Events, and nothing is a tick later.
    let at = |ticks| HistoryRange {
        start: Some(DateTime(time.0 + ticks)),
        end: Some(DateTime(time.0 + ticks)),
        ..ALL
    };
    assert_eq!(severities(&mut client, at(0), &query), all);
    assert_eq!(severities(&mut client, at(1), &query), [] as [u16; 0]);
    let backwards = HistoryRange {
        start: Some(time),
        end: Some(DateTime(time.0 - 1)),
        ..ALL
    };
    assert_eq!(severities(&mut client, backwards, &query), reversed);
    let from = HistoryRange {
        end: None,
        limit: 2,
        ..ALL
    };
    assert_eq!(severities(&mut client, from, &query), [1, 2]);

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
    let provider = start(directory.path());
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
    let provider = start(directory.path());
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
    let (status, ..) = read(NodeId::string(1, "none"), ByteString::default());
    assert_eq!(status, StatusCode::BadNodeIdUnknown);
    let (status, ..) = read(NodeId::from(ids::OBJECTS_FOLDER), ByteString::default());
    assert_eq!(status, StatusCode::BadHistoryOperationUnsupported);
    let (status, ..) = read(NodeId::string(1, "Level"), ByteString::default());
    assert_eq!(status, StatusCode::BadHistoryOperationUnsupported);
}

#[test]
fn wrong_requests_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let provider = start(directory.path());
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
    // A clause that is not valid is null, and the others are answered.
    let half = ReadEventDetails {
        start_time: DateTime(1),
        end_time: DateTime(2),
        filter: EventQuery::new(["Severity", ""]).filter(),
        ..ReadEventDetails::default()
    };
    let response = client.call(HistoryReadRequest {
        history_read_details: ExtensionObject::from_structure(&half),
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: vec![HistoryReadValueId {
            node_id: SERVER,
            ..HistoryReadValueId::default()
        }],
        ..HistoryReadRequest::default()
    });
    let result = response.unwrap().results.swap_remove(0);
    assert_eq!(result.status_code, StatusCode::GoodNoData);
    assert!(result.continuation_point.is_empty());
}

#[test]
fn only_a_server_that_records_events_says_so() {
    use takt_app::Recording;
    use takt_ua::ids::{
        HISTORY_SERVER_CAPABILITIES_ACCESS_HISTORY_EVENTS_CAPABILITY,
        HISTORY_SERVER_CAPABILITIES_MAX_RETURN_EVENT_VALUES,
    };
    const CAPABILITY: u32 = HISTORY_SERVER_CAPABILITIES_ACCESS_HISTORY_EVENTS_CAPABILITY;
    let directory = tempfile::tempdir().unwrap();
    let refusal = |client: &mut Client| {
        let refused = client.history_events(&SERVER, ALL, &EventQuery::new(["Severity"]));
        refused.unwrap_err().status_code()
    };
    let provider = plain(directory.path()).start().unwrap();
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b001);
    assert_eq!(refusal(&mut client), StatusCode::BadServiceUnsupported);
    drop((client, provider));

    let recording = Variable::stored("Other", 0_i32).historized(Recording::changes());
    let builder = plain(directory.path()).variable(recording);
    let provider = builder.start().unwrap();
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b001);
    assert_eq!(value(&mut client, CAPABILITY), Some(Variant::from(false)));
    let unsupported = StatusCode::BadHistoryOperationUnsupported;
    assert_eq!(refusal(&mut client), unsupported);
    drop((client, provider));

    let _provider = start(directory.path());
    let mut client = connect(directory.path());
    notifier_bits(&mut client, 0b101);
    assert_eq!(value(&mut client, CAPABILITY), Some(Variant::from(true)));
    let most = value(
        &mut client,
        HISTORY_SERVER_CAPABILITIES_MAX_RETURN_EVENT_VALUES,
    );
    assert_eq!(most, Some(Variant::from(10_000_u32)));
    let filter = client.find("Server/HistoricalEventFilter").unwrap();
    let filter = client.read_attribute(&filter.node_id.node_id, Attribute::Value);
    let Some(Variant::ExtensionObject(filter)) = filter.unwrap().value else {
        panic!("no filter");
    };
    let filter = filter.decode_as::<EventFilter>().unwrap();
    assert_eq!(filter.select_clauses.len(), 8);
}

#[test]
fn only_users_with_the_right_read_events() {
    use takt_registry::{Registry, RegistryHistoryOptions, RegistryOptions};
    let directory = tempfile::tempdir().unwrap();
    let users = directory.path().join("users");
    UserFile::new(users.clone(), RoleSet::default())
        .add(User {
            name: "anna".to_owned(),
            roles: "operator,engineer".parse().unwrap(),
            proof: UserProof::Password(PasswordHash::of(b"hammer").unwrap()),
        })
        .unwrap();
    let serve = || {
        let mut serve = serve(directory.path());
        serve.security.users = Some(users.clone());
        serve
    };
    let registry = Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.path().join("registry.redb"),
        history: RegistryHistoryOptions {
            events: vec!["Server".to_owned()],
            event_roles: Some(UserRole::SecurityAdmin.into()),
            ..RegistryHistoryOptions::default()
        },
        serve: serve(),
        ..RegistryOptions::default()
    })
    .unwrap();
    let provider = plain(directory.path())
        .endpoint("opc.tcp://127.0.0.1:0")
        .historized_events()
        .event_history_roles(UserRole::SecurityAdmin)
        .serve(serve())
        .start()
        .unwrap();
    let query = EventQuery::new(["Severity"]);
    let anna = Identity::UserName {
        name: "anna".to_owned(),
        password: "hammer".to_owned(),
    };
    for endpoints in [registry.endpoints(), provider.endpoints()] {
        for endpoint in endpoints {
            // The kernel names the Unix user of the server over both transports: it has all roles.
            let mut client = connect_to(directory.path(), &endpoint.to_string());
            notifier_bits(&mut client, 0b101);
            assert!(client.history_events(&SERVER, ALL, &query).is_ok());
        }
        let options = ClientOptions {
            identity: anna.clone(),
            runtime_directory: Some(directory.path().join("runtime")),
            ..ClientOptions::named("test")
        };
        let mut client = Client::connect(&endpoints[0], options).unwrap();
        notifier_bits(&mut client, 0b101);
        let read = client.history_events(&SERVER, ALL, &query);
        let denied = StatusCode::BadUserAccessDenied;
        assert_eq!(read.unwrap_err().status_code(), denied);
    }
}

/// Reports 600 Events of 2 KB with increasing Times after this one.
fn report_large(provider: &Provider, time: DateTime) {
    for number in 1..=600_u16 {
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, provider.node_id("Level"))
            .severity(number)
            .time(DateTime(time.0 + i64::from(number)))
            .message("high ".repeat(400));
        assert!(provider.events().report(event));
    }
}

#[test]
fn the_size_and_the_age_of_events_are_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let bounded = |name: &str, options: HistoryStoreOptions| {
        let directory = directory.path().join(name);
        let builder = plain(&directory).historized_events().history(options);
        let provider = builder.start().unwrap();
        let mut client = connect(&directory);
        notifier_bits(&mut client, 0b101);
        (provider, client)
    };
    let query = EventQuery::new(["Severity"]);
    let size = HistoryStoreOptions {
        max_size: 256 << 10,
        ..HistoryStoreOptions::default()
    };
    let (provider, mut client) = bounded("size", size);
    report_large(&provider, DateTime::now());
    eventually("all are recorded", || {
        provider.history_counts().recorded >= 600
    });
    let kept = severities(&mut client, ALL, &query);
    assert!((60..=130).contains(&kept.len()), "{kept:?}");
    let newest: Vec<u16> = (1..=600).skip(600 - kept.len()).collect();
    assert_eq!(kept, newest);
    drop((client, provider));

    let age = HistoryStoreOptions {
        max_age: Some(Duration::from_secs(3600)),
        ..HistoryStoreOptions::default()
    };
    let (provider, mut client) = bounded("age", age);
    report_large(&provider, DateTime(DateTime::now().0 - 72_000_000_000));
    // Old records are searched for at the first commit, and each 10 s.
    eventually("old Events are removed", || {
        report(&provider, 1);
        std::thread::sleep(Duration::from_millis(200));
        let counts = provider.history_counts();
        let left = severities(&mut client, ALL, &query);
        counts.recorded > 600 && left.len() < 100
    });
    assert_eq!(severities(&mut client, ALL, &query).last(), Some(&1));
}

#[test]
fn the_registry_records_events_of_providers() {
    use takt_registry::{Registry, RegistryHistoryOptions, RegistryOptions};
    let directory = tempfile::tempdir().unwrap();
    let serve = serve(directory.path());
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
    let provider = start(Path::new(&folder));
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
            .args([
                "event_history::record_until_killed",
                "--exact",
                "--nocapture",
            ])
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
    let _provider = start(directory.path());
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

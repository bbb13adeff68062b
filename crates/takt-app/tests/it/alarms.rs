//! Alarms of a Provider, and their Events at the registry.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{PATIENCE, client_options, eventually, options};
use takt_app::{
    Client, ClientError, Endpoint, EventNotification, EventQuery, LimitAlarm, Provider,
    Subscription, SubscriptionOptions, Variable,
};
use takt_registry::{Registry, RegistryOptions};
use takt_space::Event;
use takt_ua::enumerations::FilterOperator;
use takt_ua::{LocalizedText, NodeId, QualifiedName, StatusCode, Variant, ids};

pub(crate) const TEMPERATURE: &str = "Chamber/Temperature";

fn registry(directory: &Path) -> Registry {
    Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.join("registry.redb"),
        serve: options(directory),
        ..RegistryOptions::default()
    })
    .unwrap()
}

fn provider(directory: &Path) -> Provider {
    let provider = Provider::builder("Oven")
        .variable(Variable::stored(TEMPERATURE, 20.0).writable())
        .alarm(
            LimitAlarm::new("Chamber/Overtemperature", TEMPERATURE)
                .high(180.0, 500)
                .high_high(200.0, 900)
                .deadband(2.0)
                .needs_confirmation(),
        )
        .serve(options(directory))
        .state_directory(directory.join("state"))
        .start()
        .unwrap();
    eventually("it registers", || provider.is_registered());
    provider
}

pub(crate) fn connect(directory: &Path, name: &str) -> Client {
    let endpoint: Endpoint = format!("opc.iox2://{name}").parse().unwrap();
    Client::connect(&endpoint, client_options(directory)).unwrap()
}

/// Events of alarms at one server.
struct Watch(Subscription);

impl Watch {
    fn new(directory: &Path, name: &str) -> Self {
        let options = SubscriptionOptions {
            publishing_interval: Duration::from_millis(10),
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(connect(directory, name), options).unwrap();
        let query = EventQuery::new(["Message", "EventId", "AckedState/Id", "Retain", "Severity"])
            .condition_id()
            .of_type(ids::LIMIT_ALARM_TYPE)
            .compare("Severity", FilterOperator::GreaterThanOrEqual, 1_i32);
        subscription
            .monitor_events(&ids::SERVER.into(), query)
            .unwrap();
        Self(subscription)
    }

    /// Returns the next alarm whose Message begins so.
    fn next(&mut self, message: &str) -> EventNotification {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(event) = self.0.next_event(Duration::from_millis(100)).unwrap()
                && let Variant::LocalizedText(text) = &event.fields[0]
                && text.text.as_str().starts_with(message)
            {
                return event;
            }
        }
        panic!("no Event with the Message {message}");
    }

    fn respond(&mut self, method: u32, event: &EventNotification) -> Result<(), StatusCode> {
        let Variant::NodeId(condition) = &event.fields[5] else {
            panic!("no ConditionId: {event:?}");
        };
        let inputs = vec![event.fields[1].clone(), LocalizedText::from("seen").into()];
        let called = self
            .0
            .client()
            .call_method(condition, &NodeId::from(method), inputs);
        called
            .map(drop)
            .map_err(|error: ClientError| error.status_code())
    }
}

pub(crate) fn set(directory: &Path, value: f64) {
    let mut client = connect(directory, "Oven");
    client
        .write(&NodeId::string(1, TEMPERATURE), value.into())
        .unwrap();
}

#[test]
fn an_alarm_goes_through_its_life_at_the_provider_and_at_the_registry() {
    for name in ["Oven", "SemanticRegistryServer"] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let _registry = registry(directory);
        let _provider = provider(directory);
        let mut watch = Watch::new(directory, name);
        set(directory, 190.0);
        let high = watch.next("Chamber/Temperature 190.0 above limit 180");
        assert_eq!(
            high.fields[2..5],
            [false.into(), true.into(), 500_u16.into()]
        );
        assert_eq!(
            watch.respond(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE, &high),
            Ok(())
        );
        let acknowledged = watch.next("Acknowledged");
        assert_eq!(acknowledged.fields[2], true.into());
        let Variant::NodeId(condition) = &acknowledged.fields[5] else {
            panic!("no ConditionId");
        };
        let mut component = |name: &str| {
            let node = format!("Chamber/Overtemperature/{name}");
            let node = NodeId::string(condition.namespace, &node);
            watch.0.client().read_good(&node).unwrap()
        };
        assert_eq!(component("AckedState/Id"), true.into());
        assert!(matches!(component("ReceiveTime"), Variant::DateTime(_)));
        // The user, and not the registry that has forwarded the call.
        let user = std::fs::metadata(directory).unwrap().uid();
        let user = format!("unix-user={user}");
        assert_eq!(component("ClientUserId"), user.as_str().into());
        let again = watch.respond(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE, &high);
        assert_eq!(again, Err(StatusCode::BadConditionBranchAlreadyAcked));
        // A client that comes later, or has lost Events.
        let mut late = Watch::new(directory, name);
        late.0.refresh_conditions().unwrap();
        let refreshed = late.next("Acknowledged");
        assert_eq!(refreshed.fields, acknowledged.fields);
        set(directory, 100.0);
        let normal = watch.next("Chamber/Temperature 100.0 normal");
        assert_eq!(normal.fields[3], true.into(), "it is not confirmed");
        assert_eq!(
            watch.respond(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_CONFIRM, &acknowledged),
            Ok(())
        );
        assert_eq!(watch.next("Confirmed").fields[3], false.into());
    }
}

/// A Provider ends while its alarm is active, and comes back with a normal value: a client of the registry hears of the end, and
/// can still acknowledge what nobody has acknowledged.
#[test]
fn an_alarm_ends_with_a_restart_of_its_provider() {
    for is_acknowledged in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let _registry = registry(directory);
        let first = provider(directory);
        let mut watch = Watch::new(directory, "SemanticRegistryServer");
        let acknowledge = ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE;
        let confirm = ids::ACKNOWLEDGEABLE_CONDITION_TYPE_CONFIRM;
        set(directory, 190.0);
        let high = watch.next("Chamber/Temperature 190.0 above limit 180");
        if is_acknowledged {
            assert_eq!(watch.respond(acknowledge, &high), Ok(()));
            watch.next("Acknowledged");
            assert_eq!(watch.respond(confirm, &high), Ok(()));
            assert_eq!(watch.next("Confirmed").fields[3], true.into());
        }
        drop(first);
        let _second = provider(directory);
        let normal = watch.next("Chamber/Temperature");
        assert_eq!(normal.fields[4], 1_u16.into(), "{normal:?}");
        assert_eq!(normal.fields[3], (!is_acknowledged).into(), "{normal:?}");
        if !is_acknowledged {
            assert_eq!(watch.respond(acknowledge, &high), Ok(()));
            watch.next("Acknowledged");
            assert_eq!(watch.respond(confirm, &high), Ok(()));
            assert_eq!(watch.next("Confirmed").fields[3], false.into());
        }
    }
}

/// The registry subscribes to Events of its Providers when a first client does. The refresh of this client waits for that.
#[test]
fn the_first_refresh_at_the_registry_has_the_active_alarms() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let _registry = registry(directory);
    let _provider = provider(directory);
    let mut at_provider = Watch::new(directory, "Oven");
    set(directory, 190.0);
    let _ = at_provider.next("Chamber/Temperature 190.0 above limit 180");
    let mut watch = Watch::new(directory, "SemanticRegistryServer");
    watch.0.refresh_conditions().unwrap();
    let begin = Instant::now();
    let mut messages: Vec<String> = Vec::new();
    while messages.last().is_none_or(|last| !last.is_empty()) {
        assert!(begin.elapsed() < PATIENCE, "no end of the refresh");
        let event = watch.0.next_event(Duration::from_millis(100)).unwrap();
        let Some(event) = event else { continue };
        let marker = event.fields[5].is_empty();
        messages.push(match &event.fields[0] {
            Variant::LocalizedText(text) if !marker => text.text.as_str().to_owned(),
            // The begin, and later the end.
            _ if messages.is_empty() => "begin".to_owned(),
            _ => String::new(),
        });
    }
    let alarm = |message: &String| message.starts_with("Chamber/Temperature 190.0 above");
    assert!(messages.iter().any(alarm), "{messages:?}");
}

#[test]
fn events_of_the_application_reach_the_registry() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let _registry = registry(directory);
    let provider = provider(directory);
    let options = SubscriptionOptions::default();
    let client = connect(directory, "SemanticRegistryServer");
    let mut subscription = Subscription::create(client, options).unwrap();
    let query = EventQuery::new(["Message", "SourceNode"]).compare(
        "Severity",
        FilterOperator::Equals,
        333_i32,
    );
    subscription
        .monitor_events(&ids::SERVER.into(), query)
        .unwrap();
    let event = eventually_event(&mut subscription, || {
        let event = Event::new(
            ids::DEVICE_FAILURE_EVENT_TYPE,
            provider.node_id(TEMPERATURE),
        );
        provider
            .events()
            .report(event.severity(333).message("broken wire"));
    });
    assert_eq!(event.fields[0], LocalizedText::from("broken wire").into());
    let Variant::NodeId(source) = &event.fields[1] else {
        panic!("{event:?}");
    };
    let same = subscription.client().read_good(source).unwrap();
    assert_eq!(same, 20.0.into(), "the NodeId is that of the registry");
}

/// Reports Events until one arrives.
fn eventually_event(subscription: &mut Subscription, report: impl Fn()) -> EventNotification {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        report();
        if let Some(event) = subscription.next_event(Duration::from_millis(200)).unwrap() {
            return event;
        }
    }
    panic!("no Event arrives");
}

#[test]
fn the_node_of_an_alarm_has_the_fields_of_its_events() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let _registry = registry(directory);
    let _provider = provider(directory);
    for name in ["Oven", "SemanticRegistryServer"] {
        let mut client = connect(directory, name);
        let condition = client.find("Oven/Chamber/Overtemperature").unwrap();
        let condition = condition.node_id.node_id;
        let find = |client: &mut Client, path: &[&str]| {
            let names = path.iter().map(|name| QualifiedName::new(0, *name));
            client.translate(&condition, &names.collect::<Vec<_>>())
        };
        for (path, expected) in [
            (&["HighLimit"][..], Variant::from(180.0)),
            (&["HighHighLimit"], 200.0.into()),
            (&["ConfirmedState", "Id"], true.into()),
        ] {
            let node = find(&mut client, path).unwrap();
            assert_eq!(
                client.read_good(&node).unwrap(),
                expected,
                "{name} {path:?}"
            );
        }
        assert!(find(&mut client, &["LowLimit"]).is_err(), "it is not set");
        let mut watch = Watch::new(directory, name);
        set(directory, 190.0);
        let high = watch.next("Chamber/Temperature 190.0 above limit 180");
        set(directory, 100.0);
        let _ = watch.next("Chamber/Temperature 100.0 normal");
        let acknowledge = ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE;
        assert_eq!(watch.respond(acknowledge, &high), Ok(()));
        let acknowledged = watch.next("Acknowledged");
        let state = find(&mut client, &["ConfirmedState", "Id"]).unwrap();
        assert_eq!(client.read_good(&state).unwrap(), false.into());
        let confirm = find(&mut client, &["Confirm"]).unwrap();
        let inputs = vec![
            acknowledged.fields[1].clone(),
            LocalizedText::from("seen").into(),
        ];
        client.call_method(&condition, &confirm, inputs).unwrap();
        let _ = watch.next("Confirmed");
        assert_eq!(client.read_good(&state).unwrap(), true.into());
    }
}

#[test]
fn contradictions_of_an_alarm_are_refused() {
    let alarm = |alarm: LimitAlarm| {
        let builder = Provider::builder("Oven").variable(Variable::stored(TEMPERATURE, 20.0));
        let builder = builder.variable(Variable::stored("Name", "oven"));
        builder
            .alarm(alarm)
            .without_registry()
            .start()
            .err()
            .unwrap()
            .to_string()
    };
    let unknown = alarm(LimitAlarm::new("A", "Pressure").high(1.0, 1));
    assert!(unknown.contains("no Variable with this path"), "{unknown}");
    let text = alarm(LimitAlarm::new("A", "Name").high(1.0, 1));
    assert!(text.contains("is not a number"), "{text}");
    let crossed = alarm(LimitAlarm::new("A", TEMPERATURE).high(1.0, 1).low(2.0, 1));
    assert!(crossed.contains("order"), "{crossed}");
}

/// Fields of an Event of a shelved alarm.
const SHELVING: [&str; 5] = [
    "Message",
    "SuppressedOrShelved",
    "ShelvingState/CurrentState",
    "HighHighState/Id",
    "HighState/Id",
];

#[test]
fn operators_shelve_a_non_exclusive_alarm_at_the_provider_and_at_the_registry() {
    for name in ["Oven", "SemanticRegistryServer"] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let _registry = registry(directory);
        let provider = Provider::builder("Oven")
            .variable(Variable::stored(TEMPERATURE, 20.0).writable())
            .alarm(
                LimitAlarm::new("Chamber/Hot", TEMPERATURE)
                    .high(180.0, 500)
                    .high_high(200.0, 900)
                    .non_exclusive()
                    .shelvable(Duration::from_secs(3600)),
            )
            .serve(options(directory))
            .start()
            .unwrap();
        eventually("it registers", || provider.is_registered());
        let subscription = SubscriptionOptions {
            publishing_interval: Duration::from_millis(10),
            ..SubscriptionOptions::default()
        };
        let subscription = Subscription::create(connect(directory, name), subscription).unwrap();
        let mut watch = Watch(subscription);
        let query = EventQuery::new(SHELVING)
            .condition_id()
            .of_type(ids::NON_EXCLUSIVE_LIMIT_ALARM_TYPE);
        watch.0.monitor_events(&ids::SERVER.into(), query).unwrap();
        set(directory, 210.0);
        let active = watch.next("Chamber/Temperature 210.0 above limit 200");
        assert_eq!(active.fields[3..5], [true.into(), true.into()]);
        let Variant::NodeId(condition) = &active.fields[5] else {
            panic!("no ConditionId: {active:?}");
        };
        let own = condition.namespace;
        let node = |path: &str| NodeId::string(own, &format!("Chamber/Hot/{path}"));
        let machine = node("ShelvingState");
        let call = |object: &NodeId, method: u32, inputs: Vec<Variant>| {
            let called = connect(directory, name).call_method(object, &method.into(), inputs);
            called.map(drop).map_err(|error| error.status_code())
        };
        let timed = ids::SHELVED_STATE_MACHINE_TYPE_TIMED_SHELVE;
        assert_eq!(
            call(&machine, timed, vec![1e9.into()]),
            Err(StatusCode::BadShelvingTimeOutOfRange)
        );
        // Neither another Object nor the machine has Methods of each other.
        let acknowledge = ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE;
        assert_eq!(
            call(&machine, acknowledge, Vec::new()),
            Err(StatusCode::BadMethodInvalid)
        );
        assert_eq!(
            call(&ids::SERVER.into(), timed, vec![1000.0.into()]),
            Err(StatusCode::BadMethodInvalid)
        );
        assert_eq!(call(&machine, timed, vec![60_000.0.into()]), Ok(()));
        let shelved = watch.next("Shelved for a time");
        assert_eq!(shelved.fields[1], true.into());
        assert_eq!(
            shelved.fields[2],
            LocalizedText::from("Timed Shelved").into()
        );
        let read = |path: &str| connect(directory, name).read_good(&node(path)).unwrap();
        let left = read("ShelvingState/UnshelveTime").as_f64().unwrap();
        assert!((1.0..=60_000.0).contains(&left), "{left}");
        assert_eq!(read("HighHighState/Id"), true.into());
        assert_eq!(read("MaxTimeShelved"), 3_600_000.0.into());
        // The ConditionId stands for the machine, and the Methods of AlarmConditionType for those of the machine.
        let one_shot = 9212;
        assert_eq!(call(condition, one_shot, Vec::new()), Ok(()), "{name}");
        watch.next("Shelved until it is inactive");
        set(directory, 100.0);
        let normal = watch.next("Chamber/Temperature 100.0 normal");
        assert_eq!(
            normal.fields[1..4],
            [
                false.into(),
                LocalizedText::from("Unshelved").into(),
                false.into()
            ]
        );
        let unshelve = ids::SHELVED_STATE_MACHINE_TYPE_UNSHELVE;
        assert_eq!(
            call(&machine, unshelve, Vec::new()),
            Err(StatusCode::BadConditionNotShelved)
        );
        assert_eq!(call(condition, timed, vec![200.0.into()]), Ok(()));
        watch.next("Shelved for a time");
        assert_eq!(watch.next("Unshelved").fields[1], false.into());
    }
}

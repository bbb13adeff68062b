//! Alarms that end while the registry, or their Provider, is not running: clients that have seen them as active, and the history, get the
//! end.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::alarms::{TEMPERATURE, connect, set};
use crate::support::{PATIENCE, eventually, options};
use takt_app::{
    DateTime, EventQuery, HistoryRange, LimitAlarm, Provider, Subscription, SubscriptionOptions,
    Variable,
};
use takt_registry::{Registry, RegistryHistoryOptions, RegistryOptions};
use takt_ua::{LocalizedText, NodeId, Variant, ids};

const REGISTRY: &str = "SemanticRegistryServer";

fn registry(directory: &Path) -> Registry {
    Registry::start(RegistryOptions {
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        database: directory.join("registry.redb"),
        history: RegistryHistoryOptions {
            events: vec!["Server".to_owned()],
            ..RegistryHistoryOptions::default()
        },
        serve: options(directory),
        ..RegistryOptions::default()
    })
    .unwrap()
}

fn provider(directory: &Path) -> Provider {
    let provider = Provider::builder("Oven")
        .variable(Variable::stored(TEMPERATURE, 20.0).writable())
        .alarm(LimitAlarm::new("Chamber/Hot", TEMPERATURE).high(180.0, 500))
        .serve(options(directory))
        .state_directory(directory.join("state"))
        .start()
        .unwrap();
    eventually("it registers", || provider.is_registered());
    provider
}

/// The fields Retain, ActiveState/Id and EventId, and the ConditionId.
fn query() -> EventQuery {
    EventQuery::new(["Retain", "ActiveState/Id", "EventId"])
        .condition_id()
        .of_type(ids::LIMIT_ALARM_TYPE)
}

/// A client that follows alarms, over restarts of its server.
struct Display(Subscription);

impl Display {
    fn new(directory: &Path, name: &str) -> Self {
        let options = SubscriptionOptions {
            publishing_interval: Duration::from_millis(10),
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(connect(directory, name), options).unwrap();
        let server = NodeId::from(ids::SERVER);
        subscription.monitor_events(&server, query()).unwrap();
        subscription.refresh_conditions().unwrap();
        Self(subscription)
    }

    /// Waits until the last Event of the alarm has these Retain and ActiveState; returns its fields.
    fn wait_for(&mut self, what: &str, expected: [bool; 2]) -> Vec<Variant> {
        let begin = Instant::now();
        let expected = expected.map(Variant::from);
        loop {
            assert!(begin.elapsed() < PATIENCE, "{what}: never {expected:?}");
            // An error of the connection is one of a restart.
            match self.0.next_event(Duration::from_millis(100)) {
                Ok(Some(event)) if event.fields[..2] == expected => return event.fields,
                Ok(_) => {}
                Err(error) => {
                    assert!(error.is_connection(), "{what}: {error}");
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }
}

/// Lets an alarm become active and be acknowledged: it is not retained any more as soon as it ends.
fn activate(directory: &Path, displays: &mut [(&str, Display)]) {
    set(directory, 190.0);
    for (name, display) in displays.iter_mut() {
        display.wait_for(name, [true, true]);
    }
    let mut direct = Display::new(directory, "Oven");
    let fields = direct.wait_for("direct", [true, true]);
    let Variant::NodeId(condition) = &fields[3] else {
        panic!("{fields:?}");
    };
    let acknowledge = NodeId::from(ids::ACKNOWLEDGEABLE_CONDITION_TYPE_ACKNOWLEDGE);
    let inputs = vec![fields[2].clone(), LocalizedText::from("seen").into()];
    let client = direct.0.client();
    client.call_method(condition, &acknowledge, inputs).unwrap();
}

/// Waits until the last recorded Event of the alarm is its end.
fn expect_recorded_end(directory: &Path) {
    let all = HistoryRange {
        start: Some(DateTime(1)),
        end: Some(DateTime(i64::MAX)),
        ..HistoryRange::default()
    };
    let mut client = connect(directory, REGISTRY);
    let server = NodeId::from(ids::SERVER);
    eventually("the history has the end", || {
        let events = client.history_events(&server, all, &query()).unwrap();
        assert!(!events.is_empty());
        let last = events.last().map(|fields| fields[..2].to_vec());
        last == Some(vec![false.into(), false.into()])
    });
}

#[test]
fn an_alarm_ends_while_the_registry_is_restarted() {
    for provider_too in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let first = registry(directory);
        let mut oven = Some(provider(directory));
        let mut displays = [("registry", Display::new(directory, REGISTRY))];
        activate(directory, &mut displays);
        drop(first);
        match provider_too {
            true => oven = None,
            false => set(directory, 20.0),
        }
        let _second = registry(directory);
        let _oven = oven.unwrap_or_else(|| provider(directory));
        let [(name, display)] = &mut displays;
        display.wait_for(name, [false, false]);
        expect_recorded_end(directory);
        // A client that comes back later.
        let mut late = Display::new(directory, REGISTRY);
        late.wait_for("late", [false, false]);
        // The next time is as the first one.
        set(directory, 190.0);
        late.wait_for("late", [true, true]);
        display.wait_for(name, [true, true]);
    }
}

#[test]
fn an_alarm_ends_with_a_restart_of_its_provider_for_its_own_clients() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let _registry = registry(directory);
    let first = provider(directory);
    let mut displays = [("Oven", Display::new(directory, "Oven"))];
    activate(directory, &mut displays);
    drop(first);
    let _second = provider(directory);
    let [(name, display)] = &mut displays;
    display.wait_for(name, [false, false]);
}

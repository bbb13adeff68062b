//! Events with foreign products: their clients monitor, acknowledge, refresh, confirm and shelve an alarm of a Provider, at the Provider and
//! through the registry; `takt watch --events` shows Events of their servers.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_tests::binary::repository;
use takt_tests::interop::{Checker, Role, passed};
use takt_tests::process::Process;
use takt_tests::sandbox::{Provider, Registry};
use takt_tests::{Peer, PeerClient, PeerServer, Sandbox};

/// Time limit of each step on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Path of the alarm of the Provider `machine`.
const ALARM: &str = "Spindle/Overtemperature";

fn asyncua() -> Command {
    let mut command = Command::new(repository().join(".cache/venv/bin/python"));
    command.arg(repository().join("peers/asyncua/events.py"));
    command
}

fn node_opcua() -> Command {
    let mut command = Command::new("node");
    command.arg(repository().join("peers/node/events.js"));
    command
}

/// Heats the spindle until its alarm is active.
fn heat(sandbox: &Sandbox, provider: &Provider) {
    let machine = provider.shared_memory();
    for arguments in [
        ["write", &machine, "Spindle/SpeedSetpoint", "12000"].as_slice(),
        &["write", &machine, "Spindle/Override", "120"],
        &["call", &machine, "Start"],
    ] {
        let _ = sandbox.run(arguments).expect_success();
    }
}

/// Runs a client through all steps, with the alarm of a Provider at this endpoint.
fn client_handles_an_alarm(peer: Peer, command: Command, through_registry: bool) {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let provider = Provider::start(&sandbox, &registry, "machine");
    let endpoint = match through_registry {
        true => &registry.endpoint,
        false => &provider.endpoint,
    };
    let condition = match through_registry {
        true => {
            let path = format!("{}/Spindle", provider.name);
            let mut node = None;
            for _ in 0..100 {
                let rows = sandbox.run(&["browse", &registry.shared_memory(), &path]);
                node = rows
                    .stdout
                    .split_whitespace()
                    .find(|word| word.ends_with(&format!("s={ALARM}")))
                    .map(str::to_owned);
                if node.is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            node.expect("the registry shows the alarm")
        }
        false => format!("ns=1;s={ALARM}"),
    };
    let mut command = command;
    command.args(["client", endpoint, &condition]);
    let mut client = Process::spawn("the foreign client", &mut command);
    let mut step = |name: &str| {
        let wanted = format!("\"{name}\"");
        client.wait_for(name, PATIENCE, |line| {
            line.contains("\"step\"") && line.contains(&wanted)
        })
    };
    step("subscribed");
    heat(&sandbox, &provider);
    step("active");
    step("acknowledged");
    let again: Value = serde_json::from_str(&step("again")).unwrap();
    assert_eq!(again["status"], "BadConditionBranchAlreadyAcked");
    step("refreshed");
    step("confirmed");
    let shelved: Value = serde_json::from_str(&step("shelved")).unwrap();
    let left = shelved["left"].as_f64().unwrap();
    // Longer than the client waits: only Unshelve ends it in time.
    assert!((100_000.0..=600_000.0).contains(&left), "{shelved}");
    step("unshelved");
    let _ = client.finish(PATIENCE).expect_success();
    if through_registry {
        passed(peer.name(), Role::Client, "event");
    }
}

#[test]
fn asyncua_handles_an_alarm_of_a_provider() {
    client_handles_an_alarm(Peer::Asyncua, asyncua(), false);
}

#[test]
fn asyncua_handles_an_alarm_through_the_registry() {
    client_handles_an_alarm(Peer::Asyncua, asyncua(), true);
}

#[test]
fn node_opcua_handles_an_alarm_of_a_provider() {
    client_handles_an_alarm(Peer::NodeOpcua, node_opcua(), false);
}

#[test]
fn node_opcua_handles_an_alarm_through_the_registry() {
    client_handles_an_alarm(Peer::NodeOpcua, node_opcua(), true);
}

/// Shows Events of a foreign server whose Severity goes from 100 to 1000.
fn watch_shows_events_at(peer: Peer, endpoint: &str) {
    let sandbox = Sandbox::new();
    let mut watch = sandbox.takt(&[
        "watch",
        endpoint,
        "--events",
        "--where",
        "Severity>=800",
        "--json",
        "--timeout",
        "60s",
    ]);
    let mut watch = Process::spawn("takt watch", &mut watch);
    let mut seen = Vec::new();
    while seen.len() < 4 {
        let line = watch.next_line(PATIENCE);
        let event: Value = serde_json::from_str(&line).unwrap();
        let severity = event["Severity"].as_u64().unwrap();
        // Milo applies the WHERE clause to no Event of a refresh, and reports the end of one.
        if event["EventType"] == "i=2787" || event["EventType"] == "i=2788" {
            continue;
        }
        assert!(severity >= 800, "{line}");
        assert!(event["Message"].to_string().contains("Severity"), "{line}");
        seen.push(severity);
    }
    // None is lost between two messages.
    assert!(
        seen.windows(2)
            .all(|pair| pair[1] == pair[0] + 100 || pair == [1000, 800]),
        "{seen:?}"
    );
    watch.signal(rustix::process::Signal::INT);
    watch.finish(PATIENCE);
    passed(peer.name(), Role::Server, "event");
}

/// Shows Events of a server that is started by this command.
fn watch_shows_events(peer: Peer, mut command: Command) {
    let port = takt_ports::reserve().to_string();
    command.args(["server", &port]);
    let mut server = Process::spawn("the foreign server", &mut command);
    server.wait_for("its endpoint", PATIENCE, |line| line.contains("endpoint"));
    watch_shows_events_at(peer, &format!("opc.tcp://127.0.0.1:{port}"));
    server.close_input();
}

#[test]
fn the_command_line_shows_events_of_asyncua() {
    watch_shows_events(Peer::Asyncua, asyncua());
}

#[test]
fn the_command_line_shows_events_of_node_opcua() {
    watch_shows_events(Peer::NodeOpcua, node_opcua());
}

#[test]
fn the_command_line_shows_events_of_async_opcua_milo_and_open62541() {
    for peer in [Peer::AsyncOpcua, Peer::Milo, Peer::Open62541] {
        let server = PeerServer::start_with_records(peer);
        watch_shows_events_at(peer, &server.endpoint);
    }
}

/// A registry and a Provider, whose alarm is active.
struct Heated {
    sandbox: Sandbox,
    registry: Registry,
    provider: Provider,
}

impl Heated {
    fn start() -> Self {
        let sandbox = Sandbox::new();
        let registry = Registry::start(&sandbox, &[]);
        let provider = Provider::start(&sandbox, &registry, "machine");
        heat(&sandbox, &provider);
        let heated = Self {
            sandbox,
            registry,
            provider,
        };
        let started = Instant::now();
        // Then its state does not change any more by itself.
        while !heated.read("Severity").starts_with("800") {
            assert!(started.elapsed() < PATIENCE, "the alarm is not active");
            std::thread::sleep(Duration::from_millis(50));
        }
        heated
    }

    /// Reads a Variable of the alarm at the Provider.
    fn read(&self, name: &str) -> String {
        let machine = self.provider.shared_memory();
        let node = format!("ns=1;s={ALARM}/{name}");
        self.sandbox.run(&["read", &machine, &node]).stdout
    }

    /// A client with checks gets the alarm after a refresh, and responds to it if it can.
    fn check(&self, checker: Checker, counted: u32) {
        let request = json!({
            "check": "event", "endpoint": self.registry.endpoint, "start": "Overtemperature",
            "namespace": format!("urn:takt:provider:{}", self.provider.name),
        });
        let answer = checker.answer(&request, PATIENCE);
        assert_eq!(
            (&answer["ok"], &answer["counted"]),
            (&json!(true), &json!(counted)),
            "{answer}"
        );
        passed(checker.name(), Role::Client, "event");
    }
}

#[test]
fn gopcua_refreshes_an_alarm_through_the_registry() {
    Heated::start().check(Checker::Gopcua, 3);
}

#[test]
fn milo_handles_an_alarm_through_the_registry() {
    let heated = Heated::start();
    heated.check(Checker::Milo, 5);
    assert!(heated.read("AckedState/Id").starts_with("true"));
}

#[test]
fn async_opcua_handles_an_alarm_through_the_registry() {
    let heated = Heated::start();
    heated.check(Checker::AsyncOpcua, 5);
    assert!(heated.read("AckedState/Id").starts_with("true"));
}

#[test]
fn open62541_handles_an_alarm_through_the_registry() {
    const FIELDS: [&str; 6] = [
        "EventType",
        "ConditionName",
        "EventId",
        "",
        "AckedState/Id",
        "ConfirmedState/Id",
    ];
    let heated = Heated::start();
    let mut client = PeerClient::connect(Peer::Open62541, &heated.registry.endpoint).unwrap();
    let request = json!({"op": "subscribe_events", "node": "i=2253", "fields": FIELDS});
    let subscription = client.expect(request);
    let wait = |client: &mut PeerClient, what: &str, wanted: &dyn Fn(&Value) -> bool| {
        let started = Instant::now();
        loop {
            let events = client.expect(json!({"op": "events"}));
            if let Some(event) = events.as_array().unwrap().iter().find(|one| wanted(one)) {
                return event.clone();
            }
            assert!(started.elapsed() < PATIENCE, "{what}: {events}");
        }
    };
    let call = |client: &mut PeerClient, object: &Value, method: &str, arguments: Value| {
        let request =
            json!({"op": "call", "object": object, "method": method, "arguments": arguments});
        let called = client.expect(request);
        assert_eq!(called["status"], "Good", "{method}: {called}");
    };
    let arguments = json!([{"type": "UInt32", "value": subscription}]);
    call(&mut client, &json!("i=2782"), "i=3875", arguments);
    let is_alarm = |event: &Value| event[1]["value"] == "Overtemperature";
    let alarm = wait(&mut client, "the alarm", &is_alarm);
    let condition = &alarm[3]["value"];
    let mut last = alarm[2].clone();
    let comment = json!({"type": "LocalizedText", "value": {"locale": "en", "text": "seen"}});
    for (method, state) in [("i=9111", 4), ("i=9113", 5)] {
        call(&mut client, condition, method, json!([last, comment]));
        let answered = |event: &Value| is_alarm(event) && event[state]["value"] == true;
        last = wait(&mut client, method, &answered)[2].clone();
    }
    assert!(heated.read("AckedState/Id").starts_with("true"));
    passed("open62541", Role::Client, "event");
}

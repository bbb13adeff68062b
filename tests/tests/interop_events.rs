//! Events with foreign products: their clients monitor, acknowledge, refresh, confirm and shelve an alarm of a Provider, at the Provider and
//! through the registry; `takt watch --events` shows Events of their servers.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_tests::binary::repository;
use takt_tests::interop::{Checker, Role, passed};
use takt_tests::process::Process;
use takt_tests::sandbox::{Provider, Registry};
use takt_tests::{Peer, Sandbox};

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

fn free_port() -> u16 {
    let probe = TcpListener::bind("127.0.0.1:0").unwrap();
    probe.local_addr().unwrap().port()
}

/// Shows Events of a foreign server whose Severity goes from 100 to 1000.
fn watch_shows_events(peer: Peer, mut command: Command) {
    let sandbox = Sandbox::new();
    let port = free_port().to_string();
    command.args(["server", &port]);
    let mut server = Process::spawn("the foreign server", &mut command);
    server.wait_for("its endpoint", PATIENCE, |line| line.contains("endpoint"));
    let endpoint = format!("opc.tcp://127.0.0.1:{port}");
    let mut watch = sandbox.takt(&[
        "watch",
        &endpoint,
        "--events",
        "--where",
        "Severity>=800",
        "--json",
        "--timeout",
        "60s",
    ]);
    let mut watch = Process::spawn("takt watch", &mut watch);
    for _ in 0..4 {
        let line = watch.next_line(PATIENCE);
        let event: Value = serde_json::from_str(&line).unwrap();
        assert!(event["Severity"].as_u64().unwrap() >= 800, "{line}");
        assert!(event["Message"].to_string().contains("Severity"), "{line}");
    }
    watch.signal(rustix::process::Signal::INT);
    watch.finish(PATIENCE);
    server.close_input();
    passed(peer.name(), Role::Server, "event");
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
fn gopcua_refreshes_an_alarm_through_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let provider = Provider::start(&sandbox, &registry, "machine");
    let namespace = format!("urn:takt:provider:{}", provider.name);
    let machine = provider.shared_memory();
    heat(&sandbox, &provider);
    let condition = format!("{ALARM}/ActiveState/Id");
    let started = Instant::now();
    while !sandbox
        .run(&["read", &machine, &format!("ns=1;s={condition}")])
        .stdout
        .contains("true")
    {
        assert!(started.elapsed() < PATIENCE, "the alarm is not active");
    }
    let request = json!({
        "check": "event", "endpoint": registry.endpoint, "namespace": namespace, "start": "Overtemperature",
    });
    let answer = Checker::Gopcua.answer(&request, PATIENCE);
    assert_eq!(
        (&answer["ok"], &answer["counted"]),
        (&json!(true), &json!(3)),
        "{answer}"
    );
    passed(Checker::Gopcua.name(), Role::Client, "event");
}

//! open62541: its client against the registry and a Provider, the command line against its server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_tests::binary::open62541;
use takt_tests::{Peer, Process, Registry, Sandbox, interop};

const PEER: Peer = Peer::Open62541;

#[test]
fn foreign_client_works_with_every_foreign_server() {
    for server in Peer::ALL {
        interop::peers_agree(PEER, server);
    }
}

#[test]
fn foreign_client_finds_a_conventional_server_in_the_registry() {
    interop::client_against_registry(PEER);
}

#[test]
fn foreign_client_uses_a_provider_through_the_registry() {
    interop::client_through_registry(PEER);
}

#[test]
fn foreign_client_uses_a_provider_directly() {
    interop::client_against_provider(PEER);
}

#[test]
fn the_command_line_works_with_the_foreign_server() {
    interop::command_line_against_server(PEER);
}

#[test]
fn a_registry_registers_itself_at_the_foreign_discovery_server() {
    const PATIENCE: Duration = Duration::from_secs(60);
    let mut server = Command::new(open62541("open62541-server"));
    let mut server = Process::spawn("open62541", server.args(["0", "--discovery", "on"]));
    let ready: serde_json::Value = serde_json::from_str(&server.next_line(PATIENCE)).unwrap();
    let endpoint = ready["endpoint"].as_str().unwrap();
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &["--register-at", endpoint]);
    let is_known = || {
        let rows = sandbox.rows(&["discover", endpoint]);
        rows.iter().any(|row| row["name"] == *registry.name)
    };
    let begin = Instant::now();
    while !is_known() {
        assert!(begin.elapsed() < PATIENCE, "{}", registry.process.report());
    }
    registry.process.signal(Signal::INT);
    assert!(registry.process.wait(PATIENCE).success());
    let rows = sandbox.rows(&["discover", endpoint]);
    assert!(rows.iter().all(|row| row["name"] != *registry.name));
}

//! node-opcua: its client against the registry and a Provider, also subscribing; the command line against its server; reverse
//! connect in both directions; its discovery server.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use takt_tests::interop::Foreign;
use takt_tests::{Peer, PeerServer, Registry, Sandbox, interop};

const PEER: Peer = Peer::NodeOpcua;

const PATIENCE: Duration = Duration::from_secs(60);

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
fn foreign_client_subscribes() {
    interop::client_subscribes(PEER);
}

#[test]
fn the_command_line_works_with_the_foreign_server() {
    interop::command_line_against_server(PEER);
}

#[test]
fn the_command_line_handles_names_with_slashes_and_secure_servers() {
    interop::command_line_against_special_servers();
}

#[test]
fn a_foreign_client_waits_for_the_registry() {
    interop::client_waits_for_registry(PEER, true);
}

#[test]
fn the_command_line_waits_for_a_foreign_server() {
    interop::command_line_waits_for_server(PEER);
}

/// Returns the DiscoveryUrls of a server that a discovery server knows.
fn known(sandbox: &Sandbox, discovery: &str, name: &str) -> Option<Value> {
    let rows = sandbox.rows(&["discover", discovery]);
    let row = rows.into_iter().find(|row| row["name"] == *name)?;
    Some(row["discoveryUrls"].clone())
}

#[test]
fn the_registry_is_known_at_a_foreign_discovery_server_while_it_runs() {
    let sandbox = Sandbox::new();
    let foreign = Foreign::new(&sandbox, "discovery", "Basic256Sha256");
    let mut described = foreign.described();
    described["policies"] = json!(["Basic256Sha256"]);
    let discovery = PeerServer::start_discovery(&described);
    let pki = sandbox.data_directory().join("pki");
    let folder = ["--certificates", pki.to_str().expect("a path in UTF-8")];
    let certificate = foreign.certificate();
    let add = ["trust", "add", certificate.to_str().expect("UTF-8")];
    let _ = sandbox.run(&[&add[..], &folder].concat()).expect_success();
    for security in ["none", "encrypt"] {
        let register = ["--register-at", &discovery.endpoint];
        let secured = ["--register-security", security];
        let mut registry = Registry::start(&sandbox, &[register, secured].concat());
        let find = || known(&sandbox, &discovery.endpoint, &registry.name);
        let begin = Instant::now();
        let urls = loop {
            if let Some(urls) = find() {
                break urls;
            }
            let report = registry.process.report();
            assert!(begin.elapsed() < PATIENCE, "not registered: {report}");
        };
        assert_eq!(urls, json!([registry.endpoint]), "{security}");
        registry.process.signal(Signal::INT);
        assert!(registry.process.wait(PATIENCE).success());
        let left = known(&sandbox, &discovery.endpoint, &registry.name);
        assert_eq!(left, None, "{security}");
    }
}

//! open62541: its client against the registry and a Provider, the command line against its server. Reverse connect in both directions.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use takt_tests::interop::Foreign;
use takt_tests::network::free_tcp_port;
use takt_tests::{Peer, PeerClient, PeerServer, Registry, Sandbox, interop};

const PEER: Peer = Peer::Open62541;

const POLICY: &str = "Basic256Sha256";

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

/// Returns the folder of certificates, and the description of an application of open62541 whose certificate is trusted there.
fn trusted(sandbox: &Sandbox) -> (String, Value) {
    let foreign = Foreign::new(sandbox, "open62541", POLICY);
    let certificate = foreign.certificate();
    let folder = sandbox.data_directory().join("pki");
    let folder = folder.to_str().unwrap().to_owned();
    let add = ["trust", "add", certificate.to_str().unwrap()];
    let add = [&add[..], &["--certificates", &folder]].concat();
    let _ = sandbox.run(&add).expect_success();
    (folder, foreign.described())
}

#[test]
fn a_foreign_client_waits_for_the_registry() {
    let sandbox = Sandbox::new();
    let port = free_tcp_port();
    let url = format!("opc.tcp://127.0.0.1:{port}");
    let registry = Registry::start(&sandbox, &["--reverse-connect", &url]);
    let mut client = PeerClient::listen(port).unwrap();
    let servers = client.read("i=2254");
    assert_eq!(
        servers["value"],
        json!([format!("urn:takt:registry:{}", registry.name)]),
        "{servers}"
    );
}

#[test]
fn the_command_line_waits_for_a_foreign_server() {
    let sandbox = Sandbox::new();
    let (certificates, mut secured) = trusted(&sandbox);
    secured["policies"] = json!([POLICY]);
    for (security, choice) in [
        (None, "none".to_owned()),
        (Some(&secured), format!("{POLICY},encrypt")),
    ] {
        let port = free_tcp_port();
        let server = PeerServer::start_reversed(port, security);
        let listening = format!("127.0.0.1:{port}");
        let read = [
            "read",
            &server.endpoint,
            &server.node("UInt32"),
            "--listen",
            &listening,
            "--security",
            &choice,
            "--certificates",
            &certificates,
        ];
        let value = sandbox.run(&read).expect_success();
        assert!(value.contains("42"), "{choice}: {value}");
    }
}

//! open62541: its client against the registry and a Provider, the command line against its server. Reverse connect in both directions.

use takt_tests::{Peer, interop};

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
fn a_foreign_client_waits_for_the_registry() {
    interop::client_waits_for_registry(PEER, false);
}

#[test]
fn the_command_line_waits_for_a_foreign_server() {
    interop::command_line_waits_for_server(PEER);
}

//! asyncua: its client against the registry and a Provider, also subscribing; the command line against its server;
//! PubSub configuration files; a Provider in Python.

use std::process::Command;
use std::time::Duration;

use takt_tests::binary::repository;
use takt_tests::{Peer, Sandbox, interop, process};

const PEER: Peer = Peer::Asyncua;

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
fn foreign_client_decodes_the_enumerations_and_structures_of_a_provider() {
    interop::client_decodes_own_types();
}

#[test]
fn the_code_of_the_guide_is_a_provider() {
    interop::provider_of_the_guide();
}

#[test]
fn the_command_line_works_with_the_foreign_server() {
    interop::command_line_against_server(PEER);
}

/// A file that asyncua writes, in the current structure and in that of version 1.04, equals the file that it read
/// from Takt.
#[test]
fn foreign_stack_reads_and_writes_configuration_files_of_takt() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let convert = |from: &str, to: &str| {
        let finished = sandbox.run(&["pubsub", "config", "convert", from, to]);
        finished.expect_success()
    };
    for example in ["publisher", "subscriber"] {
        let source = repository().join(format!("examples/pubsub/{example}.toml"));
        let ours = path(&format!("{example}.uabinary"));
        let _ = convert(source.to_str().unwrap(), &ours);
        for mode in ["rewrite", "older"] {
            let theirs = path(&format!("{example}-{mode}.bin"));
            let mut command = Command::new(repository().join(".cache/venv/bin/python"));
            command
                .arg(repository().join("peers/asyncua/pubsub_configuration.py"))
                .args([mode, &ours, &theirs]);
            let said =
                process::run("asyncua", &mut command, Duration::from_secs(60)).expect_success();
            assert_eq!(said, "UDP opc.udp://239.0.0.1:4840");
            assert_eq!(
                convert(&theirs, "-"),
                convert(&ours, "-"),
                "{example}, {mode}"
            );
        }
    }
}

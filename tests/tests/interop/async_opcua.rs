//! async-opcua, a Rust client: the checks of `peers/README.md` at a Provider and at the registry. Reverse connect in both directions.

use takt_tests::Peer;
use takt_tests::interop::{self, Checker, client_passes_checks};

#[test]
fn foreign_client_passes_all_checks() {
    client_passes_checks(
        Checker::AsyncOpcua,
        env!("CARGO_BIN_EXE_takt-interop-provider"),
        &[],
    );
}

#[test]
fn a_foreign_client_waits_for_the_registry() {
    interop::checker_waits_for_registry(Checker::AsyncOpcua);
}

#[test]
fn the_command_line_waits_for_a_foreign_server() {
    interop::command_line_waits_for_server(Peer::AsyncOpcua);
}

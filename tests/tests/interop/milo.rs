//! Milo, a Java client: the checks of `peers/README.md` at a Provider and at the registry.

use takt_tests::interop::{Checker, client_passes_checks};

#[test]
fn foreign_client_passes_all_checks() {
    client_passes_checks(
        Checker::Milo,
        env!("CARGO_BIN_EXE_takt-interop-provider"),
        &[],
    );
}

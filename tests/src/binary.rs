//! Paths of the binaries that the tests start.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the repository's root.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the command line `takt`: the file in the environment variable `TAKT_BIN`, or else that of this workspace,
/// which is built first.
///
/// # Panics
/// If it cannot be built.
pub fn takt() -> &'static Path {
    static TAKT: OnceLock<PathBuf> = OnceLock::new();
    TAKT.get_or_init(|| match std::env::var_os("TAKT_BIN") {
        Some(path) => path.into(),
        None => built("takt", "takt"),
    })
}

/// Returns a binary of the foreign peer `takt-peer-open62541`. Building it takes minutes, so only `./test` does it,
/// or `cargo build -p takt-peer-open62541`.
///
/// # Panics
/// If it has not been built.
#[must_use]
pub fn open62541(name: &str) -> PathBuf {
    let path = profile_directory().join(name);
    assert!(
        path.exists(),
        "{} is missing: cargo build -p takt-peer-open62541 (needs cmake and libclang: docs/performance.md)",
        path.display()
    );
    path
}

/// Returns the attacker, which Cargo builds with the tests of this package.
///
/// # Panics
/// If it has not been built.
#[must_use]
pub fn attacker() -> PathBuf {
    let path = profile_directory().join("takt-attacker");
    assert!(
        path.exists(),
        "{} is missing: cargo build -p takt-tests",
        path.display()
    );
    path
}

/// Returns the client of async-opcua, which `./test interop` builds in a target folder of its own.
///
/// # Panics
/// If it has not been built.
#[must_use]
pub fn async_opcua() -> PathBuf {
    let folder = profile_directory().with_file_name("async-opcua");
    let path = folder.join("debug/takt-peer-async-opcua");
    assert!(
        path.exists(),
        "{} is missing: ./test interop builds it",
        path.display()
    );
    path
}

/// Returns the folder of this test's own executable's profile, for example `target/debug`.
fn profile_directory() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own executable");
    // target/<profile>/deps/<test>
    test.ancestors()
        .nth(2)
        .expect("a test executable lies in target/<profile>/deps")
        .to_path_buf()
}

/// Returns the folder of all builds, for example `target`.
pub(crate) fn target_directory() -> PathBuf {
    let profile = profile_directory();
    profile
        .parent()
        .expect("a profile lies in target")
        .to_path_buf()
}

fn built(package: &str, binary: &str) -> PathBuf {
    let directory = profile_directory();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--package", package, "--bin", binary])
        .current_dir(repository());
    if directory.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo can be started");
    assert!(status.success(), "cargo build --package {package} failed");
    directory.join(binary)
}

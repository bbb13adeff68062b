//! Tests in processes of their own.

use std::process::Command;
use std::thread;

/// Environment variable with the name of the test that has this process to itself.
const ALONE: &str = "TAKT_TEST_ALONE";

/// Runs a test in a process of its own, with no other test beside it.
///
/// A test executable runs several tests at the same time, but allocations, memory, limits and the like are those of the process. The
/// calling test starts its executable again with the name of this test; `test` runs there.
///
/// # Panics
/// If the test fails there; with its output.
#[allow(clippy::panic, reason = "the calling test fails by panicking")]
pub fn alone(test: impl FnOnce()) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("main");
    // The harness runs tests on the main thread if they run one after the other.
    if name == "main" || std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        return test();
    }
    let output = std::env::current_exe().and_then(|executable| {
        let mut command = Command::new(executable);
        command
            .args(["--exact", name, "--include-ignored", "--nocapture"])
            .env(ALONE, name);
        command.output()
    });
    match output {
        Ok(output) => {
            let out = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            println!("{out}");
            assert!(
                output.status.success() && out.contains("1 passed"),
                "{name} fails in a process of its own ({}): {errors}",
                output.status
            );
        }
        Err(error) => panic!("{name} does not start in a process of its own: {error}"),
    }
}

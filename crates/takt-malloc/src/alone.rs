//! Tests in processes of their own.

use std::path::Path;
use std::process::Command;
use std::thread;

/// Environment variable with the name of the test that has this process to itself.
const ALONE: &str = "TAKT_TEST_ALONE";

/// Environment variable with the command and arguments that start an executable of another processor, as an emulator does. Words are
/// separated by spaces.
const RUNNER: &str = "TAKT_TEST_RUNNER";

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
        let mut command = started_by(&executable, std::env::var(RUNNER).as_deref().unwrap_or(""));
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

/// Returns the command that starts an executable with a runner, or alone if the runner has no words.
fn started_by(executable: &Path, runner: &str) -> Command {
    let mut words = runner.split_whitespace();
    let Some(runner) = words.next() else {
        return Command::new(executable);
    };
    let mut command = Command::new(runner);
    command.args(words).arg(executable);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_starts_alone_or_with_its_runner() {
        let shown = |runner| format!("{:?}", started_by(Path::new("/it"), runner));
        assert_eq!(shown(" "), r#""/it""#);
        assert_eq!(shown("qemu -L /lib"), r#""qemu" "-L" "/lib" "/it""#);
    }
}

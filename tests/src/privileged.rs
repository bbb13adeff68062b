//! Tests that need privileges: without these, a test is counted as ignored, which libtest cannot decide at run time.
//!
//! The output is that of libtest, so that `./test` adds it up like any other.

use std::panic::catch_unwind;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// A test with its requirement.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    /// Name within its module.
    pub name: &'static str,
    /// A command whose failure means that the test cannot run.
    pub needs: &'static [&'static str],
    /// Panics if it fails.
    pub run: fn(),
}

/// Requirement: switching to other users.
pub const USERS: &[&str] = &[
    "setpriv", "--reuid", "65534", "--regid", "65534", "--groups", "54000", "true",
];

/// Requirement: namespaces as in containers.
pub const NAMESPACES: &[&str] = &[
    "unshare",
    "--mount",
    "--ipc",
    "--pid",
    "--fork",
    "--mount-proc",
    "mount",
    "-t",
    "tmpfs",
    "none",
    "/dev/shm",
];

/// Requirement: control groups that limit memory, of version 1 or 2.
pub const MEMORY_GROUPS: &[&str] = &[
    "sh",
    "-c",
    "cd /sys/fs/cgroup/memory 2>/dev/null || cd /sys/fs/cgroup; group=takt-probe-$$; mkdir $group || exit; \
     test -e $group/memory.limit_in_bytes || test -e $group/memory.max; found=$?; rmdir $group; exit $found",
];

/// Tests that the command line selects, as libtest does: names that contain one of the arguments, and none of those after `--skip`.
#[derive(Debug)]
pub struct Selection {
    wanted: Vec<String>,
    skipped: Vec<String>,
    is_list: bool,
}

impl Selection {
    /// Reads the command line of this process.
    #[must_use]
    pub fn of_command_line() -> Self {
        let mut arguments = std::env::args().skip(1);
        let (mut wanted, mut skipped, mut is_list) = (Vec::new(), Vec::new(), false);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--skip" => skipped.extend(arguments.next()),
                "--list" => is_list = true,
                option if option.starts_with('-') => (),
                _ => wanted.push(argument),
            }
        }
        Self {
            wanted,
            skipped,
            is_list,
        }
    }

    /// Returns true if the names of the selected tests are wanted, and not their results.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns true if the test of this name is selected.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let contains = |part: &String| name.contains(part);
        (self.wanted.is_empty() || self.wanted.iter().any(contains))
            && !self.skipped.iter().any(contains)
    }
}

/// Runs the tests of these modules that the command line selects.
#[must_use]
pub fn main(modules: &[(&str, Vec<Test>)]) -> ExitCode {
    let start = Instant::now();
    let selection = Selection::of_command_line();
    let tests = modules.iter().flat_map(|(module, tests)| {
        let named = |test: &Test| (format!("{module}::{}", test.name), *test);
        tests.iter().map(named).collect::<Vec<_>>()
    });
    let (chosen, others): (Vec<_>, Vec<_>) = tests.partition(|(name, _)| selection.has(name));
    if selection.is_list() {
        for (name, _) in chosen {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    println!("\nrunning {} tests", chosen.len());
    for (name, test) in chosen {
        let outcome = if !is_possible(test.needs) {
            ignored += 1;
            format!("ignored, needs root: `{}` fails", test.needs.join(" "))
        } else if catch_unwind(test.run).is_ok() {
            passed += 1;
            "ok".to_owned()
        } else {
            failed += 1;
            "FAILED".to_owned()
        };
        println!("test {name} ... {outcome}");
    }
    println!(
        "\ntest result: {}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; {} filtered out; \
         finished in {:.2}s\n",
        if failed == 0 { "ok" } else { "FAILED" },
        others.len(),
        start.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}

fn is_possible(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else {
        return true;
    };
    rustix::process::geteuid().is_root()
        && Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

//! Mistakes of users: each is explained before anything is built.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use takt_tests::process::{Finished, run};

use crate::PATIENCE;
use crate::case::SandboxedRun;
use crate::cases;

const TWO_HOSTS: &str = r#"
version = 1
topology = { kind = "p2p" }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "2 ms"
payload = "100 B"
"#;

fn refused(finished: Finished, parts: &[&str]) {
    let error = finished.expect_failure();
    // Lines are wrapped.
    let words = error.split_whitespace().filter(|word| *word != "\u{2502}");
    let text = words.collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(text.contains(part), "no `{part}`: {error}");
    }
    let widest = error.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|width| width <= 80), "{error}");
}

/// Returns true if the kernel has a discipline of the suite.
fn has_etf() -> bool {
    let script = "ip link add takt0 type veth peer name takt1 || exit 7; \
                  tc qdisc replace dev takt0 root etf clockid CLOCK_TAI delta 1000";
    let mut command = Command::new("unshare");
    let output = command
        .args(["--net", "sh", "-c", script])
        .output()
        .unwrap();
    assert_ne!(output.status.code(), Some(7), "{output:?}");
    !String::from_utf8_lossy(&output.stderr).contains("unknown")
}

pub fn missing_disciplines_are_named_at_once() {
    let all = cases::all();
    let etf = all.iter().find(|case| case.name == "etf").unwrap();
    let attempt = SandboxedRun::new(&etf.scenario);
    let finished = attempt.finish(&["--messages", "100"]);
    if has_etf() {
        let _ = finished.expect_success();
        return;
    }
    refused(
        finished,
        &["lacks", "etf", "--backend uml", "--without-disciplines"],
    );
    assert!(!attempt.directory.exists());
}

pub fn other_users_are_told_what_to_do() {
    let attempt = SandboxedRun::new(TWO_HOSTS);
    // The user must be able to read the scenario.
    let data = attempt.sandbox.data_directory();
    for directory in data.ancestors().take(2) {
        let everybody = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory, everybody).unwrap();
    }
    let takt = attempt.command(&["--without-disciplines", "--messages", "10"]);
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    // The binary may be in a directory that this user cannot enter.
    let copy = data.join("takt");
    std::fs::copy(takt_tests::binary::takt(), &copy).unwrap();
    command.arg(&copy).args(takt.get_args());
    let finished = run("takt lab run", &mut command, PATIENCE);
    refused(finished, &["namespaces", "as root", "unshare --user"]);
    assert!(!attempt.directory.exists());
}

pub fn a_directory_is_not_used_twice() {
    let attempt = SandboxedRun::new(TWO_HOSTS);
    let arguments = ["--without-disciplines", "--messages", "20"];
    let _ = attempt.finish(&arguments).expect_success();
    refused(attempt.finish(&arguments), &["already has a run", "--to"]);
}

pub fn scenarios_that_cannot_run_are_explained() {
    let at_bridge = TWO_HOSTS
        .replace("p2p", "bridged")
        .replace("loopback = \"host2\"", "subscriber = \"bridge1\"");
    for (scenario, arguments, parts) in [
        (at_bridge.as_str(), &[][..], &["bridge1", "docs/lab.md"][..]),
        (
            TWO_HOSTS,
            &["--field", "discipline=csb"],
            &["there is no discipline `csb`"],
        ),
        (TWO_HOSTS, &["--field", "hops=3"], &["hops"]),
        (
            "version = 1\ntopology = { kind = \"p2p\" }",
            &[],
            &["no application"],
        ),
        (
            &TWO_HOSTS.replace("\"host2\"", "\"host3\""),
            &[],
            &["host3"],
        ),
    ] {
        let attempt = SandboxedRun::new(scenario);
        refused(attempt.finish(arguments), parts);
        assert!(!attempt.directory.exists());
    }
}

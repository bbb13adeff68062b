//! `takt tsn` on the kernel of this machine.

use std::path::Path;

use takt_tests::network::{HostPair as Network, NamespaceHost as Host};
use takt_tests::process::{Finished, run};
use takt_tests::{Sandbox, binary};

use crate::control_loops::PATIENCE;

/// Runs `takt tsn` at a host, with the states of the sandbox.
fn tsn(host: &Host, sandbox: &Sandbox, arguments: &[&str]) -> Finished {
    let states = sandbox.data_directory().join("tsn");
    let mut command = host.takt(sandbox, &[&["tsn"], arguments].concat());
    command.env("TAKT_TSN_STATE_DIR", states);
    let finished = run("takt tsn", &mut command, PATIENCE);
    for line in finished.stdout.lines().chain(finished.stderr.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    finished
}

/// Returns the disciplines and filters of the interface, without their counters.
fn attached(host: &Host) -> [String; 2] {
    ["qdisc show dev takt0", "filter show dev takt0 ingress"].map(|what| host.run("tc", what))
}

fn saved_states(sandbox: &Sandbox) -> usize {
    std::fs::read_dir(sandbox.data_directory().join("tsn")).map_or(0, Iterator::count)
}

fn scenario(name: &str) -> String {
    let path: &Path = binary::repository();
    path.join("scenarios").join(name).display().to_string()
}

/// Disciplines of a kernel for TSN. Kernels of containers often have none of them.
const KINDS: [(&str, &str); 3] = [("mqprio", "mqprio"), ("cbs", "cbs"), ("etf", "etf")];

pub fn a_missing_discipline_is_explained_and_the_earlier_state_restored() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let host = &network.first;
    host.run(
        "tc",
        "qdisc replace dev takt0 root handle 7: pfifo limit 77",
    );
    let before = attached(host);
    let e3 = scenario("e3.toml");
    for (discipline, kind) in KINDS {
        let setting = format!("discipline={discipline}");
        let port = [
            "--node",
            "host1",
            "--interface",
            "takt0",
            "--offload",
            "none",
        ];
        let arguments = [&[&e3, "--set", &setting], &port[..]].concat();
        let applied = tsn(host, &sandbox, &[&["apply"], &arguments[..]].concat());
        if applied.status.success() {
            // This kernel has it.
            assert_ne!(attached(host), before);
            let verified = tsn(host, &sandbox, &[&["verify"], &arguments[..]].concat());
            let _ = verified.expect_success();
            let cleared = tsn(host, &sandbox, &["clear"]).expect_success();
            assert_eq!(cleared, "takt0: restored");
        } else {
            let error = applied.expect_failure();
            let missing = ["mqprio", kind];
            let explained = missing.iter().any(|kind| {
                error.contains(&format!("discipline `{kind}`"))
                    && error.contains(&format!("modprobe sch_{kind}"))
            });
            assert!(explained, "{discipline}: {error}");
        }
        assert_eq!(attached(host), before, "{discipline}");
        assert_eq!(saved_states(&sandbox), 0, "{discipline}");
    }
}

pub fn nothing_is_cleared_that_was_not_applied() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let host = &network.first;
    host.run(
        "tc",
        "qdisc replace dev takt0 root handle 7: pfifo limit 77",
    );
    let before = attached(host);
    let cleared = tsn(host, &sandbox, &["clear"]).expect_success();
    assert_eq!(cleared, "nothing to restore");
    let cleared = tsn(host, &sandbox, &["clear", "takt0"]).expect_success();
    assert_eq!(cleared, "takt0: nothing to restore");
    assert_eq!(attached(host), before);
    let error = tsn(host, &sandbox, &["clear", "nobody0"]).expect_failure();
    assert!(
        error.contains("`nobody0`") && error.contains("ip link"),
        "{error}"
    );
}

pub fn classes_are_shown() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let host = &network.first;
    host.run(
        "tc",
        "qdisc replace dev takt0 root handle 7: pfifo limit 77",
    );
    let shown = tsn(host, &sandbox, &["show", "takt0"]).expect_success();
    let row: Vec<&str> = shown.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(row[..3], ["all", "0-7", "pfifo"], "{shown}");
    let mut command = host.takt(&sandbox, &["tsn", "show", "takt0", "--json"]);
    let shown = run("takt tsn show", &mut command, PATIENCE).expect_success();
    let row: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        (&row["interface"], &row["discipline"]),
        (&"takt0".into(), &"pfifo".into())
    );
    assert!(row["sentFrames"].is_u64(), "{row}");
    let error = tsn(host, &sandbox, &["show", "nobody0"]).expect_failure();
    assert!(
        error.contains("`nobody0`") && error.contains("ip link"),
        "{error}"
    );
}

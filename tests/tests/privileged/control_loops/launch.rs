//! Launch times at a port that does not keep them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::network::HostPair as Network;
use takt_tests::process::{Finished, run};

use crate::control_loops::PATIENCE;

/// Runs three cycles of an end of scenario E3, whose discipline ETF has launch times, at the first host.
fn start(network: &Network, sandbox: &Sandbox, path: Option<&PathBuf>, more: &[&str]) -> Finished {
    let scenario = takt_tests::binary::repository().join("scenarios/e3.toml");
    let base = [
        "publish",
        scenario.to_str().unwrap(),
        "--interface",
        "takt0",
        "--cycles",
        "3",
    ];
    let mut command = network.first.takt(sandbox, &[&base, more].concat());
    if let Some(directory) = path {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", directory.display()));
    }
    run("takt publish", &mut command, PATIENCE)
}

const ETF: [&str; 2] = ["--field", "discipline=etf"];

pub fn a_port_without_etf_is_refused() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let plain = "noqueue";
    let kinds = [
        (None, plain),
        (Some("pfifo limit 100"), "pfifo"),
        (Some("tbf rate 1gbit burst 10k limit 10k"), "tbf"),
        (Some("htb"), "htb"),
    ];
    for (discipline, name) in kinds {
        if let Some(discipline) = discipline {
            let words = format!("qdisc replace dev takt0 root {discipline}");
            network.first.run("tc", &words);
        }
        let error = start(&network, &sandbox, None, &ETF).expect_failure();
        let parts = [
            "takt0 has no ETF for launch times",
            &format!("`{name}`"),
            "takt tsn apply",
            "--field discipline=etf --node host1 --interface takt0",
            "--force",
        ];
        for part in parts {
            assert!(error.contains(part), "{name}: no `{part}`: {error}");
        }
        if discipline.is_some() {
            network.first.run("tc", "qdisc del dev takt0 root");
        }
    }
    assert!(sandbox.left_behind().is_empty());
}

pub fn the_commands_are_named_if_no_scenario_has_them() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let launch = ["--field", "discipline=mqprio", "--sending", "launch-time"];
    let error = start(&network, &sandbox, None, &launch).expect_failure();
    for part in [
        "tc qdisc replace dev takt0 root handle 100: mqprio num_tc 2",
        "map 1 1 1 0 1",
        "tc qdisc replace dev takt0 parent 100:1 handle 101: etf",
        "clockid CLOCK_TAI delta 200000",
    ] {
        assert!(error.contains(part), "no `{part}`: {error}");
    }
}

pub fn force_sends_with_a_warning() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let forced = ["--field", "discipline=etf", "--force", "--json"];
    let finished = start(&network, &sandbox, None, &forced);
    let warning = finished.stderr.clone();
    let result: Value = serde_json::from_str(&finished.expect_success()).unwrap();
    assert!(warning.contains("has no ETF"), "{warning}");
    let faults = result["launchFaults"].as_array().unwrap();
    assert_eq!(faults.len(), 1, "{result}");
    assert_eq!(result["sent"], 3, "{result}");
    // Without launch times, there is nothing to force.
    let idle = ["--field", "discipline=mqprio", "--force"];
    let error = start(&network, &sandbox, None, &idle).expect_failure();
    assert!(error.contains("no message has one"), "{error}");
}

/// Writes a `tc` that shows these disciplines, as of a kernel that has ETF, and returns its directory.
pub fn other_tc(sandbox: &Sandbox, qdiscs: &str) -> PathBuf {
    let directory = sandbox.data_directory().join("programs");
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("tc");
    std::fs::write(&file, format!("#!/bin/sh\necho '{qdiscs}'\n")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    directory
}

pub fn etf_of_the_class_is_accepted_and_of_another_one_is_not() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let tree = |map: &str, delta: u32| {
        format!(
            r#"[{{"kind":"mqprio","handle":"100:","root":true,"options":{{"tc":2,"map":[{map},1,1,1,1,1,1,1,1],"queues":[[0,0],[1,1]]}}}},
            {{"kind":"etf","handle":"101:","parent":"100:1","options":{{"clockid":"TAI","delta":{delta},"offload":"off","deadline_mode":"off","skip_sock_check":"off"}}}},
            {{"kind":"pfifo","handle":"102:","parent":"100:2","options":{{"limit":1000}}}}]"#
        )
    };
    let papers = "1,1,1,0,1,1,1,1";
    let right = other_tc(&sandbox, &tree(papers, 200_000));
    let json = [&ETF[..], &["--json"]].concat();
    let result = start(&network, &sandbox, Some(&right), &json).expect_success();
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["launchFaults"], serde_json::json!([]), "{result}");
    for (map, delta, part) in [
        ("1,1,1,1,0,0,0,0", 200_000, "for priorities 4 5 6 7"),
        (papers, 300_000, "made 250 us before their launch time"),
    ] {
        let wrong = other_tc(&sandbox, &tree(map, delta));
        let error = start(&network, &sandbox, Some(&wrong), &ETF).expect_failure();
        assert!(error.contains(part), "no `{part}`: {error}");
    }
}

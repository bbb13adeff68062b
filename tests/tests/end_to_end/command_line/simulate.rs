//! `takt simulate`: tables, JSON, every message, and the search for the worst case.

use std::fs;

use serde_json::Value;
use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::command_line::plain;

fn shipped(name: &str) -> String {
    let path = repository().join("scenarios").join(name);
    path.to_str().unwrap().to_owned()
}

/// Two hosts and one link; PubSub in CBS, and best-effort cross traffic.
const SMALL: &str = r#"version = 1
name = "small"
discipline = "cbs"
[disciplines.cbs]
scheduler = "mqprio"
classes = [
    { name = "A", priorities = [3], queue = "cbs", provisioning = "1%" },
    { name = "best effort" },
]
[[nodes]]
name = "p"
wake_up_latency = { least = "0 us", most = "20 us" }
[[nodes]]
name = "l"
[[links]]
ends = ["p", "l"]
rate = "1 Gbit/s"
[[applications]]
name = "control"
publisher = "p"
loopback = "l"
cycle = "250 us"
offset = "150 us"
repeated_node_count = 16
pcp = 3
[[cross_traffic]]
name = "load"
from = "p"
to = "l"
rate = "200 Mbit/s"
payload = "1500 B"
pattern = "poisson"
[simulation]
cycles = 400
trim = 20
"#;

fn small(folder: &std::path::Path) -> String {
    let path = folder.join("small.toml");
    fs::write(&path, SMALL).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_same_seed_prints_the_same() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let scenario = small(folder.path());
    let run = |seed: &str| {
        let arguments = ["simulate", &scenario, "--json", "--seed", seed];
        sandbox.run(&arguments).expect_success()
    };
    let first = run("5");
    assert_eq!(first, run("5"));
    assert_ne!(first, run("6"));
    let results: Value = serde_json::from_str(&first).unwrap();
    let control = &results["applications"][0];
    assert_eq!(control["published"], 360);
    assert_eq!(control["round_trip"]["delay"]["count"], 360);
    assert_eq!(control["drops"]["all"], 0);
    assert_eq!(control["counters"]["missed"], 0);
    let delay = |name: &str| control["round_trip"]["delay"][name].as_f64().unwrap();
    assert!(delay("min_ns") <= delay("median_ns") && delay("median_ns") <= delay("max_ns"));
    // It takes between 0.7 and 1.7 cycles and the offset in the loopback.
    assert!(
        delay("min_ns") > 325_000.0 && delay("max_ns") < 620_000.0,
        "{first}"
    );
    assert_eq!(results["flows"][0]["hops"][0]["port"], "p \u{2192} l");
}

#[test]
fn tables_and_every_message() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let scenario = small(folder.path());
    let csv = folder.path().join("messages.csv");
    let csv = csv.to_str().unwrap();
    let arguments = ["simulate", &scenario, "--csv", csv, "--messages", "100"];
    let table = sandbox.run(&arguments).expect_success();
    for part in [
        "wire round trip",
        "one way back",
        "jitter",
        "inter-frame spacing",
        "p \u{2192} l",
        "dP 0 (0.0000 %)",
        "d\u{3a3} 0",
        "missed 0, repeated 0",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let messages = fs::read_to_string(csv).unwrap();
    let mut lines = messages.lines();
    assert_eq!(
        lines.next(),
        Some("settings,flow,counter,published_ns,ended_ns,delay_ns,outcome,port,reason")
    );
    let arrived: Vec<&str> = lines.filter(|line| line.contains("arrived")).collect();
    assert_eq!(arrived.len(), 100);
    assert!(
        arrived[0].starts_with(",control (return),0,"),
        "{}",
        arrived[0]
    );
}

#[test]
fn late_frames_are_dropped_by_etf() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let scenario = small(folder.path());
    let text = SMALL.replace(
        "queue = \"cbs\", provisioning = \"1%\"",
        "queue = \"etf\", delta = \"200 us\"",
    );
    // The publisher thread has 0.4 cycles and the offset, 250 us.
    let text = text.replace("most = \"20 us\"", "most = \"500 us\"");
    fs::write(&scenario, text).unwrap();
    let printed = sandbox
        .run(&["simulate", &scenario, "--json"])
        .expect_success();
    let results: Value = serde_json::from_str(&printed).unwrap();
    let drops = &results["applications"][0]["drops"];
    assert!(drops["publisher"].as_u64().unwrap() > 50, "{printed}");
    assert_eq!(drops["publisher"], drops["all"]);
    assert_eq!(results["flows"][0]["lost"][0]["reason"], "txtime invalid");
    assert!(results["applications"][0]["counters"]["missed"].as_u64() > Some(50));
}

/// Two frames of 1542 B pass FQ_CoDel of Linux, and wait for the link before a short one.
#[test]
fn bounds_hold_for_frames_that_pass_fq_codel() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bypass.toml");
    let text = r#"version = 1
[topology]
kind = "p2p"
rate = "100 Mbit/s"
[[applications]]
name = "control"
publisher = "host1"
subscriber = "host2"
cycle = "10 ms"
payload = "59 B"
[[cross_traffic]]
name = "x"
from = "host1"
to = "host2"
payload = "1500 B"
interval = "5 ms"
pattern = { burst = 2 }
"#;
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let bounds = sandbox.run(&["bounds", "--json", file]).expect_success();
    let bounds: Value = serde_json::from_str(&bounds).unwrap();
    assert_eq!(bounds["flows"][0]["delay_ns"], "254800");
    let search = [
        "simulate",
        file,
        "--model",
        "linux",
        "--adversarial",
        "--tries",
        "200",
        "--json",
    ];
    let found = sandbox.run(&search).expect_success();
    let found: Value = serde_json::from_str(&found).unwrap();
    let worst = &found["worst"][0];
    assert_eq!(worst["above_bound"], false);
    assert!(worst["found_ns"].as_f64().unwrap() > 254_799.0, "{worst}");
}

#[test]
fn the_worst_case_is_searched() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let scenario = small(folder.path());
    let text = SMALL
        .replace("most = \"20 us\"", "most = \"0 us\"")
        .replace("pattern = \"poisson\"\n", "");
    fs::write(&scenario, text).unwrap();
    let search = [
        "simulate",
        &scenario,
        "--adversarial",
        "--tries",
        "60",
        "--messages",
        "20",
    ];
    let printed = sandbox
        .run(&[&search[..], &["--json"]].concat())
        .expect_success();
    assert_eq!(
        printed,
        sandbox
            .run(&[&search[..], &["--json"]].concat())
            .expect_success()
    );
    let results: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (results["tries"].as_u64(), results["model"].as_str()),
        (Some(60), Some("ieee"))
    );
    let round_trip = &results["worst"][0];
    assert_eq!(
        (round_trip["name"].as_str(), round_trip["kind"].as_str()),
        (Some("control"), Some("wire round trip"))
    );
    // More than the ordinary one, of two cycles.
    assert!(
        round_trip["found_ns"].as_f64() > Some(505_000.0),
        "{printed}"
    );
    // Each way has a bound as well, and none is exceeded.
    for row in results["worst"].as_array().unwrap() {
        let (found, bound) = (row["found_ns"].as_f64(), row["bound_ns"].as_f64());
        assert!(bound.is_some() && found <= bound, "{row}");
    }
    let table = sandbox.run(&search).expect_success();
    assert!(
        table.contains("bound/found") && table.contains("control"),
        "{table}"
    );
}

#[test]
fn shipped_scenarios_run() {
    let sandbox = Sandbox::new();
    for name in [
        "e3.toml",
        "b.toml",
        "d.toml",
        "line-delays.toml",
        "line-taprio.toml",
        "line-taprio-device.toml",
        "whitepaper.toml",
    ] {
        let arguments = ["simulate", &shipped(name), "--json", "--messages", "50"];
        let printed = sandbox.run(&arguments).expect_success();
        for line in printed.lines() {
            let results: Value = serde_json::from_str(line).unwrap();
            let applications = results["applications"].as_array().unwrap();
            assert!(
                applications
                    .iter()
                    .any(|application| application["published"] == 50),
                "{line}"
            );
        }
    }
}

#[test]
fn invalid_simulations_are_explained() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let missing = plain(&sandbox.run(&["simulate", "nowhere.toml"]).expect_failure());
    assert!(missing.contains("cannot read nowhere.toml"), "{missing}");
    let scenario = small(folder.path());
    fs::write(
        &scenario,
        SMALL.replace("loopback = \"l\"", "loopback = \"q\""),
    )
    .unwrap();
    let unknown = plain(&sandbox.run(&["simulate", &scenario]).expect_failure());
    assert!(
        unknown.contains("small.toml") && unknown.contains("`q`"),
        "{unknown}"
    );
    let csv = folder.path().join("no/such/directory.csv");
    fs::write(&scenario, SMALL).unwrap();
    let refused = plain(
        &sandbox
            .run(&["simulate", &scenario, "--csv", csv.to_str().unwrap()])
            .expect_failure(),
    );
    assert!(
        refused.contains("cannot write") && refused.contains("--csv"),
        "{refused}"
    );
    let mistake = sandbox
        .run(&["simulate", &scenario, "--tries", "5"])
        .expect_failure();
    assert!(mistake.contains("--adversarial"), "{mistake}");
}

/// The first message is published at 400 us, one of each 250 us; after 5 ms there are 19.
#[test]
fn a_duration_ends_the_simulation() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let scenario = small(folder.path());
    fs::write(&scenario, SMALL.replace("trim = 20", "trim = 0")).unwrap();
    let arguments = ["simulate", &scenario, "--duration", "5 ms"];
    let table = sandbox.run(&arguments).expect_success();
    assert!(table.contains("400 cycles or until 0.005000 s"), "{table}");
    let json = sandbox
        .run(&[&arguments[..], &["--json"]].concat())
        .expect_success();
    let results: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(results["duration_ns"], 5_000_000.0);
    assert_eq!(results["applications"][0]["published"], 19);
}

/// Columns are aligned for names of any length.
#[test]
fn long_names_widen_the_table() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let scenario = small(folder.path());
    let text = SMALL
        .replace("\"control\"", "\"control of the third conveyor belt\"")
        .replace("pattern = \"poisson\"\n", "")
        .replace("most = \"20 us\"", "most = \"0 us\"");
    fs::write(&scenario, text).unwrap();
    let search = ["--adversarial", "--tries", "2"];
    for (options, column) in [(&[][..], "measure"), (&search[..], "flow ")] {
        let arguments = ["simulate", &scenario, "--messages", "50"];
        let table = sandbox
            .run(&[&arguments[..], options].concat())
            .expect_success();
        let heading = table.lines().find(|line| line.contains(column)).unwrap();
        let end = |line: &str| line.chars().count();
        let rows = table.lines().filter(|line| {
            ["wire round trip", "one way"]
                .iter()
                .any(|way| line.contains(way))
        });
        for row in rows {
            assert_eq!(end(row), end(heading), "{table}");
        }
    }
}

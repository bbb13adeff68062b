//! Tests of `takt bench middleware` with the real programs: rows of Takt's peers, exposed wrong peers, and Ctrl-C.

use std::path::Path;

use serde_json::Value;

use crate::support;

/// Delay of the slow peer in µs.
const DELAY: f64 = 300.0;

/// Writes a table of two wrong peers.
fn wrong_peers(folder: &Path) -> String {
    let path = folder.join("peers.toml");
    let row = |name: &str, variants: &str| {
        format!(
            "[[peer]]\nname = \"{name}\"\ntitle = \"{name}\"\ngroup = \"floor\"\nprogram = [\"{{takt-bench}}\", \"peer\", \"{name}\"]\nvariants = [{variants}]\n"
        )
    };
    let slow = format!("[\"delay-us={DELAY}\"]");
    let text = row("wrong-early", "") + &row("wrong-slow", &slow);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let table = wrong_peers(folder.path());
    let results = folder.path().join("results");
    let common = [
        "--peers",
        &table,
        "--output",
        results.to_str().unwrap(),
        "--json",
    ];
    let rows = support::objects(support::bench("middleware", &[&common, arguments].concat()));
    for name in [
        "samples.csv",
        "rows.jsonl",
        "tables.md",
        "index.html",
        "echo.svg",
        "progress.jsonl",
    ] {
        let length = std::fs::metadata(results.join(name)).unwrap().len();
        assert!(length > 100, "{name}: {length}");
    }
    rows
}

#[test]
fn own_peers_answer_each_request_right() {
    let peers = [
        "tcp",
        "udp",
        "iceoryx2",
        "takt-tcp",
        "takt-iox2",
        "takt-pubsub-udp",
        "takt-pubsub-iox2",
    ];
    let arguments = [
        "--only",
        &peers.join(","),
        "--sizes",
        "2,32768",
        "--samples",
        "20",
        "--quick",
    ];
    let rows = rows(&arguments);
    for peer in peers {
        for (mode, bytes) in [("echo", 2), ("echo", 32_768), ("ack", 2), ("ack", 32_768)] {
            let same =
                |row: &&Value| row["peer"] == peer && row["mode"] == mode && row["bytes"] == bytes;
            let row = rows
                .iter()
                .find(same)
                .unwrap_or_else(|| panic!("{peer} {mode} {bytes}"));
            assert_eq!(row["answered"], 20, "{row}");
            assert_eq!(row["faults"], serde_json::json!([0, 0, 0, 0]), "{row}");
            let median = &row["median_us"];
            assert!(median["low"].as_f64() <= median["high"].as_f64(), "{row}");
        }
    }
}

#[test]
fn wrong_peers_are_exposed() {
    let rows = rows(&[
        "--only",
        "wrong,tcp",
        "--sizes",
        "64",
        "--samples",
        "200",
        "--quick",
    ]);
    let find = |peer: &str| {
        let same = |row: &&Value| row["peer"] == peer && row["mode"] == "echo";
        rows.iter().find(same).unwrap_or_else(|| panic!("{peer}"))
    };
    let early = find("wrong-early");
    assert!(early["faults"][0].as_u64().unwrap() >= 190, "{early}");
    let median = |peer: &str| find(peer)["median_us"]["value"].as_f64().unwrap();
    let slower = median(&format!("wrong-slow delay-us={DELAY}")) - median("wrong-slow");
    // Other tests share the processors.
    assert!((0.8 * DELAY..2.0 * DELAY).contains(&slower), "{slower}");
}

#[test]
fn an_interrupt_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("results");
    let arguments = [
        "--only",
        "takt-tcp",
        "--samples",
        "1000000",
        "--output",
        output.to_str().unwrap(),
    ];
    support::interrupt_leaves_nothing(support::bench("middleware", &arguments), 2);
}

/// Foreign peers whose programs are built: `takt bench peers install --required`.
#[test]
#[ignore = "needs foreign peers: ./test middleware"]
fn an_interrupt_leaves_no_broker_and_no_master() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("results");
    for peer in ["mqtt-paho", "ros1"] {
        let arguments = [
            "--only",
            peer,
            "--samples",
            "1000000",
            "--output",
            output.to_str().unwrap(),
        ];
        // Broker, server and client.
        support::interrupt_leaves_nothing(support::bench("middleware", &arguments), 3);
    }
}

/// Sends messages through the nodes of these peers: two streams through three servers each.
fn nodes(only: &str, discovery: &str) -> Vec<Value> {
    let arguments = [
        "--json",
        "--streams",
        "2",
        "--hops",
        "3",
        "--repetitions",
        "3",
        "--only",
        only,
        "--discovery",
        discovery,
    ];
    let rows = support::objects(support::bench("nodes", &arguments));
    assert_eq!(rows.len(), only.split(',').count(), "{rows:?}");
    rows
}

fn assert_complete(row: &Value) {
    assert!(row["failure"].is_null() && row["faults"] == 0, "{row}");
    assert!(row["median_ms"].as_f64().is_some_and(|time| time > 0.0));
    assert_eq!(row["ready"], 7, "{row}");
}

/// Foreign peers whose programs are built: `takt bench peers install --required`.
#[test]
#[ignore = "needs foreign peers: ./test middleware"]
fn messages_go_through_the_nodes_of_each_required_peer() {
    let peers = "open62541-cs,open62541-pubsub,paho,fastdds,cyclonedds,ros1";
    for discovery in ["all", "next"] {
        nodes(peers, discovery).iter().for_each(assert_complete);
    }
}

/// Foreign peers that a complete report may lack: those that are installed.
#[test]
#[ignore = "needs foreign peers: ./test middleware"]
fn messages_go_through_the_nodes_of_each_other_installed_peer() {
    for row in nodes("rumqttc,nats,grpc,zenoh,ros2", "all") {
        let failure = row["failure"].as_str().unwrap_or_default();
        if !failure.starts_with("not installed") {
            assert_complete(&row);
        }
    }
}

/// The end has more senders than one stream of `opc.iox2` takes.
#[test]
fn ten_streams_go_through_nodes_of_pubsub_over_shared_memory() {
    let arguments = "--json --streams 10 --hops 2 --repetitions 3 --only takt-pubsub-iox2";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let rows = support::objects(support::bench("nodes", &arguments));
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(
        rows[0]["failure"].is_null() && rows[0]["faults"] == 0,
        "{rows:?}"
    );
    assert_eq!(rows[0]["ready"], 21, "{rows:?}");
}

/// Chunks: a message that is longer than a NetworkMessage.
#[test]
fn long_messages_go_through_nodes_of_pubsub() {
    let arguments = "--json --streams 1 --hops 2 --repetitions 3 --bytes 200000 --only takt-pubsub";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let rows = support::objects(support::bench("nodes", &arguments));
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in rows {
        assert!(row["failure"].is_null() && row["faults"] == 0, "{row}");
    }
}

#[test]
fn a_comparison_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let run = |arguments: &[&str]| {
        let common = [
            "--quick",
            "--sizes",
            "16",
            "--samples",
            "20",
            "--output",
            output,
        ];
        let mut bench = support::bench("middleware", &[&common, arguments].concat());
        bench.output().unwrap()
    };
    assert!(run(&["--only", "udp"]).status.success());
    let progress = folder.path().join("progress.jsonl");
    let first = std::fs::read_to_string(&progress).unwrap();
    // A line that an interrupt has cut.
    std::fs::write(&progress, format!("{first}{{\"round\":{{\"lab")).unwrap();
    let resumed = run(&["--only", "udp,tcp", "--resume"]);
    assert!(
        resumed.status.success(),
        "{}",
        String::from_utf8_lossy(&resumed.stderr)
    );
    let second = std::fs::read_to_string(&progress).unwrap();
    assert!(
        second.starts_with(&first) && second.contains("\"label\":\"tcp\""),
        "{second}"
    );
    let samples = std::fs::read_to_string(folder.path().join("samples.csv")).unwrap();
    assert_eq!(
        samples
            .lines()
            .filter(|line| line.starts_with("udp,echo"))
            .count(),
        20
    );
    let other = run(&["--seed", "2", "--resume"]);
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(
        !other.status.success() && said.contains("seed 1 instead of 2"),
        "{said}"
    );
}

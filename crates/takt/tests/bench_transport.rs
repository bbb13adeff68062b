//! `takt bench transport`, the real programs, in a second or so.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_takt"));
    command.args(["bench", "transport"]).args(arguments);
    command
}

/// Processes of ours whose command line has this word.
fn processes_with(word: &str) -> usize {
    let list = std::fs::read_dir("/proc").unwrap();
    list.flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(word))
        .count()
}

#[test]
fn every_row_has_its_fields_and_no_handled_request_allocates() {
    let output = bench(&["--samples", "20", "--rounds", "2", "--json"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let rows: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let find = |wanted: [&str; 4], bytes: u64| {
        rows.iter().find(|row| {
            ["peer", "transport", "service", "wait"]
                .iter()
                .zip(wanted)
                .all(|(field, wanted)| row[field] == wanted)
                && row["payload_bytes"] == bytes
        })
    };
    for row in &rows {
        let at = |field: &str| {
            row[field]
                .as_f64()
                .unwrap_or_else(|| panic!("{field}: {row}"))
        };
        assert!(at("samples") >= 20.0, "{row}");
        assert!(at("min") > 0.0 && at("min") <= at("p50"), "{row}");
        assert!(at("p50") <= at("p99") && at("p99") <= at("p999"), "{row}");
        assert!(at("p999") <= at("max"), "{row}");
        assert!(
            ["none", "same", "diff"]
                .iter()
                .any(|p| row["placement"] == *p),
            "{row}"
        );
        if row["peer"] != "floor" {
            assert!(at("ratio_to_floor") > 0.0, "{row}");
        }
    }
    for (bytes, service) in [(4, "Read"), (4096, "Read"), (4, "Write")] {
        let row = find(["takt", "in-process", service, "none"], bytes).unwrap();
        assert_eq!(row["allocations"], 0.0, "{row}");
    }
    for bytes in [4, 4096] {
        for wanted in [
            ["floor", "TCP", "echo", "blocking"],
            ["takt", "opc.tcp", "Read", "blocking"],
            ["floor", "shared memory", "echo", "sleep"],
            ["takt", "opc.iox2", "Read", "sleep"],
            ["takt", "opc.iox2", "Read", "adaptive"],
        ] {
            assert!(find(wanted, bytes).is_some(), "{wanted:?} {bytes}");
        }
    }
}

#[test]
fn an_interrupt_leaves_no_process_behind() {
    // A number of samples that tells this run's processes from others, and far too many of them to be finished.
    let mut bench = bench(&["--samples", "9999973", "--only", "opc.tcp same"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = format!("\"parent\":{}", bench.id());
    let deadline = Instant::now() + Duration::from_secs(20);
    while processes_with(&server) == 0 {
        assert!(Instant::now() < deadline, "no server was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = rustix::process::Pid::from_child(&bench);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let status = bench.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(processes_with(&server), 0);
}

#[test]
fn a_filter_that_matches_nothing_is_an_error() {
    let output = bench(&["--only", "opc.udp"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("opc.udp"), "{said}");
}

//! `takt bench transport`, the real programs, in a second or so.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_takt"));
    command.args(["bench", "transport"]).args(arguments);
    command
}

/// The processes that this one has started.
fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |process: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        status.is_ok_and(|status| status.contains(&format!("\nPPid:\t{parent}\n")))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(is_child)
        .collect()
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
    // Far more samples than can be finished.
    let mut bench = bench(&["--samples", "10000000", "--only", "opc.tcp same"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let servers = loop {
        let servers = children_of(bench.id());
        if !servers.is_empty() {
            break servers;
        }
        assert!(Instant::now() < deadline, "no server was started");
        std::thread::sleep(Duration::from_millis(10));
    };
    let id = rustix::process::Pid::from_child(&bench);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let status = bench.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    for server in servers {
        let path = format!("/proc/{server}");
        assert!(!std::path::Path::new(&path).exists(), "{path}");
    }
}

#[test]
fn a_filter_that_matches_nothing_is_an_error() {
    let output = bench(&["--only", "opc.udp"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("opc.udp"), "{said}");
}

//! Tests of `takt bench transport` with the real programs, in about a second.

use std::process::Command;

use crate::support;

fn bench(arguments: &[&str]) -> Command {
    support::bench("transport", arguments)
}

#[test]
fn every_row_has_its_fields_and_no_handled_request_allocates() {
    let rows = support::objects(bench(&["--samples", "20", "--rounds", "2", "--json"]));
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
        // An operation on a worker is compared with the same one inline.
        let is_inline = row["service"].as_str().unwrap().ends_with("inline");
        if row["peer"] != "floor" && !is_inline {
            assert!(at("ratio_to_floor") > 0.0, "{row}");
        }
    }
    for (bytes, service) in [(4, "Read"), (4096, "Read"), (4, "Write")] {
        let row = find(["takt", "in-process", service, "none"], bytes).unwrap();
        assert_eq!(row["allocations"], 0.0, "{row}");
    }
    for service in ["Call inline", "Call worker", "Read inline", "Read worker"] {
        assert!(find(["takt", "opc.iox2", service, "none"], 8).is_some());
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
    // The number of samples is too large to be finished.
    let samples = ["--samples", "10000000", "--only", "opc.tcp same"];
    support::interrupt_leaves_nothing(bench(&samples), 1);
}

#[test]
fn a_filter_that_matches_nothing_is_an_error() {
    let output = bench(&["--only", "opc.udp"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("opc.udp"), "{said}");
}

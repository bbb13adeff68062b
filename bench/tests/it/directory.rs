//! Tests of `takt bench directory` with the real programs and a few Providers.

use serde_json::Value;

use crate::support;

/// Returns the runtime directory of the processes of this benchmark.
fn meeting(process: u32) -> std::path::PathBuf {
    format!("/dev/shm/takt-bench-{process}").into()
}

#[test]
fn each_architecture_has_the_connections_that_it_needs() {
    let arguments = ["--providers", "1,3", "--consumers", "2", "--json"];
    let rows = support::objects(support::bench("directory", &arguments));
    let find = |architecture: &str, providers: u64| {
        let row = rows
            .iter()
            .find(|row| row["architecture"] == architecture && row["providers"] == providers);
        row.unwrap_or_else(|| panic!("{architecture} {providers}"))
    };
    assert_eq!(rows.len(), 6);
    for providers in [1, 3] {
        let connections = |row: &Value| {
            ["before", "discovered", "read"]
                .map(|when| row[format!("connections_{when}")].as_u64().unwrap())
        };
        // Each Provider and each Consumer is connected with the registry, then each Consumer with each Provider.
        let registry = connections(find("sr-server", providers));
        assert_eq!(
            registry,
            [providers, providers + 2, providers + 2 + 2 * providers]
        );
        // The registry has one connection to each Provider for all Consumers.
        let forwarded = connections(find("forwarded", providers));
        assert_eq!(
            forwarded,
            [providers, providers + 2, providers + 2 + providers]
        );
        let classical = connections(find("classical", providers));
        assert_eq!(classical, [0, 2 * providers, 2 * providers]);
    }
    for row in &rows {
        let at = |field: &str| row[field].as_f64().unwrap();
        assert!(
            at("discover_ms") > 0.0 && at("read_ms") > at("discover_ms"),
            "{row}"
        );
        assert!(
            at("pss_mib") > at("consumers_pss_mib") && at("consumers_pss_mib") > 0.0,
            "{row}"
        );
        assert!(at("rss_mib") >= at("pss_mib"), "{row}");
        assert!(at("read_us") > 0.0 && at("reads_per_second") > 0.0, "{row}");
        // Each connection has at least a Session and a Read.
        assert!(
            at("requests_consumers") >= 3.0 * at("connections_discovered") / 2.0,
            "{row}"
        );
        assert!(
            at("bytes_consumers") > 50.0 * at("requests_consumers"),
            "{row}"
        );
        let registers = row["architecture"] != "classical";
        assert_eq!(at("bytes_before") > 0.0, registers, "{row}");
    }
}

#[test]
fn an_interrupt_leaves_no_process_behind() {
    // This number is large enough for an interrupt during registration.
    let bench = support::bench("directory", &["--providers", "500"]);
    let process = support::interrupt_leaves_nothing(bench, 2);
    assert!(!meeting(process).exists());
}

#[test]
fn numbers_of_providers_are_bounded() {
    for wrong in ["0", "501", "many"] {
        let output = support::bench("directory", &["--providers", wrong])
            .output()
            .unwrap();
        assert!(!output.status.success(), "{wrong}");
    }
}

#[test]
fn a_too_low_limit_is_reported_at_once_with_the_fix() {
    let script = "ulimit -n 512 && exec \"$0\" directory --providers 500";
    let output = std::process::Command::new("sh")
        .args(["-c", script, support::PROGRAM])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    // The text has the default width, because the output is no terminal.
    let words: Vec<&str> = said
        .split_whitespace()
        .filter(|word| *word != "│")
        .collect();
    let said = words.join(" ");
    assert!(said.contains("whose limit is 512"), "{said}");
    assert!(said.contains("ulimit -Hn 3702"), "{said}");
}

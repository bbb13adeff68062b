//! `takt report` of a run of the lab.

use serde_json::Value;

use crate::case::SandboxedRun;
use crate::{Outcome, TestedBackend};

const BRIDGED: &str = r#"
version = 1
name = "bridged"
discipline = "priority"
topology = { kind = "bridged", rate = "1 Gbit/s" }
[disciplines.priority]
scheduler = "mqprio"
classes = [{ name = "control", priorities = [3] }, { name = "best effort" }]
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "2 ms"
payload = "100 B"
pcp = 3
"#;

/// Number of messages.
const MESSAGES: u64 = 100;

/// Both kinds of round trip of a run are beside their bounds and simulations.
pub fn a_run_is_beside_its_bounds(backend: &TestedBackend) -> Outcome {
    let run = SandboxedRun::new(BRIDGED);
    let messages = MESSAGES.to_string();
    let mut arguments = vec!["--backend", &backend.name, "--messages", &messages];
    if backend.is_host() {
        arguments.push("--without-disciplines");
    }
    let _ = run.finish(&arguments).expect_success();
    let directory = run.directory.to_str().unwrap();
    let pictures = run.sandbox.data_directory().join("pictures");
    let pictures = pictures.to_str().unwrap();
    let arguments = ["report", directory, "--pictures", pictures, "--json"];
    // A measurement above its bound would be an error.
    let text = run.sandbox.run(&arguments).expect_success();
    let rows = text.lines().map(|row| serde_json::from_str(row).unwrap());
    let rows: Vec<Value> = rows.collect();
    let kinds: Vec<&Value> = rows.iter().map(|row| &row["round_trip"]).collect();
    assert_eq!(kinds, ["wire", "application"]);
    for row in &rows {
        assert_eq!(row["hops"], 2, "{row}");
        assert_eq!(row["messages"], MESSAGES);
        assert_eq!(row["trim"], MESSAGES / 10);
        let delays = row["delays"].as_u64().unwrap();
        assert!((MESSAGES / 2..=MESSAGES).contains(&delays), "{row}");
        let number = |path: &str| row.pointer(path).and_then(Value::as_f64);
        let simulated = number("/simulated/delay/max_ns").unwrap();
        let bound = number("/bound/picos").unwrap() / 1e3;
        let measured = number("/measured/delay/median_ns").unwrap();
        // A round trip takes about a cycle, and less than twenty on the busiest machine. It is shorter than a cycle if the
        // thread of the publisher wakes later than that of the loopback.
        assert!(measured > 1e6 && measured < 4e7, "{row}");
        assert!(simulated > 2e6 && simulated <= bound, "{row}");
        let reasons = row["not_comparable"].as_array().unwrap();
        assert_eq!(reasons.is_empty(), !backend.is_host(), "{row}");
    }
    let html = std::fs::read_to_string(run.directory.join("report.html")).unwrap();
    let wire = match backend.is_host() {
        true => "wire from the driver",
        false => "wire from the first bit",
    };
    for kind in [wire, "application"] {
        assert!(html.contains(&format!(
            "Round trip ({kind}): bound, simulation and measurement"
        )));
    }
    let is_marked = html.contains("times are not comparable with bounds and simulation");
    assert_eq!(is_marked, backend.is_host());
    // For each kind a chart of round trips, a histogram and a time line; and inter-frame spacing. Each as SVG and as PNG.
    assert_eq!(std::fs::read_dir(pictures).unwrap().count(), 14);
    Outcome::Passed
}

//! Shipped scenarios on the lab's kernel: no measurement exceeds its sound bound, and the simulated median is the measured one.

use serde_json::Value;

use crate::case::SandboxedRun;

/// Scenario, values of its swept fields, and whether it has a sound bound.
const SCENARIOS: [(&str, &[&str], bool); 10] = [
    (
        "b",
        &["discipline=cbs", "cross_traffic.iperf3.rate=800 Mbit/s"],
        true,
    ),
    // A chain with ETF has no bound: a message may come after its launch time.
    (
        "b-etf",
        &["discipline=mqprio", "cross_traffic.iperf3.rate=590 Mbit/s"],
        false,
    ),
    (
        "b-tcp",
        &[
            "discipline=fq_codel",
            "cross_traffic.iperf3.rate=940 Mbit/s",
        ],
        true,
    ),
    ("d", &["discipline=mqprio"], true),
    ("e3", &["discipline=cbs"], true),
    ("line", &["topology.hops=7", NODES], true),
    ("line-multiflow", &[PROVISIONING, NODES], true),
    ("line-provisioning", &[PROVISIONING, NODES], true),
    // ETF below TAPRIO in Linux's software has no bound (docs/bounds.md).
    ("line-taprio", &["topology.hops=7", NODES], false),
    ("whitepaper", &["applications.control.cycle=250 us"], true),
];

const NODES: &str = "applications.control.repeated_node_count=64";
const PROVISIONING: &str = "disciplines.cbs.classes.A.provisioning=1%";

/// Number of messages.
const MESSAGES: &str = "200";

pub fn no_run_exceeds_its_bound() {
    for (name, fields, has_bound) in SCENARIOS {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios");
        let file = format!("{folder}/{name}.toml");
        let run = SandboxedRun::new("");
        let directory = run.directory.to_str().unwrap();
        let mut arguments = vec!["lab", "run", &file, "--backend", "uml", "--to", directory];
        arguments.extend(["--messages", MESSAGES]);
        arguments.extend(fields.iter().flat_map(|field| ["--field", *field]));
        let _ = run.sandbox.run(&arguments).expect_success();
        // A measurement above its bound has exit status 1.
        let report = ["report", directory, "--json"];
        let text = run.sandbox.run(&report).expect_success();
        let rows = text.lines().map(|row| serde_json::from_str(row).unwrap());
        let rows: Vec<Value> = rows.collect();
        // Of wire and application.
        assert_eq!(rows.len() % 2, 0, "{name}: {text}");
        assert!(!rows.is_empty(), "{name}");
        for row in &rows {
            let number = |path: &str| row.pointer(path).and_then(Value::as_f64);
            let measured = number("/measured/delay/max_ns").unwrap();
            let bound = number("/bound/picos").map(|picos| picos / 1e3);
            assert_eq!(bound.is_some(), has_bound, "{name}: {row}");
            assert!(bound.is_none_or(|bound| measured <= bound), "{name}: {row}");
            let [measured, simulated] = ["measured", "simulated"]
                .map(|kind| number(&format!("/{kind}/delay/median_ns")).unwrap());
            // 1 us for each hop, both ways.
            let allowed = 2e3 * row["hops"].as_f64().unwrap();
            assert!(measured <= simulated + allowed, "{name}: {row}");
            // On the wire, a capture begins behind the queue of the first port, and a simulation in it (docs/measurements.md).
            let is_whole = row["round_trip"] == "application";
            assert!(
                !is_whole || measured >= simulated - allowed,
                "{name}: {row}"
            );
        }
        println!("{name}: {} applications below the bound", rows.len() / 2);
    }
}

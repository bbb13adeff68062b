//! Tests of `takt bench shm` with the real programs, in a few seconds.

use serde_json::Value;

use crate::support;

/// Number of series of each row: fewer decide no goal.
const SERIES: usize = 6;

/// Returns true if there is a second core. A subject spins only then.
fn has_two_cores() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

/// Runs the benchmark and splits its output into rows and ratios.
fn measured(arguments: &[&str]) -> (Vec<Value>, Vec<Value>) {
    let objects = support::objects(support::bench("shm", arguments));
    objects
        .into_iter()
        .partition(|object| object.get("ratio").is_none())
}

fn find<'a>(rows: &'a [Value], fields: &[(&str, Value)]) -> Vec<&'a Value> {
    let has = |row: &&Value| fields.iter().all(|(field, value)| row[field] == *value);
    rows.iter().filter(has).collect()
}

#[test]
fn the_tables_have_every_subject_and_the_ratios_follow_from_them() {
    let (rows, ratios) = measured(&["--iterations", "10", "--idle", "3", "--json"]);
    for row in &rows {
        let series = row["series"].as_array().unwrap();
        assert_eq!(series.len(), SERIES, "{row}");
        assert_eq!(row["iterations"], 10, "{row}");
        for series in series {
            let at = |field: &str| series[field].as_f64().unwrap();
            assert!(at("min") > 0.0, "{row}");
            assert!(
                at("min") <= at("median") && at("median") <= at("max"),
                "{row}"
            );
            assert!(
                at("min") <= at("mean") && at("mean") <= at("max") * 1.01,
                "{row}"
            );
        }
    }
    for service in ["Read", "Write"] {
        for bytes in [4, 4096] {
            for (transport, wait) in [
                ("opc.iox2", "adaptive"),
                ("opc.iox2", "sleep"),
                ("opc.tcp", "blocking"),
                ("TCP echo", "blocking"),
                ("shared memory echo", "sleep"),
            ] {
                let found = find(
                    &rows,
                    &[
                        ("placement", "same".into()),
                        ("service", service.into()),
                        ("payload_bytes", bytes.into()),
                        ("transport", transport.into()),
                        ("wait", wait.into()),
                        ("idle_consumers", 0.into()),
                    ],
                );
                assert!(!found.is_empty(), "{service} {bytes} {transport} {wait}");
            }
        }
    }
    let medians =
        |transport: &str, wait: &str, idle: u32, placement: &str, access: &str, bytes: u32| {
            let row = find(
                &rows,
                &[
                    (
                        "peer",
                        if access == "bytes" { "floor" } else { "takt" }.into(),
                    ),
                    ("service", "Read".into()),
                    ("transport", transport.into()),
                    ("wait", wait.into()),
                    ("idle_consumers", idle.into()),
                    ("placement", placement.into()),
                    ("access", access.into()),
                    ("payload_bytes", bytes.into()),
                ],
            );
            assert_eq!(
                row.len(),
                1,
                "{transport} {wait} {idle} {placement} {access} {bytes}"
            );
            let series = row[0]["series"].as_array().unwrap().iter();
            let medians = series.map(|series| series["median"].as_f64().unwrap());
            medians.collect::<Vec<f64>>()
        };
    // The ratio is between the two middle ones of six series.
    let middle = |above: &[f64], below: &[f64]| {
        let mut ratios: Vec<f64> = above.iter().zip(below).map(|(a, b)| a / b).collect();
        ratios.sort_by(f64::total_cmp);
        assert_eq!(ratios.len(), SERIES);
        (ratios[SERIES / 2 - 1] + ratios[SERIES / 2]) / 2.0
    };
    let ratio = |name: &str, placement: &str| {
        let found = find(&ratios, &[("placement", placement.into())]);
        let named = found
            .iter()
            .find(|ratio| ratio["ratio"].as_str().unwrap().starts_with(name));
        named.unwrap_or_else(|| panic!("{name}"))["value"]
            .as_f64()
            .unwrap()
    };
    let is = |value: f64, expected: f64| {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} {expected}")
    };
    is(
        ratio("Read 4 B, sleep, with 3 idle Consumers", "same"),
        middle(
            &medians("opc.iox2", "sleep", 3, "same", "copied", 4),
            &medians("opc.iox2", "sleep", 0, "same", "copied", 4),
        ),
    );
    if has_two_cores() {
        let in_place = |bytes| medians("opc.iox2", "spin", 0, "diff", "in place", bytes);
        is(
            ratio("Read 4 B in place", "diff"),
            middle(
                &in_place(4),
                &medians("iceoryx2 req-res", "spin", 0, "diff", "bytes", 4),
            ),
        );
        is(
            ratio("Read 4096 B / Read 4 B", "diff"),
            middle(&in_place(4096), &in_place(4)),
        );
        assert!(find(&ratios, &[("placement", "diff".into())]).len() >= 4);
    }
}

#[test]
fn sizes_are_swept_at_a_rate_on_the_cores_asked_for() {
    let (rows, _) = measured(&[
        "--iterations",
        "5",
        "--series",
        "1",
        "--placement",
        "same",
        "--sizes",
        "64..64KiB",
        "--rate",
        "1kHz",
        "--json",
    ]);
    for bytes in [64, 1024, 65536] {
        let found = find(
            &rows,
            &[
                ("payload_bytes", bytes.into()),
                ("transport", "opc.iox2".into()),
            ],
        );
        assert!(found.len() >= 4, "{bytes}");
    }
    for row in &rows {
        assert_eq!(row["placement"], "same", "{row}");
        assert_eq!(row["rate_hz"], 1000.0, "{row}");
        assert_ne!(row["wait"], "spin", "{row}");
    }
}

#[test]
fn an_interrupt_leaves_no_process_behind() {
    let endless = ["--iterations", "10000000", "--placement", "same"];
    support::interrupt_leaves_nothing(support::bench("shm", &endless), 1);
}

#[test]
fn wrong_options_are_explained() {
    for (option, value, said) in [
        ("--rate", "fast", "1kHz"),
        ("--sizes", "5", "multiple of 4"),
        ("--idle", "300", "255"),
    ] {
        let output = support::bench("shm", &[option, value]).output().unwrap();
        assert!(!output.status.success());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(said), "{error}");
    }
}

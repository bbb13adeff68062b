//! `takt simulate` on networks so small that its whole output can be computed by hand.

use std::fs;

use serde_json::Value;
use takt_tests::Sandbox;

/// A payload of 59 B occupies 101 B of the wire: 0.808 us at 1 Gbit/s.
const APPLICATION: &str = r#"
[[applications]]
name = "NAME"
publisher = "host1"
RECEIVER = "host2"
cycle = "CYCLE"
offset = "150 us"
payload = "59 B"
"#;

fn application(name: &str, receiver: &str, cycle: &str) -> String {
    APPLICATION
        .replace("NAME", name)
        .replace("RECEIVER", receiver)
        .replace("CYCLE", cycle)
}

/// `a` sends at 400 us, 650 us and so on; `b`, which has priority, at 650 us, 1150 us and so on: every second message
/// of `a` waits for one.
fn two_applications(head: &str) -> String {
    let (b, a) = (
        application("b", "subscriber", "500 us"),
        application("a", "subscriber", "250 us"),
    );
    format!("version = 1\n{head}{b}{a}[simulation]\ncycles = 10\n")
}

struct Run {
    results: Value,
    table: String,
    csv: String,
}

fn run(scenario: &str, options: &[&str]) -> Run {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let (path, csv) = (folder.path().join("s.toml"), folder.path().join("s.csv"));
    fs::write(&path, scenario).unwrap();
    let arguments = ["simulate", path.to_str().unwrap()];
    let all = |more: &[&str]| {
        let arguments = [&arguments[..], options, more].concat();
        sandbox.run(&arguments).expect_success()
    };
    let table = all(&["--csv", csv.to_str().unwrap(), "--hops"]);
    Run {
        results: serde_json::from_str(&all(&["--json"])).unwrap(),
        table,
        csv: fs::read_to_string(csv).unwrap(),
    }
}

/// Minimum, mean and maximum, in nanoseconds.
fn extremes(value: &Value) -> [f64; 3] {
    ["min_ns", "mean_ns", "max_ns"].map(|name| value[name].as_f64().unwrap())
}

fn named<'a>(results: &'a Value, list: &str, name: &str) -> &'a Value {
    let list = results[list].as_array().unwrap();
    list.iter().find(|it| it["name"] == name).unwrap()
}

#[test]
fn one_way_delays_by_hop_jitter_and_spacing() {
    let head = "[topology]\nkind = \"bridged\"\nforwarding_delay = \"2 us\"\n";
    let run = run(&two_applications(head), &[]);
    let flow = named(&run.results, "flows", "a");
    assert_eq!(
        extremes(&flow["one_way"]["delay"]),
        [3616.0, 4020.0, 4424.0]
    );
    assert_eq!(extremes(&flow["hops"][0]), [808.0, 1212.0, 1616.0]);
    assert_eq!(extremes(&flow["hops"][1]), [808.0; 3]);
    assert_eq!(flow["hops"][1]["port"], "bridge1 \u{2192} host2");
    let jitter = &flow["one_way"]["jitter"];
    assert_eq!(
        (extremes(jitter), jitter["count"].as_u64()),
        ([808.0; 3], Some(9))
    );
    let spacing = extremes(&flow["inter_frame_spacing"]);
    assert_eq!((spacing[0], spacing[2]), (249_192.0, 250_808.0));
    // The same in the table and, message by message and hop by hop, in the file.
    for row in [
        "one way 10 3.616 3.617 4.020 4.424 4.424 4.424",
        "host1 \u{2192} bridge1 10 0.808 1.212 1.616",
        "inter-frame spacing 9 249.192",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&run.table).contains(row), "{row}: {}", run.table);
    }
    for row in [
        ",a,0,400000.000,403616.000,3616.000,arrived,,",
        ",a,1,650000.000,651616.000,1616.000,passed,host1 \u{2192} bridge1,",
        ",a,1,653616.000,654424.000,808.000,passed,bridge1 \u{2192} host2,",
        ",a,1,650000.000,654424.000,4424.000,arrived,,",
    ] {
        assert!(
            run.csv.lines().any(|line| line == row),
            "{row}: {}",
            run.csv
        );
    }
}

/// Beside a message of `c` that is being sent and one of `b` that waits, there is no room for one of `a`.
#[test]
fn drops_and_missed_counters() {
    let head = "discipline = \"d\"\n[topology]\nkind = \"p2p\"\n[disciplines.d]\nscheduler = \"mqprio\"\n\
                classes = [{ name = \"all\", limit = 1 }]\n";
    let c = application("c", "subscriber", "500 us");
    let run = run(
        &two_applications(&format!("{head}{c}")),
        &["--model", "ieee"],
    );
    let a = named(&run.results, "applications", "a");
    assert_eq!(a["published"], 10);
    let drops = &a["drops"];
    assert_eq!(
        (&drops["publisher"], &drops["loopback"], &drops["all"]),
        (&5.into(), &0.into(), &5.into())
    );
    assert_eq!(
        (&drops["d_p"], &drops["d_l"], &drops["d_sum"]),
        (&0.5.into(), &0.0.into(), &0.5.into())
    );
    // 0, 2, 4, 6 and 8 arrive. The loss of 9 cannot be detected.
    assert_eq!(a["counters"]["missed"], 4);
    assert_eq!(a["counters"]["repeated"], 0);
    let lost = &named(&run.results, "flows", "a")["lost"][0];
    assert_eq!(
        (&lost["port"], &lost["count"]),
        (&"host1 \u{2192} host2".into(), &5.into())
    );
    assert!(run.table.contains("dP 5 (50.0000 %)"), "{}", run.table);
    assert!(run.table.contains("d\u{3a3} 5 (50.0000 %) of 10"));
    assert_eq!(run.csv.matches(",lost,host1 \u{2192} host2,").count(), 5);
}

/// Simulates a loopback whose cycles last `250 us / (1 + drift)` and which responds with the last message that it
/// has.
fn drifting(drift: &str) -> Run {
    let scenario = format!(
        "version = 1\n[topology]\nkind = \"p2p\"\n[[nodes]]\nname = \"host2\"\nclock = {{ drift = \"{drift}\" }}\n{}[simulation]\ncycles = 8\n",
        application("a", "loopback", "250 us"),
    );
    run(&scenario, &["--loopback", "latest"])
}

/// Cycles of 200 us: user threads run at 60 us + 200 us j, and the messages that they take are sent 260 us later. Two
/// of ten have no new message.
#[test]
fn round_trips_and_repeated_counters() {
    let run = drifting("250000 ppm");
    let a = named(&run.results, "applications", "a");
    assert_eq!(
        extremes(&a["round_trip"]["delay"]),
        [270_808.0, 345_808.0, 420_808.0]
    );
    let jitter = extremes(&a["round_trip"]["jitter"]);
    assert_eq!((jitter[0], jitter[2]), (50_000.0, 150_000.0));
    assert_eq!(
        (&a["counters"]["repeated"], &a["counters"]["missed"]),
        (&2.into(), &0.into())
    );
    assert_eq!(a["drops"]["all"], 0);
    let back = named(&run.results, "flows", "a (return)");
    assert_eq!(back["received"], 10);
    assert_eq!(extremes(&back["inter_frame_spacing"]), [200_000.0; 3]);
    assert!(run.table.contains("missed 0, repeated 2"), "{}", run.table);
}

/// Cycles of 312.5 us: two messages come before the user thread of 1656.25 us, which sends the later one.
#[test]
fn messages_overwritten_at_a_loopback_are_counted_there() {
    let run = drifting("-200000 ppm");
    let a = named(&run.results, "applications", "a");
    let drops = &a["drops"];
    assert_eq!(
        (&drops["publisher"], &drops["loopback"], &drops["all"]),
        (&0.into(), &1.into(), &1.into())
    );
    assert_eq!(drops["d_l"], 0.125);
    assert_eq!(
        (&a["overwritten"], &a["counters"]["missed"]),
        (&1.into(), &1.into())
    );
    assert!(run.csv.contains(",overwritten,"), "{}", run.csv);
    assert!(run.table.contains("dL 1 (12.5000 %)"), "{}", run.table);
}

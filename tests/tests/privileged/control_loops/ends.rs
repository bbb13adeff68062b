//! The two ends of an application over Ethernet.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;
use takt_control::TracePoint;
use takt_control::trace_file::TraceReader;
use takt_tests::network::{HostPair as Network, NamespaceHost as Host};
use takt_tests::{Process, Sandbox};

use crate::control_loops::PATIENCE;

/// Number of cycles: 2 ms each, because a busy machine is slow.
const CYCLES: u64 = 300;

/// Starts an end of scenario E3 without launch times.
pub fn start(host: &Host, sandbox: &Sandbox, end: &str, arguments: &[&str]) -> Process {
    let scenario = takt_tests::binary::repository().join("scenarios/e3.toml");
    let common = [
        end,
        scenario.to_str().unwrap(),
        "--interface",
        host.interface,
        "--field",
        "discipline=mqprio",
        "--field",
        "applications.control.cycle=2ms",
    ];
    let mut command = host.takt(sandbox, &[&common, arguments].concat());
    Process::spawn(&format!("takt {end}"), &mut command)
}

fn result(process: Process) -> Value {
    let printed = process.finish(PATIENCE).expect_success();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

fn number(result: &Value, name: &str) -> u64 {
    let number = result[name].as_u64();
    number.unwrap_or_else(|| panic!("no number `{name}`: {result}"))
}

/// Counters and times of a trace, by trace point.
type Points = BTreeMap<TracePoint, Vec<(u64, i64)>>;

/// Reads a trace: names and values of its description, and its points.
fn traced(path: &Path) -> (Vec<(String, String)>, Points) {
    let mut reader = TraceReader::new(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut points = Points::new();
    for record in reader.by_ref() {
        let record = record.unwrap();
        let of_point = points.entry(record.point).or_default();
        of_point.push((record.counter, record.nanos));
    }
    assert_eq!(reader.header().lost, 0);
    (reader.header().description.clone(), points)
}

fn counters(records: &[(u64, i64)]) -> BTreeSet<u64> {
    records.iter().map(|(counter, _)| *counter).collect()
}

pub fn counters_come_back_in_order() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let file = |name: &str| sandbox.data_directory().join(name);
    let (there, back) = (file("publisher.trace"), file("loopback.trace"));
    let mut loopback = start(
        &network.second,
        &sandbox,
        "loopback",
        &["--json", "--trace", back.to_str().unwrap()],
    );
    let cycles = CYCLES.to_string();
    let publisher = start(
        &network.first,
        &sandbox,
        "publish",
        &[
            "--json",
            "--cycles",
            &cycles,
            "--trace",
            there.to_str().unwrap(),
        ],
    );
    let published = result(publisher);
    loopback.signal(Signal::INT);
    let returned = result(loopback);

    assert_eq!(number(&published, "cycles"), CYCLES, "{published}");
    assert_eq!(number(&published, "sendErrors"), 0, "{published}");
    for end in [&published, &returned] {
        assert_eq!(number(end, "reorderedCounters"), 0, "{end}");
        assert_eq!(number(end, "refused"), 0, "{end}");
        assert_eq!(number(end, "tracePointsLost"), 0, "{end}");
    }
    // Counters of skipped cycles, and of the last ones, need not come back.
    let trips = &published["applicationRoundTripNs"];
    assert!(number(trips, "count") >= CYCLES / 3, "{published}");

    let (description, points) = traced(&there);
    let expected = [
        ("role", "publisher"),
        ("application", "control"),
        ("cycle_ns", "2000000"),
    ];
    for (name, value) in expected {
        let pair = (name.to_owned(), value.to_owned());
        assert!(description.contains(&pair), "{pair:?}: {description:?}");
    }
    let (sent, taken) = (&points[&TracePoint::T1], &points[&TracePoint::T8]);
    assert_eq!(sent.len() as u64, number(&published, "sent"));
    assert_eq!(taken.len() as u64, number(&published, "received"));
    let (sent_counters, mut taken_counters) = (counters(sent), counters(taken));
    assert_eq!(sent_counters, (1..=CYCLES).collect());
    // The loopback sends 0 before the first message comes.
    taken_counters.remove(&0);
    assert_eq!(taken_counters.len() as u64, number(trips, "count"));
    assert!(taken_counters.is_subset(&sent_counters));
    for (counter, taken) in taken.iter().filter(|(counter, _)| *counter > 0) {
        let sent = sent.iter().find(|(sent, _)| sent == counter).unwrap().1;
        assert!(sent < *taken, "{counter} came back before it was sent");
    }

    let (_, points) = traced(&back);
    let seen: Vec<TracePoint> = points.keys().copied().collect();
    assert_eq!(seen, [TracePoint::T4, TracePoint::T5]);
    assert!(counters(&points[&TracePoint::T4]).is_superset(&taken_counters));
    assert!(counters(&points[&TracePoint::T5]).is_superset(&taken_counters));
}

pub fn an_interrupted_loop_has_a_result() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let ends = [(&network.first, "publish"), (&network.second, "loopback")];
    for (host, end) in ends {
        let mut process = start(host, &sandbox, end, &[]);
        process.wait_for("its addresses", PATIENCE, |line| line.contains("receives"));
        process.signal(Signal::INT);
        let printed = process.finish(PATIENCE).expect_success();
        let row = |name: &str| printed.lines().any(|line| line.starts_with(name));
        assert!(
            row("messages sent") && row("counters reordered"),
            "{printed}"
        );
    }
    assert!(sandbox.left_behind().is_empty());
}

pub fn killed_ends_leave_nothing_behind() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let mut loopback = start(&network.second, &sandbox, "loopback", &[]);
    let mut publisher = start(&network.first, &sandbox, "publish", &[]);
    for process in [&mut loopback, &mut publisher] {
        process.wait_for("its addresses", PATIENCE, |line| line.contains("receives"));
    }
    let running = processes(&sandbox);
    assert_eq!(running, BTreeSet::from([loopback.id(), publisher.id()]));
    for process in [&mut publisher, &mut loopback] {
        process.kill();
    }
    assert_eq!(processes(&sandbox), BTreeSet::new());
    assert!(
        sandbox.left_behind().is_empty(),
        "{:?}",
        sandbox.left_behind()
    );

    // The next ones use the same interfaces and addresses.
    let loopback = start(
        &network.second,
        &sandbox,
        "loopback",
        &["--json", "--for", "30s"],
    );
    let cycles = CYCLES.to_string();
    let publisher = start(
        &network.first,
        &sandbox,
        "publish",
        &["--json", "--cycles", &cycles],
    );
    let published = result(publisher);
    drop(loopback);
    assert!(
        number(&published["applicationRoundTripNs"], "count") > 0,
        "{published}"
    );
}

/// Returns the ids of all processes of a sandbox: its runtime directory is in their environment.
fn processes(sandbox: &Sandbox) -> BTreeSet<u32> {
    let directory = sandbox.runtime_directory();
    let wanted = directory.to_str().unwrap();
    let is_its = |process: &u32| {
        let environment = std::fs::read(format!("/proc/{process}/environ"));
        String::from_utf8_lossy(&environment.unwrap_or_default()).contains(wanted)
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let processes = names.filter_map(|name| name.to_str()?.parse().ok());
    processes.filter(is_its).collect()
}

pub fn a_missing_interface_is_explained() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let scenario = takt_tests::binary::repository().join("scenarios/e3.toml");
    let scenario = scenario.to_str().unwrap();
    let base = ["--field", "discipline=mqprio", "--cycles", "3"];
    for end in ["publish", "loopback"] {
        for (interface, parts) in [
            (&[][..], &["--interface"][..]),
            (&["--interface", "nobody0"], &["nobody0", "ip link"]),
        ] {
            let arguments = [&[end, scenario], &base[..], interface].concat();
            let mut command = network.first.takt(&sandbox, &arguments);
            let finished = takt_tests::process::run("takt", &mut command, PATIENCE);
            let error = finished.expect_failure();
            for part in parts {
                assert!(error.contains(part), "no `{part}`: {error}");
            }
            let widest = error.lines().map(|line| line.chars().count()).max();
            assert!(widest.is_some_and(|width| width <= 80), "{error}");
        }
    }
}

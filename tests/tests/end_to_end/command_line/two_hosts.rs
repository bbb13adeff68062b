//! `takt lab collect` and `takt report` with files of two hosts: their clocks, links and offloads decide what has a verdict.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use takt_capture::CaptureWriter;
use takt_control::{Trace, TracePoint, trace_file};
use takt_lab::{EndRecord, LoopEnd, RunId, TraceNotes};
use takt_tests::Sandbox;

use crate::command_line::plain;

/// A control loop of one hop, whose class has a Credit-Based Shaper.
const SCENARIO: &str = r#"
version = 1
name = "two-hosts"
discipline = "shaped"
topology = { kind = "p2p", rate = "1 Gbit/s" }
[disciplines.shaped]
scheduler = "mqprio"
classes = [
    { name = "control", priorities = [3], queue = "cbs", idle_slope = "20 Mbit/s" },
    { name = "best effort" },
]
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
pcp = 3
"#;

const MESSAGES: i64 = 200;
const CYCLE: i64 = 1_000_000;
const RUN: RunId = RunId(849_351_600);
/// 2026-11-30T11:00:00 in UTC, in nanoseconds.
const START: i64 = 1_796_036_400_000_000_000;
const TAI: i64 = 37_000_000_000;

/// Facts of a host that can be compared with the scenario.
const CARD: [(&str, &str); 5] = [
    ("driver", "igb"),
    ("PTP clock", "/dev/ptp0"),
    ("speed", "1000 Mbit/s"),
    ("duplex", "full"),
    ("disciplines", "as planned"),
];

/// Facts of a host whose system clock follows the grandmaster `a`.
fn ptp(offset: &'static str) -> [(&'static str, &'static str); 4] {
    [
        ("PTP grandmaster", "a"),
        ("PTP steers", "system clock"),
        ("PTP offset", offset),
        ("PTP offset at the end", "0 ns"),
    ]
}

/// Files of two hosts.
pub(super) struct Hosts {
    pub(super) sandbox: Sandbox,
    folder: tempfile::TempDir,
}

impl Hosts {
    /// Writes the files of a run whose messages take `way` nanoseconds on the wire there. Facts come after those of [`CARD`], which they
    /// replace.
    fn new(way: i64, publisher: &[(&str, &str)], loopback: &[(&str, &str)]) -> Self {
        let hosts = Self {
            sandbox: Sandbox::new(),
            folder: tempfile::tempdir().unwrap(),
        };
        fs::write(hosts.path("two.toml"), SCENARIO).unwrap();
        let at = |after: i64| move |counter: i64| START + counter * CYCLE + after;
        let there = 2_000 + way;
        let back = 502_000;
        hosts.trace(
            LoopEnd::Publisher,
            publisher,
            &[(TracePoint::T1, 0), (TracePoint::T8, back + 12_000)],
        );
        hosts.trace(
            LoopEnd::Loopback,
            loopback,
            &[
                (TracePoint::T4, there + 10_000),
                (TracePoint::T5, back - 2_000),
            ],
        );
        hosts.capture("publisher.pcapng", &at(2_000), &at(back + SHORT));
        hosts.capture("loopback.pcapng", &at(there), &at(back));
        hosts
    }

    /// Writes the files of a run whose messages take a short time.
    pub(super) fn short() -> Self {
        Self::new(SHORT, &[], &[])
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn trace(&self, end: LoopEnd, facts: &[(&str, &str)], points: &[(TracePoint, i64)]) {
        let mut trace = Trace::with_capacity(2 * MESSAGES as usize);
        for counter in 1..=MESSAGES {
            for (point, after) in points {
                let nanos = START + TAI + counter * CYCLE + after;
                trace.add(*point, counter.cast_unsigned(), nanos);
            }
        }
        let all = CARD.iter().chain(facts);
        let mut host: Vec<(String, String)> = Vec::new();
        for (name, value) in all {
            host.retain(|(known, _)| known != name);
            host.push(((*name).to_owned(), (*value).to_owned()));
        }
        let notes = TraceNotes {
            runs: vec![RUN],
            scenario_digest: TraceNotes::digest_of(SCENARIO),
            settings: Vec::new(),
            publisher_ids: (1, 2),
            boot: Some(end.name().to_owned()),
            host,
            end: EndRecord {
                application: "control".to_owned(),
                end: end.name().to_owned(),
                attempts: Some(203),
                unmade: Some(1),
                overflowed: Some(2),
                sent: 200,
                ..EndRecord::default()
            },
        };
        let lines = notes.lines().unwrap();
        let mut description = vec![("tai_offset_s", "37".to_owned())];
        description.extend(lines.iter().map(|(name, it)| (name.as_str(), it.clone())));
        let path = self.path(&format!("{}.trace", end.name()));
        trace_file::write(&mut File::create(path).unwrap(), &description, &trace).unwrap();
    }

    fn capture(&self, name: &str, there: &dyn Fn(i64) -> i64, back: &dyn Fn(i64) -> i64) {
        let file = File::create(self.path(name)).unwrap();
        let mut writer = CaptureWriter::new(file).unwrap();
        let time =
            |nanos: i64| -> SystemTime { UNIX_EPOCH + Duration::from_nanos(nanos.cast_unsigned()) };
        for counter in 1..=MESSAGES {
            for (id, group_version, at) in [(1, RUN.0, there(counter)), (2, 77, back(counter))] {
                let frame = frame(id, group_version, counter);
                writer.write(time(at), &frame).unwrap();
            }
        }
        writer.finish().unwrap();
    }

    /// Collects the files, and returns what is printed.
    pub(super) fn collect(&self, options: &[&str]) -> Value {
        let names = [
            "run",
            "two.toml",
            "publisher.trace",
            "loopback.trace",
            "publisher.pcapng",
            "loopback.pcapng",
        ];
        let paths = names.map(|name| self.path(name).display().to_string());
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let arguments = [&["lab", "collect"][..], &paths, options, &["--json"]].concat();
        let printed = self.sandbox.run(&arguments).expect_success();
        serde_json::from_str(&printed).unwrap()
    }

    /// Returns the row of the wire round trip of a report, whose exit status tells whether something is above its bound.
    fn row(&self, is_error: bool) -> Value {
        let directory = self.path("run").display().to_string();
        let finished = self.sandbox.run(&["report", &directory, "--json"]);
        let printed = match is_error {
            true => {
                let printed = finished.stdout.clone();
                let _ = finished.expect_failure();
                printed
            }
            false => finished.expect_success(),
        };
        serde_json::from_str(printed.lines().next().unwrap()).unwrap()
    }

    fn text(&self) -> String {
        let directory = self.path("run").display().to_string();
        plain(&self.sandbox.run(&["report", &directory]).stdout)
    }

    fn page(&self) -> String {
        fs::read_to_string(self.path("run/report.html")).unwrap()
    }
}

/// Returns an Ethernet frame of `takt publish SCENARIO`.
fn frame(publisher: u16, group_version: u32, counter: i64) -> Vec<u8> {
    let mut frame = vec![1, 0, 0x5E, 0, 0x54, 1, 2, 0, 0, 0, 0, publisher as u8];
    frame.extend([0x81, 0, 0x60, 1, 0xB6, 0x2C]);
    frame.extend([0xF1, 0x01]);
    frame.extend(publisher.to_le_bytes());
    frame.extend([0x0F, 1, 0]);
    frame.extend(group_version.to_le_bytes());
    frame.extend([1, 0, 9, 0, 1, 1, 0]);
    frame.extend([0x89, 0x10, 9, 0]);
    frame.extend([0; 8]);
    frame.extend([1, 0, 9]);
    frame.extend(counter.to_le_bytes());
    frame
}

/// Time on the wire far above each bound.
const LONG: i64 = 400_000;
/// Time on the wire below each bound, that of the frame alone.
const SHORT: i64 = 700;

/// Without facts about the clocks, a long time of one way may be their difference.
#[test]
fn clocks_that_differ_by_an_unknown_time_leave_one_way_without_a_verdict() {
    let hosts = Hosts::new(LONG, &[], &[]);
    let collected = hosts.collect(&["--synchronized"]);
    assert_eq!(collected["clock_margin_ns"], Value::Null, "{collected}");
    assert_eq!(collected["synchronized"], true);
    let row = hosts.row(false);
    assert_eq!(row["not_comparable"], serde_json::json!([]), "{row}");
    // The round trip has one clock.
    assert_eq!(row["is_decidable"], true, "{row}");
    assert_eq!(row["clock_margin_ns"], 0, "{row}");
    let way = &row["one_way"][0];
    assert_eq!(way["measured"]["delay"]["median_ns"], 400_000.0, "{way}");
    assert_eq!(way["is_decidable"], false, "{way}");
    assert_eq!(way["clock_margin_ns"], Value::Null, "{way}");
    assert_eq!(way["is_error"], false, "{way}");
    let text = hosts.text();
    assert!(text.contains("not decidable: clocks"), "{text}");
    assert!(
        text.contains("nothing tells how far the clocks of the hosts differ"),
        "{text}"
    );
}

#[test]
fn clocks_with_a_known_margin_give_a_verdict_beyond_it() {
    let of = |way: i64, offset: &'static str, is_error: bool| {
        let hosts = Hosts::new(way, &ptp("0 ns"), &ptp(offset));
        let collected = hosts.collect(&[]);
        assert_eq!(collected["synchronized"], true, "{collected}");
        let row = hosts.row(is_error);
        let way = row["one_way"][0].clone();
        assert_eq!(way["clock_margin_ns"], collected["clock_margin_ns"]);
        (hosts, way)
    };
    let (hosts, way) = of(SHORT, "-70 ns", false);
    assert_eq!(way["clock_margin_ns"], 70, "{way}");
    assert_eq!(
        (&way["is_decidable"], &way["is_error"]),
        (&true.into(), &false.into())
    );
    let text = hosts.text();
    assert!(text.contains("differ by 0.070 \u{b5}s at most"), "{text}");
    let (_, way) = of(LONG, "-70 ns", true);
    assert_eq!(
        (&way["is_decidable"], &way["is_error"]),
        (&true.into(), &true.into())
    );
    // The margin is longer than the distance to the bound, from either side.
    let (_, way) = of(LONG, "500000 ns", false);
    assert_eq!(
        (&way["is_decidable"], &way["is_error"]),
        (&false.into(), &false.into())
    );
    let (_, way) = of(SHORT, "500000 ns", false);
    assert_eq!(way["is_decidable"], false, "{way}");
}

#[test]
fn links_of_another_speed_have_no_verdict() {
    let slow = [("speed", "100 Mbit/s"), ("duplex", "half")];
    let hosts = Hosts::new(SHORT, &[], &slow);
    let collected = hosts.collect(&[]);
    let doubts = collected["doubts"].to_string();
    assert!(
        doubts.contains(
            "the port of the loopback of control has 100 Mbit/s, the scenario has 1 Gbit/s"
        ),
        "{doubts}"
    );
    let row = hosts.row(false);
    let reasons = row["not_comparable"].to_string();
    assert!(reasons.contains("has 100 Mbit/s"), "{reasons}");
    assert!(reasons.contains("half duplex"), "{reasons}");
    let text = hosts.text();
    assert!(!text.contains("below the bound"), "{text}");
    assert!(
        hosts
            .page()
            .contains("has 100 Mbit/s, the scenario has 1 Gbit/s")
    );
}

/// Shapers of network cards are those of the standard. Those of the kernel have bounds of their own.
#[test]
fn full_offload_is_compared_with_the_bounds_of_devices() {
    let compared = |facts: &[(&str, &str)]| {
        let hosts = Hosts::new(SHORT, facts, facts);
        let _ = hosts.collect(&[]);
        let row = hosts.row(false);
        let _ = hosts.text();
        (row, hosts.page())
    };
    let of_kernel = "shapers of sch_cbs in software";
    let of_devices = "shapers and gates behave as in IEEE 802.1Q";
    let (row, page) = compared(&[("disciplines", "as planned, without offload")]);
    assert_eq!(row["not_comparable"], serde_json::json!([]), "{row}");
    assert!(page.contains(of_kernel) && !page.contains(of_devices));
    let full = ("disciplines", "as planned, full offload");
    let (row, page) = compared(&[full]);
    assert_eq!(row["not_comparable"], serde_json::json!([]), "{row}");
    assert!(row["bound"]["picos"].is_u64(), "{row}");
    assert!(page.contains(of_devices) && !page.contains(of_kernel));
    assert!(page.contains("network cards of the hosts; bridges as hardware"));
    // Facts that do not prove it.
    let (row, _) = compared(&[full, ("driver", "netdevsim")]);
    assert_ne!(row["not_comparable"], serde_json::json!([]), "{row}");
}

#[test]
fn counts_of_both_ends_and_clocks_of_captures_are_shown() {
    let hosts = Hosts::new(SHORT, &[], &[]);
    let _ = hosts.collect(&[]);
    let row = hosts.row(false);
    let end = &row["ends"][0];
    let counts = ["attempts", "not_made", "without_room", "sent"].map(|name| end[name].as_u64());
    assert_eq!(counts, [203, 1, 2, 200].map(Some), "{row}");
    let clocks = row["capture_clocks"].to_string();
    assert!(
        clocks.contains("software, CLOCK_REALTIME of the kernel, in steps of 1 ns"),
        "{clocks}"
    );
    let page = hosts.page();
    for part in [
        "203 messages to send, 200 sent, 1 not made, 2 without room",
        "software, CLOCK_REALTIME of the kernel, in steps of 1 ns",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let directory = hosts.path("run").display().to_string();
    let analyzed = hosts.sandbox.run(&["analyze", &directory, "--trim", "0"]);
    let analyzed = analyzed.expect_success();
    assert!(analyzed.contains("(stamps of the kernel)"), "{analyzed}");
}

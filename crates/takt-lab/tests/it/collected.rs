//! Directories of runs from traces and captures that were made by hand.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_capture::CaptureWriter;
use takt_control::{Trace, TracePoint, trace_file};
use takt_lab::collect::{CollectError, CollectRequest, collect};
use takt_lab::run_directory::{RunDescription, SCENARIO};
use takt_lab::{CaseRecord, EndRecord, LoopEnd, RunId, TraceNotes};
use takt_scenario::ScenarioFile;

const TEXT: &str = r#"
version = 1
name = "two"
topology = { kind = "p2p", rate = "1 Gbit/s" }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
[[applications]]
name = "other"
publisher = "host1"
loopback = "host2"
cycle = "1 ms"
payload = "59 B"
"#;

/// 2026-11-30T11:00:00 in UTC, in nanoseconds.
const START: i64 = 1_796_036_400_000_000_000;
const RUN: RunId = RunId(849_351_600);
const CYCLE: i64 = 1_000_000;
const MESSAGES: i64 = 400;
const TAI: i64 = 37_000_000_000;

/// Folder with the files of a run.
struct Files {
    folder: tempfile::TempDir,
}

/// Trace that is to be written.
#[derive(Clone)]
struct Wanted {
    end: LoopEnd,
    application: &'static str,
    runs: Vec<RunId>,
    start: i64,
    boot: &'static str,
    settings: Vec<(String, String)>,
    text: String,
    host: Vec<(String, String)>,
}

fn wanted(end: LoopEnd) -> Wanted {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Wanted {
        end,
        application: "control",
        runs: vec![RUN],
        start: START,
        boot: "a",
        settings: Vec::new(),
        text: TEXT.to_owned(),
        host: vec![
            fact("kernel", "6.12"),
            fact("driver", "igb"),
            fact("disciplines", "as planned"),
        ],
    }
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("two.toml"), TEXT).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn trace(&self, name: &str, wanted: &Wanted) -> PathBuf {
        let mut trace = Trace::with_capacity(2 * MESSAGES as usize);
        let points = match wanted.end {
            LoopEnd::Publisher => [(TracePoint::T1, 0), (TracePoint::T8, 700_000)],
            LoopEnd::Loopback => [(TracePoint::T4, 200_000), (TracePoint::T5, 500_000)],
        };
        for counter in 1..=MESSAGES {
            for (point, after) in points {
                let nanos = wanted.start + TAI + counter * CYCLE + after;
                trace.add(point, counter.cast_unsigned(), nanos);
            }
        }
        let publisher_ids = match wanted.application {
            "control" => (1, 2),
            _ => (3, 4),
        };
        let notes = TraceNotes {
            runs: wanted.runs.clone(),
            scenario_digest: TraceNotes::digest_of(&wanted.text),
            settings: wanted.settings.clone(),
            publisher_ids,
            boot: Some(wanted.boot.to_owned()),
            host: wanted.host.clone(),
            end: EndRecord {
                application: wanted.application.to_owned(),
                end: wanted.end.name().to_owned(),
                overruns: 3,
                ..EndRecord::default()
            },
        };
        let lines = notes.lines().unwrap();
        let mut description: Vec<(&str, String)> = vec![("tai_offset_s", "37".to_owned())];
        description.extend(
            lines
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone())),
        );
        let path = self.path(name);
        trace_file::write(&mut File::create(&path).unwrap(), &description, &trace).unwrap();
        path
    }

    /// Writes a capture at a port, with messages of both ends.
    fn capture(&self, name: &str, publisher: u16, run: RunId, start: i64) -> PathBuf {
        let path = self.path(name);
        let mut writer = CaptureWriter::new(File::create(&path).unwrap()).unwrap();
        let at =
            |nanos: i64| -> SystemTime { UNIX_EPOCH + Duration::from_nanos(nanos.cast_unsigned()) };
        for counter in 1..=MESSAGES {
            let sent = start + counter * CYCLE;
            let there = frame(publisher, run.0, counter);
            writer.write(at(sent + 10_000), &there).unwrap();
            // The group of the loopback has a version of its own.
            let back = frame(publisher + 1, 77, counter);
            writer.write(at(sent + 600_000), &back).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn collect(&self, files: &[PathBuf]) -> Result<RunDescription, CollectError> {
        self.collect_with(files, &[], false)
    }

    fn collect_with(
        &self,
        files: &[PathBuf],
        at_loopback: &[PathBuf],
        is_synchronized: bool,
    ) -> Result<RunDescription, CollectError> {
        let scenario = self.path("two.toml").display().to_string();
        let scenario = ScenarioFile::parse(TEXT, &scenario).unwrap();
        let request = CollectRequest {
            scenario: &scenario,
            text: TEXT,
            files,
            at_loopback,
            is_synchronized,
        };
        collect(&request, &self.path("run"))
    }

    /// Collects files that must be refused, and returns the reason. Nothing may be written.
    fn refused(&self, files: &[PathBuf]) -> String {
        let error = self.collect(files).unwrap_err().to_string();
        assert!(!self.path("run").exists(), "{error}");
        error
    }

    fn pair(&self) -> [PathBuf; 2] {
        [
            self.trace("publisher.trace", &wanted(LoopEnd::Publisher)),
            self.trace("loopback.trace", &wanted(LoopEnd::Loopback)),
        ]
    }
}

/// Returns an Ethernet frame of `takt publish SCENARIO`: VLAN tag, headers of 32 bytes, and one Variant with a UInt64.
fn frame(publisher: u16, group_version: u32, counter: i64) -> Vec<u8> {
    let mut frame = vec![1, 0, 0x5E, 0, 0x54, 1, 2, 0, 0, 0, 0, 1];
    frame.extend([0x81, 0, 0x60, 1, 0xB6, 0x2C]);
    // UADP version 1, PublisherId (UInt16), GroupHeader with all fields, PayloadHeader.
    frame.extend([0xF1, 0x01]);
    frame.extend(publisher.to_le_bytes());
    frame.extend([0x0F, 1, 0]);
    frame.extend(group_version.to_le_bytes());
    frame.extend([1, 0, 9, 0, 1, 1, 0]);
    // Key frame of Variants, with SequenceNumber and Timestamp.
    frame.extend([0x89, 0x10, 9, 0]);
    frame.extend([0; 8]);
    frame.extend([1, 0, 9]);
    frame.extend(counter.to_le_bytes());
    frame
}

#[test]
fn traces_and_captures_make_a_run() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    let captures = [
        files.capture("eth.pcapng", 1, RUN, START),
        files.capture("loopback.pcapng", 1, RUN, START),
    ];
    let all = [
        publisher,
        loopback,
        captures[0].clone(),
        captures[1].clone(),
    ];
    let run = files.collect(&all).unwrap();
    assert_eq!(run, RunDescription::read(&files.path("run")).unwrap());
    assert_eq!(
        (run.backend.as_str(), run.scenario.as_str()),
        ("hosts", "two")
    );
    assert!(run.disciplines);
    assert_eq!(run.started, 1_796_036_400);
    let host = |name: &str| run.host.get(name).map(String::as_str);
    assert_eq!(host("kernel"), Some("6.12"));
    assert_eq!(host("links"), Some("igb"));
    assert_eq!(host("run"), Some("849351600 (2026-11-30T11:00:00Z)"));
    let [case] = run.cases.as_slice() else {
        panic!("{run:?}");
    };
    // Both ends are on one host.
    assert!(case.synchronized);
    assert_eq!(case.messages, 400);
    let [application] = case.applications.as_slice() else {
        panic!("{case:?}");
    };
    let directory = files.path("run").join(&case.directory);
    let found = application.files(&directory);
    assert_eq!(found.len(), 4, "{found:?}");
    for (path, port) in &found {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(path.is_file(), "{name}");
        assert_eq!(port.is_loopback, name == "loopback-port-2.pcapng", "{name}");
    }
    let record = CaseRecord::read(&directory).unwrap();
    let overruns: u64 = record.ends.iter().map(|end| end.overruns).sum();
    assert_eq!((record.ends.len(), overruns), (2, 6));
    assert_eq!(
        fs::read_to_string(files.path("run").join(SCENARIO)).unwrap(),
        TEXT
    );
    // A directory that has a run is kept.
    let again = files.collect(&all).unwrap_err();
    assert!(again.to_string().contains("already has a run"), "{again}");
}

#[test]
fn hosts_have_their_own_facts_and_clocks() {
    let files = Files::new();
    let publisher = files.trace("publisher.trace", &wanted(LoopEnd::Publisher));
    let mut other = wanted(LoopEnd::Loopback);
    other.boot = "b";
    // The clock of the other host is wrong by an hour.
    other.start += 3_600_000_000_000;
    other.host[0].1 = "6.1".to_owned();
    other.host[2].1 = "not as planned: x".to_owned();
    let loopback = files.trace("loopback.trace", &other);
    let run = files
        .collect(&[publisher.clone(), loopback.clone()])
        .unwrap();
    assert!(!run.cases[0].synchronized && !run.disciplines);
    let kernels: BTreeMap<&str, &str> = (run.host.iter())
        .filter(|(name, _)| name.contains("kernel"))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let expected = [("loopback: kernel", "6.1"), ("publisher: kernel", "6.12")];
    assert_eq!(kernels, BTreeMap::from(expected));
    fs::remove_dir_all(files.path("run")).unwrap();
    let error = files
        .collect_with(&[publisher, loopback], &[], true)
        .unwrap_err();
    assert!(
        matches!(error, CollectError::Apart { is_later: true, .. }),
        "{error}"
    );
}

#[test]
fn a_capture_is_at_the_port_that_the_caller_names() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    let capture = files.capture("eth1.pcapng", 1, RUN, START);
    let all = [publisher, loopback, capture.clone()];
    let run = files.collect_with(&all, &[capture], false).unwrap();
    let application = &run.cases[0].applications[0];
    assert_eq!(application.publisher_capture, None);
    let expected = Path::new("loopback-port-1.pcapng");
    assert_eq!(application.loopback_capture.as_deref(), Some(expected));
}

#[test]
fn files_of_several_runs_are_refused() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    let mut other = wanted(LoopEnd::Publisher);
    // The run that began a second later, as a script starts it.
    other.runs = vec![RunId(RUN.0 + 1)];
    other.start += 1_030_000_000;
    let second = files.trace("second.trace", &other);
    let error = files.refused(&[second.clone(), loopback.clone()]);
    assert!(
        error.contains("loopback.trace is of run 849351600 (2026-11-30T11:00:00Z)"),
        "{error}"
    );
    assert!(error.contains("second.trace of run 849351601"), "{error}");
    let error = files.refused(&[publisher.clone(), second, loopback.clone()]);
    assert!(
        error.contains("are both traces of the publisher of control"),
        "{error}"
    );
    let mut both = wanted(LoopEnd::Loopback);
    both.runs.push(RunId(RUN.0 + 1));
    let both = files.trace("both.trace", &both);
    let error = files.refused(&[publisher.clone(), both]);
    assert!(
        error.contains("both.trace has messages of 2 runs: 849351600 ("),
        "{error}"
    );
    let mut silent = wanted(LoopEnd::Loopback);
    silent.runs.clear();
    let silent = files.trace("silent.trace", &silent);
    let error = files.refused(&[publisher.clone(), silent]);
    assert!(
        error.contains("silent.trace has no message of a Publisher"),
        "{error}"
    );
    let error = files.refused(&[publisher]);
    assert!(
        error.contains("the trace of the loopback of control is missing"),
        "{error}"
    );
    let error = files.refused(&[loopback]);
    assert!(
        error.contains("the trace of the publisher of control is missing"),
        "{error}"
    );
    assert_eq!(files.refused(&[]), "none of the files is a trace");
}

#[test]
fn other_scenarios_and_settings_are_refused() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    let mut other = wanted(LoopEnd::Loopback);
    other.text.push_str("# changed\n");
    let other = files.trace("other.trace", &other);
    let error = files.refused(&[publisher.clone(), other]);
    assert!(
        error.contains("other.trace is of another scenario than"),
        "{error}"
    );
    assert!(error.contains("two.toml"), "{error}");
    let mut faster = wanted(LoopEnd::Loopback);
    faster.settings = vec![("applications.control.cycle".to_owned(), "2 ms".to_owned())];
    let faster = files.trace("faster.trace", &faster);
    let error = files.refused(&[publisher.clone(), faster]);
    assert!(
        error.contains("the settings applications.control.cycle=2 ms, "),
        "{error}"
    );
    assert!(error.ends_with("publisher.trace has none"), "{error}");
    let mut unknown = wanted(LoopEnd::Loopback);
    unknown.application = "third";
    let unknown = files.trace("unknown.trace", &unknown);
    let error = files.refused(&[publisher, loopback, unknown]);
    assert!(
        error.contains("unknown.trace: the scenario has no application third"),
        "{error}"
    );
}

#[test]
fn captures_of_other_runs_and_networks_are_refused() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    let refused =
        |capture: &PathBuf| files.refused(&[publisher.clone(), loopback.clone(), capture.clone()]);
    let other = files.capture("other.pcapng", 1, RunId(5), START);
    let error = refused(&other);
    assert!(
        error.contains("other.pcapng is of run 5 (2000-01-01T00:00:05Z)"),
        "{error}"
    );
    let late = files.capture("late.pcapng", 1, RUN, START + 60_000_000_000);
    let error = refused(&late);
    assert!(
        error.contains("late.pcapng begins 59.") && error.contains("after"),
        "{error}"
    );
    let early = files.capture("early.pcapng", 1, RUN, START - 60_000_000_000);
    let error = refused(&early);
    assert!(error.contains("before"), "{error}");
    let foreign = files.capture("foreign.pcapng", 8, RUN, START);
    let error = refused(&foreign);
    assert!(
        error.contains("with the PublisherIds of the run: 1 and 2"),
        "{error}"
    );
    let one = files.capture("one.pcapng", 1, RUN, START);
    let two = files.capture("two.pcapng", 1, RUN, START);
    let error = files.refused(&[publisher.clone(), loopback.clone(), one, two]);
    assert!(
        error.contains("were both made at the port of the publisher"),
        "{error}"
    );
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let files = Files::new();
    let [publisher, loopback] = files.pair();
    let complete = fs::read(&publisher).unwrap();
    let cut = files.path("cut.trace");
    fs::write(&cut, &complete[..complete.len() - 5]).unwrap();
    let error = files.refused(&[cut, loopback.clone()]);
    assert!(
        error.contains("cut.trace is damaged: the trace is incomplete"),
        "{error}"
    );
    let text = files.path("notes.txt");
    fs::write(&text, "x").unwrap();
    let error = files.refused(&[publisher, loopback.clone(), text]);
    assert!(
        error.contains("notes.txt is neither a trace file"),
        "{error}"
    );
    let old = files.path("old.trace");
    let trace = Trace::with_capacity(1);
    trace_file::write(&mut File::create(&old).unwrap(), &[], &trace).unwrap();
    let error = files.refused(&[old, loopback]);
    assert!(error.contains("old.trace does not tell its run"), "{error}");
}

#[test]
fn several_applications_are_one_case() {
    let files = Files::new();
    let mut all = files.pair().to_vec();
    for (name, end) in [
        ("p.trace", LoopEnd::Publisher),
        ("l.trace", LoopEnd::Loopback),
    ] {
        let mut other = wanted(end);
        other.application = "other";
        other.runs = vec![RunId(RUN.0 - 1)];
        all.push(files.trace(name, &other));
    }
    all.push(files.capture("x.pcapng", 3, RunId(RUN.0 - 1), START));
    let run = files.collect(&all).unwrap();
    let applications = &run.cases[0].applications;
    let names: Vec<&str> = applications.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["control", "other"]);
    assert_eq!(applications[0].publisher_capture, None);
    assert!(applications[1].publisher_capture.is_some());
    fs::remove_dir_all(files.path("run")).unwrap();
    // An application of an earlier run on this host.
    let mut early = wanted(LoopEnd::Publisher);
    early.application = "other";
    early.runs = vec![RunId(RUN.0 - 1)];
    early.start -= 60_000_000_000;
    files.trace("p.trace", &early);
    early.end = LoopEnd::Loopback;
    files.trace("l.trace", &early);
    let error = files.collect(&all).unwrap_err();
    assert!(matches!(error, CollectError::Apart { .. }), "{error}");
}

//! Directories of runs from traces and captures that were made by hand.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use takt_analysis::SentStamp;
use takt_control::{Trace, trace_file};
use takt_lab::collect::CollectError;
use takt_lab::run_directory::{RunDescription, SCENARIO};
use takt_lab::{CaseRecord, LoopEnd, RunId};

use crate::files::{Files, RUN, START, TEXT, wanted};

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
        assert_eq!(port.sent_stamp, SentStamp::Driver, "{name}");
    }
    let record = CaseRecord::read(&directory).unwrap();
    // Captures without a clock of the card are those of the kernel.
    assert_eq!(record.sent_stamp, SentStamp::Driver);
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

/// Files in the directory may be the sources of the copies, or of the user.
#[test]
fn a_directory_with_files_is_kept_as_it_is() {
    let files = Files::new();
    let pair = files.pair();
    let directory = files.path("run");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join(SCENARIO), "of the user").unwrap();
    let error = files.collect(&pair).unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
    let names = fs::read_dir(&directory).unwrap().count();
    let text = fs::read_to_string(directory.join(SCENARIO)).unwrap();
    assert_eq!((names, text.as_str()), (1, "of the user"));
    fs::remove_file(directory.join(SCENARIO)).unwrap();
    // An empty one is as good as a new one.
    files.collect(&pair).unwrap();
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
    assert!(
        error.contains("early.pcapng ends 59.") && error.contains("before"),
        "{error}"
    );
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

//! `takt analyze` on trace files whose quantities are known.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use takt_control::{Trace, TracePoint, trace_file};

use super::two_hosts::Hosts;

fn analyze(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(takt_tests::binary::takt());
    command
        .current_dir(directory)
        .arg("analyze")
        .args(arguments);
    command.output().unwrap()
}

/// Writes a trace: each message is at its points after these times.
fn write(path: &Path, points: [(TracePoint, i64); 2], lost: usize) {
    let mut trace = Trace::with_capacity(20 - lost);
    for (counter, start) in (1..11).zip((0..).step_by(250_000)) {
        for (point, nanos) in points {
            trace.add(point, counter, start + nanos);
        }
    }
    let mut bytes = Vec::new();
    trace_file::write(&mut bytes, &[("role", "test".to_owned())], &trace).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_directory_has_tables_json_and_csv() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let points = [(TracePoint::T1, 0), (TracePoint::T8, 353_250)];
    write(&directory.join("publisher.trace"), points, 0);
    let points = [(TracePoint::T4, 60_000), (TracePoint::T5, 200_000)];
    write(&directory.join("loopback.trace"), points, 0);
    std::fs::write(directory.join("notes.txt"), "no trace").unwrap();

    let output = analyze(directory, &[".", "--trim", "0", "--csv", "q.csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let title = lines
        .iter()
        .position(|line| *line == "application round trip (T8 \u{2212} T1)");
    let row = lines[title.unwrap() + 1];
    let cells: Vec<&str> = row.split_whitespace().collect();
    // 353 250 ns, with one decimal of a microsecond.
    assert_eq!(cells[..2], ["delay", "10"]);
    assert!(cells[2..].iter().all(|cell| *cell == "353.2"), "{row}");
    assert_eq!(cells.len(), 8);
    assert!(text.contains("lost 0 of 10 messages (0 %)"), "{text}");
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let csv = std::fs::read_to_string(directory.join("q.csv")).unwrap();
    let row = "application round trip,T8 - T1,delay,10,353250,353250,353250,353250,353250,353250,353250\n";
    assert!(csv.contains(row), "{csv}");

    let output = analyze(directory, &[".", "--trim", "1", "--json", "--synchronized"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&json["first_counter"], &json["lost"]),
        (&2.into(), &0.into())
    );
    let intervals = json["intervals"].as_array().unwrap();
    let means = intervals
        .iter()
        .map(|it| it["delay"]["mean_ns"].as_f64().unwrap());
    assert_eq!(
        means.collect::<Vec<_>>(),
        [353_250.0, 140_000.0, 60_000.0, 153_250.0]
    );
}

#[test]
fn files_that_cannot_be_analyzed_are_explained() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let points = [(TracePoint::T1, 0), (TracePoint::T8, 300_000)];
    write(&directory.join("a.trace"), points, 5);
    let error = |arguments: &[&str]| {
        let output = analyze(directory, arguments);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).unwrap();
        // Lines are broken at the width of a terminal.
        text.split_whitespace()
            .filter(|word| *word != "\u{2502}")
            .collect::<Vec<_>>()
            .join(" ")
    };
    let text = error(&["a.trace"]);
    assert!(text.contains("--trim may be 3 at most"), "{text}");
    let text = error(&["missing.trace"]);
    assert!(
        text.contains("cannot read missing.trace: No such file"),
        "{text}"
    );
    let text = error(&["a.trace", "a.trace", "--trim", "0"]);
    assert!(text.contains("both have trace point T1"), "{text}");

    let output = analyze(directory, &["a.trace", "--trim", "0"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Losses are unknown"), "{text}");
    assert!(text.contains("a.trace: 5 trace points were lost"), "{text}");

    let bytes = std::fs::read(directory.join("a.trace")).unwrap();
    std::fs::write(directory.join("b.trace"), &bytes[..bytes.len() - 1]).unwrap();
    let text = error(&["b.trace", "--trim", "0"]);
    assert!(text.contains("b.trace was not read to its end"), "{text}");
}

/// Returns the clocks and the sent stamps that the JSON of an analysis of a run has, by the names of its captures.
fn clocks(hosts: &Hosts, arguments: &[&str]) -> Vec<(String, String)> {
    let output = analyze(
        &hosts.path(""),
        &[arguments, &["--trim", "0", "--json"]].concat(),
    );
    let (text, errors) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{errors}");
    let found: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let files = found["files"].as_array().unwrap().iter();
    let captures = files.filter(|it| it["format"] == "capture");
    let captures = captures.map(|it| {
        let points: Vec<_> = it["records"].as_object().unwrap().keys().collect();
        (
            format!("{points:?}"),
            it["clock"].as_str().unwrap().to_owned(),
        )
    });
    let mut captures: Vec<_> = captures.collect();
    captures.sort();
    captures
}

#[test]
fn options_for_captures_add_to_what_is_known_of_them() {
    let hosts = Hosts::short();
    let at = |points: &str, clock: &str| (points.to_owned(), clock.to_owned());
    let (publisher, loopback) = ("[\"T2\", \"T7\"]", "[\"T3\", \"T6\"]");
    let files = ["publisher.trace", "publisher.pcapng", "loopback.pcapng"];
    // Both options for one file, which is also among the files, with another path.
    let options = [
        "--at-loopback",
        "loopback.pcapng",
        "--card-stamps",
        "./loopback.pcapng",
    ];
    assert_eq!(
        clocks(&hosts, &[&files[..], &options].concat()),
        [at(publisher, "system"), at(loopback, "network card")]
    );
    let both = [
        "--card-stamps",
        "publisher.pcapng",
        "--at-loopback",
        "loopback.pcapng",
    ];
    assert_eq!(
        clocks(&hosts, &[&files[..1], &both].concat()),
        [at(publisher, "network card"), at(loopback, "system")]
    );
    // What the directory of a run tells stays.
    let card = hosts.path("loopback.pcapng").display().to_string();
    let _ = hosts.collect(&["--card-stamps", &card]);
    let of_run = [at(publisher, "system"), at(loopback, "network card")];
    assert_eq!(clocks(&hosts, &["run"]), of_run);
    let packed = std::fs::read_dir(hosts.path("run/001")).unwrap();
    let packed = packed.map(|it| it.unwrap().path().display().to_string());
    let packed: Vec<String> = packed.filter(|it| it.contains("loopback-port")).collect();
    assert_eq!(
        clocks(&hosts, &["run", "--at-loopback", &packed[0]]),
        of_run
    );
    let output = analyze(
        &hosts.path(""),
        &["run", "--card-stamps", "publisher.trace"],
    );
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("is a trace, not a capture"), "{error}");
}

//! `takt papers`: the list, a table that is computed and judged, and mistakes in its file.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_tests::binary::repository;
use takt_tests::{Process, Sandbox};

use crate::command_line::mistakes::fails;
use crate::command_line::{PATIENCE, plain};

fn library() -> String {
    repository()
        .join("scenarios/papers")
        .to_str()
        .unwrap()
        .to_owned()
}

/// Returns the objects of a command.
fn objects(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let printed = sandbox.run(arguments).expect_success();
    let objects = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    objects.collect()
}

#[test]
fn tables_are_listed_with_those_that_cannot_be_expressed() {
    let sandbox = Sandbox::new();
    let library = library();
    let list = ["papers", "list", "--papers", &library];
    let printed = sandbox.run(&list).expect_success();
    for part in ["rt-table-5", "Table IV", "Not expressible", "needs PTP"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let rows = objects(&sandbox, &[&list[..], &["--json"]].concat());
    assert!(rows.len() > 25, "{rows:?}");
    for row in rows {
        let has_reason = row["reason"].is_string();
        assert_eq!(row["name"].is_null(), has_reason, "{row}");
    }
}

#[test]
fn a_table_is_computed_and_judged() {
    let sandbox = Sandbox::new();
    let library = library();
    let results = sandbox.data_directory().join("results");
    let results = results.to_str().unwrap();
    let of = ["--papers", &library, "--messages", "50"];
    let none = ["papers", "report", "--from", results];
    fails(&sandbox, &[&none[..], &of].concat(), &["has no results"]);
    let run = ["papers", "run", "rt-table-5", "rt-fig-4", "--to", results];
    let run = [&run[..], &of].concat();
    let rows = objects(&sandbox, &[&run[..], &["--json"]].concat());
    assert_eq!(rows[0]["campaign"], "rt-table-5");
    assert_eq!(
        (&rows[0]["rows"], &rows[0]["computed"]),
        (&6.into(), &6.into())
    );
    // Rows that are there stay.
    let again = objects(&sandbox, &[&run[..], &["--json"]].concat());
    assert_eq!(again[0]["computed"], 0);
    let report = [&none[..], &of].concat();
    let printed = plain(&sandbox.run(&report).expect_success());
    assert!(printed.contains("no offset, one cycle"), "{printed}");
    // The others are not passed over in silence.
    let without = "tables and figures have no results";
    assert!(printed.contains(without), "{printed}");
    let verdicts = objects(&sandbox, &[&report[..], &["--json"]].concat());
    let verdict = |finding: &str| {
        let found = verdicts.iter().find(|it| it["finding"] == finding);
        found.unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("no offset, one cycle"), "reproduced");
    assert_eq!(verdict("50 µs, two cycles"), "not reproduced");
    assert_eq!(verdict("150 µs loses fewest"), "not decidable");
    let page = fs::read_to_string(format!("{results}/report.html")).unwrap();
    for part in ["RT Table V", "Credit of the class", "paper", "ours"] {
        assert!(page.contains(part), "{part}");
    }
    fails(
        &sandbox,
        &["papers", "run", "rt-table-99", "--papers", &library],
        &["there is no `rt-table-99`"],
    );
}

#[test]
fn mistakes_have_a_place() {
    let sandbox = Sandbox::new();
    let folder = sandbox.data_directory();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let list = ["papers", "list", "--papers", &path("")];
    fails(&sandbox, &list, &["papers.toml"]);
    let papers = "version = 1\n[[papers]]\nid = \"P\"\ntitle = \"T\"\nsource = \"S\"\nelements = [\"one\"]\n";
    fs::write(path("papers.toml"), papers).unwrap();
    fails(&sandbox, &list, &["line 6, column 13"]);
    let shipped = fs::read_to_string(format!("{}/rt-table-5.toml", library())).unwrap();
    let campaigns = format!("{}/campaigns", library());
    let shipped = shipped.replace("campaigns/", &format!("{campaigns}/"));
    let wrong = shipped.replacen("ours(\"RTT\", \"0\")", "ours(\"RTT\", \"1\")", 1);
    assert_ne!(shipped, wrong);
    fs::write(path("one.toml"), wrong).unwrap();
    let line = shipped
        .lines()
        .position(|it| it.contains("ours(\"RTT\", \"0\")"));
    let place = format!("line {}, column 22", line.unwrap() + 1);
    fails(
        &sandbox,
        &list,
        &[&place, "there is no column `1`; known: 0, 50, 100"],
    );
}

#[test]
fn an_interrupt_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    let library = library();
    let results = sandbox.data_directory().join("results");
    let to = results.to_str().unwrap();
    // Hours of simulation.
    let of = ["--papers", &library, "--messages", "100000000"];
    let run = ["papers", "run", "rt-table-12", "--to", to];
    let run = [&run[..], &of].concat();
    let mut process = Process::spawn("takt papers run", &mut sandbox.takt(&run));
    let description = results.join("messages-100000000/rt-bridge/campaign.json");
    let begin = Instant::now();
    while !description.exists() {
        assert!(begin.elapsed() < PATIENCE && !process.has_ended());
        sleep(Duration::from_millis(5));
    }
    process.signal(Signal::INT);
    let text = plain(&process.finish(PATIENCE).expect_failure());
    assert!(text.contains("The same command goes on"), "{text}");
    assert!(!text.contains("--resume"), "{text}");
}

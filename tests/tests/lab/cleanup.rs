//! Ends of runs: kill -9 at several stages, signals, and two runs at the same time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_tests::Sandbox;

use crate::case::SandboxedRun;
use crate::recorded::{json, number};
use crate::{PATIENCE, cases, recorded};

/// Time limit of the kernel for removing namespaces.
pub const REMOVED: Duration = Duration::from_secs(20);

/// Returns the network namespaces of a process's threads.
pub fn namespaces(process: &Path) -> BTreeSet<PathBuf> {
    let tasks = std::fs::read_dir(process.join("task"));
    let tasks = tasks.into_iter().flatten().flatten();
    tasks
        .filter_map(|task| std::fs::read_link(task.path().join("ns/net")).ok())
        .collect()
}

/// Returns the directories of all processes.
fn processes() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let paths = entries.flatten().map(|entry| entry.path());
    let is_process = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.chars().all(|c| c.is_ascii_digit())
    };
    paths.filter(is_process).collect()
}

/// Returns all network namespaces that a thread is in.
pub fn all_namespaces() -> BTreeSet<PathBuf> {
    let all = processes();
    all.iter().flat_map(|process| namespaces(process)).collect()
}

/// Returns the ids of processes of the sandbox.
pub fn of_sandbox(sandbox: &Sandbox) -> Vec<PathBuf> {
    let directory = sandbox.runtime_directory();
    let wanted = directory.to_str().unwrap();
    let is_its = |process: &PathBuf| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(wanted)
    };
    processes().into_iter().filter(is_its).collect()
}

/// Returns a scenario with bridges, several applications and cross traffic.
fn scenario() -> String {
    let all = cases::all();
    let mut found = all.into_iter().filter(|case| case.name == "cross_traffic");
    let scenario = found.next().unwrap().scenario;
    scenario.replace(r#"kind = "bridged""#, r#"kind = "line", hops = 4"#)
}

const LONG: [&str; 3] = ["--without-disciplines", "--messages", "100000"];

pub fn a_killed_run_leaves_nothing() {
    let mut seen = 0;
    for stage in [0, 20, 60, 120, 250, 400, 700, 1500] {
        let run = SandboxedRun::new(&scenario());
        let mut process = run.start(&LONG);
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        let begin = Instant::now();
        let directory = PathBuf::from(format!("/proc/{}", process.id()));
        let mut made = BTreeSet::new();
        while begin.elapsed() < Duration::from_millis(stage) {
            made.extend(namespaces(&directory));
            sleep(Duration::from_millis(2));
        }
        made.extend(namespaces(&directory));
        made.remove(&own);
        seen = seen.max(made.len());
        process.kill();
        let begin = Instant::now();
        loop {
            // A command that the run had started may take a moment to its end.
            let left = of_sandbox(&run.sandbox);
            let remaining: Vec<_> = all_namespaces().intersection(&made).cloned().collect();
            if left.is_empty() && remaining.is_empty() {
                break;
            }
            assert!(
                begin.elapsed() < REMOVED,
                "after {stage} ms: {left:?} {remaining:?}"
            );
            sleep(Duration::from_millis(10));
        }
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains("takt-lab"), "{mounts}");
        assert!(run.sandbox.left_behind().is_empty());
        // The description of a killed run is whole, if there is one, and says that the case has no result.
        if run.directory.join("run.json").exists() {
            let description = json(&run.directory.join("run.json"));
            assert!(
                description["cases"][0]["failure"].is_string(),
                "{description}"
            );
        }
    }
    // Five nodes and the namespace in which disciplines are tried.
    assert!(
        seen >= 5,
        "the run was never killed late: {seen} namespaces"
    );
    let next = SandboxedRun::new(&scenario());
    let finished = next.finish(&["--without-disciplines", "--messages", "50"]);
    let _ = finished.expect_success();
    assert_eq!(recorded::cases(&next.directory).len(), 1);
}

pub fn an_interrupted_run_says_so() {
    for signal in [Signal::INT, Signal::TERM] {
        let run = SandboxedRun::new(&scenario());
        let mut process = run.start(&LONG);
        process.wait_for("its case", PATIENCE, |line| line.starts_with("case 1"));
        sleep(Duration::from_millis(800));
        process.signal(signal);
        let finished = process.finish(PATIENCE);
        let error = finished.expect_failure();
        assert!(error.contains("interrupted"), "{error}");
        let description = json(&run.directory.join("run.json"));
        assert_eq!(
            description["cases"][0]["failure"],
            "the run was interrupted"
        );
        assert!(of_sandbox(&run.sandbox).is_empty());
    }
}

pub fn two_runs_at_the_same_time() {
    let runs = [
        SandboxedRun::new(&scenario()),
        SandboxedRun::new(&scenario()),
    ];
    let arguments = ["--without-disciplines", "--messages", "300"];
    let processes = [runs[0].start(&arguments), runs[1].start(&arguments)];
    for (run, process) in runs.iter().zip(processes) {
        let _ = process.finish(PATIENCE).expect_success();
        let cases = recorded::cases(&run.directory);
        let [case] = cases.as_slice() else {
            panic!("{} cases", cases.len());
        };
        let publisher = case.end("control", "publisher");
        assert_eq!(number(publisher, "sent"), 300);
        let loopback = case.end("control", "loopback");
        assert_eq!(number(loopback, "received"), 300, "{loopback}");
        for flow in case.record["cross_traffic"].as_array().unwrap() {
            assert_eq!(number(flow, "sent"), number(flow, "received"), "{flow}");
        }
    }
}

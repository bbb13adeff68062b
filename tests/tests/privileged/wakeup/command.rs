//! The command `takt wakeup`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_rt::clock::monotonic_nanos;
use takt_tests::binary::takt;
use takt_tests::process::{self, Process};

use super::tracefs::{INSTANCES, instances_of};

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn wakeup(arguments: &[&str]) -> Command {
    let mut command = Command::new(takt());
    command.arg("wakeup").args(arguments);
    command
}

/// Starts a measurement without end, and waits until it records.
fn recording(arguments: &[&str]) -> Process {
    let mut command = wakeup(&["--why", "--for", "10min", "--json"]);
    let process = Process::spawn("takt wakeup", command.args(arguments));
    let begin = Instant::now();
    let is_on = |name: &String| {
        let on = Path::new(INSTANCES).join(name).join("tracing_on");
        fs::read_to_string(on).is_ok_and(|text| text.trim() == "1")
    };
    while !instances_of(process.id()).iter().any(is_on) {
        assert!(begin.elapsed() < PATIENCE, "{}", process.report());
        std::thread::sleep(Duration::from_millis(5));
    }
    process
}

/// Starts a measurement without end, and waits until its threads have woken up some times.
fn measuring(arguments: &[&str]) -> Process {
    let process = recording(arguments);
    let begin = Instant::now();
    while sleeps(process.id()).is_none_or(|count| count < 20) {
        assert!(begin.elapsed() < PATIENCE, "{}", process.report());
        std::thread::sleep(Duration::from_millis(5));
    }
    process
}

/// Returns how often the first thread of a measurement has slept. Before its first cycle it does so a few times.
fn sleeps(process: u32) -> Option<u64> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let mut threads = threads.flatten().map(|it| it.path());
    let first = threads.find(|thread| {
        fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.trim() == "wakeup 0")
    });
    let status = fs::read_to_string(first?.join("status")).ok()?;
    let count = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count?.trim().parse().ok()
}

fn objects(output: &str) -> Vec<Value> {
    let lines = output.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(super) fn a_stopped_process_is_named() {
    let mut process = measuring(&["--interval", "1ms", "--above", "5ms"]);
    let mut spans = Vec::new();
    for _ in 0..12 {
        let begin = monotonic_nanos();
        process.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(30));
        process.signal(Signal::CONT);
        spans.push((begin, monotonic_nanos()));
        std::thread::sleep(Duration::from_millis(100));
    }
    process.signal(Signal::INT);
    let finished = process.finish(PATIENCE);
    let objects = objects(&finished.stdout);
    let late = objects.iter().filter(|it| it["late"] == "wakeUp");
    let of_stop = |it: &&Value| {
        let begin = it["beginMonotonicNs"].as_u64().unwrap();
        let nanos = it["lateNs"].as_u64().unwrap();
        let within = spans.iter().map(|(from, to): &(u64, u64)| {
            to.min(&(begin + nanos)).saturating_sub(*from.max(&begin))
        });
        within.sum::<u64>() * 2 > nanos
    };
    let late: Vec<&Value> = late.filter(of_stop).collect();
    let named = late
        .iter()
        .filter(|it| it["causes"][0]["cause"] == "stopped");
    let named = named.count();
    println!("{named} of {} have the cause", late.len());
    assert!(late.len() >= 10, "{}", finished.stdout);
    assert!(named * 100 >= late.len() * 95, "{late:#?}");
}

pub(super) fn an_interrupted_measurement_has_a_result_and_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut process = measuring(&["--above", "1us"]);
        let id = process.id();
        process.signal(signal);
        let finished = process.finish(PATIENCE);
        assert!(finished.status.success(), "{}", finished.stderr);
        let objects = objects(&finished.stdout);
        assert!(objects[0]["wakeUps"].as_u64().unwrap() > 0);
        let late = objects.iter().find(|it| it["late"] == "wakeUp");
        let late = late.unwrap_or_else(|| panic!("{}", finished.stdout));
        let causes = late["causes"].as_array().unwrap();
        let sum: u64 = causes.iter().map(|it| it["ns"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), late["lateNs"].as_u64(), "{late}");
        assert_eq!(instances_of(id), Vec::<String>::new());
    }
}

pub(super) fn an_instance_of_a_killed_measurement_is_removed() {
    let mut living = recording(&[]);
    let mut killed = recording(&[]);
    killed.kill();
    let id = killed.id();
    assert_eq!(instances_of(id).len(), 1);
    let clean = |directory: &Path| {
        let mut command = Command::new(takt());
        command.args(["clean", "--json"]);
        command.env("TAKT_RUNTIME_DIR", directory);
        let finished = process::run("takt clean", &mut command, PATIENCE);
        assert!(finished.status.success(), "{}", finished.stderr);
        objects(&finished.stdout)[0]["traceInstances"].as_u64()
    };
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let removed = clean(directory.path());
    assert!(removed.is_some_and(|count| count >= 1), "{removed:?}");
    assert_eq!(instances_of(id), Vec::<String>::new());
    // That of a living one stays.
    assert_eq!(instances_of(living.id()).len(), 1);
    living.signal(Signal::INT);
    let id = living.id();
    living.finish(PATIENCE);
    assert_eq!(instances_of(id), Vec::<String>::new());
}

pub(super) fn measurements_that_start_together_leave_each_other_alone() {
    for _ in 0..3 {
        let start = |_| {
            let mut command = wakeup(&["--why", "--for", "200ms", "--json"]);
            Process::spawn("takt wakeup", &mut command)
        };
        let together: Vec<Process> = (0..4).map(start).collect();
        for process in together {
            let finished = process.finish(PATIENCE);
            assert!(finished.status.success(), "{}", finished.stderr);
        }
    }
}

pub(super) fn without_permission_or_tracefs_the_error_says_what_is_needed() {
    let arguments = ["wakeup", "--why", "--for", "1s"];
    let mut other = Command::new("setpriv");
    other.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    other.arg(takt()).args(arguments);
    let finished = process::run("takt wakeup as nobody", &mut other, PATIENCE);
    assert!(!finished.status.success());
    for part in ["root", "gid=GROUP", "--why"] {
        assert!(
            finished.stderr.contains(part),
            "{part}: {}",
            finished.stderr
        );
    }
    let mut without = Command::new("unshare");
    let script = "umount /sys/kernel/tracing && exec \"$0\" \"$@\"";
    without.args(["--mount", "sh", "-c", script]);
    without.arg(takt()).args(arguments);
    let finished = process::run("takt wakeup without tracefs", &mut without, PATIENCE);
    assert!(!finished.status.success());
    let part = "mount -t tracefs";
    assert!(finished.stderr.contains(part), "{}", finished.stderr);
}

pub(super) fn a_scenario_reads_the_histogram() {
    let directory = tempfile::tempdir().unwrap();
    let histogram = directory.path().join("host.csv");
    let mut command = wakeup(&["--for", "1s", "--json", "--histogram"]);
    let finished = process::run("takt wakeup", command.arg(&histogram), PATIENCE);
    assert!(finished.status.success(), "{}", finished.stderr);
    let longest = objects(&finished.stdout);
    let longest = longest.iter().filter_map(|it| it["maxNs"].as_u64()).max();
    let text = fs::read_to_string(&histogram).unwrap();
    let read = takt_scenario::Histogram::from_csv(&text).unwrap();
    assert!(read.most().0 >= longest.unwrap() * 1000, "{text}");
}

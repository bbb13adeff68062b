//! `takt demo`: its output without a terminal, and that it leaves nothing behind, however it ends.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_tests::{Process, Sandbox, binary, process};

use crate::PATIENCE;

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Process {
    // Its processes are found by their name, which is this test's own.
    let own = own_takt(sandbox);
    let mut command = std::process::Command::new(own);
    sandbox
        .confine(&mut command)
        .args(["demo", "--endpoint", "opc.tcp://127.0.0.1:0"])
        .args(arguments);
    Process::spawn("takt demo", &mut command)
}

/// Returns the command line with a path that no other test uses; the demonstration starts itself again by this path.
fn own_takt(sandbox: &Sandbox) -> PathBuf {
    let own = sandbox.data_directory().join("takt");
    if !own.exists() && std::fs::hard_link(binary::takt(), &own).is_err() {
        std::fs::copy(binary::takt(), &own).unwrap();
    }
    own
}

/// Returns the command lines of this sandbox's processes that run now.
fn running(sandbox: &Sandbox) -> Vec<String> {
    let own = own_takt(sandbox);
    let own = own.to_string_lossy();
    let processes = std::fs::read_dir("/proc").unwrap();
    processes
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.starts_with(&*own))
        .collect()
}

fn wait_until_none_runs(sandbox: &Sandbox, within: Duration) {
    let started = Instant::now();
    loop {
        let running = running(sandbox);
        if running.is_empty() {
            return;
        }
        assert!(
            started.elapsed() < within,
            "still running after {within:?}: {running:#?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn nothing_is_left(sandbox: &Sandbox, when: &str) {
    wait_until_none_runs(sandbox, Duration::ZERO);
    let left = sandbox.left_behind();
    assert!(left.is_empty(), "left behind, {when}: {left:#?}");
}

#[test]
fn the_demonstration_shows_tree_and_latencies_in_plain_lines() {
    let sandbox = Sandbox::new();
    let finished = start(&sandbox, &["--for", "3s"]).finish(PATIENCE);
    nothing_is_left(&sandbox, "after --for 3s");
    let stderr = finished.stderr.clone();
    let out = finished.expect_success();
    assert!(
        !out.contains('\x1b'),
        "no terminal, no control characters:\n{out}"
    );
    for part in [
        "HostTelemetry",
        "Machine",
        "Spindle",
        "SpeedSetpoint",
        "Cpu",
        "Memory",
        "SetSamplingInterval",
        "opc.iox2://Machine",
        "opc.tcp://127.0.0.1:",
        "BadOutOfRange",
        "min",
        "median",
        "p99",
        "max",
    ] {
        assert!(out.contains(part), "no `{part}` in:\n{out}");
    }
    // Latencies are numbers, for both ways.
    for scheme in ["opc.iox2 ", "opc.tcp "] {
        let line = out
            .lines()
            .find(|line| line.trim_start().starts_with(scheme))
            .unwrap_or_else(|| panic!("no latency by {scheme}:\n{out}"));
        let numbers = line.split_whitespace().skip(1);
        let numbers: Vec<f64> = numbers.map(|text| text.parse().unwrap()).collect();
        assert_eq!(numbers.len(), 4, "{line}");
        assert!(numbers.is_sorted() && numbers[0] > 0.0, "{line}");
    }
    assert_eq!(stderr, "", "nothing goes wrong");
}

#[test]
fn an_interrupt_at_any_moment_leaves_nothing() {
    for after in [0, 50, 150, 400, 800, 1_500, 3_000, 5_000] {
        let sandbox = Sandbox::new();
        let mut demo = start(&sandbox, &[]);
        std::thread::sleep(Duration::from_millis(after));
        demo.signal(Signal::INT);
        // Before the program handles the signal it may be ignored, as for background commands of a shell.
        let patient_until = Instant::now() + Duration::from_secs(10);
        while !demo.has_ended() && Instant::now() < patient_until {
            std::thread::sleep(Duration::from_millis(50));
        }
        if !demo.has_ended() {
            demo.signal(Signal::INT);
        }
        let finished = demo.finish(PATIENCE);
        let when = format!("after an interrupt at {after} ms");
        // At first the program does not handle the signal yet.
        wait_until_none_runs(&sandbox, PATIENCE);
        nothing_is_left(&sandbox, &when);
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    }
}

#[test]
fn sigterm_ends_the_demonstration_like_an_interrupt() {
    let sandbox = Sandbox::new();
    let mut demo = start(&sandbox, &[]);
    demo.wait_for("live values", PATIENCE, |line| line.contains("median"));
    demo.signal(Signal::TERM);
    let finished = demo.finish(PATIENCE);
    assert!(finished.status.success(), "{finished:?}");
    nothing_is_left(&sandbox, "after SIGTERM");
}

#[test]
fn processes_end_when_the_demonstration_is_killed() {
    for moment in ["serves", "Spindle", "median"] {
        let sandbox = Sandbox::new();
        let mut demo = start(&sandbox, &[]);
        demo.wait_for(moment, PATIENCE, |line| line.contains(moment));
        demo.kill();
        wait_until_none_runs(&sandbox, PATIENCE);
        // Only files of the killed process itself may remain: the next one that starts removes them.
        let _ = start(&sandbox, &["--for", "1s"])
            .finish(PATIENCE)
            .expect_success();
        let left = sandbox.left_behind();
        assert!(
            left.iter().all(|path| path.ends_with("registry.redb")),
            "left behind, killed at `{moment}`: {left:#?}"
        );
    }
}

#[test]
fn a_second_demonstration_reports_the_running_one() {
    let sandbox = Sandbox::new();
    let mut first = start(&sandbox, &[]);
    first.wait_for("live values", PATIENCE, |line| line.contains("median"));
    let second = process::run(
        "takt demo",
        &mut sandbox.takt(&["demo", "--endpoint", "opc.tcp://127.0.0.1:0"]),
        PATIENCE,
    );
    let said = crate::plain(&second.expect_failure());
    assert!(said.contains("SemanticRegistryServer"), "{said}");
    assert!(!first.has_ended(), "the second ended the first");
    first.wait_for("live values", PATIENCE, |line| line.contains("median"));
}

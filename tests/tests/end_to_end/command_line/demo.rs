//! `takt demo`: its output without a terminal, and that it leaves nothing behind, however it ends.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use takt_tests::{Process, Sandbox, binary, process};

use crate::command_line::PATIENCE;

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
    let finished = start(&sandbox, &["--for", "6s"]).finish(PATIENCE);
    nothing_is_left(&sandbox, "after --for 6s");
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
fn the_demonstration_runs_without_tcp() {
    let sandbox = Sandbox::new();
    let mut command = std::process::Command::new(own_takt(&sandbox));
    sandbox
        .confine(&mut command)
        .args(["demo", "--no-tcp", "--for", "6s"]);
    let finished = Process::spawn("takt demo", &mut command).finish(PATIENCE);
    nothing_is_left(&sandbox, "after --for 6s");
    let out = finished.expect_success();
    let is_shown = out.contains("Machine  (opc.iox2://Machine)");
    assert!(is_shown && !out.contains("opc.tcp"), "{out}");
}

/// Returns a demonstration on a terminal of 80 columns and 24 lines, which script(1) makes.
fn on_a_terminal(sandbox: &Sandbox) -> Process {
    let own = own_takt(sandbox);
    let line = format!(
        "stty rows 24 columns 80; exec {} demo --endpoint opc.tcp://127.0.0.1:0",
        own.display()
    );
    let mut command = std::process::Command::new("script");
    sandbox
        .confine(&mut command)
        .args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    Process::spawn("takt demo on a terminal", &mut command)
}

#[test]
fn on_a_terminal_it_fits_80_columns_and_24_lines_and_ends_with_q() {
    let sandbox = Sandbox::new();
    let mut demo = on_a_terminal(&sandbox);
    demo.wait_for("the title", PATIENCE, |line| line.contains("q ends it"));
    demo.wait_for("the state", PATIENCE, |line| {
        line.contains("Spindle/State") && line.contains("Running")
    });
    // Until the next title: one whole display.
    demo.wait_for("the title", PATIENCE, |line| line.contains("q ends it"));
    let mut display = Vec::new();
    while !display
        .last()
        .is_some_and(|line: &String| line.contains("q ends it"))
    {
        display.push(without_control_sequences(&demo.next_line(PATIENCE)));
    }
    assert_eq!(display.len(), 23, "{display:#?}");
    for line in &display {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(display[0].starts_with("Machine"), "{display:#?}");
    assert!(display[19].contains("median"), "{display:#?}");
    let bytes = display.iter().find(|line| line.contains("Memory/Total"));
    assert!(bytes.is_some_and(|line| line.contains("GB")), "{bytes:?}");
    demo.send_line("q");
    let finished = demo.finish(PATIENCE);
    assert!(finished.status.success(), "{finished:?}");
    nothing_is_left(&sandbox, "after q");
}

/// Returns a line without sequences that begin with CSI (ECMA-48).
fn without_control_sequences(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(
            part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
                .get(1..)
                .unwrap_or_default(),
        );
    }
    text.trim_end().to_owned()
}

#[test]
fn an_interrupt_at_any_moment_leaves_nothing() {
    for after in [0, 50, 150, 400] {
        interrupt(&format!("{after} ms"), |_| {
            std::thread::sleep(Duration::from_millis(after));
        });
    }
    for moment in ["serves", "Spindle", "median"] {
        interrupt(moment, |demo| {
            demo.wait_for(moment, PATIENCE, |line| line.contains(moment));
        });
    }
}

/// Interrupts a demonstration after `wait`.
fn interrupt(moment: &str, wait: impl FnOnce(&mut Process)) {
    let sandbox = Sandbox::new();
    let mut demo = start(&sandbox, &[]);
    wait(&mut demo);
    demo.signal(Signal::INT);
    // Before the program handles the signal it may be ignored, as for background commands of a shell. A second signal while the
    // program cleans up would end it at once, so that this wait is longer than the clean-up.
    let patient_until = Instant::now() + Duration::from_secs(40);
    while !demo.has_ended() && Instant::now() < patient_until {
        std::thread::sleep(Duration::from_millis(50));
    }
    if !demo.has_ended() {
        demo.signal(Signal::INT);
    }
    let finished = demo.finish(PATIENCE);
    let when = format!("after an interrupt at {moment}");
    // At first the program does not handle the signal yet.
    wait_until_none_runs(&sandbox, PATIENCE);
    nothing_is_left(&sandbox, &when);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

#[test]
fn sigterm_ends_the_demonstration_like_an_interrupt() {
    let sandbox = Sandbox::new();
    let mut demo = start(&sandbox, &[]);
    demo.wait_for("live values", PATIENCE, |line| line.contains("median"));
    // As `timeout` does: one to its child, and one to its process group.
    demo.signal(Signal::TERM);
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
    let said = crate::command_line::plain(&second.expect_failure());
    assert!(said.contains("SemanticRegistryServer"), "{said}");
    assert!(!first.has_ended(), "the second ended the first");
    first.wait_for("live values", PATIENCE, |line| line.contains("median"));
}

//! Child processes that use [`Interrupt`], and a parent that is killed. Both are this program again, with one of its tests.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use takt_rt::child::{ChildProcess, Ending};
use takt_rt::interrupt::Interrupt;
use takt_rt::process::{self, ProcessState};

/// Environment variable with the argument of a role.
const ROLE: &str = "TAKT_RT_TEST_ROLE";
/// Time that no process of these tests takes.
const LONG: Duration = Duration::from_secs(120);

/// Returns the command that runs the test `role` with an argument.
fn command(role: &str, argument: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .arg(format!("child::{role}"))
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, argument);
    command
}

/// Returns the argument of this process, if it has a role.
fn role() -> Option<PathBuf> {
    std::env::var_os(ROLE).map(PathBuf::from)
}

/// Returns false if the condition does not come true.
fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + LONG;
    while !condition() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    condition()
}

/// Waits for a line that ends with `end`, among the lines of the test harness.
fn wait_for(child: &ChildProcess, end: &str) {
    let none = AtomicBool::new(false);
    while !child.line(LONG, &none).unwrap().ends_with(end) {}
}

/// Starts a child that cleans up when `file` exists.
fn start(file: &Path) -> ChildProcess {
    let mut command = command("role_of_a_child", file);
    let child = ChildProcess::start("the child", &mut command, Ending::Signal).unwrap();
    wait_for(&child, "ready");
    child.with_grace(LONG)
}

/// Prints a line, also if there is no reader left.
fn print(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "\n{line}\n").and_then(|()| out.flush());
}

#[test]
fn role_of_a_child() {
    let Some(file) = role() else { return };
    let interrupt = Interrupt::install().unwrap();
    print("ready");
    interrupt.wait(None);
    print("interrupted");
    assert!(wait_until(|| file.exists()));
    print("cleaned up");
    // The test harness would fail without a reader.
    std::process::exit(0);
}

#[test]
fn role_of_a_server() {
    if role().is_none() {
        return;
    }
    let interrupt = Interrupt::install_for_server(|| print("goes on")).unwrap();
    print("ready");
    interrupt.wait(None);
    print("interrupted");
    std::process::exit(0);
}

/// logrotate and others send SIGHUP to daemons.
#[test]
fn a_server_goes_on_after_sighup() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command("role_of_a_server", directory.path());
    let child = ChildProcess::start("the server", &mut command, Ending::Signal).unwrap();
    wait_for(&child, "ready");
    let mut child = child.with_grace(LONG);
    for _ in 0..3 {
        signal(&child, Signal::HUP);
        wait_for(&child, "goes on");
        assert!(child.ended().is_none());
    }
    child.ask_to_end();
    wait_for(&child, "interrupted");
    assert!(child.end());
}

#[test]
fn role_of_a_parent() {
    let Some(file) = role() else { return };
    let child = start(&file);
    print(&format!("child {}", child.id()));
    wait_for(&child, "never printed");
}

#[test]
fn a_child_ends_when_its_parent_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    // The directory exists: the child cleans up at once.
    let mut parent = command("role_of_a_parent", directory.path());
    let mut parent = parent.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let child = lines.find_map(|line| line.unwrap().strip_prefix("child ")?.parse().ok());
    let child: u32 = child.expect("the parent has started its child");
    assert!(process::exists(child));
    parent.kill().unwrap();
    parent.wait().unwrap();
    // The system may keep the entry of an ended process.
    let has_ended =
        wait_until(|| matches!(process::state(child), None | Some(ProcessState::Ended)));
    if !has_ended {
        let id = child.try_into().ok().and_then(Pid::from_raw);
        kill_process(id.unwrap(), Signal::KILL).unwrap();
    }
    assert!(has_ended, "process {child} has survived its parent");
}

#[test]
fn a_child_that_is_asked_to_end_again_still_cleans_up() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("clean up");
    let mut child = start(&file);
    child.ask_to_end();
    wait_for(&child, "interrupted");
    child.ask_to_end();
    // `timeout` sends two of them.
    signal(&child, Signal::TERM);
    std::fs::write(&file, "").unwrap();
    wait_for(&child, "cleaned up");
    assert!(child.end());
    assert!(child.ended().unwrap().success());
}

#[test]
fn a_second_interrupt_ends_a_child_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = start(&directory.path().join("clean up"));
    signal(&child, Signal::INT);
    wait_for(&child, "interrupted");
    signal(&child, Signal::INT);
    assert!(wait_until(|| child.ended().is_some()));
    assert_eq!(child.ended().unwrap().code(), Some(130));
}

fn signal(child: &ChildProcess, signal: Signal) {
    let id = child.id().try_into().ok().and_then(Pid::from_raw);
    kill_process(id.unwrap(), signal).unwrap();
}

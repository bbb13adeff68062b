//! Helpers of the tests of `takt bench …`.

pub(crate) mod other_host;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Path of the program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_takt-bench");

/// Returns the command `takt-bench NAME ARGUMENTS`.
pub(crate) fn bench(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg(name).args(arguments);
    command
}

/// Returns true if this user may make network namespaces with interfaces. Says so if not.
pub(crate) fn may_make_networks() -> bool {
    let mut probe = Command::new("unshare");
    probe.args(["--net", "ip", "link", "add", "takt0", "type", "veth"]);
    let probe = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let may = probe.is_ok_and(|status| status.success());
    if !may {
        eprintln!("skipped: this user may not make network namespaces");
    }
    may
}

/// Runs a benchmark to its end, and parses each line as a JSON object.
pub(crate) fn objects(mut bench: Command) -> Vec<Value> {
    let output = bench.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Starts a benchmark that would not end by itself, and interrupts it once it has started this number of processes. Checks that
/// all of them are gone when it ends. Returns its process id.
pub(crate) fn interrupt_leaves_nothing(bench: Command, processes: usize) -> u32 {
    let (mut bench, started) = start(bench, processes);
    let id = rustix::process::Pid::from_child(&bench);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let status = bench.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    for process in started {
        let path = format!("/proc/{process}");
        assert!(!std::path::Path::new(&path).exists(), "{path}");
    }
    bench.id()
}

/// Starts a benchmark in the same way, and kills it (SIGKILL). Checks that the processes that it has started end by themselves.
pub(crate) fn kill_leaves_nothing(bench: Command, processes: usize) {
    let (mut bench, started) = start(bench, processes);
    bench.kill().unwrap();
    bench.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    for process in started {
        let path = format!("/proc/{process}");
        while std::path::Path::new(&path).exists() {
            assert!(Instant::now() < deadline, "{path}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Starts a benchmark, and returns it with its processes once it has started this number of them.
fn start(mut bench: Command, processes: usize) -> (Child, Vec<u32>) {
    let bench = bench
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = wait_for_children(bench.id(), processes);
    (bench, started)
}

/// Waits until `parent` has started this number of processes.
fn wait_for_children(parent: u32, processes: usize) -> Vec<u32> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let started = children_of(parent);
        if started.len() >= processes {
            return started;
        }
        assert!(Instant::now() < deadline, "no process was started");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the processes that `parent` has started.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |process: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"));
        status.is_ok_and(|status| status.contains(&format!("\nPPid:\t{parent}\n")))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(is_child)
        .collect()
}

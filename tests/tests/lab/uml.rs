//! Machines of the backend `uml`: repeats, and the end of the process that runs one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::case::SandboxedRun;

/// Network with random forwarding delays, wake-up latencies and cross traffic.
const SCENARIO: &str = r#"
version = 1
name = "repeats"
topology = { kind = "bridged", rate = "100 Mbit/s" }
[[nodes]]
name = "host1"
wake_up_latency = { least = "1 us", most = "40 us" }
[[nodes]]
name = "bridge1"
forwarding_delay = { least = "2 us", most = "7 us" }
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "500 us"
offset = "150 us"
payload = "100 B"
[[cross_traffic]]
name = "camera"
from = "host1"
to = "host2"
payload = "1200 B"
rate = "60 Mbit/s"
pattern = "poisson"
"#;

/// Returns the content of all files of a case.
fn files(case: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(case).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

pub fn repeats_are_the_same_bit_by_bit() -> Outcome {
    let runs = [0, 1].map(|_| {
        let run = SandboxedRun::new(SCENARIO);
        let _ = run
            .finish(&["--backend", "uml", "--messages", "1000"])
            .expect_success();
        run
    });
    let [first, second] = runs.each_ref().map(|run| files(&run.directory.join("001")));
    assert!(first.len() >= 7, "{:?}", first.keys());
    assert!(first.keys().eq(second.keys()));
    for (name, content) in &first {
        assert!(!content.is_empty(), "{name}");
        assert!(second[name] == *content, "{name} differs");
    }
    Outcome::Passed
}

/// Returns the ids of processes whose command line contains a text.
fn processes_with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            String::from_utf8_lossy(&line).contains(text).then_some(id)
        })
        .collect()
}

pub fn a_killed_run_leaves_no_process() -> Outcome {
    let run = SandboxedRun::new(SCENARIO);
    let directory = run.directory.display().to_string();
    let mut process = run.start(&["--backend", "uml", "--messages", "100000"]);
    let machine = format!("lab\0inside\0{directory}");
    let begin = Instant::now();
    while processes_with(&machine).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no machine");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(1));
    process.kill();
    let begin = Instant::now();
    while !processes_with(&directory).is_empty() {
        let left = processes_with(&directory);
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "{left:?} are left"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    Outcome::Passed
}

//! Machines of the backend `uml`: repeats, and the end of the process that runs one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::case::SandboxedRun;
use crate::recorded::{self, number};

/// Network with random forwarding delays, wake-up latencies and cross traffic, with launch times and gates of the devices.
pub const SCENARIO: &str = r#"
version = 1
name = "repeats"
discipline = "etf"
topology = { kind = "bridged", rate = "100 Mbit/s" }
[disciplines.etf]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3], queue = "etf", delta = "100 us" }, { name = "BE" }]
[disciplines.taprio]
scheduler = "taprio"
offload = true
classes = [{ name = "A", priorities = [3] }, { name = "BE" }]
entries = [{ gates = ["A"], interval = "200 us" }, { gates = ["BE"], interval = "300 us" }]
[[ports]]
node = "bridge1"
discipline = "taprio"
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

/// Network with a sweep over all disciplines.
const DISCIPLINES: &str = r#"
version = 1
name = "disciplines"
discipline = "etf"
topology = { kind = "p2p", rate = "1 Gbit/s" }
[disciplines.fq_codel]
scheduler = "fq_codel"
[disciplines.mqprio]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [6] }, { name = "BE" }]
[disciplines.cbs]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [6], queue = "cbs", provisioning = "20%" }, { name = "BE" }]
[disciplines.etf]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [6], queue = "etf", delta = "10 ms", offload = false }, { name = "BE" }]
[disciplines.taprio]
scheduler = "taprio"
classes = [{ name = "A", priorities = [6] }, { name = "BE" }]
entries = [{ gates = ["A"], interval = "1 ms" }, { gates = ["BE"], interval = "1 ms" }]
[[applications]]
name = "control"
publisher = "host1"
loopback = "host2"
cycle = "40 ms"
offset = "20 ms"
immediate = true
payload = "100 B"
vlan = 5
pcp = 6
[[sweeps]]
parameter = "discipline"
values = ["fq_codel", "mqprio", "cbs", "etf", "taprio"]
"#;

/// Debian's kernel runs each discipline in the time of this host, without a build.
pub fn the_ready_made_kernel_has_all_disciplines() -> Outcome {
    const MESSAGES: u64 = 25;
    let run = SandboxedRun::new(DISCIPLINES);
    let finished = run.finish(&[
        "--backend",
        "uml-ready",
        "--messages",
        &MESSAGES.to_string(),
    ]);
    if finished.stderr.contains("cannot run on this processor") {
        return Outcome::Ignored(
            "the ready-made kernel cannot run on a processor with AMX".to_owned(),
        );
    }
    let _ = finished.expect_success();
    let cases = recorded::cases(&run.directory);
    assert_eq!(cases.len(), 5);
    for case in &cases {
        let sent = number(case.end("control", "publisher"), "sent");
        let taken = number(case.end("control", "loopback"), "received");
        // A busy host may make a launch time pass, before the frame is in the queue or there.
        assert!(sent > MESSAGES / 2, "{sent} of {MESSAGES}: {}", case.case);
        assert!(taken > MESSAGES / 2, "{taken} of {sent}: {}", case.case);
        assert!(taken <= sent, "{taken} of {sent}: {}", case.case);
    }
    let report = ["report", run.directory.to_str().unwrap(), "--json"];
    let text = run.sandbox.run(&report).expect_success();
    assert!(text.contains("not_comparable"), "{text}");
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

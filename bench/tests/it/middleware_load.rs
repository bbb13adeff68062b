//! Tests of `takt bench middleware` under load, after rest and with SCHED_FIFO, with the real programs.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support;

/// Longest time that a loaded machine may take.
const LONG: Duration = Duration::from_secs(120);

/// Returns a run over raw UDP, with an empty table of foreign peers and with its results in `folder`.
fn bench(folder: &Path, samples: &str, arguments: &[&str]) -> std::process::Command {
    let table = folder.join("peers.toml");
    std::fs::write(&table, "").unwrap();
    let words = [
        "--peers",
        table.to_str().unwrap(),
        "--output",
        folder.to_str().unwrap(),
        "--only",
        "udp",
        "--sizes",
        "64",
        "--quick",
        "--samples",
        samples,
    ];
    support::bench("middleware", &[&words, arguments].concat())
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Returns peer, condition and number of each round in a file of results.
fn rounds(progress: &str) -> Vec<[serde_json::Value; 3]> {
    let lines = progress.lines().map(serde_json::from_str);
    let lines = lines.map(Result::<serde_json::Value, _>::unwrap);
    let rounds = lines.filter(|line| line.get("round").is_some());
    rounds
        .map(|line| ["label", "condition", "round"].map(|field| line["round"][field].clone()))
        .collect()
}

#[test]
fn load_of_the_network_and_rest_have_tables_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let arguments = [
        "--load",
        "network,idle",
        "--load-rate",
        "20",
        "--resting",
        "--resting-samples",
        "10",
        "--resting-wait",
        "5",
        "--json",
    ];
    let rows = support::objects(bench(folder, "20", &arguments));
    for (condition, mode, bytes, answered) in [
        ("idle", "echo", 64, 20),
        ("network", "ack", 64, 20),
        ("resting", "ack", 4, 10),
    ] {
        let same = |row: &&serde_json::Value| {
            row["peer"] == "udp" && row["condition"] == condition && row["mode"] == mode
        };
        let row = rows
            .iter()
            .find(same)
            .unwrap_or_else(|| panic!("{condition}"));
        assert_eq!(
            (&row["bytes"], &row["answered"]),
            (&bytes.into(), &answered.into()),
            "{row}"
        );
    }
    let tables = read(folder, "tables.md");
    for part in [
        "## Medians under load",
        "| network to idle |",
        "## Round trips under load of the network",
        "## Resting round trips",
        "REST: a random wait of 0 to 0.005 s",
    ] {
        assert!(tables.contains(part), "{part}: {tables}");
    }
    let arrived =
        tables.split_once("NETWORK LOAD: 20 Mbit/s through the same interface, of which ");
    let arrived = arrived.unwrap().1.split(' ').next().unwrap();
    assert!(arrived.parse::<f64>().unwrap() <= 40.0, "{arrived}");
    assert!(read(folder, "echo-network.svg").contains("<svg"));
    assert!(read(folder, "samples.csv").contains(",resting\n"));
    let raw = |row: &&serde_json::Value| row["label"] == "udp";
    let calls = &rows.iter().find(raw).unwrap()["calls"];
    match calls["client"].as_f64() {
        // One call sends and one receives.
        Some(client) => assert!((2.0..2.5).contains(&client), "{calls}"),
        None => assert!(
            tables.contains("System calls are not counted: "),
            "{tables}"
        ),
    }
}

#[test]
fn a_comparison_goes_on_with_a_further_load() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    support::objects(bench(folder, "20", &["--json"]));
    let first = read(folder, "progress.jsonl");
    let arguments = [
        "--load",
        "idle,network",
        "--load-rate",
        "800",
        "--resume",
        "--json",
    ];
    let rows = support::objects(bench(folder, "20", &arguments));
    assert!(rows.iter().any(|row| row["condition"] == "network"));
    let second = read(folder, "progress.jsonl");
    let rest = second.strip_prefix(&first).unwrap();
    // A round whose answer was lost on a loaded machine is the only one that is measured again.
    let known = rounds(&first);
    let again = rounds(rest);
    assert!(!known.is_empty(), "{first}");
    assert!(again.iter().all(|round| !known.contains(round)), "{rest}");
    let mut other = bench(folder, "20", &["--load-rate", "10", "--resume"]);
    let said = other.output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("load-rate 800 instead of 10"), "{said}");
}

#[test]
fn a_missing_program_of_the_load_is_an_error_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = bench(folder.path(), "20", &["--load", "cpu"]);
    let output = bench.env("PATH", folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("apt-get install stress-ng"), "{said}");
}

#[test]
fn peers_run_with_the_wanted_scheduler_or_the_error_has_the_fix() {
    let folder = tempfile::tempdir().unwrap();
    let output = bench(folder.path(), "20", &["--scheduler", "fifo:10"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let tables = read(folder.path(), "tables.md");
        assert!(
            tables.contains("broker run with SCHED_FIFO 10."),
            "{tables}"
        );
        assert!(
            !tables.contains("## Peers that were not measured"),
            "{tables}"
        );
    } else {
        assert!(
            said.contains("rtprio 10") || said.contains("real-time budget"),
            "{said}"
        );
    }
}

/// Starts an endless run, waits until a process of this name has `children` children, kills the run, and checks that all of its
/// processes end.
fn kill_leaves_nothing(load: &str, name: &str, children: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = bench(folder.path(), "1000000", &["--load", load])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + LONG;
    let processes = loop {
        let direct = support::children_of(bench.id());
        let is_named = |process: &&u32| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(name)
        };
        let workers = direct
            .iter()
            .find(is_named)
            .map(|it| support::children_of(*it));
        if let Some(workers) = workers.filter(|workers| workers.len() >= children) {
            break [direct, workers].concat();
        }
        assert!(Instant::now() < deadline, "there is no load");
        std::thread::sleep(Duration::from_millis(10));
    };
    kill_process(Pid::from_child(&bench), Signal::KILL).unwrap();
    bench.wait().unwrap();
    for process in processes {
        let path = format!("/proc/{process}");
        while Path::new(&path).exists() {
            assert!(Instant::now() < deadline, "{path}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn an_interrupt_ends_the_load_of_the_network() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path(), "1000000", &["--load", "network"]);
    // Server, client and both sides of the traffic.
    support::interrupt_leaves_nothing(bench, 4);
}

#[test]
fn load_of_the_network_ends_with_a_killed_run() {
    kill_leaves_nothing("network", "send", 0);
}

/// Program of `takt bench peers install`.
#[test]
#[ignore = "needs stress-ng: ./test middleware"]
fn load_of_the_processors_ends_with_a_killed_run() {
    kill_leaves_nothing("cpu", "stress-ng", 1);
}

#[test]
#[ignore = "needs stress-ng: ./test middleware"]
fn load_of_the_processors_keeps_them_busy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The kernel counts the time of the processors in steps of 10 ms.
    let rows = support::objects(bench(folder, "1000", &["--load", "cpu", "--json"]));
    assert!(
        rows.iter()
            .any(|row| row["condition"] == "cpu" && row["answered"] == 1000)
    );
    let tables = read(folder, "tables.md");
    let used = tables
        .split_once("on average ")
        .unwrap()
        .1
        .split(' ')
        .next()
        .unwrap();
    let processors = std::thread::available_parallelism().unwrap().get() as f64;
    assert!(used.parse::<f64>().unwrap() > 0.5 * processors, "{used}");
}

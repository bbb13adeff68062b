//! Runs made by hand: traces of both ends become the directory of a run.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;
use takt_tests::network::HostPair as Network;
use takt_tests::{Finished, Process, Sandbox, binary};

use crate::control_loops::PATIENCE;
use crate::control_loops::ends::start;

/// Number of cycles of 2 ms.
const CYCLES: &str = "100";

/// Runs both ends, and returns their traces.
fn run(network: &Network, sandbox: &Sandbox, name: &str) -> [PathBuf; 2] {
    let file = |end: &str| sandbox.data_directory().join(format!("{name}-{end}.trace"));
    let traces = [file("publisher"), file("loopback")];
    let [there, back] = traces.each_ref().map(|path| path.to_str().unwrap());
    let mut loopback = start(&network.second, sandbox, "loopback", &["--trace", back]);
    loopback.wait_for("its addresses", PATIENCE, |line| line.contains("receives"));
    let arguments = ["--cycles", CYCLES, "--trace", there];
    let publisher = start(&network.first, sandbox, "publish", &arguments);
    let _ = publisher.finish(PATIENCE).expect_success();
    loopback.signal(Signal::INT);
    let _ = loopback.finish(PATIENCE).expect_success();
    traces
}

/// Runs a command on the first host, whose name is known and long enough: in binary files, short ones are found by chance.
fn takt(network: &Network, sandbox: &Sandbox, arguments: &[&str]) -> Finished {
    Process::spawn("takt", &mut network.first.takt(sandbox, arguments)).finish(PATIENCE)
}

fn collect(network: &Network, sandbox: &Sandbox, directory: &str, traces: &[&PathBuf]) -> Finished {
    let scenario = binary::repository().join("scenarios/e3.toml");
    let mut arguments = vec!["lab", "collect", directory, scenario.to_str().unwrap()];
    arguments.extend(traces.iter().map(|path| path.to_str().unwrap()));
    arguments.push("--json");
    takt(network, sandbox, &arguments)
}

pub fn traces_of_one_run_are_collected() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let [publisher, loopback] = run(&network, &sandbox, "one");
    let directory = sandbox.data_directory().join("run");
    let directory = directory.to_str().unwrap();
    let printed = collect(&network, &sandbox, directory, &[&publisher, &loopback]).expect_success();
    let collected: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(collected["scenario"], "e3", "{collected}");
    assert_eq!(collected["messages"].to_string(), CYCLES, "{collected}");
    assert_eq!(collected["synchronized"], true, "{collected}");
    // The interfaces are veth, without the disciplines of the scenario.
    assert_eq!(collected["disciplines"], false, "{collected}");

    let printed = takt(&network, &sandbox, &["analyze", directory, "--trim", "0"]).expect_success();
    assert!(printed.contains("application round trip"), "{printed}");
    let rows = takt(&network, &sandbox, &["report", directory, "--json"]).expect_success();
    let rows = rows.lines().map(|row| serde_json::from_str(row).unwrap());
    let rows: Vec<Value> = rows.collect();
    let application = rows.iter().find(|row| row["round_trip"] == "application");
    let application = application.unwrap();
    assert!(application["delays"].as_u64().unwrap() > 0, "{application}");
    assert_eq!(application["backend"], "hosts");
    assert_eq!(application["host"]["driver"], "veth", "{application}");
    for fact in ["kernel", "memory", "processor", "time stamps", "run"] {
        assert!(
            application["host"][fact].is_string(),
            "{fact}: {application}"
        );
    }
    let page = sandbox.data_directory().join("run/report.html");
    let page = std::fs::read_to_string(page).unwrap();
    has_no_names(&network, &sandbox, directory, &page);
    assert!(
        page.contains("software-transmit"),
        "no time stamps of the card"
    );
}

/// Packs a run, and looks for the names of hosts, users and folders in all bytes of the archive.
fn has_no_names(network: &Network, sandbox: &Sandbox, directory: &str, page: &str) {
    let archive = sandbox.data_directory().join("run.tar");
    let archive = archive.to_str().unwrap();
    let mut command = network
        .first
        .takt(sandbox, &["lab", "bundle", directory, "--to", archive]);
    let user = "annabella";
    command.env("USER", user).env("SUDO_USER", user);
    let _ = Process::spawn("takt lab bundle", &mut command)
        .finish(PATIENCE)
        .expect_success();
    let folder = sandbox.data_directory().display().to_string();
    let home = std::env::var("HOME").unwrap_or_else(|_| folder.clone());
    // The page of the run has the folder, so that the search is not in vain.
    assert!(page.contains(&folder), "{folder}");
    let bytes = std::fs::read(archive).unwrap();
    // The names of both hosts are those of their interfaces.
    for name in [folder.as_str(), &home, user, "takt0", "takt1"] {
        let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let mut places = bytes.windows(name.len()).enumerate();
        let found = places.any(|(at, window)| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            let is_whole = !is_word(before) && !is_word(bytes.get(at + name.len()));
            window == name.as_bytes() && is_whole
        });
        assert!(!found, "the archive has {name}");
    }
    let listed = std::process::Command::new("tar")
        .args(["-tf", archive])
        .output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    for file in ["report.html", "run.json", "scenario.toml", "verdicts.jsonl"] {
        assert!(listed.contains(&format!("takt-run/{file}\n")), "{listed}");
    }
}

pub fn traces_of_two_runs_are_refused() {
    let (network, sandbox) = (Network::new(), Sandbox::new());
    let [first, _] = run(&network, &sandbox, "first");
    let [_, second] = run(&network, &sandbox, "second");
    let directory = sandbox.data_directory().join("run");
    let refused = collect(
        &network,
        &sandbox,
        directory.to_str().unwrap(),
        &[&first, &second],
    );
    assert!(!refused.status.success());
    let text = refused.stderr;
    for part in [
        "second-loopback.trace is of run",
        "first-publisher.trace of run",
        "same run",
    ] {
        assert!(text.replace('\n', " ").contains(part), "{part}: {text}");
    }
    assert!(!directory.exists());
}

//! History with foreign software: clients read Variables and Events that the registry and a Provider record; the command line reads
//! what servers have recorded.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_tests::binary::{self, repository};
use takt_tests::interop::{Checker, Role, passed};
use takt_tests::process::{self, Process};
use takt_tests::sandbox::{Provider, Registry};
use takt_tests::{Peer, PeerClient, PeerServer, Sandbox};

const PATIENCE: Duration = Duration::from_secs(60);

/// A registry that records the setpoint of a Machine: 3000 at first, then 100, 200 and 300.
struct Recorded {
    sandbox: Sandbox,
    registry: Registry,
    provider: Provider,
    node: String,
}

impl Recorded {
    fn start() -> Self {
        let sandbox = Sandbox::new();
        let options = ["--history", "*/Spindle/*Set*", "--history-interval", "50ms"];
        let registry = Registry::start(&sandbox, &options);
        let provider = Provider::start(&sandbox, &registry, "machine");
        let at = registry.endpoint.as_str();
        let spindle = format!("{}/Spindle", provider.name);
        let path = format!("{spindle}/SpeedSetpoint");
        let path = path.as_str();
        let started = Instant::now();
        while !sandbox
            .takt(&["read", at, path])
            .output()
            .unwrap()
            .status
            .success()
        {
            assert!(
                started.elapsed() < PATIENCE,
                "the Provider does not register"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        for value in ["100", "200", "300"] {
            let _ = sandbox.run(&["write", at, path, value]).expect_success();
            let wanted = value.parse::<f64>().unwrap();
            let started = Instant::now();
            loop {
                let rows = sandbox
                    .takt(&["history", at, path, "--json"])
                    .output()
                    .unwrap();
                let rows = String::from_utf8_lossy(&rows.stdout).into_owned();
                let last = rows
                    .lines()
                    .last()
                    .and_then(|row| serde_json::from_str::<Value>(row).ok());
                if last.is_some_and(|row| row["value"].as_f64() == Some(wanted)) {
                    break;
                }
                assert!(
                    started.elapsed() < PATIENCE,
                    "{value} is not recorded: {rows}"
                );
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let found = sandbox.rows(&["browse", at, &spindle, "--depth", "1"]);
        let setpoint = found
            .iter()
            .find(|row| row.to_string().contains("SpeedSetpoint\""))
            .unwrap();
        let node = setpoint["nodeId"]
            .as_str()
            .unwrap_or_else(|| panic!("{setpoint}"))
            .to_owned();
        Self {
            sandbox,
            registry,
            provider,
            node,
        }
    }
}

fn values(rows: &Value) -> Vec<f64> {
    rows.as_array()
        .unwrap_or_else(|| panic!("{rows}"))
        .iter()
        .filter_map(|row| row["value"].as_f64())
        .collect()
}

fn answer(name: &str, command: &mut Command) -> Value {
    let output = process::run(name, command, PATIENCE).expect_success();
    serde_json::from_str(output.lines().last().unwrap()).unwrap()
}

fn python() -> Command {
    let mut command = Command::new(repository().join(".cache/venv/bin/python"));
    command.arg(repository().join("peers/asyncua/history.py"));
    command
}

#[test]
fn asyncua_reads_raw_values() {
    let recorded = Recorded::start();
    let read = answer(
        "asyncua",
        python().args(["read", &recorded.registry.endpoint, &recorded.node]),
    );
    let forward = values(&read["forward"]);
    assert!(forward.ends_with(&[100.0, 200.0, 300.0]), "{read}");
    let mut backward = values(&read["backward"]);
    // asyncua asks for bounds: the first of the three is that at the end.
    assert_eq!(values(&read["newest"]), [300.0, 200.0], "{read}");
    backward.reverse();
    assert_eq!(backward, forward);
    assert_eq!(read["historizing"], json!(true));
    passed("asyncua", Role::Client, "history");
}

#[test]
fn node_opcua_reads_raw_values_and_aggregates() {
    let recorded = Recorded::start();
    let mut command = Command::new("node");
    command.arg(repository().join("peers/node/history.js"));
    let read = answer(
        "node-opcua",
        command.args([&recorded.registry.endpoint, &recorded.node]),
    );
    assert!(read["raw"].is_array(), "{read}");
    let raw = values(&read["raw"]);
    assert!(raw.ends_with(&[100.0, 200.0, 300.0]), "{read}");
    let pages: Vec<f64> = read["pages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(values)
        .collect();
    assert_eq!(pages, raw);
    let processed = &read["processed"];
    let number = |name: &str| {
        processed[name]["value"]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {read}"))
    };
    let count = f64::from(u32::try_from(raw.len()).unwrap());
    assert_eq!(number("Count"), count);
    assert!(
        (number("Average") - raw.iter().sum::<f64>() / count).abs() < 1e-9,
        "{read}"
    );
    assert_eq!(number("Minimum"), 100.0);
    assert_eq!(number("Maximum"), raw.iter().copied().fold(0.0, f64::max));
    assert!((100.0..=3000.0).contains(&number("TimeAverage")), "{read}");
    assert!((0.0..100.0).contains(&number("PercentGood")), "{read}");
    passed("node-opcua", Role::Client, "history");
}

#[test]
fn async_opcua_gopcua_milo_and_open62541_read_raw_values() {
    let recorded = Recorded::start();
    let namespace = format!("urn:takt:provider:{}", recorded.provider.name);
    let request = json!({
        "check": "history", "endpoint": recorded.registry.endpoint, "namespace": namespace, "start": recorded.node,
    });
    for checker in [Checker::AsyncOpcua, Checker::Gopcua, Checker::Milo] {
        let answer = checker.answer(&request, PATIENCE);
        assert_eq!(answer["ok"], true, "{answer}");
        passed(checker.name(), Role::Client, "history");
    }
    let mut client = PeerClient::connect(Peer::Open62541, &recorded.registry.endpoint).unwrap();
    let mut read = |page: u32| -> Vec<Vec<f64>> {
        let request = json!({"op": "history", "node": recorded.node, "page": page});
        let pages = client.expect(request);
        pages.as_array().unwrap().iter().map(values).collect()
    };
    let (whole, pages) = (read(0).concat(), read(2));
    assert!(whole.ends_with(&[100.0, 200.0, 300.0]), "{whole:?}");
    assert!(pages.len() > 1 && pages.concat() == whole, "{pages:?}");
    passed("open62541", Role::Client, "history");
}

#[test]
fn the_command_line_reads_the_history_of_asyncua() {
    let mut server = Process::spawn("asyncua", python().arg("serve"));
    let line = server.wait_for("its endpoint", PATIENCE, |line| line.starts_with('{'));
    let served: Value = serde_json::from_str(&line).unwrap();
    let (endpoint, node) = (
        served["endpoint"].as_str().unwrap(),
        served["node"].as_str().unwrap(),
    );
    reads_the_history(Peer::Asyncua, endpoint, node);
}

#[test]
fn the_command_line_reads_the_history_of_node_opcua() {
    let server = PeerServer::start_with_records(Peer::NodeOpcua);
    reads_the_history(Peer::NodeOpcua, &server.endpoint, &server.node("Recorded"));
}

#[test]
fn the_command_line_reads_the_history_of_milo_and_open62541() {
    for peer in [Peer::Milo, Peer::Open62541] {
        let server = PeerServer::start_with_records(peer);
        reads_the_history(peer, &server.endpoint, &server.node("Recorded"));
    }
}

/// Reads the values 0 to 49 of a Variable, and the last two of them.
fn reads_the_history(peer: Peer, endpoint: &str, node: &str) {
    let sandbox = Sandbox::new();
    let rows = sandbox.rows(&[
        "history",
        endpoint,
        node,
        "--from",
        "1h",
        "--timeout",
        "60s",
    ]);
    let all: Vec<f64> = rows
        .iter()
        .filter_map(|row| row["value"].as_f64())
        .collect();
    let expected: Vec<f64> = (0..50).map(f64::from).collect();
    assert!(all.ends_with(&expected), "{all:?}");
    let csv = sandbox
        .run(&[
            "history",
            endpoint,
            node,
            "--last",
            "2",
            "--csv",
            "--timeout",
            "60s",
        ])
        .expect_success();
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines[0], "time,value,status");
    assert!(
        lines[1].ends_with(",48.0,Good") && lines[2].ends_with(",49.0,Good"),
        "{csv}"
    );
    passed(peer.name(), Role::Server, "history");
}

/// Returns the output of a command on a terminal of 80 columns, which script(1) makes. A pipe has no width.
fn on_a_terminal(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let words: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let program = binary::takt();
    let line = format!(
        "stty rows 24 columns 80; exec {} {}",
        program.display(),
        words.join(" ")
    );
    let mut command = Command::new("script");
    sandbox
        .confine(&mut command)
        .args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    let output = process::run("takt on a terminal", &mut command, PATIENCE);
    output.expect_success().replace('\r', "")
}

#[test]
fn output_fits_a_terminal() {
    let recorded = Recorded::start();
    let spindle = format!("{}/Spindle", recorded.provider.name);
    let (path, speed) = (
        format!("{spindle}/SpeedSetpoint"),
        format!("{spindle}/Speed"),
    );
    let (at, path) = (recorded.registry.endpoint.as_str(), &path);
    let run = |options: &[&str]| {
        let arguments = [&["history", at, path], options].concat();
        on_a_terminal(&recorded.sandbox, &arguments)
    };
    for options in [
        &[][..],
        &[
            "--from",
            "1h",
            "--aggregate",
            "average",
            "--interval",
            "10min",
        ],
    ] {
        let output = run(options);
        assert!(output.lines().count() > 2, "{output}");
        assert!(
            output.lines().all(|line| line.chars().count() <= 80),
            "{output}"
        );
    }
    assert!(run(&["--last", "1"]).contains("300.0"));
    assert!(run(&["--at", "0s"]).contains("300.0"));
    let refused = recorded
        .sandbox
        .run(&["history", at, &speed])
        .expect_failure();
    assert!(refused.contains("keeps no history"), "{refused}");
}

/// Asserts that foreign clients and the command line read the same Events at an endpoint, and returns their messages.
fn events(sandbox: &Sandbox, endpoint: &str) -> Vec<String> {
    let rows = sandbox.rows(&["history", endpoint, "Server", "--events", "--from", "1h"]);
    let field = |rows: &[Value], name: &str| -> Vec<String> {
        let fields = rows.iter().map(|row| row[name].to_string());
        fields.collect()
    };
    let messages = field(&rows, "Message");
    let mut node = Command::new("node");
    node.arg(repository().join("peers/node/history.js"));
    for (name, mut command) in [("asyncua", python()), ("node-opcua", node)] {
        let read = answer(name, command.args(["events", endpoint]));
        let list = |part: &str| read[part].as_array().unwrap_or_else(|| panic!("{read}"));
        let forward = list("forward");
        // An Event may have been reported in between.
        let read_messages = field(forward, "message");
        assert!(read_messages.starts_with(&messages), "{read}");
        assert_eq!(
            field(forward, "severity")[..rows.len()],
            field(&rows, "Severity")
        );
        let mut newest = field(list("newest"), "message");
        newest.reverse();
        assert!(newest.len() <= 2, "{read}");
        // These were read after the others, so the last ones may be new.
        let known = newest
            .iter()
            .rposition(|one| read_messages.last() == Some(one));
        let known = known.map_or(0, |last| last + 1);
        assert!(known > 0, "{read}");
        assert!(read_messages.ends_with(&newest[..known]), "{read}");
        assert!(newest.len() >= read_messages.len().min(2), "{read}");
        // The alarm may have ended meanwhile.
        let alarms = field(list("alarms"), "message");
        assert!(!alarms.is_empty(), "{read}");
        assert!(
            alarms
                .iter()
                .all(|alarm| alarm.contains("Spindle/Temperature")),
            "{read}"
        );
    }
    messages
}

#[test]
fn clients_read_the_events_of_a_provider_and_of_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--history-events", "Server"]);
    let options = ["--history-events"];
    let at_registry = registry.shared_memory();
    let provider = Provider::start_with_options(&sandbox, &at_registry, "machine", &options);
    let machine = provider.shared_memory();
    for arguments in [
        ["write", &machine, "Spindle/SpeedSetpoint", "12000"].as_slice(),
        &["write", &machine, "Spindle/Override", "120"],
        &["call", &machine, "Start"],
    ] {
        let _ = sandbox.run(arguments).expect_success();
    }
    let alarms = ["--events", "--type", "AlarmCondition"];
    for endpoint in [&machine, &at_registry] {
        let started = Instant::now();
        let read = [&["history", endpoint, "Server"], &alarms[..]].concat();
        while sandbox.rows(&read).is_empty() {
            assert!(started.elapsed() < PATIENCE, "no alarm at {endpoint}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    let at_provider = events(&sandbox, &provider.endpoint);
    let at_registry = events(&sandbox, &registry.endpoint);
    let is_alarm = |message: &&String| message.contains("above limit");
    let alarm = at_provider.iter().find(is_alarm);
    assert_eq!(at_registry.iter().find(is_alarm), alarm);

    let shown = on_a_terminal(&sandbox, &["history", &machine, "Server", "--events"]);
    assert!(shown.contains("[active, unacked]"), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    let refused = sandbox.run(&["history", &machine, "Spindle", "--events"]);
    let refused = refused.expect_failure();
    assert!(refused.contains("no history of the Events"), "{refused}");
}

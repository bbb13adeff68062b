//! `takt browse`, `read`, `write`, `call` and `watch` against all endpoints of a registry and a Provider.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use takt_app::serve::ServeOptions;
use takt_app::{Provider, Variable};
use takt_tests::Process;
use takt_ua::BuiltInType;

use crate::command_line::{PATIENCE, Plant, good};

#[test]
fn every_command_works_at_every_endpoint() {
    let plant = Plant::start();
    for (endpoint, prefix) in plant.endpoints() {
        reads_and_writes(&plant, &endpoint, &prefix);
        calls(&plant, &endpoint, &prefix);
        watches(&plant, &endpoint, &prefix);
    }
    browses(&plant);
}

#[test]
fn a_value_that_is_kept_is_read_again_if_it_is_young_enough() {
    let sandbox = takt_tests::Sandbox::new();
    let count = AtomicU32::new(0);
    let count = move || count.fetch_add(1, Ordering::Relaxed) + 1;
    let variable = Variable::callback("Count", BuiltInType::UInt32, count).publish_current(16);
    let provider = Provider::builder(sandbox.application("Counting"))
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(variable)
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            ..ServeOptions::default()
        })
        .start()
        .unwrap();
    // The Provider has read it once at its start.
    let mut expected = 1;
    for endpoint in provider.endpoints() {
        let endpoint = endpoint.to_string();
        let read = ["read", &endpoint, "ns=1;s=Count"];
        let count = |arguments: &[&str]| {
            sandbox.rows(&[&read, arguments].concat())[0]["value"]
                .as_u64()
                .unwrap()
        };
        expected += 1;
        assert_eq!(count(&[]), expected, "{endpoint}");
        assert_eq!(count(&["--max-age", "1h"]), expected, "{endpoint}");
        expected += 1;
        assert_eq!(count(&["--max-age", "1us"]), expected, "{endpoint}");
        let nonsense = sandbox.run(&[&read[..], &["--max-age", "old"]].concat());
        assert!(nonsense.expect_failure().contains("`old` is not a time"));
    }
}

fn reads_and_writes(plant: &Plant, endpoint: &str, prefix: &str) {
    let sandbox = &plant.sandbox;
    let path = format!("{prefix}Spindle/SpeedSetpoint");
    let text = sandbox.run(&["read", endpoint, &path]).expect_success();
    assert!(text.starts_with("6000"), "{endpoint}: {text}");
    // By NodeId: the Provider's own namespace has index 1 there, and the Provider also accepts the registry's index.
    let found = sandbox.rows(&["browse", &plant.registry.endpoint, &plant.machine.name]);
    let node = found
        .iter()
        .find(|row| row["displayName"] == "SpeedSetpoint")
        .unwrap_or_else(|| panic!("no SpeedSetpoint: {found:#?}"));
    let node = node["nodeId"].as_str().unwrap();
    let rows = sandbox.rows(&["read", endpoint, &path, node, "i=2259"]);
    assert_eq!(rows.len(), 3);
    for row in &rows {
        assert!(good(row), "{endpoint}: {row}");
        for key in [
            "node",
            "value",
            "type",
            "sourceTimestamp",
            "serverTimestamp",
        ] {
            assert!(!row[key].is_null(), "{endpoint}: {key} of {row}");
        }
    }
    assert_eq!(rows[0]["value"], json!(6000.0));
    assert_eq!(rows[0]["type"], "Double");
    assert_eq!(rows[1]["value"], json!(6000.0));
    assert_eq!(rows[2]["value"], "Running_0");
    let lines = sandbox
        .run(&["read", endpoint, &path, "i=2259"])
        .expect_success();
    assert!(lines.contains(&format!("{path} = 6000")), "{lines}");
    let kind = sandbox.rows(&["read", endpoint, &path, "--attribute", "datatype"]);
    assert_eq!(kind[0]["value"], "i=11", "{endpoint}");

    let _ = sandbox
        .run(&["write", endpoint, &path, "5500.5"])
        .expect_success();
    let rows = sandbox.rows(&["read", endpoint, &path]);
    assert_eq!(rows[0]["value"], json!(5500.5), "{endpoint}");
    let rows = sandbox.rows(&["write", endpoint, &path, "6000"]);
    assert!(
        good(&rows[0]) && rows[0]["value"] == json!(6000.0),
        "{rows:?}"
    );
    let boolean = format!("{prefix}DoorClosed");
    let _ = sandbox
        .run(&["write", endpoint, &boolean, "true"])
        .expect_success();
    let negative = sandbox.run(&["write", endpoint, &path, "-1"]);
    assert!(
        negative.expect_failure().contains("BadOutOfRange"),
        "{endpoint}"
    );
}

fn calls(plant: &Plant, endpoint: &str, prefix: &str) {
    let run = |method: &str, json: &[&str]| {
        let method = format!("{prefix}{method}");
        let mut arguments = vec!["call", endpoint, &method];
        arguments.extend(json);
        plant.sandbox.run(&arguments)
    };
    assert_eq!(run("Start", &[]).expect_success(), "Good", "{endpoint}");
    let refused = run("Start", &[]).expect_failure();
    assert!(refused.contains("Bad"), "{endpoint}: {refused}");
    let stopped = run("Stop", &["--json"]).expect_success();
    let row: serde_json::Value = serde_json::from_str(&stopped).unwrap();
    assert!(good(&row) && row["outputs"] == json!([]), "{row}");
    // The program ends, and can then be started again.
    let deadline = Instant::now() + PATIENCE;
    while run("Start", &[]).status.code() != Some(0) {
        assert!(Instant::now() < deadline, "{endpoint}: it never stops");
        let _ = run("Stop", &[]);
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = run("Stop", &[]);
    std::thread::sleep(Duration::from_millis(200));
    while plant
        .sandbox
        .rows(&["read", endpoint, &format!("{prefix}Spindle/Speed")])[0]["value"]
        .as_f64()
        .is_none_or(|speed| speed > 0.0)
    {
        assert!(
            Instant::now() < deadline,
            "{endpoint}: it never stands still"
        );
    }
}

/// The Objects of alarms share the Methods of their type: the path tells the Object.
#[test]
fn a_method_is_called_on_the_object_in_its_path() {
    let plant = Plant::start();
    for (endpoint, prefix) in plant.endpoints() {
        let shelve = format!("{prefix}Spindle/Overtemperature/ShelvingState/TimedShelve");
        let called = plant.sandbox.run(&["call", &endpoint, &shelve, "60000"]);
        assert_eq!(called.expect_success().trim(), "Good");
        let unshelve = format!("{prefix}Spindle/Overtemperature/ShelvingState/Unshelve");
        let called = plant.sandbox.run(&["call", &endpoint, &unshelve]);
        assert_eq!(called.expect_success().trim(), "Good");
    }
}

fn watches(plant: &Plant, endpoint: &str, prefix: &str) {
    let path = format!("{prefix}Spindle/SpeedSetpoint");
    let mut watch = Process::spawn(
        "takt watch",
        &mut plant
            .sandbox
            .takt(&["watch", endpoint, &path, "--interval", "10ms", "--json"]),
    );
    let row = |watch: &mut Process| -> serde_json::Value {
        let line = watch.next_line(PATIENCE);
        serde_json::from_str(&line).unwrap()
    };
    assert_eq!(row(&mut watch)["value"], json!(6000.0));
    for value in ["5000", "6000"] {
        let _ = plant
            .sandbox
            .run(&["write", endpoint, &path, value])
            .expect_success();
        let expected: f64 = value.parse().unwrap();
        assert_eq!(row(&mut watch)["value"], json!(expected));
    }
    watch.signal(rustix::process::Signal::INT);
    assert!(watch.wait(PATIENCE).success());
    let rows = plant
        .sandbox
        .watch_clock(endpoint, "50ms", Duration::from_millis(500));
    assert!(rows.iter().all(good), "{endpoint}: {rows:?}");
}

#[test]
fn a_watch_shows_that_the_connection_is_lost() {
    let plant = Plant::start();
    let Plant {
        sandbox, machine, ..
    } = plant;
    let endpoint = machine.endpoint.clone();
    let watch = [
        "watch",
        &endpoint,
        "DoorClosed",
        "--interval",
        "20ms",
        "--json",
    ];
    let mut watch = Process::spawn("takt watch", &mut sandbox.takt(&watch));
    let status = |watch: &mut Process| {
        let row: serde_json::Value = serde_json::from_str(&watch.next_line(PATIENCE)).unwrap();
        row["status"].as_str().unwrap().to_owned()
    };
    assert!(status(&mut watch).starts_with("Good"));
    drop(machine);
    assert!(status(&mut watch).starts_with("BadNoCommunication"));
    watch.signal(rustix::process::Signal::INT);
    assert!(watch.wait(PATIENCE).success());
}

fn browses(plant: &Plant) {
    let sandbox = &plant.sandbox;
    for endpoint in [&plant.registry.endpoint, &plant.registry.shared_memory()] {
        let tree = sandbox
            .run(&["browse", endpoint, "--depth", "3"])
            .expect_success();
        for part in [&plant.machine.name, "Spindle", "Speed", "ServerEndpoint"] {
            assert!(tree.contains(part), "{part} is missing:\n{tree}");
        }
        let rows = sandbox.rows(&["browse", endpoint, &plant.machine.name, "--references"]);
        assert!(
            rows.iter()
                .any(|row| row["nodeId"] == "i=85" && row["isForward"] == false),
            "{rows:#?}"
        );
        let references = sandbox
            .run(&["browse", endpoint, &plant.machine.name, "--references"])
            .expect_success();
        for part in ["← Organizes", "→ HasComponent", "→ HasTypeDefinition"] {
            assert!(references.contains(part), "no `{part}` in:\n{references}");
        }
        let rows = sandbox.rows(&["browse", endpoint, "i=85", "--depth", "1"]);
        for key in [
            "nodeId",
            "browseName",
            "nodeClass",
            "referenceType",
            "parent",
        ] {
            assert!(
                rows.iter().all(|row| row[key].is_string()),
                "{key}: {rows:#?}"
            );
        }
    }
    // At the Provider a message names the registry, which has the model.
    for endpoint in [&plant.machine.endpoint, &plant.machine.shared_memory()] {
        let tree = sandbox.run(&["browse", endpoint]).expect_success();
        assert!(tree.contains("SemanticRegistry"), "{tree}");
        let path = format!("{}/SemanticRegistry", plant.machine.name);
        let pointer = sandbox.rows(&["read", endpoint, &path]);
        assert_eq!(pointer[0]["value"], plant.registry.shared_memory());
    }
}

#[test]
fn completions_are_generated_and_help_has_examples() {
    let sandbox = takt_tests::Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.run(&["completions", shell]).expect_success();
        for word in ["browse", "registry", "--timeout"] {
            let word = word.trim_start_matches('-');
            assert!(script.contains(word), "{shell}: {word} is missing");
        }
        // The shell on this machine can read its completions.
        if let Ok(found) = std::process::Command::new(shell).arg("--version").output() {
            assert!(found.status.success());
            let file = sandbox.data_directory().join(shell);
            std::fs::write(&file, &script).unwrap();
            let check = std::process::Command::new(shell)
                .arg("-n")
                .arg(&file)
                .output()
                .unwrap();
            assert!(check.status.success(), "{shell}: {check:?}");
        }
    }
    for command in [
        "demo", "registry", "provider", "browse", "read", "write", "call", "watch",
    ] {
        let help = sandbox.run(&[command, "--help"]).expect_success();
        assert!(help.contains("Examples:"), "{command}: {help}");
        assert!(
            help.contains(&format!("takt {command}")),
            "{command}: {help}"
        );
    }
    assert!(
        sandbox
            .run(&["--version"])
            .expect_success()
            .starts_with("takt ")
    );
    // Without a command the list of commands is printed, and the exit status is not 0.
    let nothing = sandbox.run(&[]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(format!("{}{}", nothing.stdout, nothing.stderr).contains("browse"));
}

//! `takt ps` and `takt clean` with running, stopped and dead applications.

use std::time::Instant;

use rustix::process::Signal;
use serde_json::Value;
use takt_tests::{Process, Registry, Sandbox};

use crate::command_line::{PATIENCE, Plant, plain};

fn ps(sandbox: &Sandbox, endpoint: &str) -> Option<Value> {
    let rows = sandbox.rows(&["ps", "--interval", "50ms"]);
    rows.into_iter().find(|row| row["endpoint"] == endpoint)
}

/// Lists until the row of an application is as wanted, and returns it. On a loaded machine an application may be
/// listed as not answering.
fn wait_for(
    sandbox: &Sandbox,
    endpoint: &str,
    what: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let row = ps(sandbox, endpoint).unwrap_or_else(|| panic!("{endpoint} is not listed"));
        if wanted(&row) {
            return row;
        }
        assert!(Instant::now() < deadline, "never {what}: {row}");
    }
}

#[test]
fn ps_shows_running_applications_and_their_activity() {
    let mut plant = Plant::start();
    let sandbox = &plant.sandbox;
    let machine = plant.machine.shared_memory();
    let registry = plant.registry.shared_memory();
    let alive = |row: &Value| row["state"] == "sleeping" || row["state"] == "running";

    let row = wait_for(sandbox, &registry, "alive", alive);
    assert_eq!(row["process"], plant.registry.process.id());
    assert!(row["clients"].as_u64().unwrap() >= 1, "{row}");
    assert!(row["memory"].as_u64().unwrap() > 1 << 20, "{row}");
    assert!(row["requests"].as_u64().unwrap() > 0, "{row}");
    wait_for(sandbox, &registry, "asked for its budget", |row| {
        let budget = &row["memoryBudget"];
        budget["limit"] == 256 << 20 && budget["used"].as_u64() > Some(0)
    });

    let without = wait_for(sandbox, &machine, "alive", alive);
    let mut watch = Process::spawn(
        "watch",
        &mut sandbox.takt(&["watch", &machine, "Spindle/Speed", "--interval", "1ms"]),
    );
    watch.next_line(PATIENCE);
    wait_for(sandbox, &machine, "a client that asks", |row| {
        row["clients"].as_u64() > without["clients"].as_u64()
            && row["requestsPerSecond"].as_f64().unwrap() > 0.0
    });
    drop(watch);
    wait_for(sandbox, &machine, "without it again", |row| {
        row["clients"] == without["clients"]
    });

    plant.machine.process.signal(Signal::STOP);
    wait_for(sandbox, &machine, "stopped", |row| {
        row["state"] == "stopped" && row["process"] == plant.machine.process.id()
    });
    plant.machine.process.signal(Signal::CONT);
    wait_for(sandbox, &machine, "alive again", alive);

    let table = sandbox.run(&["ps"]).expect_success();
    assert!(
        table.contains("endpoint ") && table.contains("(MiB)"),
        "{table}"
    );
    assert_eq!(table.matches("opc.iox2://").count(), 2, "{table}");
    assert!(
        table.contains(&machine) && table.contains(" of 256"),
        "{table}"
    );
}

#[test]
fn clean_removes_only_dead_applications() {
    let mut plant = Plant::start();
    let sandbox = &plant.sandbox;
    let registry = plant.registry.shared_memory();
    plant.registry.process.kill();
    let row = ps(sandbox, &registry).unwrap();
    assert_eq!(row["state"], "dead", "{row}");
    assert!(
        row["process"].is_null() && row["clients"].is_null() && row["memoryBudget"].is_null(),
        "{row}"
    );
    let table = sandbox.run(&["ps"]).expect_success();
    assert!(table.contains("dead: name left behind"), "{table}");

    let cleaned = &sandbox.rows(&["clean"])[0];
    assert_eq!(
        cleaned["applications"],
        serde_json::json!([plant.registry.name])
    );
    assert!(ps(sandbox, &registry).is_none());
    // The running application is not affected.
    let machine = plant.machine.shared_memory();
    assert_eq!(
        sandbox.rows(&["read", &machine, "Spindle/SpeedSetpoint"])[0]["value"],
        6000.0
    );
    assert!(ps(sandbox, &machine).is_some());
    let _ = sandbox.run(&["clean"]).expect_success();
    let again = sandbox.run(&["clean"]).expect_success();
    assert_eq!(again.trim(), "nothing to remove");
    assert!(ps(sandbox, &machine).is_some());
}

#[test]
fn a_directory_that_cannot_be_used_is_explained() {
    let sandbox = Sandbox::new();
    let file = sandbox.data_directory().join("file");
    std::fs::write(&file, "").unwrap();
    for command in ["ps", "clean"] {
        let mut command = sandbox.takt(&[command]);
        command.env("TAKT_RUNTIME_DIR", &file);
        let finished = takt_tests::process::run("takt", &mut command, PATIENCE);
        let said = plain(&finished.expect_failure());
        assert!(said.contains("TAKT_RUNTIME_DIR"), "{said}");
    }
}

#[test]
fn groups_that_cannot_be_used_are_explained() {
    let sandbox = Sandbox::new();
    for command in ["ps", "clean"] {
        let said = plain(
            &sandbox
                .run(&[command, "--group", "no such"])
                .expect_failure(),
        );
        assert!(said.contains("there is no group \"no such\""), "{said}");
        let ours = rustix::process::getegid().as_raw().to_string();
        let said = plain(&sandbox.run(&[command, "--group", &ours]).expect_failure());
        assert!(
            said.contains("is in a directory") || said.contains("does not exist"),
            "{said}"
        );
        assert!(said.contains("install -d -o root"), "{said}");
    }
}

/// The last application too: `takt ps` does not remove its files when no application is running.
#[test]
fn the_last_dead_application_is_shown_until_cleaned() {
    let sandbox = Sandbox::new();
    assert!(sandbox.rows(&["ps"]).is_empty());
    let nobody = sandbox.run(&["ps"]).expect_success();
    assert!(nobody.starts_with("no applications"), "{nobody}");
    let mut registry = Registry::start(&sandbox, &[]);
    registry.process.kill();
    for _ in 0..2 {
        let row = ps(&sandbox, &registry.shared_memory()).unwrap();
        assert_eq!(row["state"], "dead", "{row}");
    }
    let said = sandbox.run(&["clean"]).expect_success();
    assert!(said.contains(&registry.name), "{said}");
    assert!(sandbox.rows(&["ps"]).is_empty());
    assert!(
        sandbox.left_behind().is_empty(),
        "{:?}",
        sandbox.left_behind()
    );
}

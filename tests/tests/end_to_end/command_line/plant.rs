//! Scenarios of PubSub configurations and a network file: from files to bounds.

use std::fs;
use std::path::{Path, PathBuf};

use takt_tests::Sandbox;
use takt_tests::binary::repository;

use crate::command_line::plain;

/// Copies the example into a folder, and returns the paths of its files.
fn example(folder: &Path) -> [String; 4] {
    ["press.toml", "robot.toml", "camera.toml", "plant.toml"].map(|name| {
        let path = folder.join(name);
        fs::copy(repository().join("examples/plant").join(name), &path).unwrap();
        path.to_str().unwrap().to_owned()
    })
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn the_document_shows_what_its_commands_print() {
    takt_tests::tutorial::run_built("docs/plant.md");
}

#[test]
fn a_plant_has_bounds_that_no_simulation_exceeds() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let [press, robot, _, plant] = example(folder.path());
    let cell = path(folder.path(), "cell.toml");
    let from = ["scenario", "from", &press, &robot, "--network", &plant];
    let written = [&from[..], &["--output", &cell]].concat();
    let rows = sandbox.rows(&written);
    assert_eq!(rows.len(), 1);
    let flows = rows[0]["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 2);
    assert_eq!(flows[0]["application"], "press/Press");
    assert_eq!(flows[0]["readers"][0], "Press/Press/Press");
    assert_eq!(flows[0]["cyclePs"], 1_000_000_000_u64);
    assert_eq!(rows[0]["warnings"].as_array().unwrap().len(), 0);
    let assumed = rows[0]["assumptions"].as_array().unwrap();
    let fields: Vec<&str> = assumed
        .iter()
        .map(|it| it["field"].as_str().unwrap())
        .collect();
    assert_eq!(
        fields,
        [
            "multicast",
            "wake_up_latency",
            "processing_time",
            "forwarding_delay",
            "bounds.lower_priority"
        ]
    );
    // The standard output has the same text.
    let printed = sandbox.run(&from).expect_success();
    assert_eq!(
        printed.trim_end(),
        fs::read_to_string(&cell).unwrap().trim_end()
    );
    for model in ["linux", "ieee"] {
        let simulated = [
            "simulate",
            &cell,
            "--adversarial",
            "--tries",
            "30",
            "--model",
            model,
        ];
        // A delay above its bound is an error.
        let _ = sandbox.run(&simulated).expect_success();
    }
    let _ = sandbox.run(&["tsn", "plan", &cell]).expect_success();
    // A file that exists is replaced on demand only.
    let refused = plain(&sandbox.run(&written).expect_failure());
    assert!(refused.contains("Use --force to replace it"), "{refused}");
    let _ = sandbox
        .run(&[&written[..], &["--force"]].concat())
        .expect_success();
}

#[test]
fn mistakes_are_shown_in_the_network_file() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let [press, robot, _, plant] = example(folder.path());
    let wrong = fs::read_to_string(&plant)
        .unwrap()
        .replace("bridge2\", \"robot", "bridge3\", \"robot");
    fs::write(&plant, wrong).unwrap();
    let from = ["scenario", "from", &press, &robot, "--network", &plant];
    let error = plain(&sandbox.run(&from).expect_failure());
    assert!(
        error.contains(
            "plant.toml: line 34, column 9: there is no node `bridge3` (did you mean `bridge2`?)"
        ),
        "{error}"
    );
    assert!(
        error.contains("docs/plant.md is the reference of this file."),
        "{error}"
    );
}

#[test]
fn configurations_are_read_in_each_format() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let [press, robot, _, plant] = example(folder.path());
    let binary: PathBuf = folder.path().join("press.uabinary");
    let binary = binary.to_str().unwrap();
    let _ = sandbox
        .run(&["pubsub", "config", "convert", &press, binary])
        .expect_success();
    let text = fs::read_to_string(&plant)
        .unwrap()
        .replace("\"press.toml\"", "\"press.uabinary\"");
    fs::write(&plant, text).unwrap();
    let from = ["scenario", "from", binary, &robot, "--network", &plant];
    let made = sandbox.run(&from).expect_success();
    assert!(
        made.contains("press.uabinary: WriterGroup Cell/Press"),
        "{made}"
    );
    let json = path(folder.path(), "empty.json");
    fs::write(&json, "{\"Connections\": []}").unwrap();
    let checked = sandbox
        .run(&["pubsub", "config", "check", &json])
        .expect_success();
    assert!(checked.contains("nothing is wrong"), "{checked}");
    let toml = path(folder.path(), "empty.toml");
    let _ = sandbox
        .run(&["pubsub", "config", "convert", &json, &toml])
        .expect_success();
    let back = path(folder.path(), "back.json");
    let refused = plain(
        &sandbox
            .run(&["pubsub", "config", "convert", &toml, &back])
            .expect_failure(),
    );
    assert!(
        refused.contains("configurations are not written in JSON"),
        "{refused}"
    );
}

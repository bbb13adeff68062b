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

/// A panel that only listens: the frames of the press are one until the last bridge, which replicates them.
#[test]
fn a_message_to_two_devices_is_one_application() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let [press, robot, _, plant] = example(folder.path());
    let panel = path(folder.path(), "panel.toml");
    let text = fs::read_to_string(&robot).unwrap();
    let namespaces = text.lines().find(|line| line.starts_with("namespaces"));
    let readers = text.split_once("name = \"Press\"").unwrap().1;
    let readers = format!(
        "{}\n[[connections]]\nname = \"Press\"{readers}",
        namespaces.unwrap()
    );
    fs::write(&panel, readers).unwrap();
    let text = fs::read_to_string(&plant).unwrap();
    let bridge = "[[nodes]]\nname = \"bridge1\"";
    let text = text.replace(bridge, &format!("[[nodes]]\nname = \"panel\"\n\n{bridge}"));
    let more = "[[links]]\nends = [\"bridge2\", \"panel\"]\nrate = \"100 Mbit/s\"\nlength = \"20 m\"\n\n\
                [[devices]]\nnode = \"panel\"\nconfigurations = [\"panel.toml\"]\n";
    fs::write(&plant, format!("{text}\n{more}")).unwrap();
    let cell = path(folder.path(), "cell.toml");
    let from = [
        "scenario",
        "from",
        &press,
        &robot,
        &panel,
        "--network",
        &plant,
    ];
    let printed = sandbox
        .run(&[&from[..], &["--output", &cell]].concat())
        .expect_success();
    assert!(
        printed.contains("press \u{2192} robot, panel; key frame"),
        "{printed}"
    );
    let bounds = sandbox.run(&["bounds", &cell]).expect_success();
    for way in ["press/Press \u{2192} robot", "press/Press \u{2192} panel"] {
        assert!(bounds.contains(way), "{bounds}");
    }
    assert!(!bounds.contains("infinite"), "{bounds}");
    for model in ["linux", "ieee"] {
        let arguments = [
            "simulate",
            &cell,
            "--adversarial",
            "--tries",
            "30",
            "--model",
            model,
        ];
        // A delay above its bound is an error.
        let _ = sandbox.run(&arguments).expect_success();
    }
    let plan = sandbox.run(&["tsn", "plan", &cell]).expect_success();
    let entries = plan
        .lines()
        .filter(|line| line.starts_with("bridge mdb add"));
    let of_press = entries.filter(|line| line.contains(" grp 01:00:5e:00:00:01 "));
    // bridge1 to bridge2, and bridge2 to robot and panel.
    assert_eq!(of_press.count(), 3, "{plan}");
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

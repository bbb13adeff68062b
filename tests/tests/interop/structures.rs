//! Structures and enumerations of a foreign server on the command line: read, watched, written and given to a Method.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use takt_tests::Sandbox;
use takt_tests::binary::repository;
use takt_tests::process::Process;

/// Time limit of required events, long enough for an interpreter on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server of `peers/asyncua/structures.py`.
struct World {
    sandbox: Sandbox,
    endpoint: String,
    _server: Process,
}

impl World {
    fn start(default: &str) -> Self {
        let mut command = Command::new(repository().join(".cache/venv/bin/python"));
        command.arg(repository().join("peers/asyncua/structures.py"));
        command.args([default, "0"]);
        let mut server = Process::spawn("the foreign server", &mut command);
        let ready: Value = serde_json::from_str(&server.next_line(PATIENCE)).unwrap();
        Self {
            sandbox: Sandbox::new(),
            endpoint: ready["endpoint"].as_str().unwrap().to_owned(),
            _server: server,
        }
    }

    fn run(&self, command: &str, rest: &[&str]) -> String {
        let arguments = [&[command, &self.endpoint], rest].concat();
        self.sandbox.run(&arguments).expect_success()
    }

    fn read(&self, name: &str) -> Value {
        let line = self.run("read", &[&format!("S/{name}"), "--json"]);
        let row: Value = serde_json::from_str(&line).unwrap();
        row["value"].clone()
    }
}

#[test]
fn structures_are_shown_by_their_definitions_whatever_their_default_encoding() {
    for default in ["right", "wrong", "null"] {
        let world = World::start(default);
        let point = json!({"x": 1.5, "name": "größe", "color": "Green_1"});
        let typed = |name: &str, value: &Value| {
            let mut typed = json!({ "$type": format!("2:{name}") });
            let fields = value.as_object().unwrap().clone();
            typed.as_object_mut().unwrap().extend(fields);
            typed
        };
        assert_eq!(world.read("Point"), typed("Point", &point), "{default}");
        let list = json!([typed("Point", &point), typed("Point", &point)]);
        assert_eq!(world.read("List"), list, "{default}");
        let optional = json!({"a": 7, "points": [point]});
        assert_eq!(
            world.read("Optional"),
            typed("Optional", &optional),
            "{default}"
        );
        let choice = json!({"text": "chosen"});
        assert_eq!(world.read("Choice"), typed("Choice", &choice), "{default}");
        assert_eq!(world.read("Color"), json!("Green_1"));
        assert!(world.run("read", &["S/Color"]).starts_with("Green (1)"));
        let watched = world.run("watch", &["S/Point", "S/Color", "--for", "1s"]);
        for part in [
            r#""x":1.5"#,
            r#""color":"Green (1)""#,
            "S/Color = Green (1)",
        ] {
            assert!(watched.contains(part), "{watched}");
        }
    }
}

#[test]
fn structures_are_written_and_given_to_methods() {
    let world = World::start("wrong");
    // A value that was read is written.
    let mut point = world.read("Point");
    point["x"] = json!(-2);
    point["color"] = json!("Red");
    let _ = world.run("write", &["S/Point", &point.to_string()]);
    let read = world.read("Point");
    assert_eq!(
        (&read["x"], &read["color"]),
        (&json!(-2.0), &json!("Red_0"))
    );
    let _ = world.run(
        "write",
        &["S/Optional", r#"{"a": 1, "b": "da", "points": []}"#],
    );
    assert_eq!(world.read("Optional")["b"], json!("da"));
    let _ = world.run("write", &["S/Choice", r#"{"number": 9}"#]);
    assert_eq!(
        world.read("Choice"),
        json!({"$type": "2:Choice", "number": 9})
    );
    let _ = world.run("write", &["S/Color", "Red"]);
    assert_eq!(world.read("Color"), json!("Red_0"));

    let given = r#"{"x": 3, "name": "p", "color": "Green"}"#;
    let returned = world.run("call", &["S/Mirror", given, "Green", "--json"]);
    let returned: Value = serde_json::from_str(&returned).unwrap();
    let expected = json!({"$type": "2:Point", "x": 3.0, "name": "p", "color": "Green_1"});
    assert_eq!(returned["outputs"], json!([expected, "Green_1"]));

    for (value, said) in [
        (r#"{"x": 3, "name": "p", "color": "Blue"}"#, "Red, Green"),
        (r#"{"x": 3, "name": "p"}"#, "color: is missing"),
        ("7", "2:Point with x, name, color"),
    ] {
        let arguments = ["write", &world.endpoint, "S/Point", value];
        let failed = world.sandbox.run(&arguments).expect_failure();
        assert!(failed.replace("\n", " ").contains(said), "{failed}");
    }
}

#[test]
fn history_shows_structures_and_enumerations_by_their_definitions() {
    let world = World::start("wrong");
    let values = |node: &str| {
        let lines = world.run("history", &[node, "--from", "10min", "--json"]);
        let rows = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["value"].clone()).collect::<Vec<_>>()
    };
    let typed = json!({"$type": "2:Point", "x": 1.5, "name": "größe", "color": "Green_1"});
    assert_eq!(values("S/Point"), [typed]);
    assert_eq!(values("S/Color"), [json!("Green_1")]);
    let shown = world.run("history", &["S/Point", "--from", "10min"]);
    let fields = r#""x":1.5,"name":"größe","color":"Green (1)""#;
    assert!(shown.contains(fields), "{shown}");
    let shown = world.run("history", &["S/Color", "--from", "10min"]);
    assert!(shown.contains("Green (1)"), "{shown}");
}

//! Types that asyncua adds to the registry with its own functions, and their values on the command line.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use takt_tests::binary::repository;
use takt_tests::process::Process;
use takt_tests::{Registry, Sandbox};

/// Time limit of required events, long enough for an interpreter on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts `peers/asyncua/registered_types.py`. Returns it with the object that it prints.
fn provider(sandbox: &Sandbox, registry: &Registry, folder: &Path) -> (Process, Value) {
    let mut command = Command::new(repository().join(".cache/venv/bin/python"));
    sandbox.confine(&mut command).current_dir(folder);
    command.arg(repository().join("peers/asyncua/registered_types.py"));
    let endpoint = format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
    command.args([&registry.endpoint, &endpoint]);
    let mut provider = Process::spawn("registered_types.py", &mut command);
    let said = serde_json::from_str(&provider.next_line(PATIENCE)).unwrap();
    (provider, said)
}

#[test]
fn new_enum_new_struct_and_import_xml_work_at_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--allow-tcp-registration"]);
    let folder = sandbox.data_directory();
    let (mut provider, said) = provider(&sandbox, &registry, &folder);
    let point = json!({"x": 1.5, "name": "größe", "color": "Green"});
    assert_eq!(
        said["values"],
        json!({
            "Color": 1,
            "Point": point,
            "Optional": {"Encoding": 0, "a": 7, "b": null, "points": [point]},
            "Choice": {"Encoding": 2, "Value": "chosen"},
        })
    );
    // DisplayName, Description and DataTypeDefinition.
    assert_eq!(said["masks"], json!([0x40_0060, 0x40_0060]));
    assert_eq!(
        said["refused"],
        json!({
            "namespace 0": "BadNodeIdRejected",
            "namespace of the registry": "BadUserAccessDenied",
            "definition of the standard": "BadNotWritable",
            "definition of an enumeration": "BadTypeMismatch",
            "BrowseName": "BadNotWritable",
            "namespace of another": "BadUserAccessDenied",
        })
    );
    assert_eq!(
        said["imported"],
        json!({
            "nodes": 13,
            "place": {"X": 3.5, "Name": "there", "Mode": "Manual"},
            "speed": 2.5,
            "version": "1.2.0",
        })
    );
    assert_eq!(said["exported"], json!(true));

    let endpoint = registry.endpoint.clone();
    let at = endpoint.as_str();
    let run = |command: &str, rest: &[&str]| {
        let arguments = [&[command, at], rest].concat();
        sandbox.run(&arguments).expect_success()
    };
    let read = |node: &str| {
        let row: Value = serde_json::from_str(&run("read", &[node, "--json"])).unwrap();
        row["value"].clone()
    };
    let shown = json!({"x": 1.5, "name": "größe", "color": "Green_1"});
    assert_eq!(without_type(read("PyTypes/Point")), shown);
    assert_eq!(
        without_type(read("PyTypes/Optional")),
        json!({"a": 7, "points": [shown]})
    );
    assert_eq!(
        without_type(read("PyTypes/Choice")),
        json!({"text": "chosen"})
    );
    assert_eq!(read("PyTypes/Color"), json!("Green_1"));
    let place = "PyTypes/Device/Place";
    assert_eq!(
        without_type(read(place)),
        json!({"X": 3.5, "Name": "there", "Mode": "Manual_2"})
    );

    let _ = run(
        "write",
        &[place, r#"{"X": 9, "Name": "new", "Mode": "Auto"}"#],
    );
    assert_eq!(
        without_type(read(place)),
        json!({"X": 9.0, "Name": "new", "Mode": "Auto_1"})
    );
    let _ = run("write", &["PyTypes/Color", "Red"]);
    let watched = run(
        "watch",
        &["PyTypes/Point", "PyTypes/Color", place, "--for", "4s"],
    );
    for part in [
        r#""color":"Green (1)""#,
        "Color = Red (0)",
        r#""Mode":"Auto (1)""#,
    ] {
        assert!(watched.contains(part), "{watched}");
    }
    let given = r#"{"x": 3, "name": "p", "color": "Green"}"#;
    let called = run("call", &["PyTypes/Echo", given, "--json"]);
    let called: Value = serde_json::from_str(&called).unwrap();
    assert_eq!(
        without_type(called["outputs"][0].clone()),
        json!({"x": 3.0, "name": "p", "color": "Green_1"})
    );

    // Types, attributes that were written, and the namespace survive a restart; values are those that the Provider has set last.
    provider.kill();
    drop(registry);
    let registry = Registry::start_at(&sandbox, at, &["--allow-tcp-registration"]);
    assert_eq!(without_type(read("PyTypes/Point")), shown);
    let _ = run("write", &["PyTypes/Point", given]);
    assert_eq!(
        without_type(read(place)),
        json!({"X": 3.5, "Name": "there", "Mode": "Manual_2"})
    );

    // With its Provider, all of it goes, and its namespaces are free.
    let _ = sandbox
        .run(&[
            "registry",
            "forget",
            "PyTypes",
            "--registry",
            &registry.shared_memory(),
        ])
        .expect_success();
    let gone = sandbox.run(&["read", at, place]).expect_failure();
    assert!(gone.contains("BadNoMatch"), "{gone}");
}

/// Returns a structure without its type, whose NamespaceIndex is that of the registry.
fn without_type(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("$type");
    }
    value
}

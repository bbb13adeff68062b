//! `--json` of commands that change something, check files, or serve: each line of the standard output is an object.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};
use takt_tests::authority::Authority;
use takt_tests::binary::repository;
use takt_tests::{Process, Registry, Sandbox};

use crate::command_line::{PATIENCE, Plant};

/// Returns the objects of an output.
fn objects(output: &str) -> Vec<Value> {
    let objects = output.lines().map(serde_json::from_str);
    objects
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// Runs a command with `--json` that must fail, and returns the objects that it printed all the same.
fn refused(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let finished = sandbox.run(&[arguments, &["--json"]].concat());
    let printed = objects(&finished.stdout);
    assert_eq!(finished.status.code(), Some(1), "{finished:?}");
    // The error for people is where it always is.
    assert!(!finished.stderr.is_empty());
    printed
}

/// Returns the only object of a command that must succeed.
fn object(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let mut rows = sandbox.rows(arguments);
    assert_eq!(rows.len(), 1, "{arguments:?}: {rows:?}");
    rows.remove(0)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn servers_print_events() {
    let plant = Plant::start();
    let sandbox = &plant.sandbox;
    let (registry, name) = (
        sandbox.application("Second"),
        sandbox.application("Spindle"),
    );
    let data = tempfile::tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    let free = ["--endpoint", "opc.tcp://127.0.0.1:0", "--json"];
    let of_registry = ["registry", "--name", &registry, "--data", data];
    let first = plant.registry.shared_memory();
    let of_provider = [
        "provider",
        "machine",
        "--name",
        &name,
        "--registry",
        first.as_str(),
    ];
    for (name, arguments) in [(&registry, &of_registry[..]), (&name, &of_provider)] {
        let mut command = sandbox.takt(&[arguments, &free].concat());
        let mut process = Process::spawn(&format!("takt {}", arguments[0]), &mut command);
        let ready: Value = serde_json::from_str(&process.next_line(PATIENCE)).unwrap();
        assert_eq!(ready["event"], "ready");
        assert_eq!(ready["name"], name.as_str());
        assert_eq!(ready["process"], process.id());
        let endpoints = ready["endpoints"].as_array().unwrap();
        assert_eq!(endpoints[0], format!("opc.iox2://{name}"));
        for endpoint in endpoints {
            let rows = sandbox.rows(&["read", endpoint.as_str().unwrap(), "i=2259"]);
            assert_eq!(rows[0]["value"], "Running_0", "{rows:?}");
        }
        process.signal(Signal::TERM);
        let finished = process.finish(PATIENCE);
        let printed = objects(&finished.expect_success());
        assert_eq!(
            printed.last(),
            Some(&json!({"event": "ended", "name": name}))
        );
    }
    // It has unregistered, so it is not forgotten twice.
    let forget = ["registry", "forget", &name, "--registry", &first];
    let expected = json!({"name": name, "registry": first, "removed": true});
    assert_eq!(object(sandbox, &forget), expected);
    assert_eq!(refused(sandbox, &forget), Vec::<Value>::new());
}

#[test]
fn the_demonstration_prints_events() {
    let sandbox = Sandbox::new();
    let demo = ["demo", "--endpoint", "opc.tcp://127.0.0.1:0", "--json"];
    let mut process = Process::spawn("takt demo", &mut sandbox.takt(&demo));
    let first: Value = serde_json::from_str(&process.next_line(PATIENCE)).unwrap();
    assert_eq!(first["event"], "ready");
    let endpoints = first["endpoints"].as_array().unwrap();
    assert_eq!(endpoints.len(), 2, "{first}");
    let providers = first["providers"].as_array().unwrap();
    assert_eq!(providers[0]["name"], "Machine");
    assert_eq!(providers[1]["endpoints"][0], "opc.iox2://HostTelemetry");
    let mut requests = Vec::new();
    // Lines come while it runs.
    let values = loop {
        let event: Value = serde_json::from_str(&process.next_line(PATIENCE)).unwrap();
        match event["event"].as_str() {
            Some("request") => requests.push(event),
            Some("values") => break event,
            _ => panic!("{event}"),
        }
    };
    assert_eq!(requests.len(), 5);
    assert_eq!(requests[0]["result"], 80.0);
    let status = requests[1]["status"].as_str().unwrap();
    assert!(status.starts_with("BadOutOfRange"), "{status}");
    let shown = values["values"].as_array().unwrap();
    let speed = shown
        .iter()
        .find(|row| row["node"] == "Machine/Spindle/Speed");
    let speed = speed.unwrap();
    assert!(
        speed["value"].is_number() && speed["unit"] == "r/min",
        "{speed}"
    );
    for scheme in ["opc.iox2", "opc.tcp"] {
        let time = &values["readTimeUs"][scheme];
        let [least, most] = ["min", "max"].map(|name| time[name].as_f64().unwrap());
        assert!(0.0 < least && least <= most, "{values}");
    }
    process.signal(Signal::INT);
    let finished = process.finish(PATIENCE);
    let printed = objects(&finished.expect_success());
    assert_eq!(printed.last().unwrap()["event"], "ended");
}

#[test]
fn changes_of_users_are_printed() {
    let sandbox = Sandbox::new();
    let password = path(&sandbox.data_directory(), "password");
    fs::write(&password, "secret\n").unwrap();
    let add = ["user", "add", "anna", "--password-file", &password];
    let added = object(
        &sandbox,
        &[&add[..], &["--role", "observer,engineer"]].concat(),
    );
    let listed = object(&sandbox, &["user", "list"]);
    for key in ["name", "roles", "proof"] {
        assert_eq!(added[key], listed[key], "{added}");
    }
    assert_eq!(added["roles"], json!(["observer", "engineer"]));
    let remove = ["user", "remove", "anna"];
    let expected = json!({"name": "anna", "kind": "user", "removed": true});
    assert_eq!(object(&sandbox, &remove), expected);
    assert_eq!(refused(&sandbox, &remove), Vec::<Value>::new());
    let removed = ["--unix-user", "0"];
    let _ = object(&sandbox, &[&["user", "add"], &removed[..]].concat());
    let removed = object(&sandbox, &[&["user", "remove"], &removed[..]].concat());
    assert_eq!(removed["kind"], "Unix user");
}

#[test]
fn changes_of_trust_are_printed() {
    let sandbox = Sandbox::new();
    let folder = sandbox.data_directory();
    let authority = Authority::new(&folder);
    let certificate = authority.certificate.to_str().unwrap();
    let list = authority.revocations.to_str().unwrap();
    let listed = |folder: &str| {
        let rows = sandbox.rows(&["trust", "list"]).into_iter();
        rows.filter(|row| row["folder"] == folder)
            .collect::<Vec<_>>()
    };
    let added = object(&sandbox, &["trust", "add", certificate]);
    let [row] = &listed("trusted")[..] else {
        panic!("{added}")
    };
    for (key, value) in row.as_object().unwrap() {
        assert_eq!(&added[key], value, "{key}");
    }
    assert_eq!(added["server"], Value::Null);
    let warnings = added["warnings"].as_array().unwrap();
    assert!(
        warnings.len() == 1 && warnings[0].as_str().unwrap().contains("revocation list"),
        "{added}"
    );
    let added = object(&sandbox, &["trust", "add", list]);
    assert_eq!(added["revocationListOf"], "CN=Plant CA");
    assert_eq!(added["warnings"], json!([]));
    let shown = object(&sandbox, &["trust", "show", list]);
    assert_eq!(shown["revokedSerialNumbers"], json!([]));
    let shown = object(&sandbox, &["trust", "show", certificate]);
    assert_eq!(shown["thumbprint"], row["thumbprint"]);
    assert_eq!(shown["issuer"], "CN=Plant CA");
    let removed = object(&sandbox, &["trust", "reject", list]);
    assert_eq!(removed["folder"], Value::Null);
    assert_eq!(
        refused(&sandbox, &["trust", "reject", list]),
        Vec::<Value>::new()
    );
    let rejected = object(&sandbox, &["trust", "reject", certificate]);
    assert_eq!(rejected["folder"], "rejected");
    assert!(fs::exists(rejected["file"].as_str().unwrap()).unwrap());

    let registry = Registry::start(&sandbox, &[]);
    let of_registry = path(&folder, "pki");
    let renew = ["trust", "renew", &registry.name, "--key", "RSA"];
    let renew = [&renew[..], &["--certificates", &of_registry]].concat();
    let renewed = object(&sandbox, &renew);
    assert_eq!(
        (&renewed["folder"], &renewed["key"]),
        (&json!("own"), &json!("RSA 2048"))
    );
    assert!(fs::exists(renewed["file"].as_str().unwrap()).unwrap());
}

#[test]
fn mistakes_of_configurations_are_objects() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let example = repository().join("examples/pubsub/publisher.toml");
    let example = example.to_str().unwrap();
    let good = object(&sandbox, &["pubsub", "config", "check", example]);
    let expected = json!({"file": example, "format": "toml", "valid": true, "mistakes": []});
    assert_eq!(good, expected);
    let wrong = path(folder.path(), "wrong.toml");
    let text = fs::read_to_string(example).unwrap();
    let changed = text.replacen(
        "publishing_interval = ",
        "publishing_interval = \"-5ms\" # ",
        1,
    );
    assert_ne!(changed, text);
    fs::write(&wrong, changed).unwrap();
    let rows = refused(&sandbox, &["pubsub", "config", "check", &wrong]);
    let mistake = &rows[0]["mistakes"][0];
    assert_eq!(
        (&rows[0]["valid"], &mistake["severity"]),
        (&json!(false), &json!("error"))
    );
    assert!(
        mistake.to_string().contains("publishing_interval"),
        "{mistake}"
    );
    // The place counts characters, not bytes.
    fs::write(&wrong, "\n\"\u{e4}\u{f6}\u{fc}\" = 1 x\n").unwrap();
    let rows = refused(&sandbox, &["pubsub", "config", "check", &wrong]);
    let mistake = &rows[0]["mistakes"][0];
    assert_eq!(
        (&mistake["line"], &mistake["column"]),
        (&json!(2), &json!(9))
    );

    let output = path(folder.path(), "publisher.uabinary");
    let convert = ["pubsub", "config", "convert", example];
    let converted = object(&sandbox, &[&convert[..], &[&output]].concat());
    assert_eq!(converted["to"], "binary");
    let length = fs::metadata(&output).unwrap().len();
    assert_eq!(converted["bytes"], length);
    let both = [&convert[..], &["-"]].concat();
    assert_eq!(refused(&sandbox, &both), Vec::<Value>::new());
}

#[test]
fn scenarios_are_objects_with_their_mistakes() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let (new, wrong, missing) = (
        path(folder.path(), "new.toml"),
        path(folder.path(), "wrong.toml"),
        path(folder.path(), "missing.toml"),
    );
    let written = object(
        &sandbox,
        &["scenario", "new", "line", "--hops", "3", "--output", &new],
    );
    assert_eq!(
        (&written["nodes"], &written["links"]),
        (&json!(4), &json!(3))
    );
    // The standard output is the scenario itself.
    let usage = sandbox.run(&["scenario", "new", "p2p", "--json"]);
    assert_eq!(
        (usage.status.code(), usage.stdout.as_str()),
        (Some(2), ""),
        "{usage:?}"
    );
    let text = "version = 1\n[topology]\nkind = \"p2p\"\nlength = \"3 meter\"\n";
    fs::write(&wrong, text).unwrap();
    let rows = refused(&sandbox, &["scenario", "check", &new, &wrong, &missing]);
    let valid: Vec<&Value> = rows.iter().map(|row| &row["valid"]).collect();
    assert_eq!(valid, [true, false, false]);
    assert_eq!(rows[0]["variants"], 1);
    let mistake = &rows[1]["mistakes"][0];
    assert_eq!(
        (&mistake["line"], &mistake["column"]),
        (&json!(4), &json!(10))
    );
    assert!(mistake.to_string().contains("did you mean"), "{mistake}");
    assert_eq!(rows[2]["mistakes"][0]["line"], Value::Null);
}

#[test]
fn the_kernel_of_the_lab_and_interfaces_are_objects() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let states = folder.path().to_str().unwrap();
    let cleared = sandbox.rows(&["tsn", "clear", "--state-dir", states]);
    assert_eq!(cleared, Vec::<Value>::new());
    let missing = ["tsn", "clear", "nobody0", "--state-dir", states];
    let rows = refused(&sandbox, &missing);
    assert_eq!(
        (&rows[0]["interface"], &rows[0]["restored"]),
        (&json!("nobody0"), &json!(false))
    );
    assert!(rows[0]["error"].as_str().unwrap().contains("nobody0"));
    let planned = [
        "tsn",
        "apply",
        "--interface",
        "lo",
        "--discipline",
        "fq_codel",
        "--dry-run",
    ];
    let planned = object(&sandbox, &planned);
    assert_eq!(planned["outcome"], "planned");
    let commands = planned["commands"].as_array().unwrap();
    assert!(
        commands
            .iter()
            .all(|it| it.as_str().unwrap().starts_with("tc ")),
        "{planned}"
    );

    let mut setup: Command = sandbox.takt(&["lab", "setup", "--json", "--source", states]);
    setup.env("TAKT_LAB_CACHE", states);
    let finished = Process::spawn("takt lab setup", &mut setup).finish(PATIENCE);
    assert_eq!(finished.stdout, "");
    let _ = finished.expect_failure();
}

#[test]
fn publishing_prints_states_and_results() {
    let sandbox = Sandbox::new();
    let example = repository().join("examples/pubsub/publisher.toml");
    let publish = ["publish", example.to_str().unwrap(), "--simulate", "--json"];
    let mut process = Process::spawn("takt publish", &mut sandbox.takt(&publish));
    // States come while messages are published; the first ones may be those before the start.
    loop {
        let event: Value = serde_json::from_str(&process.next_line(PATIENCE)).unwrap();
        assert_eq!(event["writerGroup"], "UDP/Fast");
        if event["state"] == "Operational" {
            break;
        }
    }
    process.signal(Signal::INT);
    let printed = objects(&process.finish(PATIENCE).expect_success());
    let result = printed.last().unwrap();
    assert!(result["networkMessages"].as_u64() > Some(0), "{result}");
    for key in ["fastPathMessages", "overruns", "maxWakeUpLatencyNs"] {
        assert!(result[key].is_u64(), "{key}: {result}");
    }
}

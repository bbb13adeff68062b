//! Python's asyncua as a Provider and as a client of own DataTypes.

use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_app::serve::ServeOptions;
use takt_app::{Enumeration, Field, Method, StructureDataType, Variable};
use takt_ua::{BuiltInType, Variant};

use crate::binary::repository;
use crate::process::{self, Process};
use crate::sandbox::{Registry, Sandbox};

/// The guide with the code of a Provider.
const GUIDE: &str = "docs/providers-in-other-languages.md";

/// Time limit of required events, long enough for an interpreter on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn python() -> Command {
    let python = repository().join(".cache/venv/bin/python");
    assert!(
        python.exists(),
        "asyncua is not installed: ./test interop does that"
    );
    Command::new(python)
}

/// Returns the only block of Python in the guide, and the first option of the registry that it names.
fn guide() -> (String, String) {
    let text = std::fs::read_to_string(repository().join(GUIDE)).expect("the guide can be read");
    let mut blocks = text.split("```python\n").skip(1);
    let block = blocks.next().expect("the guide has a block of Python");
    assert!(blocks.next().is_none(), "the guide has one block of Python");
    let (code, _) = block.split_once("```").expect("the block ends");
    let (_, option) = text
        .split_once("takt registry ")
        .expect("the guide starts a registry");
    let option = option.lines().next().unwrap_or_default();
    (code.to_owned(), option.to_owned())
}

/// Waits until a command prints this line.
fn eventually(sandbox: &Sandbox, arguments: &[&str], wanted: &str) {
    let begin = Instant::now();
    loop {
        let output = sandbox.takt(arguments).output().expect("takt runs");
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.split_whitespace().next() == Some(wanted) {
            return;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "{arguments:?} does not print {wanted} but {output}"
        );
        thread::sleep(Duration::from_millis(100));
    }
}

/// The code of the guide is a Provider: it is found, read, written and called through the registry, and registers again
/// after its end.
///
/// # Panics
/// If it fails.
pub fn provider_of_the_guide() {
    let (code, option) = guide();
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[&option]);
    let folder = sandbox.data_directory();
    let script = folder.join("provider.py");
    std::fs::write(&script, code).expect("a file can be written");
    let endpoint = format!("opc.tcp://127.0.0.1:{}", takt_ports::reserve());
    let start = || {
        let mut command = python();
        sandbox.confine(&mut command).current_dir(&folder);
        command.arg(&script).args([&registry.endpoint, &endpoint]);
        let mut provider = Process::spawn("provider.py", &mut command);
        provider.wait_for("its registration", PATIENCE, |line| line == "registered");
        provider
    };
    let at = registry.endpoint.as_str();
    for start_number in 1..=2 {
        let mut provider = start();
        eventually(&sandbox, &["read", at, "PyMixer/Available"], "true");
        eventually(&sandbox, &["read", at, "PyMixer/Speed"], "1500.0");
        let _ = sandbox
            .run(&["write", at, "PyMixer/Speed", "12.5"])
            .expect_success();
        eventually(&sandbox, &["read", at, "PyMixer/Speed"], "12.5");
        let _ = sandbox.run(&["call", at, "PyMixer/Reset"]).expect_success();
        eventually(&sandbox, &["read", at, "PyMixer/Speed"], "0.0");
        provider.kill();
        eventually(&sandbox, &["read", at, "PyMixer/Available"], "false");
        assert!(
            folder.join("PyMixer.secret").exists(),
            "start {start_number}"
        );
    }
}

/// A client that knows nothing of a Provider's enumerations and structures decodes their values, at the Provider and at the
/// registry.
///
/// # Panics
/// If it fails.
pub fn client_decodes_own_types() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let state = Enumeration::new("MixerState")
        .field(0, "Off")
        .field(5, "Running");
    let step = StructureDataType::new("MixerStep")
        .field(Field::new("Action", BuiltInType::String))
        .field(Field::new("State", &state));
    let recipe = StructureDataType::new("MixerRecipe")
        .field(Field::new("Name", BuiltInType::String))
        .field(Field::new("Amounts", BuiltInType::Double).array(0))
        .field(Field::new("First", &step))
        .field(Field::new("Others", &step).array(0));
    let boil = step.value(&["Boil".into(), 5_i32.into()]).expect("a step");
    let soup = recipe.value(&[
        "Soup".into(),
        vec![0.5_f64, 1.5].into(),
        boil.clone().into(),
        vec![boil.clone(), boil].into(),
    ]);
    let provider = takt_app::Provider::builder(sandbox.application("Mixer"))
        .registry(registry.shared_memory())
        .endpoint("opc.tcp://127.0.0.1:0")
        .serve(ServeOptions {
            runtime_directory: Some(sandbox.runtime_directory()),
            ..ServeOptions::default()
        })
        .variable(
            Variable::stored("Recipe", soup.expect("a recipe"))
                .data_type(&recipe)
                .writable(),
        )
        .variable(Variable::stored("State", 5_i32).data_type(&state))
        .method(
            Method::new("Cook", |inputs: &[Variant]| Ok(inputs.to_vec()))
                .input("Recipe", &recipe)
                .output("Recipe", &recipe),
        )
        .data_type(state)
        .data_type(step)
        .data_type(recipe)
        .start()
        .expect("it starts");
    let begin = Instant::now();
    while !provider.is_registered() {
        let state = provider.registry_state();
        assert!(begin.elapsed() < PATIENCE, "{state}");
        thread::sleep(Duration::from_millis(10));
    }
    let boil = json!({"Action": "Boil", "State": "Running"});
    let expected = json!({
        "enumerations": {"MixerState": {"Off": 0, "Running": 5}},
        "values": {
            "Recipe": {"Name": "Soup", "Amounts": [0.5, 1.5], "First": boil, "Others": [boil, boil]},
            "State": 5,
        },
        "echo": true,
        "written": true,
    });
    let uri = takt_app::model::provider_uri(provider.application_name());
    let own_endpoint = provider
        .endpoints()
        .iter()
        .find(|endpoint| !endpoint.is_shared_memory());
    let own_endpoint = own_endpoint.expect("an opc.tcp endpoint").to_string();
    for endpoint in [registry.endpoint.as_str(), &own_endpoint] {
        let options = takt_app::ClientOptions {
            timeout: PATIENCE,
            ..takt_app::ClientOptions::named("Test")
        };
        let parsed = endpoint.parse().expect("an endpoint");
        let mut client = takt_app::Client::connect(&parsed, options).expect("it serves");
        let own = client
            .namespace_index(&uri)
            .expect("it serves")
            .expect("a namespace");
        let script: PathBuf = repository().join("peers/asyncua/data_types.py");
        let node = |identifier: &str| format!("ns={own};{identifier}");
        let nodes = ["i=1", "s=Cook", "s=Recipe", "s=State"].map(node);
        let mut command = python();
        command.arg(script).arg(endpoint).args(nodes);
        let said = process::run("data_types.py", &mut command, PATIENCE).expect_success();
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(said, expected, "{endpoint}");
    }
}

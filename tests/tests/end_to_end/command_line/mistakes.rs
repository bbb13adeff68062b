//! Mistakes of the user: helpful messages, and exit statuses for scripts.

use takt_tests::{Process, Sandbox};

use crate::command_line::{PATIENCE, Plant, plain};

/// Runs a command that must fail, and whose message must have all these parts.
pub(crate) fn fails(sandbox: &Sandbox, arguments: &[&str], parts: &[&str]) {
    let finished = sandbox.run(arguments);
    let said = plain(&format!("{} {}", finished.stdout, finished.stderr));
    let _ = finished.expect_failure();
    for part in parts {
        assert!(said.contains(part), "{arguments:?}: no `{part}` in: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn wrong_values_and_nodes_are_explained() {
    let plant = Plant::start();
    let sandbox = &plant.sandbox;
    for (endpoint, prefix) in plant.endpoints() {
        let at = |path: &str| format!("{prefix}{path}");
        let setpoint = at("Spindle/SpeedSetpoint");
        let endpoint = endpoint.as_str();
        for wrong in ["fast", "true", "[1, 2]", "1e400", ""] {
            fails(
                sandbox,
                &["write", endpoint, &setpoint, wrong],
                &[wrong, "Double"],
            );
        }
        fails(
            sandbox,
            &["write", endpoint, &at("DoorClosed"), "7"],
            &["7", "Boolean"],
        );
        fails(
            sandbox,
            &["write", endpoint, &at("Spindle/Speed"), "7"],
            &["BadNotWritable", "not writable"],
        );
        fails(
            sandbox,
            &["write", endpoint, &setpoint, "99999"],
            &["BadOutOfRange"],
        );
        fails(
            sandbox,
            &["read", endpoint, "ns=1;s=Nobody"],
            &["BadNodeIdUnknown"],
        );
        fails(
            sandbox,
            &["write", endpoint, "ns=1;s=Nobody", "1"],
            &["BadNodeIdUnknown", "takt browse"],
        );
        fails(
            sandbox,
            &["browse", endpoint, "i=999999"],
            &["BadNodeIdUnknown", "takt browse"],
        );
        fails(sandbox, &["read", endpoint, &at("Nobody")], &["Bad"]);
        fails(sandbox, &["call", endpoint, &at("Nobody")], &["Bad"]);
        fails(
            sandbox,
            &["call", endpoint, &setpoint],
            &["Variable", "not a Method", "takt read"],
        );
        fails(
            sandbox,
            &["call", endpoint, &at("Start"), "1"],
            &["rgument"],
        );
        fails(
            sandbox,
            &["watch", endpoint, &at("Spindle")],
            &["Spindle", "BadAttributeIdInvalid", "only Variables"],
        );
        fails(
            sandbox,
            &["read", endpoint, &setpoint, "--attribute", "Colour"],
            &["Colour", "DataType"],
        );
        // One bad node of several: the good ones are printed, and the exit status reports the bad one.
        let finished = sandbox.run(&["read", endpoint, &setpoint, "ns=1;s=Nobody", "--json"]);
        assert_eq!(finished.stdout.lines().count(), 2, "{finished:?}");
        let _ = finished.expect_failure();
    }
    // Advice on arrays is for Variables that may have one.
    let (endpoint, prefix) = &plant.endpoints()[0];
    let setpoint = format!("{prefix}Spindle/SpeedSetpoint");
    let error = sandbox.run(&["write", endpoint, &setpoint, "fast"]);
    assert!(!error.expect_failure().contains("rray"));
    fails(
        sandbox,
        &[
            "registry",
            "forget",
            &plant.machine.name,
            "--registry",
            endpoint,
        ],
        &["is connected", "end it first"],
    );
    fails(
        sandbox,
        &["registry", "forget", "Nobody", "--registry", endpoint],
        &["knows no Provider Nobody", "takt browse"],
    );
    let host = takt_tests::Provider::start(sandbox, &plant.registry, "host");
    let method = "SetSamplingInterval";
    fails(
        sandbox,
        &["call", &host.endpoint, method, "fast"],
        &["fast"],
    );
}

#[test]
fn errors_fit_the_terminal() {
    // Without a terminal the width is 80 columns.
    let sandbox = Sandbox::new();
    let name = "N".repeat(30);
    for arguments in [
        &[
            "read",
            "opc.tcp://127.0.0.1:9",
            "i=2258",
            "--timeout",
            "300ms",
        ][..],
        &[
            "read",
            &format!("opc.iox2://{name}"),
            "i=2258",
            "--timeout",
            "300ms",
        ],
        &[
            "scenario",
            "check",
            "no-such-scenario-with-a-name-of-some-length.toml",
        ],
    ] {
        let finished = sandbox.run(arguments);
        let widest = finished
            .stderr
            .lines()
            .map(|line| line.chars().count())
            .max();
        assert!(
            widest.is_some_and(|width| width <= 80),
            "{}",
            finished.stderr
        );
        let _ = finished.expect_failure();
    }
}

#[test]
fn unreachable_endpoints_are_explained() {
    let sandbox = Sandbox::new();
    let quick = ["--timeout", "300ms"];
    for (endpoint, parts) in [
        (
            "opc.tcp://127.0.0.1:9",
            &["127.0.0.1:9", "server running"][..],
        ),
        (
            "opc.tcp://no-such-host.invalid:4840",
            &["no-such-host.invalid"],
        ),
        ("opc.iox2://Nobody", &["Nobody", "application running"]),
        ("opc.iox2://../etc/passwd", &["../etc/passwd"]),
        ("opc.iox2://a/b", &["a/b"]),
        ("opc.iox2://", &["opc.iox2://"]),
        ("http://127.0.0.1", &["opc.tcp://"]),
        ("opc.tcp://", &["opc.tcp://"]),
        ("opc.tcp://127.0.0.1:99999", &["99999"]),
        ("127.0.0.1:4840", &["opc.tcp://"]),
    ] {
        for command in [&["browse", endpoint][..], &["read", endpoint, "i=2258"]] {
            fails(&sandbox, &[command, &quick].concat(), parts);
        }
    }
    for arguments in [
        &["read", "opc.tcp://127.0.0.1:9"][..],
        &["write", "opc.tcp://127.0.0.1:9", "i=1"],
        &["watch", "opc.tcp://127.0.0.1:9", "i=1", "--interval", "10"],
        &["no-such-command"],
        &["completions", "no-such-shell"],
        &["provider", "no-such-provider"],
    ] {
        fails(&sandbox, arguments, &["error"]);
    }
    assert!(
        sandbox.left_behind().is_empty(),
        "{:?}",
        sandbox.left_behind()
    );
}

#[test]
fn a_port_in_use_and_invalid_names_are_explained() {
    let plant = Plant::start();
    let sandbox = &plant.sandbox;
    let address = plant.registry.shared_memory();
    let [other, third] = ["other", "third"].map(|name| {
        let folder = sandbox.data_directory().join(name);
        folder.to_str().unwrap().to_owned()
    });
    let (other, third) = (other.as_str(), third.as_str());
    let port = plant
        .registry
        .endpoint
        .rsplit(':')
        .next()
        .unwrap()
        .to_owned();
    let twin = sandbox.application("Twin");
    fails(
        sandbox,
        &[
            "registry",
            "--endpoint",
            &plant.registry.endpoint,
            "--name",
            &twin,
            "--data",
            other,
        ],
        &[&port, "--endpoint", "port 0"],
    );
    fails(
        sandbox,
        &[
            "provider",
            "machine",
            "--endpoint",
            &plant.registry.endpoint,
            "--name",
            &twin,
            "--registry",
            &address,
        ],
        &[&port, "--endpoint"],
    );
    let any = "opc.tcp://127.0.0.1:0";
    // Two registries with the same name, and two with one database.
    let name = plant.registry.name.as_str();
    fails(
        sandbox,
        &[
            "registry",
            "--endpoint",
            any,
            "--name",
            name,
            "--data",
            third,
        ],
        &[name, "--name"],
    );
    let data = sandbox.data_directory();
    let data = data.to_str().unwrap();
    fails(
        sandbox,
        &[
            "registry",
            "--endpoint",
            any,
            "--name",
            &twin,
            "--data",
            data,
        ],
        &["used by another process", "--data"],
    );
    let too_long = "x".repeat(300);
    for name in [
        "../x", "a/b", "/tmp/x", ".", "..", "", " ", "a\nb", "a\\b", "ä*?", &too_long,
    ] {
        fails(
            sandbox,
            &[
                "provider",
                "machine",
                "--name",
                name,
                "--registry",
                &address,
            ],
            &["opc.iox2://"],
        );
        fails(
            sandbox,
            &[
                "registry",
                "--name",
                name,
                "--endpoint",
                any,
                "--data",
                other,
            ],
            &["opc.iox2://"],
        );
    }
    fails(
        sandbox,
        &[
            "registry",
            "--nodeset",
            "/no/such/file",
            "--endpoint",
            any,
            "--name",
            &twin,
            "--data",
            other,
        ],
        &["/no/such/file"],
    );
    let broken = sandbox.data_directory().join("Broken.NodeSet2.xml");
    std::fs::write(&broken, "<UANodeSet>\n<UAObject NodeId='x'>\n</UANodeSet>").unwrap();
    fails(
        sandbox,
        &[
            "registry",
            "--nodeset",
            broken.to_str().unwrap(),
            "--endpoint",
            any,
            "--name",
            &twin,
            "--data",
            other,
        ],
        &["Broken.NodeSet2.xml", "3"],
    );
    // The registry is not affected by any of this.
    let path = format!("{}/Available", plant.machine.name);
    assert_eq!(sandbox.rows(&["read", &address, &path])[0]["value"], true);
}

#[test]
fn a_reader_that_goes_away_ends_a_watch_in_silence() {
    let plant = Plant::start();
    let mut shell = std::process::Command::new("sh");
    let command = format!(
        "'{}' watch {} i=2258 --interval 1ms | head -n 3",
        takt_tests::binary::takt().display(),
        plant.registry.endpoint
    );
    plant.sandbox.confine(&mut shell).args(["-c", &command]);
    let finished = Process::spawn("sh", &mut shell).finish(crate::command_line::PATIENCE);
    assert_eq!(finished.stdout.lines().count(), 3);
    assert_eq!(finished.stderr, "");
}

/// The libraries below do not tell why they cannot open a file.
#[test]
fn too_few_file_descriptors_are_named() {
    let sandbox = Sandbox::new();
    let name = sandbox.application("Few");
    let script = "ulimit -n 64; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script]).arg(takt_tests::binary::takt());
    command.args([
        "registry",
        "--name",
        &name,
        "--endpoint",
        "opc.tcp://127.0.0.1:0",
    ]);
    let confined = sandbox.confine(&mut command);
    let error = takt_tests::process::run("the registry", confined, PATIENCE).expect_failure();
    let words: Vec<&str> = error.split_whitespace().collect();
    let error = words.join(" ");
    assert!(error.contains("may open 64 files"), "{error}");
    assert!(error.contains("ulimit -n 1024"), "{error}");
}

//! Reverse connect between two processes: the server connects to the client. The advertised host has no address, so no
//! client can connect to the server.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use takt_tests::{Process, Registry, Sandbox};

/// EndpointUrl of the server. The host name is reserved for names without an address (RFC 2606).
const URL: &str = "opc.tcp://plc.invalid:4840";

const PATIENCE: Duration = Duration::from_secs(60);

fn registry(sandbox: &Sandbox, listening: &str, more: &[&str]) -> Registry {
    let client = format!("opc.tcp://{listening}");
    let reverse = [
        "--reverse-connect",
        &client,
        "--advertise",
        "plc.invalid:4840",
    ];
    Registry::start(sandbox, &[&reverse[..], more].concat())
}

fn uri(registry: &Registry) -> String {
    takt_app::model::registry_uri(&registry.name)
}

#[test]
fn a_client_waits_for_the_server_with_and_without_security() {
    let sandbox = Sandbox::new();
    let certificates = sandbox.data_directory().join("pki");
    let shared = ["--certificates", certificates.to_str().unwrap()];
    let listening = format!("127.0.0.1:{}", takt_ports::reserve());
    let registry = registry(&sandbox, &listening, &shared);
    let uri = uri(&registry);
    let browse = ["browse", URL, "--listen", &listening, "--server-uri", &uri];
    let none = sandbox.run(&[&browse[..], &["--security", "none"]].concat());
    assert!(none.expect_success().contains("Server"));

    // GetEndpoints takes the first connection, the SecureChannel the next one.
    let secure = ["--security", "Basic256Sha256,encrypt", "--any-host"];
    let secured = sandbox.run(&[&browse[..], &secure, &shared].concat());
    assert!(secured.expect_success().contains("Server"));

    // Without --listen there is no way to the server.
    let direct = ["browse", URL, "--security", "none", "--timeout", "2s"];
    let direct = sandbox.run(&direct);
    assert!(direct.expect_failure().contains("plc.invalid"));
}

#[test]
fn another_server_is_refused_and_named() {
    let sandbox = Sandbox::new();
    let listening = format!("127.0.0.1:{}", takt_ports::reserve());
    let registry = registry(&sandbox, &listening, &["--no-certificate"]);
    let browse = [
        "browse",
        URL,
        "--listen",
        &listening,
        "--listen-for",
        "12s",
        "--timeout",
        "2s",
    ];
    let other = [
        &browse[..],
        &["--server-uri", "urn:another", "--security", "none"],
    ]
    .concat();
    let failure = sandbox.run(&other).expect_failure();
    assert!(failure.contains(&uri(&registry)), "{failure}");
}

#[test]
fn both_sides_return_after_a_restart() {
    let sandbox = Sandbox::new();
    let listening = format!("127.0.0.1:{}", takt_ports::reserve());
    let first = registry(&sandbox, &listening, &["--no-certificate"]);
    let watch = [
        "watch",
        URL,
        "i=2258",
        "--listen",
        &listening,
        "--security",
        "none",
    ];
    let start = || Process::spawn("takt watch", &mut sandbox.takt(&watch));
    let value = |watch: &mut Process| {
        watch.wait_for("a value", PATIENCE, |line| !line.trim().is_empty());
    };
    let mut client = start();
    value(&mut client);
    client.kill();
    drop(client);
    let mut client = start();
    value(&mut client);

    drop(first);
    let _second = registry(&sandbox, &listening, &["--no-certificate"]);
    // Lines that were printed before the restart are not counted.
    while client.try_line().is_some() {}
    value(&mut client);
    value(&mut client);
}

#[test]
fn a_thousand_silent_strangers_do_not_keep_the_server_out() {
    let sandbox = Sandbox::new();
    let listening = format!("127.0.0.1:{}", takt_ports::reserve());
    let browse = [
        "browse",
        URL,
        "--listen",
        &listening,
        "--security",
        "none",
        "--listen-for",
        "60s",
    ];
    let client = Process::spawn("takt browse", &mut sandbox.takt(&browse));
    let begin = Instant::now();
    let mut strangers = Vec::new();
    while strangers.len() < 1000 {
        match TcpStream::connect(&listening) {
            Ok(stranger) => strangers.push(stranger),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
        assert!(begin.elapsed() < PATIENCE);
    }
    let _registry = registry(&sandbox, &listening, &["--no-certificate"]);
    assert!(client.finish(PATIENCE).expect_success().contains("Server"));
    drop(strangers);
}

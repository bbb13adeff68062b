//! Secured channels with foreign software, each SecurityPolicy and mode, anonymously and with a user name: clients of
//! node-opcua, Milo, gopcua and async-opcua at a registry.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::time::{Duration, Instant};

use serde_json::json;
use takt_tests::interop::{Checker, Foreign, POLICIES, add_user, client_passes_secured_checks};
use takt_tests::{PeerClient, PeerServer, Provider, Registry, Sandbox};

/// The Provider of the checks.
const PROVIDER: &str = env!("CARGO_BIN_EXE_takt-interop-provider");

/// Time limit of renewals and changes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn milo_is_a_client_on_secured_channels() {
    client_passes_secured_checks(Checker::Milo, PROVIDER);
}

#[test]
fn gopcua_is_a_client_on_secured_channels() {
    client_passes_secured_checks(Checker::Gopcua, PROVIDER);
}

#[test]
fn async_opcua_is_a_client_on_secured_channels() {
    client_passes_secured_checks(Checker::AsyncOpcua, PROVIDER);
}

#[test]
fn node_opcua_is_a_client_on_secured_channels() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let provider = Provider::start(&sandbox, &registry, "machine");
    let foreign = Foreign::new(&sandbox, "node-opcua");
    add_user(&sandbox);
    let connect = |policy, mode, with_user| {
        PeerClient::connect_secured(
            &registry.endpoint,
            &foreign.security(policy, mode, with_user),
        )
    };
    let refused = connect(POLICIES[0], "Sign", false).unwrap_err();
    assert!(!refused.is_empty());
    foreign.is_trusted_now(&sandbox, &sandbox.data_directory().join("pki"));
    for policy in POLICIES {
        for mode in ["Sign", "SignAndEncrypt"] {
            for with_user in [false, true] {
                let what = format!("{policy}, {mode}, user: {with_user}");
                let session = connect(policy, mode, with_user);
                let mut session = session.unwrap_or_else(|error| panic!("{what}: {error}"));
                works(&mut session, &provider.name, &what);
            }
        }
    }
    let mut wrong = foreign.security(POLICIES[0], "SignAndEncrypt", true);
    wrong["password"] = "nail".into();
    let refused = PeerClient::connect_secured(&registry.endpoint, &wrong).unwrap_err();
    assert!(refused.contains("BadUserAccessDenied"), "{refused}");
}

/// The command line trusts the certificate of the server as the error says, and uses each policy and mode.
#[test]
fn node_opcua_is_a_server_on_secured_channels() {
    let sandbox = Sandbox::new();
    let folder = sandbox.data_directory().join("server");
    std::fs::create_dir(&folder).unwrap();
    let server = PeerServer::start_with_policies(&folder);
    let node = server.node("UInt32");
    let run = |arguments: &[&str]| sandbox.run(&[arguments, &["--any-host"]].concat());
    let endpoint = server.endpoint.as_str();
    let refused = run(&["read", endpoint, &node]).expect_failure();
    let after = refused.split("takt trust add ").nth(1);
    let thumbprint: String = after
        .unwrap_or_else(|| panic!("{refused}"))
        .chars()
        .take_while(char::is_ascii_hexdigit)
        .collect();
    let _ = sandbox.run(&["trust", "add", &thumbprint]).expect_success();
    let password = folder.join("password");
    std::fs::write(&password, "hammer\n").unwrap();
    let as_user = [
        "--user",
        "anna",
        "--password-file",
        password.to_str().unwrap(),
    ];
    let (method, string) = (server.node("Multiply"), server.node("String"));
    for policy in POLICIES {
        for mode in ["sign", "encrypt"] {
            for user in [&as_user[..], &[]] {
                let choice = format!("{policy},{mode}");
                let with = |arguments: &[&str]| {
                    let all = [arguments, &["--security", &choice], user].concat();
                    run(&all).expect_success()
                };
                assert!(with(&["read", endpoint, &node]).contains("42"), "{choice}");
                with(&["write", endpoint, &string, &choice]);
                let text = with(&["read", endpoint, &string]);
                assert!(text.contains(&choice), "{text}");
                let product = with(&["call", endpoint, &method, "6", "7"]);
                assert!(product.contains("42"), "{product}");
                let seen = with(&["watch", endpoint, &node, "--for", "1s"]);
                assert!(seen.contains("42"), "{seen}");
            }
        }
    }
    std::fs::write(&password, "nail\n").unwrap();
    let refused = run(&[&["read", endpoint, &node][..], &as_user].concat()).expect_failure();
    assert!(refused.contains("BadUserAccessDenied"), "{refused}");
}

/// Reads, writes, calls and subscribes, and reads and gets changes while the channel is renewed twice.
fn works(session: &mut PeerClient, provider: &str, what: &str) {
    let started = Instant::now();
    let mut found = session.try_find(&[provider, "Spindle", "SpeedSetpoint"]);
    while found.is_err() && started.elapsed() < PATIENCE {
        found = session.try_find(&[provider, "Spindle", "SpeedSetpoint"]);
    }
    let setpoint = found.unwrap_or_else(|error| panic!("{what}: {error}"));
    let object = session.find(&[provider]);
    let stop = session.find(&[provider, "Stop"]);
    let called = session.expect(json!({"op": "call", "object": object, "method": stop}));
    assert!(called["status"].is_string(), "{what}: {called}");
    let nodes =
        json!({"op": "subscribe", "nodes": [setpoint, "i=2258"], "interval": 50, "queue": 10});
    assert_eq!(session.expect(nodes), json!(["Good", "Good"]), "{what}");
    let mut value = 1000.0;
    let mut changes = 0;
    while session.expect(json!({"op": "renewed"})).as_u64() < Some(2) || changes < 5 {
        assert!(started.elapsed() < PATIENCE, "{what}: {changes} changes");
        value += 1.0;
        assert_eq!(
            session.write(&setpoint, "Double", &json!(value)),
            "Good",
            "{what}"
        );
        assert_eq!(
            session.read(&setpoint)["value"].as_f64(),
            Some(value),
            "{what}"
        );
        let seen = session.expect(json!({"op": "changes", "timeout": 1}));
        let of_setpoint = |change: &&serde_json::Value| change["node"] == setpoint.as_str();
        changes += seen
            .as_array()
            .into_iter()
            .flatten()
            .filter(of_setpoint)
            .count();
    }
}

//! Secured channels with asyncua: trust and distrust on both sides, renewed certificates, and keys of SecurityGroups.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use takt_tests::binary::repository;
use takt_tests::interop::POLICIES;
use takt_tests::{Peer, PeerServer, Registry, Sandbox, process};

/// Time limit of one run of a foreign client.
const PATIENCE: Duration = Duration::from_secs(120);

fn client(arguments: &[&str]) -> Value {
    let mut command = Command::new(repository().join(".cache/venv/bin/python"));
    command
        .arg(repository().join("peers/asyncua/secured_client.py"))
        .args(arguments);
    let said = process::run("asyncua", &mut command, PATIENCE).expect_success();
    let line = said.lines().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap()).unwrap()
}

/// Creates certificate and key of a foreign application.
fn certificate(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.data_directory().join("peer");
    std::fs::create_dir(&folder).unwrap();
    client(&["--certificate", text(&folder)]);
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A registry on loopback, its folder of certificates, and the file of its certificate.
fn registry(sandbox: &Sandbox) -> (Registry, String, String) {
    let registry = Registry::start(sandbox, &[]);
    let folder = sandbox.data_directory().join("pki");
    let certificate = folder.join(format!("own/certs/{}.der", registry.name));
    (
        registry,
        text(&folder).to_owned(),
        text(&certificate).to_owned(),
    )
}

#[test]
fn a_foreign_client_works_while_it_is_trusted() {
    let sandbox = Sandbox::new();
    let peer = certificate(&sandbox);
    let (registry, folder, certificate) = registry(&sandbox);
    let endpoint = &*registry.endpoint;
    let connect = |policy, mode| client(&[endpoint, policy, mode, text(&peer), &certificate]);

    let refused = connect("Basic256Sha256", "SignAndEncrypt");
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("BadSecurityChecksFailed"), "{error}");
    let rejected = sandbox.rows(&["trust", "list", "--certificates", &folder]);
    let rejected = rejected
        .iter()
        .find(|row| row["folder"] == "rejected")
        .unwrap();
    assert_eq!(rejected["applicationUri"], "urn:takt:peer:asyncua");
    let thumbprint = rejected["thumbprint"].as_str().unwrap();
    let trust = ["trust", "add", thumbprint, "--certificates", &folder];
    let _ = sandbox.run(&trust).expect_success();

    let seen = connect("Basic256Sha256", "SignAndEncrypt");
    assert!(
        seen["reads"].as_u64().is_some_and(|reads| reads > 5),
        "{seen}"
    );
    assert_eq!(seen["namespaces"][0], "http://opcfoundation.org/UA/");
    let offered = seen["offered"].as_array().unwrap();
    assert_eq!(offered.len(), 9, "{offered:?}");
    for policy in POLICIES {
        for mode in ["Sign", "SignAndEncrypt"] {
            let offer = offered
                .iter()
                .find(|one| one[1] == policy && one[2] == mode);
            assert!(offer.is_some(), "{policy}, {mode}: {offered:?}");
        }
    }
    // The clients on the loopback interface that know no security still work.
    let seen = client(&[endpoint, "None", "None_", text(&peer), &certificate]);
    assert!(seen["reads"].as_u64().is_some(), "{seen}");

    let reject = ["trust", "reject", thumbprint, "--certificates", &folder];
    let _ = sandbox.run(&reject).expect_success();
    let refused = connect("Basic256Sha256", "Sign");
    assert!(refused["error"].is_string(), "{refused}");
}

#[test]
fn the_command_line_checks_the_certificate_of_a_foreign_server() {
    let sandbox = Sandbox::new();
    let peer = certificate(&sandbox);
    let file = peer.join("certificate.der");
    let security = json!({
        "application": "urn:takt:peer:asyncua", "certificate": text(&file), "key": text(&peer.join("key.pem")),
        "policies": ["Basic256Sha256"],
    });
    let server = PeerServer::start_secured(Peer::Asyncua, &security);
    let node = server.node("UInt32");
    let read = |more: &[&str]| {
        let read = ["read", &server.endpoint, &node];
        sandbox.run(&[&read, more].concat())
    };
    // The certificate of asyncua names the host, but not 127.0.0.1.
    let refused = read(&[]).expect_failure();
    assert!(refused.contains("takt trust add"), "{refused}");
    let _ = sandbox.run(&["trust", "add", text(&file)]).expect_success();
    let refused = read(&[]).expect_failure();
    assert!(refused.contains("is for another host"), "{refused}");
    assert!(read(&["--any-host"]).expect_success().contains("42"));
    let none = read(&["--security", "none"]).expect_failure();
    assert!(none.contains("secure endpoints only"), "{none}");
}

#[test]
fn a_renewed_certificate_is_used_without_a_restart() {
    let sandbox = Sandbox::new();
    let peer = certificate(&sandbox);
    let (registry, folder, certificate) = registry(&sandbox);
    let file = peer.join("certificate.der");
    let in_folder = ["--certificates", folder.as_str()];
    let run = |arguments: &[&str]| {
        let all = [arguments, &in_folder].concat();
        sandbox.run(&all).expect_success()
    };
    run(&["trust", "add", text(&file)]);
    let connect = || {
        let policy = ["Aes256Sha256RsaPss", "SignAndEncrypt"];
        let [policy, mode] = policy;
        client(&[&registry.endpoint, policy, mode, text(&peer), &certificate])
    };
    assert!(connect()["reads"].is_u64());
    let before = std::fs::read(&certificate).unwrap();
    run(&["trust", "renew", &registry.name]);
    assert_ne!(std::fs::read(&certificate).unwrap(), before);
    assert!(connect()["reads"].is_u64());
}

#[test]
fn a_foreign_client_gets_the_keys_of_groups_that_list_it() {
    let sandbox = Sandbox::new();
    let peer = certificate(&sandbox);
    let groups = [
        "--security-group",
        "Plant=PubSub-Aes128-CTR:urn:takt:peer:asyncua",
        "--security-group",
        "Line:urn:takt:peer:another",
    ];
    let registry = Registry::start(&sandbox, &groups);
    let folder = sandbox.data_directory().join("pki");
    let server = folder.join(format!("own/certs/{}.der", registry.name));
    let file = peer.join("certificate.der");
    let trust = ["trust", "add", text(&file), "--certificates", text(&folder)];
    let _ = sandbox.run(&trust).expect_success();
    let keys = |mode, group| {
        let policy = "Aes256Sha256RsaPss";
        let channel = [
            &*registry.endpoint,
            policy,
            mode,
            text(&peer),
            text(&server),
        ];
        client(&[&channel[..], &["--keys", group]].concat())
    };
    let given = keys("SignAndEncrypt", "Plant");
    assert_eq!(given["policy"], "PubSub-Aes128-CTR", "{given}");
    assert_eq!(given["keyLifetime"], 3_600_000.0, "{given}");
    // Signing key, encrypting key and key nonce, in hexadecimal digits.
    let given = given["keys"].as_array().unwrap();
    assert_eq!(given.len(), 3);
    let length = 2 * (32 + 16 + 4);
    assert!(
        given
            .iter()
            .all(|key| key.as_str().unwrap().len() == length)
    );
    for (mode, group, status) in [
        ("SignAndEncrypt", "Line", "BadUserAccessDenied"),
        // It does not learn that this one does not exist.
        ("SignAndEncrypt", "Nobody", "BadUserAccessDenied"),
        ("Sign", "Plant", "BadSecurityModeInsufficient"),
    ] {
        assert_eq!(keys(mode, group)["status"], status, "{mode} {group}");
    }
}

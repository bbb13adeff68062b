//! Secured channels with foreign software: asyncua as client and as server, with each SecurityPolicy and mode, with renewed tokens;
//! trust and distrust on both sides.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use takt_tests::binary::repository;
use takt_tests::{PeerServer, Registry, Sandbox, process};

/// Time limit of one run of a foreign client.
const PATIENCE: Duration = Duration::from_secs(120);

/// SecurityPolicies, as asyncua and as Takt name them.
const POLICIES: [(&str, &str); 3] = [
    ("Basic256Sha256", "Basic256Sha256"),
    ("Aes128Sha256RsaOaep", "Aes128_Sha256_RsaOaep"),
    ("Aes256Sha256RsaPss", "Aes256_Sha256_RsaPss"),
];

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
fn a_foreign_client_uses_each_policy_once_it_is_trusted() {
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
    assert_eq!(rejected["application_uri"], "urn:takt:peer:asyncua");
    let thumbprint = rejected["thumbprint"].as_str().unwrap();
    let trust = ["trust", "add", thumbprint, "--certificates", &folder];
    let _ = sandbox.run(&trust).expect_success();

    for (policy, name) in POLICIES {
        for mode in ["Sign", "SignAndEncrypt"] {
            let seen = connect(policy, mode);
            assert!(
                seen["reads"].as_u64().is_some_and(|reads| reads > 5),
                "{policy} {mode}: {seen}"
            );
            assert_eq!(seen["namespaces"][0], "http://opcfoundation.org/UA/");
            let offered = seen["offered"].as_array().unwrap();
            assert_eq!(offered.len(), 7, "{offered:?}");
            let offer = offered.iter().find(|one| one[1] == name && one[2] == mode);
            assert!(offer.is_some(), "{offered:?}");
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
fn the_command_line_uses_each_policy_of_a_foreign_server() {
    let sandbox = Sandbox::new();
    let peer = certificate(&sandbox);
    let server = PeerServer::start_secured(&peer);
    let node = server.node("UInt32");
    let read = |more: &[&str]| {
        let read = ["read", &server.endpoint, &node];
        sandbox.run(&[&read, more].concat())
    };
    // The certificate of asyncua names the host, but not 127.0.0.1.
    let file = peer.join("certificate.der");
    let refused = read(&[]).expect_failure();
    assert!(refused.contains("takt trust add"), "{refused}");
    let _ = sandbox.run(&["trust", "add", text(&file)]).expect_success();
    let refused = read(&[]).expect_failure();
    assert!(refused.contains("is for another host"), "{refused}");
    assert!(read(&["--any-host"]).expect_success().contains("42"));
    for (_, policy) in POLICIES {
        for mode in ["sign", "encrypt"] {
            let choice = format!("{policy},{mode}");
            let said = read(&["--any-host", "--security", &choice]).expect_success();
            assert!(said.contains("42"), "{choice}: {said}");
        }
    }
    // A user, whose password is encrypted.
    let password = sandbox.data_directory().join("password");
    std::fs::write(&password, "hammer\n").unwrap();
    let as_user = [
        "--any-host",
        "--user",
        "anna",
        "--password-file",
        text(&password),
    ];
    assert!(read(&as_user).expect_success().contains("42"));
    std::fs::write(&password, "nail\n").unwrap();
    let refused = read(&as_user).expect_failure();
    assert!(refused.contains("BadUserAccessDenied"), "{refused}");
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

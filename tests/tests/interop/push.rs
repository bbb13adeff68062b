//! Certificates of a registry that foreign clients manage (OPC 10000-12, 7.10): asyncua and node-opcua replace its certificate by one of
//! a CA, change its trust list, and connect again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use takt_crypto::Certificate;
use takt_tests::authority::Authority;
use takt_tests::binary::repository;
use takt_tests::interop::{Foreign, POLICIES, add_user_with};
use takt_tests::{Registry, Sandbox, process};

/// Time limit of one run of a foreign client.
const PATIENCE: Duration = Duration::from_secs(120);

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a program that prints one JSON object.
fn run(name: &str, command: &mut Command) -> Value {
    let said = process::run(name, command, PATIENCE).expect_success();
    let line = said.lines().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap()).unwrap()
}

/// A registry with a user, and a CA.
struct Plant {
    sandbox: Sandbox,
    registry: Registry,
    authority: Authority,
    /// Name and password.
    user: (&'static str, &'static str),
    certificates: PathBuf,
}

impl Plant {
    fn new(role: &str) -> Self {
        let sandbox = Sandbox::new();
        let registry = Registry::start(&sandbox, &[]);
        let user = add_user_with(&sandbox, role);
        let folder = sandbox.data_directory().join("ca");
        std::fs::create_dir(&folder).unwrap();
        Self {
            authority: Authority::new(&folder),
            user,
            certificates: sandbox.data_directory().join("pki"),
            sandbox,
            registry,
        }
    }

    fn trust(&self, certificate: &Path) {
        let folder = text(&self.certificates);
        let add = ["trust", "add", text(certificate), "--certificates", folder];
        let _ = self.sandbox.run(&add).expect_success();
    }

    /// Returns the own certificate as the folders have it, and the number of trusted ones.
    fn certificates(&self) -> (Vec<u8>, usize) {
        let own = format!("own/certs/{}.der", self.registry.name);
        let trusted = std::fs::read_dir(self.certificates.join("trusted/certs"));
        (
            std::fs::read(self.certificates.join(own)).unwrap(),
            trusted.unwrap().count(),
        )
    }
}

fn asyncua(plant: &Plant) -> Value {
    let python = || Command::new(repository().join(".cache/venv/bin/python"));
    let folder = plant.sandbox.data_directory().join("peer");
    std::fs::create_dir(&folder).unwrap();
    let mut create = python();
    create
        .arg(repository().join("peers/asyncua/secured_client.py"))
        .args(["--certificate", text(&folder)]);
    let _ = run("asyncua", &mut create);
    plant.trust(&folder.join("certificate.der"));
    let own = format!("own/certs/{}.der", plant.registry.name);
    let mut push = python();
    push.arg(repository().join("peers/asyncua/push_client.py"))
        .args([&*plant.registry.endpoint, text(&folder)])
        .arg(plant.certificates.join(own))
        .args([plant.user.0, plant.user.1])
        .args([&plant.authority.certificate, &plant.authority.key])
        .arg(&plant.authority.revocations);
    run("asyncua", &mut push)
}

#[test]
fn asyncua_replaces_certificate_and_trust_list_in_one_transaction() {
    let plant = Plant::new("security-admin");
    let seen = asyncua(&plant);
    assert_eq!(seen["required"], json!([true, true]), "{seen}");
    assert_eq!(seen["trusted"], json!([1, 1, 2]), "{seen}");
    assert_eq!(seen["crls"], 1, "{seen}");
    assert_eq!(seen["subject"], "O=Plant,CN=pushed", "{seen}");
    assert_eq!(seen["namespaces"][0], "http://opcfoundation.org/UA/");
    let (own, trusted) = plant.certificates();
    let authority = std::fs::read(&plant.authority.certificate).unwrap();
    assert!(own.ends_with(&authority), "the chain is kept");
    assert_eq!(trusted, 2);
}

#[test]
fn asyncua_is_refused_without_the_role() {
    let plant = Plant::new("operator,engineer");
    let before = plant.certificates();
    let seen = asyncua(&plant);
    let error = seen["error"].as_str().unwrap();
    assert!(error.contains("BadUserAccessDenied"), "{seen}");
    // The certificate of the client was added.
    assert_eq!(plant.certificates().0, before.0);
}

#[test]
fn node_opcua_replaces_certificate_and_trust_list() {
    let plant = Plant::new("security-admin");
    let foreign = Foreign::new(&plant.sandbox, "node-opcua", POLICIES[0]);
    plant.trust(&foreign.certificate());
    let folder = plant.authority.certificate.parent().unwrap();
    let other = Foreign::new(&plant.sandbox, "other", POLICIES[0]);
    let other = Certificate::from_file(&other.certificate()).unwrap();
    std::fs::write(folder.join("other.der"), other.der()).unwrap();
    let before = plant.certificates();
    let mut security = foreign.described();
    for (field, value) in [
        ("policy", POLICIES[0]),
        ("mode", "SignAndEncrypt"),
        ("user", plant.user.0),
        ("password", plant.user.1),
    ] {
        security[field] = value.into();
    }
    let mut push = Command::new("node");
    push.arg(repository().join("peers/node/push.js")).args([
        &*plant.registry.endpoint,
        &security.to_string(),
        text(folder),
    ]);
    let seen = run("node-opcua", &mut push);
    assert_eq!(seen["formats"], json!(["PEM"]), "{seen}");
    assert_eq!(seen["required"], true, "{seen}");
    assert_eq!(seen["counts"], json!([1, 2, 1]), "{seen}");
    assert_eq!(seen["isNew"], true, "{seen}");
    let after = plant.certificates();
    assert_ne!(after.0, before.0);
    assert_eq!(after.1, before.1);
}

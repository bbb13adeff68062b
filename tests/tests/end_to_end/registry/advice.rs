//! Refusals that tell their reason, and a command that corrects it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use takt_crypto::{Certificate, KeyKind, NewCertificate, OwnCertificate};
use takt_tests::authority::{Authority, write_expired};
use takt_tests::{Registry, Sandbox};

use crate::registry::trust::TwoUsers;

/// Returns a text without the frame and the line breaks of an error on a terminal.
fn words(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| *word != "│");
    words.collect::<Vec<_>>().join(" ")
}

/// The registry has secured endpoints only, and lists its endpoint in shared memory, which has no security.
#[test]
fn a_client_on_the_same_host_takes_a_secured_endpoint_where_there_is_no_other() {
    let sandbox = Sandbox::new();
    let registry = Registry::start_at(&sandbox, "opc.tcp://0.0.0.0:0", &[]);
    let (_, port) = registry.endpoint.rsplit_once(':').unwrap();
    let loopback = format!("opc.tcp://127.0.0.1:{port}");
    // Applications that share a folder of certificates trust each other.
    let folder = sandbox.data_directory().join("pki");
    let read = [
        "read",
        &loopback,
        "i=2259",
        "--certificates",
        folder.to_str().unwrap(),
    ];
    let state = sandbox.run(&read).expect_success();
    assert!(state.starts_with("Running (0)"), "{state}");
    let none = [&read[..], &["--security", "none"]].concat();
    let refused = words(&sandbox.run(&none).expect_failure());
    assert!(
        refused.contains("offers secure endpoints only: Aes128"),
        "{refused}"
    );
}

#[test]
fn the_command_that_trusts_a_server_names_the_folder_that_was_given() {
    let sandbox = Sandbox::new();
    let registry = Registry::start_at(&sandbox, "opc.tcp://127.0.0.1:0", &[]);
    let folder = sandbox.data_directory().join("desk");
    let folder = ["--certificates", folder.to_str().unwrap()];
    let read = [
        "read",
        &registry.endpoint,
        "i=2259",
        "--security",
        "encrypt",
    ];
    let read = || sandbox.run(&[&read[..], &folder].concat());
    let refused = words(&read().expect_failure());
    // The log names the folder in words, the advice as an option.
    let command = refused
        .split("`takt ")
        .find(|part| part.starts_with("trust add") && part.contains("--certificates"));
    let command = command.and_then(|part| part.split('`').next()).unwrap();
    let words: Vec<&str> = command
        .split(' ')
        .map(|word| word.trim_matches('\''))
        .collect();
    let _ = sandbox.run(&words).expect_success();
    // The client is unknown to the server; the server is known to the client now.
    let refused = read().expect_failure();
    assert!(refused.contains("refused the secure channel"), "{refused}");
}

#[test]
fn a_policy_that_the_server_lacks_is_answered_with_those_that_it_has() {
    let users = TwoUsers::new(&[]);
    let endpoint = &users.registry.endpoint;
    let read = ["read", endpoint, "i=2258", "--security", "ECC_nistP384"];
    let refused = words(&users.elsewhere.run(&read).expect_failure());
    for expected in ["--security Aes256_Sha256_RsaPss,encrypt,", "--curves"] {
        assert!(refused.contains(expected), "{refused}");
    }
    for wrong in ["--security none connects", "transport"] {
        assert!(!refused.contains(wrong), "{refused}");
    }
}

/// Trust would not help a client whose certificate has expired.
#[test]
fn a_client_whose_certificate_has_expired_is_told_so() {
    let users = TwoUsers::new(&[]);
    let listed = users.elsewhere.rows(&["trust", "list"]);
    let own = listed.iter().find(|row| row["folder"] == "own").unwrap();
    let own = own["file"].as_str().unwrap();
    let certificate = Certificate::from_der(&fs::read(own).unwrap()).unwrap();
    let expired = NewCertificate {
        application_name: certificate.common_name,
        application_uri: certificate.application_uri.unwrap(),
        host_names: certificate.host_names,
        addresses: certificate.addresses,
        validity: Duration::ZERO,
        key_bits: 2048,
    };
    let key = own
        .replace("own/certs", "own/private")
        .replace(".der", ".pem");
    assert!(Path::new(&key).exists(), "{key}");
    write_expired(&expired, Path::new(own), Path::new(&key));
    let refused = words(&users.read().expect_failure());
    let expected = "has expired or is not valid yet. `takt trust list`";
    assert!(refused.contains(expected), "{refused}");
    assert!(
        refused.contains("the own certificate expired "),
        "{refused}"
    );
    assert!(refused.contains("`takt trust renew takt`"), "{refused}");
    assert!(!refused.contains("takt trust add"), "{refused}");
    let _ = users
        .elsewhere
        .run(&["trust", "renew", "takt"])
        .expect_success();
    let own = users.elsewhere.rows(&["trust", "list"]);
    let own = own.iter().find(|row| row["folder"] == "own").unwrap();
    users.server_runs(&["add", own["file"].as_str().unwrap()]);
    let _ = users.read().expect_success();
}

#[test]
fn a_renewed_certificate_keeps_the_names_of_the_host() {
    let sandbox = Sandbox::new();
    let registry = Registry::start_at(
        &sandbox,
        "opc.tcp://127.0.0.1:0",
        &["--advertise", "press.plant.example"],
    );
    let folder = sandbox.data_directory().join("pki");
    let folder = ["--certificates", folder.to_str().unwrap()];
    let renew = |more: &[&str]| {
        let renew = [&["trust", "renew", &registry.name][..], more, &folder].concat();
        let _ = sandbox.run(&renew).expect_success();
        let rows = sandbox.rows(&[&["trust", "list"][..], &folder].concat());
        let own = rows.iter().find(|row| row["folder"] == "own").unwrap();
        let show = ["trust", "show", own["thumbprint"].as_str().unwrap()];
        sandbox.run(&[&show[..], &folder].concat()).expect_success()
    };
    let shown = renew(&["--host", "10.77.0.1"]);
    assert!(shown.contains("press.plant.example"), "{shown}");
    let shown = renew(&[]);
    for name in ["press.plant.example", "10.77.0.1"] {
        assert!(shown.contains(name), "{shown}");
    }
    assert!(!shown.contains("127.0.0.0"), "{shown}");
}

#[test]
fn revocation_lists_are_added_in_der_and_pem_and_listed() {
    let sandbox = Sandbox::new();
    let folder = sandbox.data_directory();
    let authority = Authority::new(&folder);
    for file in [&authority.revocations, &authority.revocations_pem] {
        let added = sandbox.run(&["trust", "add", file.to_str().unwrap()]);
        let added = added.expect_success();
        assert!(added.contains(".crl is in use"), "{added}");
        let shown = sandbox.run(&["trust", "show", file.to_str().unwrap()]);
        let shown = words(&shown.expect_success());
        for expected in [
            "issuer CN=Plant CA",
            "issued 20",
            "next list 20",
            "days)",
            "revoked 0",
        ] {
            assert!(shown.contains(expected), "{shown}");
        }
    }
    // Another issuer of the same name has signed it.
    let ca = authority.certificate.to_str().unwrap();
    let added = sandbox.run(&["trust", "add", ca]);
    assert!(
        !added.stderr.contains("until its revocation list"),
        "{}",
        added.stderr
    );
    let _ = added.expect_success();
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let forged = Authority::new(&other).revocations;
    let refused = sandbox.run(&["trust", "add", forged.to_str().unwrap()]);
    let refused = words(&refused.expect_failure());
    assert!(
        refused.contains("was not signed by its issuer"),
        "{refused}"
    );
    let reject = ["trust", "reject", ca];
    let _ = sandbox.run(&reject).expect_success();
    let rows = sandbox.rows(&["trust", "list"]);
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| row["folder"] == "trusted")
        .collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["revocationListOf"], "CN=Plant CA");
    let file = rows[0]["file"].as_str().unwrap();
    assert!(fs::exists(file).unwrap(), "{file}");
    let listed = sandbox.run(&["trust", "list"]).expect_success();
    assert!(listed.contains("CRL"), "{listed}");
    let list = authority.revocations.to_str().unwrap();
    let removed = sandbox.run(&["trust", "reject", list]).expect_success();
    assert!(removed.contains("is removed"), "{removed}");
    let again = sandbox.run(&["trust", "reject", list]);
    assert!(again.expect_failure().contains("no revocation list"));
    let _ = sandbox.run(&["trust", "add", ca]).expect_success();
    let added = sandbox.run(&["trust", "add", ca]);
    let warned = words(&added.stderr);
    assert!(warned.contains("`takt trust add FILE.crl`"), "{warned}");
    let damaged = folder.join("damaged.crl");
    fs::write(&damaged, "no list").unwrap();
    let refused = sandbox.run(&["trust", "add", damaged.to_str().unwrap()]);
    let refused = words(&refused.expect_failure());
    assert!(refused.contains("is not a revocation list"), "{refused}");
}

#[test]
fn commands_that_only_read_create_no_folders() {
    let sandbox = Sandbox::new();
    let missing = sandbox.data_directory().join("missing");
    let folder = missing.join("pki");
    let folder = ["--certificates", folder.to_str().unwrap()];
    let list = [&["trust", "list"][..], &folder].concat();
    let listed = sandbox.run(&list).expect_success();
    assert!(listed.contains("no certificates in"), "{listed}");
    let show = [&["trust", "show", "0123ABCD"][..], &folder].concat();
    let _ = sandbox.run(&show).expect_failure();
    assert!(!missing.exists());
}

/// Returns the files of a certificate and its key.
fn files(folder: &Sandbox, name: &str) -> [PathBuf; 2] {
    let folder = folder.data_directory();
    ["der", "pem"].map(|end| folder.join(format!("{name}.{end}")))
}

/// Writes certificate and key of an application to files.
fn write(folder: &Sandbox, name: &str, identity: &OwnCertificate) -> [String; 2] {
    let files = files(folder, name);
    fs::write(&files[0], identity.chain_der()).unwrap();
    fs::write(&files[1], identity.key().to_pem().unwrap().as_bytes()).unwrap();
    files.map(|file| file.to_str().unwrap().to_owned())
}

#[test]
fn certificates_that_no_peer_can_use_are_trusted_with_a_warning() {
    let sandbox = Sandbox::new();
    let new = NewCertificate {
        application_name: "Old".to_owned(),
        application_uri: "urn:old".to_owned(),
        host_names: vec!["localhost".to_owned()],
        addresses: Vec::new(),
        validity: Duration::from_secs(3600),
        key_bits: 2048,
    };
    let [good, good_key] = write(&sandbox, "good", &new.create(KeyKind::Rsa).unwrap());
    let added = sandbox.run(&["trust", "add", &good]);
    assert!(
        !added.stderr.contains("refused all the same"),
        "{}",
        added.stderr
    );
    let _ = added.expect_success();
    let [expired, expired_key] = files(&sandbox, "expired");
    write_expired(&new, &expired, &expired_key);
    let expired = expired.to_str().unwrap().to_owned();
    let added = sandbox.run(&["trust", "add", &expired]);
    let warned = words(&added.stderr);
    assert!(
        warned.contains("has expired or is not valid yet"),
        "{warned}"
    );
    let _ = added.expect_success();

    // A key of another certificate.
    let registry = Registry::start_at(&sandbox, "opc.tcp://127.0.0.1:0", &[]);
    let data = sandbox.data_directory();
    let (folder, users) = (data.join("pki"), data.join("users"));
    // The server accepts certificates if it knows one.
    let add = [
        "user",
        "--users",
        users.to_str().unwrap(),
        "add",
        "anna",
        "--certificate",
        &expired,
    ];
    let _ = sandbox.run(&add).expect_success();
    let user = |certificate: &str, key: &str| {
        let read = [
            "read",
            &registry.endpoint,
            "i=2258",
            "--security",
            "encrypt",
            "--certificates",
            folder.to_str().unwrap(),
        ];
        let user = ["--user-certificate", certificate, "--user-private-key", key];
        let read = sandbox.run(&[&read[..], &user].concat());
        words(&read.expect_failure())
    };
    let refused = user(&expired, &good_key);
    assert!(refused.contains("is not the private key of"), "{refused}");
    let refused = user(&good, &good_key);
    assert!(
        refused.contains("`takt user add NAME --certificate FILE`"),
        "{refused}"
    );
}

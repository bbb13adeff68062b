//! Refused channels and Sessions in the log of a registry, at its default level.

use std::io::Write;
use std::net::TcpStream;

use takt_crypto::{KeyKind, NewCertificate};
use takt_tests::{Registry, Sandbox};
use takt_ua::StatusCode;

use crate::registry::roles::{add_user, client_of};
use crate::registry::{PATIENCE, eventually};

/// Waits for a line of the log that has all these words.
pub(super) fn logs(registry: &Registry, words: &[&str]) {
    eventually(
        &format!("a line of the log with {words:?}"),
        PATIENCE,
        || {
            let report = registry.process.report();
            let mut lines = report.lines();
            lines.any(|line| words.iter().all(|word| line.contains(word)))
        },
    );
}

#[test]
fn a_refused_session_is_in_the_log_with_its_reason() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let _ = add_user(&sandbox, "anna", "operator");
    let uri = "urn:plant:desk";
    let mut stranger = client_of(&sandbox, &registry, "bert", uri, "encrypt");
    let refused = stranger.namespace_array().unwrap_err().status_code();
    assert_eq!(refused, StatusCode::BadUserAccessDenied);
    let request = ["WARN", "ActivateSession is refused", "BadUserAccessDenied"];
    let client = ["client=127.0.0.1:", "bert", "SecurityPolicy#", uri];
    logs(&registry, &[&request[..], &client].concat());
}

/// Prepends type and length to a chunk (OPC 10000-6, 7.1.2.2).
fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 8).unwrap().to_le_bytes();
    [kind, &length[..], body].concat()
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    [&length[..], bytes].concat()
}

fn text(text: &str) -> Vec<u8> {
    bytes(text.as_bytes())
}

#[test]
fn a_security_policy_that_is_not_offered_is_in_the_log() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let address = registry.endpoint.trim_start_matches("opc.tcp://");
    let mut stream = TcpStream::connect(address).unwrap();
    let sizes = [0_u32, 65_535, 65_535, 0, 0].map(u32::to_le_bytes).concat();
    let hello = [sizes, text(&registry.endpoint)].concat();
    stream.write_all(&chunk(b"HELF", &hello)).unwrap();
    let policy = "http://opcfoundation.org/UA/SecurityPolicy#Basic128Rsa15";
    // A certificate, and no thumbprint.
    let uri = "urn:plant:panel";
    let certificate = NewCertificate {
        application_name: "panel".to_owned(),
        application_uri: uri.to_owned(),
        host_names: Vec::new(),
        addresses: Vec::new(),
        validity: PATIENCE,
        key_bits: 2048,
    };
    let certificate = certificate.create(KeyKind::Rsa).unwrap();
    let certificate = bytes(certificate.certificate().der());
    let header = [
        &[0; 4],
        &text(policy)[..],
        &certificate,
        &[255; 4],
        &[1; 100],
    ]
    .concat();
    stream.write_all(&chunk(b"OPNF", &header)).unwrap();
    logs(
        &registry,
        &[
            "WARN",
            "client=127.0.0.1:",
            "Basic128Rsa15",
            "not offered",
            uri,
        ],
    );
}

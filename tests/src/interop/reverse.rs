//! Reverse connect with foreign software: its client waits for the registry, the command line waits for its server.

use serde_json::{Value, json};

use super::{Foreign, Role, passed};
use crate::checker::Checker;
use crate::peer::{Peer, PeerClient, PeerServer};
use crate::sandbox::{Registry, Sandbox};

const POLICY: &str = "Basic256Sha256";
const SERVICE: &str = "reverse connect";

/// Node with the ApplicationUri of the server.
const SERVER_ARRAY: &str = "i=2254";

/// Lets the applications of the sandbox trust a foreign application.
fn trusted(sandbox: &Sandbox, peer: Peer) -> Value {
    let foreign = Foreign::new(sandbox, peer.name(), POLICY);
    let certificate = foreign.certificate();
    let folder = sandbox.data_directory().join("pki");
    let folder = ["--certificates", folder.to_str().expect("a path in UTF-8")];
    let certificate = certificate.to_str().expect("a path in UTF-8");
    let add = [&["trust", "add", certificate], &folder[..]].concat();
    let _ = sandbox.run(&add).expect_success();
    foreign.described()
}

fn registry(sandbox: &Sandbox, port: u16) -> Registry {
    let url = format!("opc.tcp://127.0.0.1:{port}");
    Registry::start(sandbox, &["--reverse-connect", &url])
}

fn uri(registry: &Registry) -> String {
    takt_app::model::registry_uri(&registry.name)
}

/// A foreign client waits for the registry: without security, and with it if `is_secured`.
///
/// # Panics
/// If it fails.
pub fn client_waits_for_registry(peer: Peer, is_secured: bool) {
    for with_security in [false, is_secured] {
        let sandbox = Sandbox::new();
        let port = takt_ports::reserve();
        let registry = registry(&sandbox, port);
        let security = with_security.then(|| {
            let certificate = format!("pki/own/certs/{}.der", registry.name);
            let mut security = trusted(&sandbox, peer);
            security["policy"] = json!(POLICY);
            security["mode"] = json!("SignAndEncrypt");
            security["serverCertificate"] = json!(sandbox.data_directory().join(certificate));
            security
        });
        let client = PeerClient::listen(peer, port, security.as_ref());
        let mut client = client.unwrap_or_else(|error| panic!("{peer:?} waits: {error}"));
        let servers = client.read(SERVER_ARRAY);
        assert_eq!(servers["value"], json!([uri(&registry)]), "{servers}");
    }
    passed(peer.name(), Role::Client, SERVICE);
}

/// A foreign client with checks waits for the registry, without security.
///
/// # Panics
/// If it fails.
pub fn checker_waits_for_registry(checker: Checker) {
    let sandbox = Sandbox::new();
    let port = takt_ports::reserve();
    let registry = registry(&sandbox, port);
    let request = json!({
        "check": "reverse", "endpoint": registry.endpoint, "namespace": "http://opcfoundation.org/UA/",
        "start": uri(&registry), "listen": format!("127.0.0.1:{port}"),
    });
    let answer = checker.answer(&request, super::checks::CHECK);
    assert_eq!(answer["ok"], true, "{answer}");
    passed(checker.name(), Role::Client, SERVICE);
}

/// The command line waits for a foreign server, without and with security.
///
/// # Panics
/// If it fails.
pub fn command_line_waits_for_server(peer: Peer) {
    let sandbox = Sandbox::new();
    let mut secured = trusted(&sandbox, peer);
    secured["policies"] = json!([POLICY]);
    let user = Foreign::new(&sandbox, "user", POLICY);
    secured["userCertificate"] = json!(user.certificate());
    let folder = sandbox.data_directory().join("pki");
    let folder = folder.to_str().expect("a path in UTF-8");
    for (security, choice) in [
        (None, "none".to_owned()),
        (Some(&secured), format!("{POLICY},encrypt")),
    ] {
        let port = takt_ports::reserve();
        let server = PeerServer::start_reversed(peer, port, security);
        let listening = format!("127.0.0.1:{port}");
        let node = server.node("UInt32");
        let read = ["read", &server.endpoint, &node, "--listen", &listening];
        let options = ["--security", &choice, "--certificates", folder];
        let value = sandbox.run(&[&read[..], &options].concat());
        let value = value.expect_success();
        assert!(value.contains("42"), "{choice}: {value}");
    }
    passed(peer.name(), Role::Server, SERVICE);
}

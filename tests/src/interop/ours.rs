//! Takt's command line with foreign servers.

use std::time::Duration;

use serde_json::{Value, json};

use super::{peer_variables, same};
use crate::peer::{Peer, PeerServer};
use crate::process::Process;
use crate::sandbox::Sandbox;

/// `takt browse`, `read`, `write`, `call` and `watch` work with a foreign server as with Takt's.
///
/// # Panics
/// If they fail.
pub fn command_line_against_server(peer: Peer) {
    let sandbox = Sandbox::new();
    let server = PeerServer::start(peer);
    browses(&sandbox, &server);
    reads(&sandbox, &server, peer);
    writes(&sandbox, &server, peer);
    calls(&sandbox, &server);
    watches(&sandbox, &server);
    says_what_is_wrong(&sandbox, &server);
}

/// Paths with a slash in a name, and a server that offers secure endpoints only (node-opcua).
///
/// # Panics
/// If the command line does not handle them.
pub fn command_line_against_special_servers() {
    let sandbox = Sandbox::new();
    let server = PeerServer::start(Peer::NodeOpcua);
    let rows = sandbox.rows(&["read", &server.endpoint, "Peer/Line&/1/Count"]);
    assert_eq!(rows[0]["value"], json!(7), "{rows:?}");
    let error = sandbox
        .run(&["read", &server.endpoint, "Peer/Line/1/Count"])
        .expect_failure();
    assert!(error.contains("&/"), "the advice names the escape: {error}");

    let secure = PeerServer::start_secure();
    for command in [
        &["browse", &secure.endpoint][..],
        &["read", &secure.endpoint, "i=2258"],
    ] {
        // The server is not trusted yet; the error names the command that trusts it.
        let error = sandbox.run(command).expect_failure();
        // Lines break anywhere.
        let words: Vec<&str> = error.split_whitespace().collect();
        assert!(words.join(" ").contains("takt trust add"), "{error}");
        let none = [command, &["--security", "none"]].concat();
        let error = sandbox.run(&none).expect_failure();
        assert!(error.contains("secure endpoints only"), "{error}");
    }
}

fn browses(sandbox: &Sandbox, server: &PeerServer) {
    let rows = sandbox.rows(&["browse", &server.endpoint, "Peer", "--depth", "1"]);
    let ids: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["nodeId"].as_str())
        .collect();
    for (name, ..) in peer_variables() {
        assert!(
            ids.contains(&server.node(name).as_str()),
            "{name} is not among {ids:?}"
        );
    }
    let tree = sandbox.run(&["browse", &server.endpoint]).expect_success();
    assert!(
        tree.contains("Peer") && tree.contains("Matrix"),
        "two levels below Objects:\n{tree}"
    );
    let references = sandbox.rows(&[
        "browse",
        &server.endpoint,
        &server.node("Peer"),
        "--references",
    ]);
    assert!(
        references
            .iter()
            .any(|row| row["nodeId"] == "i=85" && row["isForward"] == false),
        "{references:#?}"
    );
}

fn read(sandbox: &Sandbox, server: &PeerServer, name: &str) -> Value {
    sandbox
        .rows(&["read", &server.endpoint, &server.node(name)])
        .remove(0)
}

fn reads(sandbox: &Sandbox, server: &PeerServer, peer: Peer) {
    let variables = peer_variables();
    let nodes: Vec<String> = variables
        .iter()
        .map(|(name, ..)| server.node(name))
        .collect();
    let mut arguments = vec!["read", &server.endpoint];
    arguments.extend(nodes.iter().map(String::as_str));
    let rows = sandbox.rows(&arguments);
    assert_eq!(rows.len(), variables.len());
    for ((name, kind, expected), row) in variables.iter().zip(&rows) {
        assert_eq!(row["type"], *kind, "{name}: {row}");
        assert!(good(row), "{name}: {row}");
        assert!(same(&row["value"], expected), "{name}: {row}");
    }
    let by_path = sandbox.rows(&["read", &server.endpoint, "Peer/Double"]);
    assert!(same(&by_path[0]["value"], &json!(2.5)), "{by_path:?}");
    let text = sandbox
        .run(&["read", &server.endpoint, &server.node("String")])
        .expect_success();
    assert!(text.contains("Grüße"), "{text}");
    let class = sandbox.rows(&[
        "read",
        &server.endpoint,
        &server.node("Matrix"),
        "--attribute",
        "ValueRank",
    ]);
    assert_eq!(class[0]["value"], 2, "{peer:?}");
}

fn writes(sandbox: &Sandbox, server: &PeerServer, peer: Peer) {
    for (name, typed, expected) in [
        ("UInt32", "4294967295", json!(4_294_967_295_u32)),
        ("Double", "-0.125", json!(-0.125)),
        (
            "String",
            "größer als \"vorher\"",
            json!("größer als \"vorher\""),
        ),
        ("Boolean", "false", json!(false)),
        (
            "DateTime",
            "1999-12-31T23:59:59.999Z",
            json!("1999-12-31T23:59:59.999Z"),
        ),
        (
            "Matrix",
            "[[1, 2, 3], [4, 5, 6.5]]",
            json!([1, 2, 3, 4, 5, 6.5]),
        ),
    ] {
        let _ = sandbox
            .run(&["write", &server.endpoint, &server.node(name), typed])
            .expect_success();
        let row = read(sandbox, server, name);
        assert!(same(&row["value"], &expected), "{name}: {row}");
    }
    for (name, typed) in [
        ("UInt32", "-1"),
        ("UInt32", "4294967296"),
        ("Double", "fast"),
        ("Boolean", "7"),
    ] {
        let error = sandbox
            .run(&["write", &server.endpoint, &server.node(name), typed])
            .expect_failure();
        assert!(
            error.contains(typed) && error.contains(name),
            "`{typed}` for {name}:\n{error}"
        );
    }
    let error = sandbox
        .run(&["write", &server.endpoint, &server.node("ReadOnly"), "7"])
        .expect_failure();
    assert!(error.contains(peer.not_writable()), "{error}");
}

fn calls(sandbox: &Sandbox, server: &PeerServer) {
    let rows = sandbox.rows(&["call", &server.endpoint, "Peer/Multiply", "6", "7"]);
    assert!(
        good(&rows[0]) && same(&rows[0]["outputs"], &json!([42])),
        "{rows:?}"
    );
    let error = sandbox
        .run(&["call", &server.endpoint, "Peer/Multiply", "6"])
        .expect_failure();
    assert!(
        error.contains('2') && error.contains('1'),
        "two arguments, not one:\n{error}"
    );
    let error = sandbox
        .run(&["call", &server.endpoint, "Peer/Multiply", "6", "seven"])
        .expect_failure();
    assert!(error.contains("seven"), "{error}");
}

fn watches(sandbox: &Sandbox, server: &PeerServer) {
    // node-opcua updates its clock once per second.
    let rows = sandbox.watch_clock(&server.endpoint, "100ms", Duration::from_secs(3));
    assert!(rows.iter().all(good), "{rows:#?}");
    // A change by another client is pushed by the server: no message about polling is printed.
    let counter = server.node("UInt32");
    let watch = ["watch", &server.endpoint, &counter, "--interval", "50ms"];
    let mut watch = Process::spawn("takt watch", &mut sandbox.takt(&watch));
    watch.next_line(PATIENCE);
    for value in ["123", "124"] {
        let write = ["write", &server.endpoint, &counter, value];
        let _ = sandbox.run(&write).expect_success();
        let line = watch.next_line(PATIENCE);
        assert!(line.contains(value), "{line}");
    }
    watch.signal(rustix::process::Signal::INT);
    assert!(watch.wait(PATIENCE).success());
    assert!(!watch.report().contains("no Subscriptions"));
}

/// Time limit of a change on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn says_what_is_wrong(sandbox: &Sandbox, server: &PeerServer) {
    let unknown = sandbox.run(&["read", &server.endpoint, &server.node("Nothing")]);
    assert!(!unknown.status.success());
    let said = format!("{}{}", unknown.stdout, unknown.stderr);
    assert!(said.contains("BadNodeIdUnknown"), "{said}");
    let error = sandbox
        .run(&["browse", "opc.tcp://127.0.0.1:9", "--timeout", "2s"])
        .expect_failure();
    assert!(error.contains("127.0.0.1:9"), "{error}");
}

fn good(row: &Value) -> bool {
    row["status"]
        .as_str()
        .is_some_and(|status| status.starts_with("Good"))
}

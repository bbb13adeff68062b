//! Foreign clients: against each other's servers, against the registry, against a Provider.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::machine::Machine;
use super::{peer_variables, same};
use crate::peer::{Peer, PeerClient, PeerServer};
use crate::sandbox::{Provider, Registry, Sandbox};

const UA_URI: &str = "http://opcfoundation.org/UA/";
const POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// Time limit of required events, long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn connect(peer: Peer, endpoint: &str) -> PeerClient {
    PeerClient::connect(peer, endpoint)
        .unwrap_or_else(|error| panic!("{peer:?} cannot connect to {endpoint}: {error}"))
}

/// A foreign client uses a foreign server in the same way as Takt's, so that failures with Takt's server are caused
/// by Takt.
///
/// # Panics
/// If it fails.
pub fn peers_agree(client: Peer, server: Peer) {
    let running = PeerServer::start(server);
    let mut session = connect(client, &running.endpoint);
    let peer = session.find(&["Peer"]);
    assert_eq!(peer, running.node("Peer"));
    for (name, kind, expected) in peer_variables() {
        let value = session.read(&running.node(name));
        assert_eq!(
            (&value["status"], &value["type"]),
            (&json!("Good"), &json!(kind)),
            "{name}"
        );
        assert!(same(&value["value"], &expected), "{name}: {value}");
    }
    let names: Vec<String> = session
        .children(&peer)
        .iter()
        .map(|child| child["displayName"].as_str().unwrap_or_default().to_owned())
        .collect();
    for (name, ..) in peer_variables() {
        assert!(
            names.iter().any(|found| found == name),
            "{name} is not among {names:?}"
        );
    }
    if server.applies_index_range() {
        let range = session
            .expect(json!({"op": "read", "nodes": [running.node("UInt32Array")], "range": "3:6"}));
        assert_eq!(range[0]["value"], json!([3, 4, 5, 6]));
    }
    let counter = running.node("UInt32");
    assert_eq!(session.write(&counter, "UInt32", &json!(7)), "Good");
    assert_eq!(session.read(&counter)["value"], 7);
    assert_eq!(
        session.write(&counter, "Double", &json!(7.0)),
        "BadTypeMismatch"
    );
    assert_eq!(
        session.write(&running.node("ReadOnly"), "Int64", &json!("1")),
        server.not_writable()
    );
    let product = multiply(&mut session, &peer, &running.node("Multiply"));
    assert_eq!(product["status"], "Good");
    assert!(
        same(&product["outputs"][0]["value"], &json!(42)),
        "{product}"
    );
    assert_eq!(
        session.read(&running.node("Nothing"))["status"],
        "BadNodeIdUnknown"
    );
}

fn multiply(session: &mut PeerClient, object: &str, method: &str) -> Value {
    session.expect(json!({
        "op": "call", "object": object, "method": method,
        "arguments": [{"type": "Double", "value": 6}, {"type": "Double", "value": 7}],
    }))
}

/// A client without knowledge of Takt can use the registry as a conventional server.
///
/// # Panics
/// If it fails.
pub fn client_against_registry(peer: Peer) {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut session = connect(peer, &registry.endpoint);

    let namespaces = session.expect(json!({"op": "namespaces"}));
    assert_eq!(namespaces[0], UA_URI);
    assert!(
        namespaces
            .as_array()
            .is_some_and(|uris| uris.contains(&json!("urn:takt:registry"))),
        "{namespaces}"
    );

    let endpoints = session.expect(json!({"op": "endpoints"}));
    let endpoints = endpoints.as_array().expect("a list");
    let own = endpoints
        .iter()
        .find(|endpoint| {
            endpoint["url"]
                .as_str()
                .unwrap_or_default()
                .trim_end_matches('/')
                == registry.endpoint
        })
        .unwrap_or_else(|| panic!("{} is not among {endpoints:#?}", registry.endpoint));
    assert_eq!(
        (&own["securityPolicy"], &own["securityMode"]),
        (&json!(POLICY_NONE), &json!("None"))
    );
    let servers = session.expect(json!({"op": "servers"}));
    assert!(
        servers.as_array().is_some_and(|servers| servers
            .iter()
            .any(|server| server["applicationUri"] == own["applicationUri"])),
        "{servers}"
    );

    server_object_is_live(&mut session);
    views_agree(&mut session);
    errors_have_their_names(&mut session);
}

/// Checks that ServerStatus changes, and that limits are published (OPC 10000-5, 6.3).
fn server_object_is_live(session: &mut PeerClient) {
    let state = session.read("i=2259");
    assert_eq!(
        (&state["status"], &state["value"]),
        (&json!("Good"), &json!(0)),
        "ServerStatus.State is Running"
    );
    let time = |session: &mut PeerClient| session.read("i=2258")["value"].clone();
    let before = time(session);
    thread::sleep(Duration::from_millis(20));
    assert_ne!(before, time(session), "CurrentTime stands still");
    let status = session.read("i=2256");
    assert_eq!(
        (&status["type"], &status["value"]["structure"]),
        (&json!("ExtensionObject"), &json!("ServerStatusDataType"))
    );
    let limit = session.read("i=11705");
    assert_eq!(
        (&limit["status"], &limit["type"]),
        (&json!("Good"), &json!("UInt32")),
        "MaxNodesPerRead"
    );
}

/// Checks that Browse, BrowseNext, inverse references, and browse paths are consistent.
fn views_agree(session: &mut PeerClient) {
    let names = |references: Value| -> Vec<String> {
        let mut names: Vec<String> = references
            .as_array()
            .into_iter()
            .flatten()
            .map(|reference| {
                format!(
                    "{} {} {}",
                    reference["reference"], reference["node"], reference["browseName"]
                )
            })
            .collect();
        names.sort();
        names
    };
    let whole = names(session.expect(json!({"op": "browse", "node": "i=2253"})));
    assert!(whole.len() > 5, "{whole:?}");
    let parts = names(session.expect(json!({"op": "browse", "node": "i=2253", "max": 2})));
    assert_eq!(whole, parts, "BrowseNext gives the rest");
    let inverse = session.expect(
        json!({"op": "browse", "node": "i=2253", "direction": "inverse", "reference": "i=33"}),
    );
    assert_eq!(inverse[0]["node"], "i=85");
    let path = session.expect(
        json!({"op": "translate", "node": "i=85", "path": ["Server", "ServerStatus", "State"]}),
    );
    assert_eq!(
        (&path["status"], &path["targets"]),
        (&json!("Good"), &json!(["i=2259"]))
    );
    let name =
        session.expect(json!({"op": "read", "nodes": ["i=2253"], "attribute": "BrowseName"}));
    assert_eq!(name[0]["value"], "Server");
}

/// Checks that failing requests return the StatusCodes of the standard.
fn errors_have_their_names(session: &mut PeerClient) {
    assert_eq!(
        session.read("ns=0;i=4294967295")["status"],
        "BadNodeIdUnknown"
    );
    let attribute = session.expect(json!({"op": "read", "nodes": ["i=85"], "attribute": "Value"}));
    assert_eq!(attribute[0]["status"], "BadAttributeIdInvalid");
    let error = session
        .request(json!({"op": "browse", "node": "i=4294967295"}))
        .expect_err("there is no such node");
    assert!(error.starts_with("BadNodeIdUnknown"), "{error}");
    assert_eq!(
        session.write("i=2258", "DateTime", &json!("2024-02-29T12:34:56.789Z")),
        "BadNotWritable"
    );
    let path = session.expect(json!({"op": "translate", "node": "i=85", "path": ["NoSuchName"]}));
    assert_eq!(path["status"], "BadNoMatch");
    let missing =
        session.expect(json!({"op": "call", "object": "i=2253", "method": "i=4294967295"}));
    assert_eq!(missing["status"], "BadMethodInvalid");
}

/// A client without support of `InteractionVia` uses a Provider through the registry, which forwards, and is told
/// when the Provider is gone.
///
/// # Panics
/// If it fails.
pub fn client_through_registry(peer: Peer) {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut provider = Provider::start(&sandbox, &registry, "machine");
    let mut session = connect(peer, &registry.endpoint);
    wait_until_available(&mut session, &provider.name);
    let name = provider.name.as_str();
    let machine = Machine {
        object: session.find(&[name]),
        setpoint: session.find(&[name, "Spindle", "SpeedSetpoint"]),
        speed: session.find(&[name, "Spindle", "Speed"]),
        start: session.find(&[name, "Start"]),
        stop: session.find(&[name, "Stop"]),
    };
    let data_type =
        session.expect(json!({"op": "read", "nodes": [machine.speed], "attribute": "DataType"}));
    assert_eq!(data_type[0]["value"], "i=11");
    machine.works(&mut session);
    let writable =
        session.expect(json!({"op": "read", "nodes": [machine.speed], "attribute": "AccessLevel"}));
    assert_eq!(writable[0]["value"], 1, "the actual speed can only be read");
    let unit = session.find(&[name, "Spindle", "Speed", "EngineeringUnits"]);
    let unit = session.read(&unit);
    assert_eq!(
        (&unit["status"], &unit["value"]["structure"]),
        (&json!("Good"), &json!("EUInformation"))
    );

    provider.process.kill();
    let killed = Instant::now();
    loop {
        let value = session.read(&machine.setpoint);
        match value["status"].as_str().unwrap_or_default() {
            "BadNoCommunication" => break,
            "UncertainLastUsableValue" => {
                assert!(same(&value["value"], &json!(3000.0)), "{value}");
                break;
            }
            other => assert!(
                killed.elapsed() < PATIENCE,
                "the Provider is gone, but Read says {other}"
            ),
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_ne!(
        session.write(&machine.setpoint, "Double", &json!(1.0)),
        "Good"
    );
    assert_eq!(
        session.find(&[name, "Spindle", "Speed"]),
        machine.speed,
        "its nodes stay"
    );
}

/// A client finds a Provider's own endpoint in the registry, browses the Provider and uses it.
///
/// # Panics
/// If it fails.
pub fn client_against_provider(peer: Peer) {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let provider = Provider::start(&sandbox, &registry, "machine");
    let mut directory = connect(peer, &registry.endpoint);
    wait_until_available(&mut directory, &provider.name);
    let endpoint = endpoint_in_registry(&mut directory, &provider.name);
    assert_eq!(endpoint.trim_end_matches('/'), provider.endpoint);

    let mut session = connect(peer, &endpoint);
    let namespaces = session.expect(json!({"op": "namespaces"}));
    assert_eq!(
        namespaces[1],
        format!("urn:takt:provider:{}", provider.name)
    );
    let name = provider.name.as_str();
    let machine = Machine {
        object: session.find(&[name]),
        setpoint: session.find(&[name, "Spindle", "SpeedSetpoint"]),
        speed: session.find(&[name, "Spindle", "Speed"]),
        start: session.find(&[name, "Start"]),
        stop: session.find(&[name, "Stop"]),
    };
    assert_eq!(
        (machine.object.as_str(), machine.speed.as_str()),
        ("ns=1;i=1", "ns=1;s=Spindle/Speed")
    );
    for (property, structure) in [("EURange", "Range"), ("EngineeringUnits", "EUInformation")] {
        let node = session.find(&[name, "Spindle", "Speed", property]);
        let value = session.read(&node);
        assert_eq!(
            (&value["status"], &value["value"]["structure"]),
            (&json!("Good"), &json!(structure)),
            "{value}"
        );
    }
    let data_type =
        session.expect(json!({"op": "read", "nodes": [machine.speed], "attribute": "DataType"}));
    assert_eq!(data_type[0]["value"], "i=11");
    views_agree(&mut session);
    machine.works(&mut session);
    assert_eq!(session.read("ns=1;s=Nothing")["status"], "BadNodeIdUnknown");
    assert_eq!(
        session.read("i=2259")["value"],
        0,
        "ServerStatus.State is Running"
    );
}

/// Returns the `opc.tcp` endpoint of a Provider: a target of `InteractionVia` from its data.
fn endpoint_in_registry(directory: &mut PeerClient, name: &str) -> String {
    let namespaces = directory.expect(json!({"op": "namespaces"}));
    let model = namespaces
        .as_array()
        .and_then(|uris| uris.iter().position(|uri| uri == "urn:takt:registry"))
        .expect("the registry has its own namespace");
    let speed = directory.find(&[name, "Spindle", "Speed"]);
    let via = directory
        .expect(json!({"op": "browse", "node": speed, "reference": format!("ns={model};i=4002")}));
    let targets: Vec<Value> = via.as_array().expect("a list").clone();
    let endpoints: Vec<String> = targets
        .iter()
        .map(|target| {
            directory.read(target["node"].as_str().unwrap_or_default())["value"].to_string()
        })
        .map(|text| text.trim_matches('"').to_owned())
        .collect();
    endpoints
        .iter()
        .find(|endpoint| endpoint.starts_with("opc.tcp://"))
        .unwrap_or_else(|| panic!("no opc.tcp endpoint among {endpoints:?} of {targets:#?}"))
        .clone()
}

/// Waits for a Provider, which registers soon after it has begun to serve: its Object is added first, and it is
/// available when its registration is complete.
pub(super) fn wait_until_available(session: &mut PeerClient, name: &str) {
    let started = Instant::now();
    loop {
        let available = session
            .try_find(&[name, "Available"])
            .map(|node| session.read(&node));
        match &available {
            Ok(value) if value["value"] == true => return,
            _ => assert!(
                started.elapsed() < PATIENCE,
                "{name} is not available: {available:#?}"
            ),
        }
        thread::sleep(Duration::from_millis(50));
    }
}

//! The foreign peers of `peers/`, and their JSON lines (`peers/README.md`).

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::{open62541, repository};
use crate::checker::Checker;
use crate::process::{self, Process};

/// Time limit of the start of a peer, long enough for an interpreter that compiles its modules on a loaded machine.
const START: Duration = Duration::from_secs(120);

/// Time limit of a peer for one request.
const REQUEST: Duration = Duration::from_secs(60);

/// A foreign product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Python's asyncua.
    Asyncua,
    /// JavaScript's node-opcua.
    NodeOpcua,
    /// open62541, in C.
    Open62541,
    /// Rust's async-opcua; a server only.
    AsyncOpcua,
    /// Java's Milo; a server only.
    Milo,
}

impl Peer {
    /// Peers that are clients with JSON lines and servers without security.
    pub const ALL: [Self; 3] = [Self::Asyncua, Self::NodeOpcua, Self::Open62541];

    /// Returns the name of the library.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Asyncua => "asyncua",
            Self::NodeOpcua => "node-opcua",
            Self::Open62541 => "open62541",
            Self::AsyncOpcua => "async-opcua",
            Self::Milo => "milo",
        }
    }

    fn command(self, role: &str) -> Command {
        let peers = repository().join("peers");
        match self {
            Self::Asyncua => {
                let python = repository().join(".cache/venv/bin/python");
                assert!(
                    python.exists(),
                    "asyncua is not installed: ./test interop does that"
                );
                let mut command = Command::new(python);
                command.arg(peers.join(format!("asyncua/{role}.py")));
                command
            }
            Self::NodeOpcua => {
                let folder = peers.join("node");
                assert!(
                    folder.join("node_modules/node-opcua").exists(),
                    "node-opcua is not installed: ./test interop does that"
                );
                let mut command = Command::new("node");
                command.arg(folder.join(format!("{role}.js")));
                command
            }
            Self::Open62541 => Command::new(open62541(&format!("open62541-{role}"))),
            Self::AsyncOpcua => with_role(Checker::AsyncOpcua, role),
            Self::Milo => with_role(Checker::Milo, role),
        }
    }

    /// Returns whether its server accepts messages that are secured with the previous token until it has seen the new one, as OPC
    /// 10000-4, 5.6.2 demands. async-opcua counts the lifetime of each token from the beginning of the channel.
    pub(crate) fn accepts_previous_tokens(self) -> bool {
        self != Self::AsyncOpcua
    }

    /// Returns whether it leaves out leading zero bytes of the secret that two EphemeralKeys share. So one of 256 channels with elliptic
    /// curves fails, and one of 256 passwords on them.
    pub(crate) fn shortens_shared_secrets(self) -> bool {
        self == Self::Open62541
    }

    /// Returns whether its client connects again by itself after the connection was lost.
    pub(crate) fn connects_again(self) -> bool {
        self != Self::Asyncua
    }
}

/// Returns a command of a client with checks in another role.
fn with_role(checker: Checker, role: &str) -> Command {
    let mut command = checker.command();
    command.arg(role);
    command
}

/// Loads NodeSet2 files into node-opcua: one JSON object per node, as `peers/node/browse_nodeset.js` describes it.
///
/// # Panics
/// If node-opcua cannot load them.
#[must_use]
pub fn load_nodesets(arguments: &[&str]) -> Vec<Value> {
    let mut command = Command::new("node");
    command
        .arg(repository().join("peers/node/browse_nodeset.js"))
        .args(arguments);
    let output =
        process::run("browse_nodeset.js", &mut command, Duration::from_secs(240)).expect_success();
    output
        .lines()
        .map(|line| serde_json::from_str(line).expect("one JSON object a line"))
        .collect()
}

/// Makes node-opcua load a binary PubSub configuration file and write another one; returns its output.
///
/// # Panics
/// If it cannot load it.
#[must_use]
pub fn convert_pubsub_configuration(input: &Path, output: &Path) -> Value {
    let mut command = Peer::NodeOpcua.command("pubsub_configuration");
    command.args([input, output]);
    let printed = process::run("pubsub_configuration.js", &mut command, START).expect_success();
    serde_json::from_str(&printed).expect("it prints JSON")
}

/// A running foreign server.
#[derive(Debug)]
pub struct PeerServer {
    /// The process.
    pub process: Process,
    /// Endpoint of the server.
    pub endpoint: String,
    /// The index of the namespace `urn:takt:peer`.
    pub namespace: u64,
}

impl PeerServer {
    /// Starts a server on a free port.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start(peer: Peer) -> Self {
        Self::start_with(peer, &[])
    }

    /// Starts a node-opcua server on a free port that offers secure endpoints only.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_secure() -> Self {
        Self::start_with(Peer::NodeOpcua, &["secure"])
    }

    /// Starts a server on a free port with security, as `peers/README.md` describes it.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_secured(peer: Peer, security: &Value) -> Self {
        Self::start_with(peer, &[&security.to_string()])
    }

    /// Starts a server without security: those of async-opcua, Milo and open62541 report Events, those of Milo, node-opcua and
    /// open62541 have 50 recorded values.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_with_records(peer: Peer) -> Self {
        match peer {
            Peer::NodeOpcua | Peer::Open62541 => Self::start_with(peer, &["--recorded", "50"]),
            _ => Self::start_with(peer, &[]),
        }
    }

    /// Starts a server of async-opcua, node-opcua or open62541 on a free port that connects to a client, which listens at this port of
    /// 127.0.0.1.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_reversed(peer: Peer, port: u16, security: Option<&Value>) -> Self {
        let client = format!("opc.tcp://127.0.0.1:{port}");
        let security = security.map(Value::to_string);
        let mut arguments: Vec<&str> = security.as_deref().into_iter().collect();
        arguments.extend(["--reverse-connect", &client]);
        Self::start_with(peer, &arguments)
    }

    /// Starts a discovery server of node-opcua on a free port, at which servers register themselves with and without security.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_discovery(security: &Value) -> Self {
        let peer = Peer::NodeOpcua;
        let arguments = [takt_ports::reserve().to_string(), security.to_string()];
        Self::start_command(peer, peer.command("discovery").args(arguments))
    }

    /// Starts a server with this many Variables, as `peers/asyncua/large_server.py` describes them, on this port.
    ///
    /// # Panics
    /// If it does not serve in time.
    #[must_use]
    pub fn start_large(peer: Peer, port: u16, variables: usize) -> Self {
        let (port, variables) = (port.to_string(), variables.to_string());
        match peer {
            Peer::Open62541 => {
                let arguments = [port.as_str(), "--variables", &variables];
                Self::start_command(peer, peer.command("server").args(arguments))
            }
            _ => {
                let mut command = peer.command("large_server");
                Self::start_command(peer, command.args([&port, &variables]))
            }
        }
    }

    fn start_with(peer: Peer, arguments: &[&str]) -> Self {
        // Not 0: some of them only look for a free port, and lose it before they listen.
        let port = takt_ports::reserve().to_string();
        Self::start_command(peer, peer.command("server").arg(port).args(arguments))
    }

    fn start_command(peer: Peer, command: &mut Command) -> Self {
        let mut process = Process::spawn(&format!("{} server", peer.name()), command);
        let line = process.wait_for("its ready line", START, |line| line.starts_with('{'));
        let ready: Value = serde_json::from_str(&line).expect("the ready line is JSON");
        Self {
            process,
            endpoint: ready["endpoint"].as_str().expect("an endpoint").to_owned(),
            namespace: ready["namespace"].as_u64().expect("a namespace index"),
        }
    }

    /// Returns the NodeId of one of its nodes, for example `UInt32`.
    #[must_use]
    pub fn node(&self, name: &str) -> String {
        format!("ns={};s={name}", self.namespace)
    }
}

/// A running foreign publisher or subscriber.
#[derive(Debug)]
pub struct PeerPubSub {
    /// The process.
    pub process: Process,
}

impl PeerPubSub {
    /// Starts it and waits until it publishes or listens. `role` is `publish` or `subscribe`.
    ///
    /// # Panics
    /// If it is not ready in time.
    #[must_use]
    pub fn start(peer: Peer, role: &str, description: &Value) -> Self {
        let mut process = Process::spawn(
            &format!("{} {role}", peer.name()),
            peer.command("pubsub")
                .args([role, &description.to_string()]),
        );
        process.wait_for("its ready line", START, |line| line == "{\"ready\":true}");
        Self { process }
    }

    /// Returns the next DataSet that a subscriber has printed, if there is one now.
    ///
    /// # Panics
    /// If the subscriber has ended.
    pub fn try_data_set(&mut self) -> Option<Value> {
        assert!(
            !self.process.has_ended(),
            "it has ended{}",
            self.process.report()
        );
        let line = self.process.try_line()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}")))
    }
}

/// A running foreign client with a session.
#[derive(Debug)]
pub struct PeerClient {
    /// The process.
    pub process: Process,
    peer: Peer,
    requests: u64,
}

impl PeerClient {
    /// Connects.
    ///
    /// # Errors
    /// The message of the client if it could not connect.
    pub fn connect(peer: Peer, endpoint: &str) -> Result<Self, String> {
        Self::connect_with(peer, endpoint, &[])
    }

    /// Connects with security, as `peers/README.md` describes it.
    ///
    /// # Errors
    /// The message of the client if it could not connect.
    pub fn connect_secured(peer: Peer, endpoint: &str, security: &Value) -> Result<Self, String> {
        Self::connect_with(peer, endpoint, &[&security.to_string()])
    }

    /// Starts a client of node-opcua or open62541 that waits for a server at this port of 127.0.0.1, and returns when it has a
    /// Session. That of open62541 has no security then.
    ///
    /// # Errors
    /// The message of the client if no server has connected.
    pub fn listen(peer: Peer, port: u16, security: Option<&Value>) -> Result<Self, String> {
        let security = security.map(Value::to_string);
        let arguments: Vec<&str> = security.as_deref().into_iter().collect();
        Self::connect_with(peer, &format!("listen:{port}"), &arguments)
    }

    /// Returns the product.
    #[must_use]
    pub fn peer(&self) -> Peer {
        self.peer
    }

    fn connect_with(peer: Peer, endpoint: &str, arguments: &[&str]) -> Result<Self, String> {
        let mut process = Process::spawn(
            &format!("{} client", peer.name()),
            peer.command("client").arg(endpoint).args(arguments),
        );
        let line = process.wait_for("its ready line", START, |line| line.starts_with('{'));
        let ready: Value = serde_json::from_str(&line).expect("the ready line is JSON");
        if ready["ready"] == true {
            Ok(Self {
                process,
                peer,
                requests: 0,
            })
        } else {
            Err(ready["error"].as_str().unwrap_or_default().to_owned())
        }
    }

    /// Sends one request, its `id` left out.
    ///
    /// # Errors
    /// The message of the client if the request failed as a whole; the StatusCode's name first if there is one.
    pub fn request(&mut self, mut request: Value) -> Result<Value, String> {
        self.requests += 1;
        request["id"] = self.requests.into();
        self.process.send_line(&request.to_string());
        let line = self
            .process
            .wait_for("its answer", REQUEST, |line| line.starts_with('{'));
        let mut answer: Value = serde_json::from_str(&line).expect("answers are JSON");
        assert_eq!(
            answer["id"], request["id"],
            "the answer belongs to another request: {line}"
        );
        if answer["ok"] == true {
            Ok(answer["result"].take())
        } else {
            Err(answer["error"].as_str().unwrap_or_default().to_owned())
        }
    }

    /// Sends one request that must succeed.
    ///
    /// # Panics
    /// If it fails.
    pub fn expect(&mut self, request: Value) -> Value {
        self.request(request.clone())
            .unwrap_or_else(|error| panic!("{request} failed: {error}{}", self.process.report()))
    }

    /// Returns the DataValue of one node's Value.
    pub fn read(&mut self, node: &str) -> Value {
        self.expect(json!({"op": "read", "nodes": [node]}))[0].take()
    }

    /// Writes a Value, and returns the StatusCode's name.
    pub fn write(&mut self, node: &str, kind: &str, value: &Value) -> String {
        let result =
            self.expect(json!({"op": "write", "node": node, "type": kind, "value": value}));
        result["status"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the targets of hierarchical forward references.
    pub fn children(&mut self, node: &str) -> Vec<Value> {
        match self.expect(json!({"op": "browse", "node": node, "reference": "i=33"})) {
            Value::Array(references) => references,
            other => panic!("a list of references, not {other}"),
        }
    }

    /// Returns the NodeId at a path of BrowseNames below the Objects folder, found by browsing: namespaces do not
    /// matter.
    ///
    /// # Panics
    /// If there is none.
    pub fn find(&mut self, path: &[&str]) -> String {
        self.try_find(path)
            .unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// Finds a node as [`find`](Self::find) does, for nodes that may not exist yet.
    ///
    /// # Errors
    /// The missing name, and the existing ones.
    pub fn try_find(&mut self, path: &[&str]) -> Result<String, String> {
        let mut node = "i=85".to_owned();
        for wanted in path {
            let children = self.children(&node);
            let found = children.iter().find(|child| {
                let name = child["browseName"].as_str().unwrap_or_default();
                name == *wanted
                    || name
                        .split_once(':')
                        .is_some_and(|(_, name)| name == *wanted)
            });
            match found {
                Some(child) => node = child["node"].as_str().unwrap_or_default().to_owned(),
                None => return Err(format!("{node} has no child {wanted}: {children:#?}")),
            }
        }
        Ok(node)
    }
}

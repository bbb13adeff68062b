//! Servers with one value that cannot be decoded among ten good ones: the registry mirrors the good ones, names the bad one, and
//! takes few of their Sessions.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use takt_app::{Client, ClientOptions, MonitoredItemOptions, Subscription, SubscriptionOptions};
use takt_tests::binary::repository;
use takt_tests::process::Process;
use takt_tests::{Registry, Sandbox};
use takt_ua::{DataValue, NodeId, StatusCode, Variant};

/// Time limit of required events, long enough for an interpreter on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time in which a mirror that fails would use up the Sessions of a small server.
const WATCHED: Duration = Duration::from_secs(4);

/// A server of `peers/`, and its endpoint.
struct Server {
    process: Process,
    endpoint: String,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut process = Process::spawn("the foreign server", command.arg("0"));
        let ready: Value = serde_json::from_str(&process.next_line(PATIENCE)).unwrap();
        let endpoint = ready["endpoint"].as_str().unwrap().to_owned();
        Self { process, endpoint }
    }

    fn asyncua(kind: &str) -> Self {
        let mut command = Command::new(repository().join(".cache/venv/bin/python"));
        command.arg(repository().join("peers/asyncua/unreadable.py"));
        command.arg(kind);
        Self::start(command)
    }

    /// Sends a line, and returns the greatest number of Sessions at a time and the number of all.
    fn tell(&mut self, line: &str) -> (u64, u64) {
        self.process.send_line(line);
        let counts: Value = serde_json::from_str(&self.process.next_line(PATIENCE)).unwrap();
        let number = |name: &str| counts[name].as_u64().unwrap();
        (number("most"), number("all"))
    }
}

/// A registry that mirrors a server as `Plant`.
struct World {
    server: Server,
    client: Client,
    _registry: Registry,
    _sandbox: Sandbox,
}

impl World {
    fn start(server: Server) -> Self {
        let sandbox = Sandbox::new();
        let mirror = format!("Plant={}", server.endpoint);
        let registry = Registry::start(&sandbox, &["--mirror", &mirror]);
        let options = ClientOptions {
            timeout: Duration::from_secs(30),
            ..ClientOptions::named("Test")
        };
        let client = Client::connect(&registry.endpoint.parse().unwrap(), options).unwrap();
        Self {
            server,
            client,
            _registry: registry,
            _sandbox: sandbox,
        }
    }

    fn node(&mut self, name: &str) -> Option<NodeId> {
        let found = self.client.find(&format!("Plant/{name}"));
        Some(found.ok()?.node_id.node_id)
    }

    fn value(&mut self, name: &str) -> Option<DataValue> {
        let node = self.node(name)?;
        self.client.read(&node).ok()
    }

    fn problem(&mut self) -> String {
        let problem = self.value("Problem").and_then(|value| value.value);
        match problem {
            Some(Variant::String(text)) => text.into_string(),
            other => panic!("{other:?}"),
        }
    }

    fn eventually(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(begin.elapsed() < PATIENCE, "{what}: {}", self.problem());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the ten values are Good, and remain so while they change.
    fn good_values_follow(&mut self) {
        for number in 1..10 {
            let name = format!("Good{number}");
            let expected = Some(Variant::from(f64::from(number)));
            self.eventually(&name, |world| {
                let value = world.value(&name);
                value.is_some_and(|value| value.status_code().is_good() && value.value == expected)
            });
        }
        let node = self.node("Good0").unwrap();
        let begin = Instant::now();
        while begin.elapsed() < WATCHED {
            self.server.tell("sessions");
            let value = self.client.read(&node).unwrap();
            assert!(
                value.status_code().is_good(),
                "{value:?}: {}",
                self.problem()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Checks the number of Sessions: at most two at a time, and so few in all that no attempt was repeated without end.
    fn takes_few_sessions(&mut self) {
        let (most, all) = self.server.tell("sessions");
        assert!(most <= 2 && all <= 8, "{most} at a time, {all} in all");
    }

    fn names_the_bad_one(&mut self) {
        self.eventually("the Problem names the node", |world| {
            world.problem().contains("Bad (ns=2;s=Bad)")
        });
        let available = self.value("Available").and_then(|value| value.value);
        assert_eq!(available, Some(true.into()));
    }
}

#[test]
fn a_text_that_is_not_utf_8_is_read() {
    let mut world = World::start(Server::asyncua("latin"));
    world.good_values_follow();
    let value = world.value("Bad").unwrap();
    assert_eq!(value.value, Some("K\u{FFFD}hlwerk".into()));
    assert!(value.status_code().is_good());
    world.names_the_bad_one();
    world.takes_few_sessions();
}

#[test]
fn a_body_without_its_length_is_read() {
    let mut world = World::start(Server::asyncua("bodiless"));
    world.good_values_follow();
    let value = world.value("Bad").unwrap();
    let Some(Variant::ExtensionObject(object)) = &value.value else {
        panic!("{value:?}");
    };
    let argument: takt_ua::structures::Argument = object.decode_as().unwrap();
    assert_eq!(argument.name, "Torque");
    assert_eq!(world.problem(), "");
    world.takes_few_sessions();
}

#[test]
fn a_variant_in_a_variant_is_one_bad_value() {
    let mut command = Command::new("node");
    command.arg(repository().join("peers/node/unreadable.js"));
    let mut world = World::start(Server::start(command));
    world.good_values_follow();
    let value = world.value("Bad").unwrap();
    assert_eq!(value.status_code(), StatusCode::BadDecodingError);
    world.names_the_bad_one();
    world.takes_few_sessions();
}

#[test]
fn a_value_without_an_end_leaves_the_others() {
    let mut world = World::start(Server::asyncua("undefined"));
    world.eventually("the bad one is left out", |world| {
        let value = world.value("Bad");
        value.is_some_and(|value| value.status_code() == StatusCode::BadDecodingError)
    });
    // The Subscription begins again without it.
    world.eventually("the mirror is there", |world| {
        let value = world.value("Good0");
        value.is_some_and(|value| value.status_code().is_good())
    });
    world.good_values_follow();
    world.names_the_bad_one();
    world.takes_few_sessions();
}

#[test]
fn a_value_that_becomes_unreadable_leaves_the_others_and_comes_back() {
    let mut world = World::start(Server::asyncua("later"));
    world.good_values_follow();
    assert_eq!(world.problem(), "");
    world.server.tell("bad");
    world.names_the_bad_one();
    world.good_values_follow();
    world.server.tell("good");
    world.eventually("the value is good again", |world| {
        let value = world.value("Bad").and_then(|value| value.value);
        value == Some("ok again".into()) && world.problem().is_empty()
    });
    world.takes_few_sessions();
}

/// A client without a registry between: Read and Subscription.
#[test]
fn a_client_reads_and_follows_the_others() {
    for kind in ["latin", "undefined"] {
        let mut server = Server::asyncua(kind);
        let options = ClientOptions {
            timeout: Duration::from_secs(30),
            ..ClientOptions::named("Test")
        };
        let endpoint = server.endpoint.parse().unwrap();
        let mut client = Client::connect(&endpoint, options).unwrap();
        let name = |number: u32| NodeId::string(2, &format!("Good{number}"));
        let mut nodes = vec![NodeId::string(2, "Bad")];
        nodes.extend((1..10).map(name));
        let wanted = nodes
            .iter()
            .map(|node| (node.clone(), takt_app::Attribute::Value));
        let values = client.read_attributes(&wanted.collect::<Vec<_>>()).unwrap();
        for (number, value) in (1..).zip(values.get(1..).unwrap()) {
            assert_eq!(value.value, Some(f64::from(number).into()), "{kind}");
        }
        let mut subscription =
            Subscription::create(client, SubscriptionOptions::default()).unwrap();
        let items = nodes.iter();
        let items = items.map(|node| (node.clone(), MonitoredItemOptions::default()));
        let handles = subscription.monitor_all(items.collect()).unwrap();
        let mut missing: Vec<u32> = handles.into_iter().map(Result::unwrap).collect();
        let begin = Instant::now();
        while !missing.is_empty() {
            assert!(begin.elapsed() < PATIENCE, "{kind}: {missing:?}");
            // The session is replaced in between.
            if let Ok(Some(change)) = subscription.next(Duration::from_secs(1)) {
                missing.retain(|handle| *handle != change.client_handle);
            }
        }
        let (most, _) = server.tell("sessions");
        assert!(most <= 2, "{kind}: {most} Sessions at a time");
    }
}

//! Mirrors of foreign servers with 10 000 Variables: the time to mirror them, a Subscription, Write and Call through the mirror,
//! and a server that is killed and started again. Events of servers that report them.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use takt_app::{Client, ClientOptions, MonitoredItemOptions, Subscription, SubscriptionOptions};
use takt_tests::binary::repository;
use takt_tests::process::Process;
use takt_tests::{Peer, PeerServer, Registry, Sandbox};
use takt_ua::{NodeId, StatusCode, Variant};

const VARIABLES: usize = 10_000;

/// Time to mirror the server, with interpreters on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time within which values flow again after the server listens again.
const BACK: Duration = Duration::from_secs(5);

fn connect(registry: &Registry) -> Client {
    let options = ClientOptions {
        timeout: Duration::from_secs(30),
        ..ClientOptions::named("Test")
    };
    Client::connect(&registry.endpoint.parse().unwrap(), options).unwrap()
}

fn eventually<T>(what: &str, within: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < within, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn find(client: &mut Client, path: &str) -> Option<NodeId> {
    Some(client.find(path).ok()?.node_id.node_id)
}

fn value(client: &mut Client, path: &str) -> Option<Variant> {
    let node = find(client, path)?;
    client.read_good(&node).ok()
}

/// Resident memory of a process in MiB.
fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes >> 10
}

fn mirrors(peer: Peer) {
    let server = PeerServer::start_large(peer, 0, VARIABLES);
    let port: u16 = server
        .endpoint
        .rsplit(':')
        .next()
        .unwrap()
        .trim_end_matches('/')
        .parse()
        .unwrap();
    let sandbox = Sandbox::new();
    let begin = Instant::now();
    let mirror = format!("Plant={}", server.endpoint);
    let registry = Registry::start(&sandbox, &["--mirror", &mirror]);
    let mut client = connect(&registry);
    let last = format!("Plant/Peer/Line{}/Value99", VARIABLES / 100 - 1);
    eventually("the last value", PATIENCE, || {
        (value(&mut client, &last)? == Variant::Double(9999.0)).then_some(())
    });
    let mirrored = begin.elapsed();
    let memory = resident(registry.process.id());

    // Every value is there.
    let lines = (0..VARIABLES / 100).map(|line| format!("Plant/Peer/Line{line}/Value7"));
    for (line, path) in lines.enumerate() {
        let expected = Variant::Double((line * 100 + 7) as f64);
        eventually(&path, PATIENCE, || {
            (value(&mut client, &path)? == expected).then_some(())
        });
    }
    let lines = client.find_by_type("LineType").unwrap();
    assert_eq!(lines.len(), VARIABLES / 100);

    // A Subscription, a Write and a Call.
    let counter = find(&mut client, "Plant/Peer/Counter").unwrap();
    let options = SubscriptionOptions::default();
    let mut subscription = Subscription::create(connect(&registry), options).unwrap();
    subscription
        .monitor(&counter, MonitoredItemOptions::default())
        .unwrap();
    for _ in 0..3 {
        eventually("a change", PATIENCE, || {
            subscription.next(Duration::from_secs(1)).unwrap()
        });
    }
    let written = find(&mut client, "Plant/Peer/Line3/Value4").unwrap();
    client.write(&written, Variant::Double(-1.5)).unwrap();
    eventually("the written value", PATIENCE, || {
        (client.read_good(&written).ok()? == Variant::Double(-1.5)).then_some(())
    });
    assert!(client.write(&written, "text".into()).is_err());
    let object = find(&mut client, "Plant/Peer").unwrap();
    let method = find(&mut client, "Plant/Peer/Multiply").unwrap();
    let product = client.call_method(&object, &method, vec![6.0.into(), 7.0.into()]);
    assert_eq!(product.unwrap(), [42.0.into()]);

    // The server is killed.
    drop(server);
    eventually("the end is noticed", PATIENCE, || {
        let status = client.read(&counter).unwrap().status_code();
        (status == StatusCode::UncertainLastUsableValue).then_some(())
    });
    let refused = client.write(&written, Variant::Double(1.0)).unwrap_err();
    assert_eq!(refused.status_code(), StatusCode::BadNoCommunication);
    let _server = PeerServer::start_large(peer, port, VARIABLES);
    let begin = Instant::now();
    eventually("values flow again", BACK, || {
        let status = client.read(&counter).unwrap().status_code();
        (status == StatusCode::Good).then_some(())
    });
    eventually("the last value flows again", BACK, || {
        (value(&mut client, &last)? == Variant::Double(9999.0)).then_some(())
    });
    println!(
        "{peer:?}: mirrored in {mirrored:.2?}, back in {:.2?}, {memory} MiB",
        begin.elapsed()
    );
}

#[test]
fn asyncua_is_mirrored() {
    mirrors(Peer::Asyncua);
}

#[test]
fn node_opcua_is_mirrored() {
    mirrors(Peer::NodeOpcua);
}

#[test]
fn open62541_is_mirrored() {
    mirrors(Peer::Open62541);
}

/// Shows Events of a mirrored server, whose Severity goes from 100 to 1000, at the registry.
fn events_are_mirrored(endpoint: &str) {
    let sandbox = Sandbox::new();
    let mirror = format!("Plant={endpoint}");
    let registry = Registry::start(&sandbox, &["--mirror", &mirror]);
    let registry = registry.shared_memory();
    let events = ["--events", "--where", "Severity>=800", "--json"];
    let mut watch = sandbox.takt(&[&["watch", registry.as_str()], &events[..]].concat());
    let mut watch = Process::spawn("takt watch", &mut watch);
    let mut seen = 0;
    while seen < 3 {
        let line = watch.next_line(PATIENCE);
        let event: Value = serde_json::from_str(&line).unwrap();
        if event["Message"].to_string().contains("Severity") {
            assert!(event["Severity"].as_u64().unwrap() >= 800, "{line}");
            seen += 1;
        }
    }
    watch.signal(Signal::INT);
    watch.finish(PATIENCE);
}

/// Mirrors a server that this command starts.
fn events_of(mut command: Command) {
    let port = takt_ports::reserve().to_string();
    let mut server = Process::spawn("the foreign server", command.args(["server", &port]));
    server.wait_for("its endpoint", PATIENCE, |line| line.contains("endpoint"));
    events_are_mirrored(&format!("opc.tcp://127.0.0.1:{port}"));
    server.close_input();
}

#[test]
fn events_of_asyncua_are_mirrored() {
    let mut command = Command::new(repository().join(".cache/venv/bin/python"));
    command.arg(repository().join("peers/asyncua/events.py"));
    events_of(command);
}

#[test]
fn events_of_node_opcua_are_mirrored() {
    let mut command = Command::new("node");
    command.arg(repository().join("peers/node/events.js"));
    events_of(command);
}

#[test]
fn events_of_open62541_are_mirrored() {
    let server = PeerServer::start_with_records(Peer::Open62541);
    events_are_mirrored(&server.endpoint);
}

//! kill -9 of a server under clients that use it: all requests are answered, none waits for its time limit, and no node that
//! the registry has confirmed is lost. SIGKILL leaves the page cache of the kernel as it is, so a file that is written but not
//! synced passes this test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use takt_app::{Attribute, Client, ClientError, EventQuery, HistoryRange, Identity, model};
use takt_tests::{Provider, Registry, Sandbox};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddNodesRequest};
use takt_ua::{ByteString, DateTime, NodeId, QualifiedName, StatusCode, ids};

use crate::registry::certificates::stranger;
use crate::registry::operations::{Desk, Operation, Plant};
use crate::registry::ownership::add_provider;
use crate::registry::{PATIENCE, client, client_as, consumer, eventually, wait_until_available};

/// Clients that read at the same time.
const CLIENTS: usize = 8;
/// Time limit of a request, which is its TimeoutHint too.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Requests of each client before the kill, and after it.
const REQUESTS: u32 = 20;

/// Answers that the clients got so far.
#[derive(Default)]
struct Answers {
    good: AtomicU32,
    /// Answers of a registry that knows that the Provider is gone.
    gone: AtomicU32,
    /// Requests that waited for the end of their time.
    late: AtomicU32,
}

/// Signal for the clients to stop, which is given when this is dropped.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reads until `stop`.
fn read(sandbox: &Sandbox, registry: &str, node: &NodeId, stop: &AtomicBool, answers: &Answers) {
    let mut client = client(sandbox, registry);
    client.set_timeout(TIMEOUT);
    while !stop.load(Ordering::Relaxed) {
        let started = Instant::now();
        let read = client.read(node);
        // A source gets seven eighths of the TimeoutHint: a request that waits for the Provider takes longer than this.
        let is_late = started.elapsed() > TIMEOUT * 3 / 4;
        let status = match read {
            Ok(value) => value.status_code(),
            Err(ClientError::Service { status, .. }) => status,
            Err(ClientError::Timeout { .. }) => StatusCode::BadTimeout,
            Err(error) => panic!("the registry must answer: {error}"),
        };
        let count = match status {
            _ if is_late => &answers.late,
            StatusCode::Good => &answers.good,
            StatusCode::UncertainLastUsableValue | StatusCode::BadNoCommunication => &answers.gone,
            StatusCode::BadTimeout => &answers.late,
            status => panic!("{status}"),
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Kills a Provider while clients read it through the registry.
fn kill_while_it_is_read(sandbox: &Sandbox, registry: &Registry, mut machine: Provider) {
    let mut consumer = consumer(sandbox, registry);
    wait_until_available(&mut consumer, &machine.name);
    let setpoint = format!("{}/Spindle/SpeedSetpoint", machine.name);
    let found = client(sandbox, &registry.endpoint).find(&setpoint).unwrap();
    let node = found.node_id.node_id;
    let answers: Vec<_> = (0..CLIENTS).map(|_| Arc::new(Answers::default())).collect();
    thread::scope(|scope| {
        let stop = Stop::default();
        for (number, answers) in answers.iter().enumerate() {
            let (stop, node) = (Arc::clone(&stop.0), &node);
            let endpoint = match number % 2 {
                0 => registry.endpoint.clone(),
                _ => registry.shared_memory(),
            };
            scope.spawn(move || read(sandbox, &endpoint, node, &stop, answers));
        }
        let each = |count: fn(&Answers) -> &AtomicU32| {
            let enough = |answers: &Arc<Answers>| count(answers).load(Ordering::Relaxed) > REQUESTS;
            answers.iter().all(enough)
        };
        eventually("all read", PATIENCE, || each(|answers| &answers.good));
        machine.process.kill();
        eventually("all know that it is gone", PATIENCE, || {
            each(|answers| &answers.gone)
        });
    });
    let late = |answers: &Arc<Answers>| answers.late.load(Ordering::Relaxed);
    assert_eq!(answers.iter().map(late).sum::<u32>(), 0);
}

#[test]
fn a_provider_that_is_killed_while_it_is_read_delays_no_request() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let machine = Provider::start(&sandbox, &registry, "machine");
    kill_while_it_is_read(&sandbox, &registry, machine);
}

#[test]
fn a_provider_behind_tcp_that_is_killed_while_it_is_read_delays_no_request() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--allow-tcp-registration"]);
    let elsewhere = sandbox.elsewhere();
    let machine = Provider::start_with(&elsewhere, &registry.endpoint, "machine");
    kill_while_it_is_read(&sandbox, &registry, machine);
}

#[test]
fn a_client_of_a_killed_server_gets_errors_at_once() {
    const REQUESTS: u32 = 4;
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    for over_tcp in [false, true] {
        let mut machine = Provider::start(&sandbox, &registry, "machine");
        let endpoint = match over_tcp {
            false => machine.shared_memory(),
            true => machine.endpoint.clone(),
        };
        let mut client = client(&sandbox, &endpoint);
        client.set_timeout(TIMEOUT);
        let node = NodeId::string(1, "Spindle/SpeedSetpoint");
        client.read_good(&node).unwrap();
        machine.process.kill();
        // Requests that wait for the server take their whole time, each.
        let killed = Instant::now();
        for _ in 0..REQUESTS {
            let lost = client.read(&node).unwrap_err();
            assert_eq!(lost.status_code(), StatusCode::BadNotConnected, "{lost}");
        }
        let lost = client.write(&node, 1.0.into()).unwrap_err();
        assert!(lost.is_connection(), "{lost}");
        let start = NodeId::string(1, "Start");
        let lost = client.call_method(&NodeId::NULL, &start, Vec::new());
        let lost = lost.unwrap_err();
        assert!(lost.is_connection(), "{lost}");
        assert!(
            killed.elapsed() < TIMEOUT,
            "{endpoint}: {:?}",
            killed.elapsed()
        );
        assert!(!client.is_connected());
    }
}

/// Kills of a registry to which nodes are added. Each takes a client its time limit, in which it tries to connect again.
const KILLS: u32 = 5;

/// Adds Objects to a registry, one per request, until it is gone. Returns the names of those that it has confirmed.
fn add_until_killed(
    sandbox: &Sandbox,
    registry: &str,
    name: &str,
    confirmed: &AtomicU32,
) -> Vec<String> {
    let uri = model::provider_uri(name);
    let mut client = client_as(sandbox, registry, &uri, Identity::Anonymous);
    let namespace = client.namespace_index(&uri).unwrap().unwrap();
    // No other round has these names: at least one node was confirmed in each.
    let first = confirmed.load(Ordering::Relaxed);
    let mut names = Vec::new();
    for number in 0.. {
        let name = format!("N{first}.{number}");
        let added = client.call(AddNodesRequest {
            nodes_to_add: vec![AddNodesItem {
                parent_node_id: NodeId::numeric(namespace, model::provider::OBJECT).into(),
                reference_type_id: NodeId::from(ids::HAS_COMPONENT),
                requested_new_node_id: NodeId::string(namespace, &name).into(),
                browse_name: QualifiedName::new(namespace, name.as_str()),
                node_class: NodeClass::Object,
                type_definition: NodeId::from(ids::BASE_OBJECT_TYPE).into(),
                ..AddNodesItem::default()
            }],
            ..AddNodesRequest::default()
        });
        let Ok(added) = added else {
            break;
        };
        assert_eq!(added.results[0].status_code, StatusCode::Good);
        names.push(name);
        confirmed.fetch_add(1, Ordering::Relaxed);
    }
    names
}

#[test]
fn no_confirmed_node_is_lost_when_the_registry_is_killed() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let providers = ["KilledA", "KilledB"];
    for name in providers {
        let uri = model::provider_uri(name);
        let endpoint = registry.shared_memory();
        let mut client = client_as(&sandbox, &endpoint, &uri, Identity::Anonymous);
        assert_eq!(add_provider(&mut client, name), StatusCode::Good);
    }
    // Of each client: a kill before one of them has connected would be a refusal.
    let confirmed = [AtomicU32::new(0), AtomicU32::new(0)];
    let of_each = || {
        confirmed
            .each_ref()
            .map(|confirmed| confirmed.load(Ordering::Relaxed))
    };
    let mut kept: [Vec<String>; 2] = Default::default();
    for kill in 1..=KILLS {
        let endpoint = registry.shared_memory();
        let before = of_each();
        let added = thread::scope(|scope| {
            let adding = [0, 1].map(|client| {
                let (name, confirmed) = (providers[client], &confirmed[client]);
                let (sandbox, endpoint) = (&sandbox, &endpoint);
                scope.spawn(move || add_until_killed(sandbox, endpoint, name, confirmed))
            });
            // Kills come at different moments between two confirmations.
            eventually("nodes are confirmed", PATIENCE, || {
                let now = of_each();
                let all: u32 = now.iter().sum();
                all > before.iter().sum::<u32>() + kill && (0..2).all(|it| now[it] > before[it])
            });
            registry.process.kill();
            adding.map(|adding| adding.join().unwrap())
        });
        for (kept, added) in kept.iter_mut().zip(added) {
            kept.extend(added);
        }
        registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    }
    let mut client = client(&sandbox, &registry.shared_memory());
    for (name, kept) in providers.iter().zip(kept) {
        let namespace = client.namespace_index(&model::provider_uri(name));
        let namespace = namespace.unwrap().unwrap();
        for node in kept {
            let node = NodeId::string(namespace, &node);
            let read = client.read_attribute(&node, Attribute::NodeClass).unwrap();
            assert_eq!(read.status_code(), StatusCode::Good, "{node} is lost");
        }
    }
}

/// Events that were read from the history are on the disk. The client subscribes again by itself.
#[test]
fn events_go_on_and_recorded_ones_are_kept_when_the_registry_is_killed() {
    let mut plant = Plant::start(|_| {});
    let mut desk = plant.desk(Operation::Events).unwrap();
    desk.work().unwrap();
    let all = HistoryRange {
        start: Some(DateTime(1)),
        end: Some(DateTime(i64::MAX)),
        ..HistoryRange::default()
    };
    let server = NodeId::from(ids::SERVER);
    let recorded = |client: &mut Client| {
        let events = client.history_events(&server, all, &EventQuery::new(["EventId"]));
        events.unwrap_or_default()
    };
    let mut before = Vec::new();
    eventually("an Event is recorded", PATIENCE, || {
        before = recorded(desk.client());
        !before.is_empty()
    });
    plant.restart();
    eventually("Events arrive again", PATIENCE, || desk.work().is_ok());
    let after = recorded(desk.client());
    for event in before {
        assert!(after.contains(&event), "{event:?} is lost");
    }
}

/// Key and certificate always belong together, and certificates that the registry has confirmed to trust are kept.
#[test]
fn certificates_are_kept_when_the_registry_is_killed_while_they_are_changed() {
    const KILLS: u32 = 3;
    let mut plant = Plant::start(|_| {});
    let mut confirmed = Vec::new();
    let changes = AtomicU32::new(0);
    for kill in 1..=KILLS {
        let before = changes.load(Ordering::Relaxed);
        let desk = plant.desk(Operation::Renewal).unwrap();
        let added = thread::scope(|scope| {
            let changing = scope.spawn(|| change_certificates(desk, &changes));
            // Kills come at different moments between two confirmations.
            eventually("certificates are changed", PATIENCE, || {
                changes.load(Ordering::Relaxed) > before + kill
            });
            plant.registry.process.kill();
            changing.join().unwrap()
        });
        confirmed.extend(added);
        plant.restart();
        let mut desk = plant.desk(Operation::TrustList).unwrap();
        desk.work().unwrap();
        let trusted = desk.client().read_trust_list().unwrap();
        for certificate in &confirmed {
            assert!(trusted.trusted_certificates.contains(certificate));
        }
    }
}

/// Changes the trust list and the certificate of a registry in turn, until it is gone. Returns the certificates that it has
/// confirmed to trust.
fn change_certificates(mut desk: Desk, changes: &AtomicU32) -> Vec<ByteString> {
    desk.client().set_timeout(TIMEOUT);
    let mut confirmed = Vec::new();
    loop {
        let new = stranger("urn:plant:stranger");
        if desk.trust(new.der()).is_err() {
            return confirmed;
        }
        confirmed.push(ByteString::from(new.der()));
        changes.fetch_add(1, Ordering::Relaxed);
        if desk.renew(true).is_err() {
            return confirmed;
        }
        changes.fetch_add(1, Ordering::Relaxed);
    }
}

//! A Subscription whose connection is cut continues on another one, without a lost value.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{
    Client, ClientError, ClientOptions, ClientSecurity, Endpoint, MonitoredItemOptions, Provider,
    Subscription, SubscriptionOptions, Variable,
};
use takt_cell::Cell;
use takt_ua::{DateTime, NodeId, StatusCode, Variant};

/// Time limit of required events.
const PATIENCE: Duration = Duration::from_secs(60);

/// A relay that cuts its connections on demand, and counts them.
struct Relay {
    endpoint: Endpoint,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn start(server: &Endpoint) -> Self {
        let address = server.to_string().replace("opc.tcp://", "");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("opc.tcp://{}", listener.local_addr().unwrap());
        let connections = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&connections);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&address) else {
                    continue;
                };
                kept.lock().unwrap().push(client.try_clone().unwrap());
                for (mut from, mut to) in [
                    (client.try_clone().unwrap(), server.try_clone().unwrap()),
                    (server, client),
                ] {
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Self {
            endpoint: endpoint.parse().unwrap(),
            connections,
        }
    }

    fn cut(&self) {
        for connection in self.connections.lock().unwrap().iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn options(directory: &Path, security: &str) -> ClientOptions {
    ClientOptions {
        timeout: PATIENCE,
        security: ClientSecurity {
            choice: security.parse().unwrap(),
            certificates: Some(directory.join("pki")),
            any_host: true,
            ..ClientSecurity::default()
        },
        ..ClientOptions::named("Test")
    }
}

fn start(directory: &Path, cell: &Arc<Cell>) -> Provider {
    Provider::builder("Resumed")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .serve(ServeOptions {
            runtime_directory: Some(directory.join("runtime")),
            security: EndpointSecurity {
                certificates: Some(directory.join("pki")),
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .variable(Variable::cell("Count", cell))
        .start()
        .unwrap()
}

/// Sets the numbers of `range` one by one, slowly enough to be sampled each.
fn count(cell: &Cell, range: std::ops::Range<u32>) {
    for number in range {
        let value = f64::from(number);
        cell.set_f64(value, StatusCode::Good, DateTime::now())
            .unwrap();
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the next values up to `last`. Errors of the connection are passed over.
fn values(subscription: &mut Subscription, last: f64) -> (Vec<f64>, usize) {
    let (mut values, mut errors) = (Vec::new(), 0);
    let begin = Instant::now();
    while values.last() != Some(&last) {
        assert!(begin.elapsed() < PATIENCE, "{values:?}");
        match subscription.next(Duration::from_millis(100)) {
            Ok(Some(change)) => match change.value.value {
                Some(Variant::Double(value)) => values.push(value),
                other => panic!("{other:?}"),
            },
            Ok(None) => {}
            Err(ClientError::Closed { .. }) => errors += 1,
            Err(error) => panic!("{error}"),
        }
    }
    (values, errors)
}

fn resumes(security: &str) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let cell = Arc::new(Cell::of(&Variant::Double(0.0)));
    let provider = start(directory.path(), &cell);
    let relay = Relay::start(&provider.endpoints()[1]);
    let client = Client::connect(&relay.endpoint, options(directory.path(), security)).unwrap();
    let first = client.epoch();
    let every = Duration::from_millis(10);
    let mut subscription = Subscription::create(
        client,
        SubscriptionOptions {
            publishing_interval: every,
            ..SubscriptionOptions::default()
        },
    )
    .unwrap();
    let item = MonitoredItemOptions {
        sampling_interval: every,
        queue_size: 100,
        ..MonitoredItemOptions::default()
    };
    subscription
        .monitor(&NodeId::string(1, "Count"), item)
        .unwrap();
    assert_eq!(values(&mut subscription, 0.0).0, [0.0]);
    for round in 0..3_u32 {
        let begin = round * 20;
        count(&cell, begin + 1..begin + 10);
        relay.cut();
        count(&cell, begin + 10..begin + 21);
        let expected: Vec<f64> = (begin + 1..begin + 21).map(f64::from).collect();
        let (values, errors) = values(&mut subscription, f64::from(begin + 20));
        assert_eq!(values, expected);
        assert_eq!(errors, 1, "the loss is reported once");
        assert!(subscription.client().is_connected());
    }
    assert_eq!(subscription.client().epoch(), first, "one session");
    assert_eq!(subscription.lost_messages(), 0);
}

#[test]
fn a_subscription_goes_on_after_its_connection_was_cut() {
    resumes("none");
}

#[test]
fn a_subscription_goes_on_over_a_secured_channel() {
    resumes("encrypt");
}

#[test]
fn a_session_that_the_server_has_lost_is_replaced() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let cell = Arc::new(Cell::of(&Variant::Double(7.0)));
    let provider = start(directory.path(), &cell);
    let relay = Relay::start(&provider.endpoints()[1]);
    let mut options = options(directory.path(), "none");
    // The server keeps a session for a second at least.
    options.session_timeout = Duration::from_millis(1);
    let client = Client::connect(&relay.endpoint, options).unwrap();
    let first = client.epoch();
    let mut subscription = Subscription::create(client, SubscriptionOptions::default()).unwrap();
    let node = NodeId::string(1, "Count");
    subscription
        .monitor(&node, MonitoredItemOptions::default())
        .unwrap();
    assert_eq!(values(&mut subscription, 7.0).0, [7.0]);
    relay.cut();
    thread::sleep(Duration::from_secs(3));
    cell.set_f64(8.0, StatusCode::Good, DateTime::now())
        .unwrap();
    let (values, _) = values(&mut subscription, 8.0);
    assert_eq!(values, [8.0]);
    assert_eq!(subscription.client().epoch(), first + 1);
}

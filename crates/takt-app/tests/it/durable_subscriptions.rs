//! Durable Subscriptions go on after a restart of their server.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::client::Client;
use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{Cell, ClientOptions, ClientSecurity, Provider, Variable};
use takt_registry::{Registry, RegistryOptions};
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{DateTime, NodeId, StatusCode, ids};

const PATIENCE: Duration = Duration::from_secs(30);
const VALUE: u32 = 13;

fn start(directory: &Path) -> Provider {
    Provider::builder("Press")
        .without_registry()
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(Variable::stored("Count", 0_u32).writable())
        .serve(ServeOptions {
            runtime_directory: Some(directory.join("runtime")),
            security: EndpointSecurity {
                certificates: Some(directory.join("pki")),
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        })
        .state_directory(directory.join("state"))
        .start()
        .unwrap()
}

/// A restored Subscription is sampled before any client connects.
#[test]
fn values_are_sampled_from_the_start_on() {
    let directory = tempfile::tempdir().unwrap();
    let start = |cell: &Arc<Cell>| {
        Provider::builder("Press")
            .without_registry()
            .endpoint("opc.tcp://127.0.0.1:0")
            .variable(Variable::cell("Count", cell))
            .serve(ServeOptions {
                runtime_directory: Some(directory.path().join("runtime")),
                ..ServeOptions::default()
            })
            .state_directory(directory.path().join("state"))
            .start()
            .unwrap()
    };
    let set = |cell: &Cell, number: u32| {
        let now = DateTime::now();
        cell.set(&number.into(), StatusCode::Good, now).unwrap();
    };
    let cell = Arc::new(Cell::of(&0_u32.into()));
    let provider = start(&cell);
    let mut client = connect(&provider, directory.path(), true);
    let id = subscribe(&mut client, count());
    receive(&mut client, 0);
    client.disconnect();
    drop(client);
    drop(provider);

    let provider = start(&cell);
    // Each value lasts for many sampling intervals, so that a loaded machine samples some of them.
    for number in 1..=20 {
        set(&cell, number);
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut client = connect(&provider, directory.path(), true);
    take_over(&mut client, id);
    let (values, _) = receive(&mut client, 20);
    assert!(values.len() > 2, "{values:?}");
}

fn connect(provider: &Provider, directory: &Path, is_shared_memory: bool) -> Client {
    let mut endpoints = provider.endpoints().iter();
    let endpoint = endpoints.find(|one| one.is_shared_memory() == is_shared_memory);
    let options = ClientOptions {
        runtime_directory: Some(directory.join("runtime")),
        timeout: PATIENCE,
        // Over TCP, only a secured channel proves the application of an anonymous user.
        security: ClientSecurity {
            choice: if is_shared_memory { "none" } else { "encrypt" }
                .parse()
                .unwrap(),
            certificates: Some(directory.join("pki")),
            ..ClientSecurity::default()
        },
        ..ClientOptions::named("test")
    };
    Client::connect(endpoint.unwrap(), options).unwrap()
}

fn count() -> NodeId {
    NodeId::string(1, "Count")
}

/// Creates a durable Subscription with one item.
fn subscribe(client: &mut Client, node_id: NodeId) -> u32 {
    let created = client.call(CreateSubscriptionRequest {
        requested_publishing_interval: 20.0,
        requested_lifetime_count: 100,
        requested_max_keep_alive_count: 10,
        publishing_enabled: true,
        ..CreateSubscriptionRequest::default()
    });
    let id = created.unwrap().subscription_id;
    let durable = client.call(CallRequest {
        methods_to_call: vec![CallMethodRequest {
            object_id: ids::SERVER.into(),
            method_id: ids::SERVER_SET_SUBSCRIPTION_DURABLE.into(),
            input_arguments: vec![id.into(), 1_u32.into()],
        }],
        ..CallRequest::default()
    });
    assert_eq!(durable.unwrap().results[0].status_code, StatusCode::Good);
    let monitored = client.call(CreateMonitoredItemsRequest {
        subscription_id: id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_create: vec![MonitoredItemCreateRequest {
            item_to_monitor: ReadValueId {
                node_id,
                attribute_id: VALUE,
                ..ReadValueId::default()
            },
            monitoring_mode: MonitoringMode::Reporting,
            requested_parameters: MonitoringParameters {
                client_handle: 7,
                queue_size: 1000,
                discard_oldest: true,
                ..MonitoringParameters::default()
            },
        }],
        ..CreateMonitoredItemsRequest::default()
    });
    assert_eq!(monitored.unwrap().results[0].status_code, StatusCode::Good);
    id
}

/// Receives messages until one has the value `last`. Returns the values, and the sequence numbers of the messages.
fn receive(client: &mut Client, last: u32) -> (Vec<u32>, Vec<u32>) {
    let (mut values, mut numbers) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    while values.last() != Some(&last) {
        assert!(begin.elapsed() < PATIENCE, "{values:?}");
        let published = client.call(PublishRequest::default()).unwrap();
        let message = published.notification_message;
        for data in &message.notification_data {
            let change: DataChangeNotification = data.decode_as().unwrap();
            numbers.push(message.sequence_number);
            for item in change.monitored_items {
                assert_eq!(item.client_handle, 7);
                // Without a value, its source is away.
                if let Some(value) = item.value.value.and_then(|value| value.as_i64()) {
                    values.push(u32::try_from(value).unwrap());
                }
            }
        }
    }
    (values, numbers)
}

/// Transfers a Subscription to this client. Returns the numbers of the messages that are not acknowledged.
fn take_over(client: &mut Client, id: u32) -> Vec<u32> {
    let transferred = client.call(TransferSubscriptionsRequest {
        subscription_ids: vec![id],
        ..TransferSubscriptionsRequest::default()
    });
    let transferred = transferred.unwrap().results.remove(0);
    assert_eq!(transferred.status_code, StatusCode::Good);
    transferred.available_sequence_numbers
}

fn restart(is_shared_memory: bool) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state/Press.subscriptions");
    let provider = start(directory.path());
    let mut client = connect(&provider, directory.path(), is_shared_memory);
    let id = subscribe(&mut client, count());
    client.write(&count(), 1_u32.into()).unwrap();
    let (values, before) = receive(&mut client, 1);
    assert_eq!(values.last(), Some(&1));
    // Nobody receives these.
    for number in 2..=50_u32 {
        client.write(&count(), number.into()).unwrap();
    }
    client.disconnect();
    drop(client);
    drop(provider);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let provider = start(directory.path());
    assert!(file.exists(), "a crash would lose these values");
    let mut client = connect(&provider, directory.path(), is_shared_memory);
    assert_eq!(take_over(&mut client, id), before);
    client.write(&count(), 100_u32.into()).unwrap();
    let (values, after) = receive(&mut client, 100);
    // The new Provider starts with 0.
    let expected: Vec<u32> = (2..=50).chain([0, 100]).collect();
    assert_eq!(values, expected);
    assert_eq!(after[0], before[before.len() - 1] + 1);
}

/// Waits until a file has changed, and returns its content.
fn changed(file: &Path, before: &[u8]) -> Vec<u8> {
    let begin = Instant::now();
    loop {
        match std::fs::read(file) {
            Ok(content) if content != before => return content,
            _ => assert!(begin.elapsed() < PATIENCE, "{} stays", file.display()),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn after_a_crash() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state/Press.subscriptions");
    let provider = start(directory.path());
    let mut client = connect(&provider, directory.path(), true);
    assert!(!file.exists());
    let id = subscribe(&mut client, count());
    let (values, numbers) = receive(&mut client, 0);
    assert_eq!(values, [0]);
    // Soon after it was created, and again after some seconds.
    let first = changed(&file, &[]);
    for number in 1..=20_u32 {
        client.write(&count(), number.into()).unwrap();
    }
    let crashed = changed(&file, &first);
    let (values, _) = receive(&mut client, 20);
    assert_eq!(values, (1..=20).collect::<Vec<_>>());
    drop(client);
    drop(provider);
    // What a crash leaves: the file that was written while the Provider served.
    std::fs::write(&file, crashed).unwrap();

    let provider = start(directory.path());
    let mut client = connect(&provider, directory.path(), true);
    take_over(&mut client, id);
    client.write(&count(), 100_u32.into()).unwrap();
    let (values, after) = receive(&mut client, 100);
    // Those that the client has received are repeated. The new Provider starts with 0.
    let expected: Vec<u32> = (1..=20).chain([0, 100]).collect();
    assert_eq!(values, expected);
    assert!(after[0] > numbers[0] + 1_000_000, "{after:?}");
    // The end of the Subscription is noted, too.
    let deleted = client.call(DeleteSubscriptionsRequest {
        subscription_ids: vec![id],
        ..DeleteSubscriptionsRequest::default()
    });
    assert_eq!(deleted.unwrap().results, [StatusCode::Good]);
    let begin = Instant::now();
    while file.exists() {
        assert!(begin.elapsed() < PATIENCE, "the file stays");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn over_tcp() {
    restart(false);
}

#[test]
fn over_shared_memory() {
    restart(true);
}

#[test]
fn at_a_registry() {
    let directory = tempfile::tempdir().unwrap();
    let serve = || ServeOptions {
        runtime_directory: Some(directory.path().join("runtime")),
        ..ServeOptions::default()
    };
    let registry = || {
        Registry::start(RegistryOptions {
            endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
            database: directory.path().join("registry.redb"),
            serve: serve(),
            ..RegistryOptions::default()
        })
        .unwrap()
    };
    let first = registry();
    let _provider = Provider::builder("Press")
        .variable(Variable::stored("Count", 0_u32).writable())
        .serve(serve())
        .state_directory(directory.path().join("state"))
        .start()
        .unwrap();
    let connect = |registry: &Registry| {
        let options = ClientOptions {
            runtime_directory: Some(directory.path().join("runtime")),
            timeout: PATIENCE,
            ..ClientOptions::named("test")
        };
        Client::connect(&registry.endpoints()[0], options).unwrap()
    };
    let mut client = connect(&first);
    let begin = Instant::now();
    let node = loop {
        assert!(begin.elapsed() < PATIENCE, "the Provider is not registered");
        match client.find("Press/Count") {
            Ok(found) => break found.node_id.node_id,
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let id = subscribe(&mut client, node.clone());
    let (values, before) = receive(&mut client, 0);
    assert_eq!(values, [0]);
    client.disconnect();
    drop(client);
    drop(first);
    assert!(directory.path().join("registry.subscriptions").exists());

    let second = registry();
    let mut client = connect(&second);
    assert_eq!(take_over(&mut client, id), before);
    let begin = Instant::now();
    while client.write(&node, 1_u32.into()).is_err() {
        assert!(
            begin.elapsed() < PATIENCE,
            "the Provider does not come back"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // Until the Provider is there again, its last value is not live.
    receive(&mut client, 1);
}

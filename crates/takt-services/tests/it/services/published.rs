//! Published current values, and maxAge for a callback whose last value is kept (OPC 10000-4, 5.11.2.2).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use takt_cell::Cell;
use takt_services::Server;
use takt_space::{Value, ValueSource, access_level};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{ReadRequest, ReadResponse, ReadValueId};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant};

use crate::common::{Client, VALUE, read_id, server};

/// A source whose value is the number of its reads.
#[derive(Default)]
struct Counter(AtomicU32);

impl ValueSource for Counter {
    fn read(&self) -> DataValue {
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        DataValue::good(vec![count; 3])
    }

    fn write(&self, value: &DataValue) -> StatusCode {
        match &value.value {
            Some(Variant::Array(_)) => StatusCode::Good,
            _ => StatusCode::BadTypeMismatch,
        }
    }
}

/// Returns a server with a Variable that counts its reads, cached or not.
fn counting(capacity: Option<usize>) -> (Arc<Server>, NodeId) {
    let server = server();
    let mut value = Value::Callback(Arc::new(Counter::default()));
    if let Some(capacity) = capacity {
        value = value.publish_current(capacity).unwrap();
    }
    let space = server.address_space();
    let node = space.add_variable("count").array(3).value(value).writable();
    let node = node.add().unwrap();
    (server, node)
}

fn read(client: &mut Client, max_age: f64, nodes_to_read: Vec<ReadValueId>) -> Vec<DataValue> {
    let request = ReadRequest {
        request_header: client.header(),
        max_age,
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read,
    };
    client.call::<_, ReadResponse>(request).unwrap().results
}

fn count_of(value: &DataValue) -> u32 {
    match value.value.clone().unwrap() {
        Variant::Array(array) => match array.elements {
            takt_ua::Elements::UInt32(elements) => elements[0],
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Returns the count that a Read with this maxAge in milliseconds returns.
fn count(client: &mut Client, node: &NodeId, max_age: f64) -> u32 {
    count_of(&read(client, max_age, vec![read_id(node.clone(), VALUE)])[0])
}

/// One minute in milliseconds, which is longer than a test takes.
const MINUTE: f64 = 60_000.0;

#[test]
fn a_value_within_max_age_is_not_requested_again() {
    let (server, node) = counting(Some(64));
    let mut client = Client::new(&server);
    let mut count = |max_age| count(&mut client, &node, max_age);
    assert_eq!(count(2_147_483_647.0), 1, "there is none yet");
    assert_eq!(count(2_147_483_647.0), 1);
    assert_eq!(count(f64::INFINITY), 1);
    assert_eq!(count(MINUTE), 1);
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(count(1.0), 2, "too old");
    assert_eq!(count(0.0), 3, "a new one is wanted");
    assert_eq!(count(0.0), 4);
    assert_eq!(count(MINUTE), 4);
}

#[test]
fn the_last_value_keeps_its_timestamps() {
    let (server, node) = counting(Some(64));
    let mut client = Client::new(&server);
    let item = || read_id(node.clone(), VALUE);
    let first = read(&mut client, 0.0, vec![item()]).remove(0);
    assert!(first.server_timestamp.unwrap() <= DateTime::now());
    std::thread::sleep(std::time::Duration::from_millis(2));
    // The value is read twice in one request, in part, and without timestamps.
    for again in read(&mut client, MINUTE, vec![item(), item()]) {
        assert_eq!(again, first);
    }
    let part = ReadValueId {
        index_range: "1".into(),
        ..item()
    };
    let part = read(&mut client, MINUTE, vec![part]).remove(0);
    assert_eq!(part.value, Some(Variant::from(vec![1_u32])));
    assert_eq!(part.server_timestamp, first.server_timestamp);
    let request = ReadRequest {
        request_header: client.header(),
        max_age: MINUTE,
        timestamps_to_return: TimestampsToReturn::Neither,
        nodes_to_read: vec![item()],
    };
    let bare = client.call::<_, ReadResponse>(request).unwrap().results;
    assert_eq!(
        bare,
        [DataValue {
            value: first.value,
            ..DataValue::default()
        }]
    );
}

#[test]
fn one_request_calls_a_callback_once() {
    let (server, node) = counting(Some(64));
    let mut client = Client::new(&server);
    let items = vec![read_id(node, VALUE); 3];
    let values = read(&mut client, MINUTE, items);
    let counts: Vec<_> = values.iter().map(count_of).collect();
    assert_eq!(counts, [1, 1, 1]);
}

#[test]
fn callbacks_without_cache_are_called_for_each_read() {
    // Nothing is kept, or the value is larger than the capacity.
    for capacity in [None, Some(10)] {
        let (server, node) = counting(capacity);
        let mut client = Client::new(&server);
        for expected in 1..4 {
            assert_eq!(count(&mut client, &node, f64::INFINITY), expected);
        }
    }
}

#[test]
fn a_read_after_a_write_calls_the_source() {
    let (server, node) = counting(Some(64));
    let mut client = Client::new(&server);
    assert_eq!(count(&mut client, &node, MINUTE), 1);
    assert_eq!(
        client.write_value(node.clone(), vec![0_u32; 3]),
        StatusCode::Good
    );
    assert_eq!(count(&mut client, &node, MINUTE), 2);
    assert_eq!(count(&mut client, &node, MINUTE), 2);
}

#[test]
fn published_values_are_found_only_if_readable() {
    let server = server();
    let client = Client::new(&server);
    let space = server.address_space();
    let shared = Cell::of(&Variant::from(1_u32)).share().unwrap();
    let shared = Arc::new(shared);
    let callback = || Value::callback(|| DataValue::good(1_u32));
    let published = |value: Value| value.publish_current(64).unwrap();
    let values = [
        ("cell", true, Value::Cell(Arc::clone(&shared))),
        ("stored", true, published(Value::stored("text"))),
        ("callback", true, published(callback())),
        ("own cell", false, Value::Cell(Arc::new(Cell::new(8)))),
        ("own stored", false, Value::stored("text")),
        ("own callback", false, callback()),
    ];
    for (name, is_published, value) in values {
        let node = space.add_variable(name).value(value.clone()).add().unwrap();
        let location = server.shared_cell(&client.connection, &node.as_ref());
        assert_eq!(location.is_some(), is_published, "{name}");
        let hidden = space
            .add_variable(format!("hidden {name}").as_str())
            .value(value)
            .access_level(access_level::CURRENT_WRITE)
            .add()
            .unwrap();
        assert_eq!(
            server.shared_cell(&client.connection, &hidden.as_ref()),
            None,
            "{name}"
        );
    }
    assert_eq!(
        server.shared_cell(&client.connection, &NodeId::NULL.as_ref()),
        None
    );
}

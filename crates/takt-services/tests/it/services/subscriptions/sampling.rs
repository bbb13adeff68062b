//! Sampling: its values, its rate, and the queues (OPC 10000-4, 5.13.1).

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::common::{builder, server};
use takt_cell::Cell;
use takt_space::{RemoteRequest, RemoteResults, RemoteSource, RemoteValue, SourceKey};
use takt_ua::DateTime;

// InfoType DataValue, with the bit Overflow (OPC 10000-4, 7.39.1).
const OVERFLOW: u32 = 0x480;

#[test]
fn cells_are_sampled() {
    let server = server();
    let cell = Arc::new(Cell::of(&Variant::from(1.0_f64)));
    let node = variable(&server, "cell", &Value::Cell(Arc::clone(&cell)));
    let mut subscriber = Subscriber::new(&server);
    let mut fast = item(&node, 1, 10);
    fast.requested_parameters.sampling_interval = 10.0;
    let created = subscriber.monitor(vec![fast]).unwrap().remove(0);
    assert_eq!(created.revised_sampling_interval, 10.0);
    subscriber.send_publish(&[]).unwrap();
    for number in 2..6_u32 {
        subscriber.wait_for(Duration::from_millis(10));
        let value = Variant::from(f64::from(number));
        cell.set(&value, StatusCode::Good, DateTime::now()).unwrap();
    }
    subscriber.wait(1);
    let response = subscriber.published().unwrap().unwrap();
    let values: Vec<_> = changes(&response)
        .into_iter()
        .map(|(_, value)| value.value.unwrap().as_f64().unwrap())
        .collect();
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let set = cell.set_status(StatusCode::BadSensorFailure, DateTime::now());
    set.unwrap();
    let failed = subscriber.changes().remove(0).1;
    assert_eq!(failed.status_code(), StatusCode::BadSensorFailure);
    assert_eq!(failed.value, None);
}

#[test]
fn each_sample_of_a_callback_is_the_last_value_for_others() {
    let server = server();
    let count = AtomicU32::new(0);
    let value = Value::callback(move || DataValue::good(count.fetch_add(1, Ordering::Relaxed) + 1));
    let value = value.publish_current(16).unwrap();
    let node = variable(&server, "callback", &value);
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 1, 10);
    let (_, sampled) = subscriber.changes().pop().unwrap();
    let read = ReadRequest {
        request_header: subscriber.client.header(),
        max_age: 60_000.0,
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: vec![read_id(node, VALUE)],
    };
    let read: ReadResponse = subscriber.client.call(read).unwrap();
    assert_eq!(read.results, [sampled]);
}

#[test]
fn an_item_is_sampled_once_at_its_start() {
    let server = server();
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let value =
        Value::callback(move || DataValue::good(counter.fetch_add(1, Ordering::Relaxed) + 1));
    let node = variable(&server, "callback", &value);
    let mut subscriber = Subscriber::new(&server);
    let mut slow = item(&node, 1, 10);
    slow.requested_parameters.sampling_interval = 1000.0;
    subscriber.monitor(vec![slow]).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 1);
    // The first message is sent after 100 ms.
    subscriber.wait(4);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    subscriber.wait(10);
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[test]
fn intervals_and_queues_are_revised() {
    let server = server();
    let stored = variable(&server, "stored", &Value::stored(1_u32));
    let callback = Value::callback(|| DataValue::good(1_u32));
    let callback = variable(&server, "callback", &callback);
    let mut subscriber = Subscriber::new(&server);
    let mut revised = |node: &NodeId, interval, queue| {
        let mut item = item(node, 1, queue);
        item.requested_parameters.sampling_interval = interval;
        let created = subscriber.monitor(vec![item]).unwrap().remove(0);
        (
            created.revised_sampling_interval,
            created.revised_queue_size,
        )
    };
    assert_eq!(revised(&stored, 0.0, 0), (0.0, 1), "by exception");
    assert_eq!(revised(&stored, -1.0, 5), (100.0, 5));
    assert_eq!(
        revised(&callback, 0.0, 1),
        (100.0, 1),
        "just before publishing"
    );
    assert_eq!(
        revised(&callback, 0.0, 2),
        (50.0, 2),
        "as fast as is practical"
    );
    assert_eq!(revised(&callback, 0.01, u32::MAX), (1.0, 10_000));
    assert_eq!(revised(&callback, f64::NAN, 1), (100.0, 1));
    assert_eq!(revised(&callback, 1e300, 1).0, 3_600_000.0);
}

#[test]
fn a_queue_overflow_is_reported() {
    let server = server();
    let value = Value::stored(0_u32);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 1, 2);
    for number in 1..5_u32 {
        set(&value, number);
    }
    let changes = subscriber.changes();
    let seen: Vec<_> = changes
        .iter()
        .map(|(_, value)| (value.value.clone().unwrap(), value.status_code().0))
        .collect();
    assert_eq!(
        seen,
        [(Variant::from(3_u32), OVERFLOW), (Variant::from(4_u32), 0)]
    );
}

#[test]
fn attributes_index_ranges_and_deleted_nodes() {
    let server = server();
    let value = Value::stored(vec![1_u32, 2, 3]);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    let mut name = item(&node, 1, 1);
    name.item_to_monitor.attribute_id = 4;
    let mut part = item(&node, 2, 10);
    part.item_to_monitor.index_range = "1".into();
    subscriber.monitor(vec![name, part]).unwrap();
    set(&value, vec![1_u32, 7]);
    let changes = subscriber.values();
    let part = |value| (2, Variant::from(vec![value]));
    let mut parts: Vec<_> = changes.iter().filter(|(handle, _)| *handle == 2).collect();
    assert_eq!(parts.remove(0), &part(2_u32));
    assert_eq!(parts.remove(0), &part(7_u32));
    assert!(changes.iter().any(|(handle, value)| {
        *handle == 1 && *value == Variant::from(takt_ua::LocalizedText::from("a"))
    }));

    server
        .address_space()
        .edit()
        .delete_node(&node, true)
        .unwrap();
    let gone = subscriber.changes();
    assert!(
        gone.iter()
            .all(|(_, value)| value.status_code() == StatusCode::BadNodeIdUnknown)
    );
    assert_eq!(gone.len(), 2);
}

#[test]
fn a_replaced_source_is_noticed() {
    let server = server();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&node, 1, 10);
    subscriber.values();
    let other = Value::stored(2_u32);
    let space = server.address_space();
    space.set_value(&node, other.clone()).unwrap();
    assert_eq!(subscriber.values(), [(1, Variant::from(2_u32))]);
    set(&other, 3_u32);
    assert_eq!(subscriber.values(), [(1, Variant::from(3_u32))]);
}

/// Remote source that counts the items of each request.
#[derive(Default)]
struct Elsewhere {
    key: SourceKey,
    asked: Mutex<Vec<usize>>,
}

impl RemoteSource for Elsewhere {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        let mut asked = self.asked.lock().unwrap();
        let count = request.operations.len();
        asked.push(count);
        let value = DataValue::good(u32::try_from(asked.len()).unwrap());
        let values = RemoteResults::Read(vec![value; count]);
        // Like the answer of another server, it comes from another thread.
        std::thread::spawn(move || request.reply.answer(values));
    }
}

#[test]
fn values_of_another_server_are_asked_for_together() {
    let server = server();
    let elsewhere = Arc::new(Elsewhere::default());
    let remote = || {
        Value::Remote(RemoteValue {
            source: Arc::clone(&elsewhere) as Arc<dyn RemoteSource>,
            node_id: NodeId::string(1, "there"),
            callback: None,
        })
    };
    let nodes = ["a", "b", "c"].map(|name| variable(&server, name, &remote()));
    let mut subscriber = Subscriber::new(&server);
    let mut items: Vec<_> = nodes.iter().map(|node| item(node, 1, 10)).collect();
    items[0].requested_parameters.sampling_interval = 1.0;
    let created = subscriber.monitor(items).unwrap();
    assert_eq!(created[0].revised_sampling_interval, 100.0);
    let mut seen = Vec::new();
    // Another thread delivers the answers.
    while seen.len() < 6 {
        std::thread::sleep(Duration::from_millis(5));
        seen.extend(subscriber.values());
    }
    assert!(seen.contains(&(1, Variant::from(1_u32))));
    assert!(seen.contains(&(1, Variant::from(2_u32))));
    let asked = elsewhere.asked.lock().unwrap();
    assert!(asked.iter().all(|count| *count == 3), "{asked:?}");
}

#[test]
fn a_value_larger_than_any_message_is_replaced_by_a_status() {
    let budgets = takt_services::ServerBudgets {
        max_response_size: 200 << 10,
        ..takt_services::ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let (large, small) = (Value::stored(1_u32), Value::stored(1_u32));
    let nodes = [
        variable(&server, "large", &large),
        variable(&server, "small", &small),
    ];
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch(&nodes[0], 1, 10);
    subscriber.watch(&nodes[1], 2, 10);
    subscriber.values();
    set(&large, "x".repeat(300_000).as_str());
    set(&small, 2_u32);
    let changes = subscriber.changes();
    assert_eq!(
        changes[0].1.status_code(),
        StatusCode::BadEncodingLimitsExceeded
    );
    assert_eq!(changes[1].1.value, Some(Variant::from(2_u32)));
}

#[test]
fn a_thousand_variables_set_a_hundred_times_each_arrive_without_loss() {
    let server = server();
    let values: Vec<_> = (0..1000).map(|_| Value::stored(0_u32)).collect();
    let mut subscriber = Subscriber::new(&server);
    let items = values.iter().zip(0..).map(|(value, handle)| {
        let node = variable(&server, &format!("v{handle}"), value);
        item(&node, handle, 50)
    });
    let items = items.collect();
    subscriber.monitor(items).unwrap();
    let mut last = vec![None; values.len()];
    let mut total = 0;
    for round in 0..10_u32 {
        for _ in 0..4 {
            subscriber.send_publish(&[]).unwrap();
        }
        subscriber.wait(1);
        for step in 1..=10_u32 {
            for value in &values {
                set(value, round * 10 + step);
            }
        }
        while let Some(response) = subscriber.published() {
            for (handle, value) in changes(&response.unwrap()) {
                let Some(Variant::UInt32(value)) = value.value else {
                    panic!("a number");
                };
                let last = &mut last[usize::try_from(handle).unwrap()];
                let expected = last.map_or(0, |last: u32| last + 1);
                assert_eq!(value, expected);
                *last = Some(value);
                total += 1;
            }
        }
    }
    assert!(total > 80_000, "{total}");
}

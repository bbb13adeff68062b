//! The MonitoredItem Service Set (OPC 10000-4, 5.13).

use std::sync::Mutex;

use super::*;
use crate::common::{builder, server};
use takt_cell::Cell;
use takt_services::{RemoteRead, RemoteSource, RemoteValue, access_level};
use takt_ua::{DateTime, ids};

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
fn a_queue_that_overflows_says_so() {
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
fn filters_and_what_they_are_refused_for() {
    let server = server();
    let number = Value::stored(10.0_f64);
    let space = server.address_space();
    let analog = space
        .add_variable("analog")
        .data_type(ids::DOUBLE)
        .value(number.clone())
        .add()
        .unwrap();
    let range = ExtensionObject::from_structure(&Range {
        low: 0.0,
        high: 200.0,
    });
    space
        .add_variable(takt_ua::QualifiedName::new(0, "EURange"))
        .data_type(ids::RANGE)
        .property_of(analog.clone())
        .value(Value::stored(range))
        .add()
        .unwrap();
    let text = space
        .add_variable("text")
        .data_type(ids::STRING)
        .value(Value::stored("a"))
        .add()
        .unwrap();
    let mut subscriber = Subscriber::new(&server);
    let trigger = DataChangeTrigger::StatusValue;
    let mut status = |item: MonitoredItemCreateRequest| {
        subscriber
            .monitor(vec![item])
            .unwrap()
            .remove(0)
            .status_code
    };
    use DeadbandType as Kind;
    for (node, kind, value, expected) in [
        (
            &analog,
            Kind::Absolute,
            -1.0,
            StatusCode::BadDeadbandFilterInvalid,
        ),
        (
            &analog,
            Kind::Percent,
            101.0,
            StatusCode::BadDeadbandFilterInvalid,
        ),
        (
            &analog,
            DeadbandType(9),
            1.0,
            StatusCode::BadMonitoredItemFilterInvalid,
        ),
        (&text, Kind::Absolute, 1.0, StatusCode::BadFilterNotAllowed),
        (&text, Kind::None, 1.0, StatusCode::Good),
    ] {
        assert_eq!(status(filtered(node, trigger, kind, value)), expected);
    }
    let mut event = item(&analog, 1, 1);
    let filter = ExtensionObject::from_structure(&EventFilter::default());
    event.requested_parameters.filter = filter;
    assert_eq!(status(event), StatusCode::BadMonitoredItemFilterUnsupported);

    // 5 % of 200 is 10.
    let mut subscriber = Subscriber::new(&server);
    let percent = filtered(&analog, trigger, DeadbandType::Percent, 5.0);
    assert!(
        subscriber.monitor(vec![percent]).unwrap()[0]
            .status_code
            .is_good()
    );
    for value in [15.0_f64, 20.0, 20.1, 11.0, 10.0] {
        set(&number, value);
    }
    let values = subscriber.values();
    let expected = [10.0_f64, 20.1, 10.0].map(|value| (1, Variant::from(value)));
    assert_eq!(values, expected);
}

#[test]
fn what_cannot_be_watched() {
    let server = server();
    let hidden = server
        .address_space()
        .add_variable("hidden")
        .access_level(access_level::CURRENT_WRITE)
        .value(Value::stored(1_u32))
        .add()
        .unwrap();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut subscriber = Subscriber::new(&server);
    let with = |change: &dyn Fn(&mut MonitoredItemCreateRequest)| {
        let mut item = item(&node, 1, 1);
        change(&mut item);
        item
    };
    let items = vec![
        with(&|item| item.item_to_monitor.node_id = NodeId::string(1, "nobody")),
        with(&|item| item.item_to_monitor.node_id = NodeId::NULL),
        with(&|item| item.item_to_monitor.attribute_id = 99),
        with(&|item| item.item_to_monitor.index_range = "3:1".into()),
        with(&|item| item.item_to_monitor.data_encoding = takt_ua::QualifiedName::new(0, "X")),
        with(&|item| item.monitoring_mode = MonitoringMode(7)),
        item(&hidden, 2, 1),
    ];
    let results = subscriber.monitor(items).unwrap();
    let statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
    assert_eq!(
        statuses,
        [
            StatusCode::BadNodeIdUnknown,
            StatusCode::BadNodeIdInvalid,
            StatusCode::BadAttributeIdInvalid,
            StatusCode::BadIndexRangeInvalid,
            StatusCode::BadDataEncodingInvalid,
            StatusCode::BadMonitoringModeInvalid,
            StatusCode::Good,
        ]
    );
    let changes = subscriber.changes();
    assert_eq!(changes[0].1.status_code(), StatusCode::BadNotReadable);
    assert_eq!(
        subscriber.monitor(Vec::new()),
        Err(StatusCode::BadNothingToDo)
    );
    subscriber.id = 999;
    assert_eq!(
        subscriber.monitor(vec![item(&node, 1, 1)]),
        Err(StatusCode::BadSubscriptionIdInvalid)
    );
}

#[test]
fn attributes_parts_and_nodes_that_go() {
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
fn another_source_is_noticed() {
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

fn set_mode(subscriber: &mut Subscriber, id: u32, monitoring_mode: MonitoringMode) {
    let request = SetMonitoringModeRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        monitoring_mode,
        monitored_item_ids: vec![id],
    };
    let response: SetMonitoringModeResponse = subscriber.client.call(request).unwrap();
    assert_eq!(response.results, [StatusCode::Good]);
}

#[test]
fn monitoring_modes() {
    let server = server();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    let id = subscriber.watch(&node, 1, 10).monitored_item_id;
    set_mode(&mut subscriber, id, MonitoringMode::Sampling);
    set(&value, 2_u32);
    assert!(subscriber.values().is_empty(), "sampled, not reported");
    set_mode(&mut subscriber, id, MonitoringMode::Reporting);
    assert_eq!(
        subscriber.values(),
        [(1, Variant::from(1_u32)), (1, Variant::from(2_u32))]
    );
    set_mode(&mut subscriber, id, MonitoringMode::Disabled);
    set(&value, 3_u32);
    set(&value, 4_u32);
    set_mode(&mut subscriber, id, MonitoringMode::Reporting);
    assert_eq!(
        subscriber.values(),
        [(1, Variant::from(4_u32))],
        "begins anew"
    );
}

#[test]
fn an_item_triggers_others() {
    let server = server();
    let (trigger, linked) = (Value::stored(1_u32), Value::stored(10_u32));
    let trigger_node = variable(&server, "trigger", &trigger);
    let linked_node = variable(&server, "linked", &linked);
    let mut subscriber = Subscriber::new(&server);
    let mut sampling = item(&linked_node, 2, 10);
    sampling.monitoring_mode = MonitoringMode::Sampling;
    let created = subscriber.monitor(vec![item(&trigger_node, 1, 10), sampling]);
    let ids: Vec<_> = created
        .unwrap()
        .iter()
        .map(|item| item.monitored_item_id)
        .collect();
    let link = |subscriber: &mut Subscriber, add: Vec<u32>, remove: Vec<u32>| {
        let request = SetTriggeringRequest {
            request_header: subscriber.client.header(),
            subscription_id: subscriber.id,
            triggering_item_id: ids[0],
            links_to_add: add,
            links_to_remove: remove,
        };
        let response: SetTriggeringResponse = subscriber.client.call(request).unwrap();
        (response.add_results, response.remove_results)
    };
    let unknown = StatusCode::BadMonitoredItemIdInvalid;
    assert_eq!(
        link(&mut subscriber, vec![ids[1], 99], vec![]),
        (vec![StatusCode::Good, unknown], vec![])
    );
    assert_eq!(subscriber.values(), [(1, Variant::from(1_u32))]);
    set(&linked, 11_u32);
    assert!(subscriber.values().is_empty());
    set(&trigger, 2_u32);
    assert_eq!(
        subscriber.values(),
        [
            (1, Variant::from(2_u32)),
            (2, Variant::from(10_u32)),
            (2, Variant::from(11_u32))
        ]
    );
    set(&linked, 12_u32);
    assert!(subscriber.values().is_empty(), "once for each trigger");
    assert_eq!(
        link(&mut subscriber, vec![], vec![ids[1], ids[1]]),
        (vec![], vec![StatusCode::Good, unknown])
    );
    set(&trigger, 3_u32);
    assert_eq!(subscriber.values(), [(1, Variant::from(3_u32))]);
}

#[test]
fn items_are_modified_and_deleted() {
    let server = server();
    let value = Value::stored(1_u32);
    let node = variable(&server, "a", &value);
    let mut subscriber = Subscriber::new(&server);
    let id = subscriber.watch(&node, 1, 1).monitored_item_id;
    subscriber.values();
    let request = ModifyMonitoredItemsRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        timestamps_to_return: TimestampsToReturn::Neither,
        items_to_modify: vec![MonitoredItemModifyRequest {
            monitored_item_id: id,
            requested_parameters: item(&node, 5, 3).requested_parameters,
        }],
    };
    let modified: ModifyMonitoredItemsResponse = subscriber.client.call(request).unwrap();
    assert_eq!(modified.results[0].revised_queue_size, 3);
    set(&value, 2_u32);
    set(&value, 3_u32);
    let changes = subscriber.changes();
    assert_eq!(changes.len(), 2);
    assert_eq!(
        changes[0],
        (5, DataValue::good(2_u32)).clone().with_no_status()
    );

    set(&value, 4_u32);
    let request = DeleteMonitoredItemsRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        monitored_item_ids: vec![id, id],
    };
    let deleted: DeleteMonitoredItemsResponse = subscriber.client.call(request).unwrap();
    assert_eq!(
        deleted.results,
        [StatusCode::Good, StatusCode::BadMonitoredItemIdInvalid]
    );
    set(&value, 5_u32);
    assert!(subscriber.changes().is_empty());
}

/// A change without a StatusCode, which a DataValue leaves out when it is Good.
trait WithoutStatus {
    fn with_no_status(self) -> Self;
}

impl WithoutStatus for (u32, DataValue) {
    fn with_no_status(mut self) -> Self {
        self.1.status = None;
        self
    }
}

/// A server that counts how often it is asked.
#[derive(Default)]
struct Elsewhere(Mutex<Vec<usize>>);

impl RemoteSource for Elsewhere {
    fn key(&self) -> u64 {
        1
    }

    fn read(&self, items: &[RemoteRead], _: Duration) -> Vec<DataValue> {
        let mut asked = self.0.lock().unwrap();
        asked.push(items.len());
        vec![DataValue::good(u32::try_from(asked.len()).unwrap()); items.len()]
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
        })
    };
    let nodes = ["a", "b", "c"].map(|name| variable(&server, name, &remote()));
    let mut subscriber = Subscriber::new(&server);
    let mut items: Vec<_> = nodes.iter().map(|node| item(node, 1, 10)).collect();
    items[0].requested_parameters.sampling_interval = 1.0;
    let created = subscriber.monitor(items).unwrap();
    assert_eq!(created[0].revised_sampling_interval, 100.0);
    let mut seen = Vec::new();
    // The answers come from another thread.
    while seen.len() < 6 {
        std::thread::sleep(Duration::from_millis(5));
        seen.extend(subscriber.values());
    }
    assert!(seen.contains(&(1, Variant::from(1_u32))));
    assert!(seen.contains(&(1, Variant::from(2_u32))));
    let asked = elsewhere.0.lock().unwrap();
    assert!(asked.iter().all(|count| *count == 3), "{asked:?}");
}

#[test]
fn a_value_that_no_message_can_hold_is_not_waited_for() {
    let limits = takt_services::ServerLimits {
        max_response_size: 200 << 10,
        ..takt_services::ServerLimits::default()
    };
    let server = builder().limits(limits).build().unwrap();
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
fn the_number_of_items_is_limited() {
    let limits = takt_services::ServerLimits {
        subscriptions: takt_services::SubscriptionLimits {
            max_monitored_items_per_subscription: 3,
            ..takt_services::SubscriptionLimits::default()
        },
        ..takt_services::ServerLimits::default()
    };
    let server = builder().limits(limits).build().unwrap();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut subscriber = Subscriber::new(&server);
    let items = (0..5).map(|handle| item(&node, handle, 1)).collect();
    let results = subscriber.monitor(items).unwrap();
    let refused = results
        .iter()
        .filter(|result| result.status_code == StatusCode::BadTooManyMonitoredItems);
    assert_eq!(refused.count(), 2);
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

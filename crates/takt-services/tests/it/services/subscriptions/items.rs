//! The MonitoredItem Service Set (OPC 10000-4, 5.13).

use super::*;
use crate::common::{builder, server};
use takt_space::access_level;
use takt_ua::ids;

#[test]
fn filters_and_their_errors() {
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
    assert_eq!(status(event), StatusCode::BadFilterNotAllowed);
    let aggregate = |attribute: u32| {
        let mut item = item(&analog, 1, 1);
        item.item_to_monitor.attribute_id = attribute;
        let filter = ExtensionObject::from_structure(&AggregateFilter::default());
        item.requested_parameters.filter = filter;
        item
    };
    let unsupported = StatusCode::BadMonitoredItemFilterUnsupported;
    assert_eq!(status(aggregate(VALUE)), unsupported);
    // DisplayName.
    assert_eq!(status(aggregate(4)), StatusCode::BadFilterNotAllowed);

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
fn invalid_monitored_items_are_refused() {
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

/// Removal of the StatusCode Good, which an encoded DataValue omits.
trait WithoutStatus {
    fn with_no_status(self) -> Self;
}

impl WithoutStatus for (u32, DataValue) {
    fn with_no_status(mut self) -> Self {
        self.1.status = None;
        self
    }
}

#[test]
fn the_number_of_items_is_limited() {
    let budgets = takt_services::ServerBudgets {
        subscriptions: takt_services::SubscriptionBudgets {
            max_monitored_items_per_subscription: 3,
            ..takt_services::SubscriptionBudgets::default()
        },
        ..takt_services::ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let node = variable(&server, "a", &Value::stored(1_u32));
    let mut subscriber = Subscriber::new(&server);
    let items = (0..5).map(|handle| item(&node, handle, 1)).collect();
    let results = subscriber.monitor(items).unwrap();
    let refused = results
        .iter()
        .filter(|result| result.status_code == StatusCode::BadTooManyMonitoredItems);
    assert_eq!(refused.count(), 2);
}

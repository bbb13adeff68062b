//! Fields of the Events of other servers, and the Events that are made of them.

use std::collections::HashSet;

use takt_app::EventQuery;
use takt_space::Event;
use takt_ua::{ByteString, NodeId, QualifiedName, Variant, ids};

use crate::forwarding::DeclaredField;

/// Largest number of EventIds that are kept until the end of a refresh, and their longest length in bytes.
const MOST_IDS: usize = 10_000;
const LONGEST_ID: usize = 64;

/// Fields that are forwarded from each server: those of the standard's EventTypes that are in use (OPC 10000-5, 6.4; OPC 10000-9, 5).
const FIELDS: [&str; 52] = [
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

/// Fields of the Events of one server, with its NamespaceIndexes.
#[derive(Debug, Clone)]
pub(super) struct EventFields {
    paths: Vec<Vec<QualifiedName>>,
    query: EventQuery,
}

impl EventFields {
    /// Selects the ConditionId, the standard's fields, and declared fields of the server, `most` at most.
    pub(super) fn new(declared: &[DeclaredField], most: usize) -> Self {
        let mut fields = Self {
            paths: Vec::with_capacity(FIELDS.len() + declared.len()),
            query: EventQuery::new(FIELDS).condition_id(),
        };
        fields.paths.extend(FIELDS.iter().map(|field| path(field)));
        // The place of the ConditionId.
        fields.paths.push(Vec::new());
        let room = most.saturating_sub(fields.paths.len());
        for field in declared.iter().take(room) {
            let DeclaredField { event_type, path } = field.clone();
            fields.paths.push(path.clone());
            fields.query = fields.query.declared_field(event_type, path);
        }
        fields
    }

    /// Returns the query for these fields.
    pub(super) fn query(&self) -> EventQuery {
        self.query.clone()
    }

    /// Returns the Event with these fields. Refreshes are answered by the registry itself, model changes are about nodes of the
    /// server, and audit Events stay there.
    pub(super) fn event_of(&self, values: &[Variant]) -> Option<Event> {
        let node = |name: &str| node_of(values, name);
        let event_type = node("EventType")?;
        if event_type.standard_id().is_some_and(stays_at_its_server) {
            return None;
        }
        let mut event = Event::new(event_type, node("SourceNode").unwrap_or_default());
        for (path, value) in self.paths.iter().zip(values) {
            match value {
                Variant::Empty => {}
                Variant::NodeId(condition) if path.is_empty() && !condition.is_null() => {
                    event = event.of_condition(NodeId::clone(condition));
                }
                _ if path.is_empty() => {}
                value => event.set(path.clone(), value.clone()),
            }
        }
        Some(event)
    }
}

fn path(field: &str) -> Vec<QualifiedName> {
    let names = field.split('/');
    names.map(|name| QualifiedName::new(0, name)).collect()
}

/// Returns true if a path is that of a field that is forwarded from each server.
pub(crate) fn is_standard_field(path: &[QualifiedName]) -> bool {
    let is_path = |field: &&str| {
        let names = path.iter().map(|name| name.name.as_str());
        path.iter().all(|name| name.namespace == 0) && field.split('/').eq(names)
    };
    FIELDS.iter().any(is_path)
}

/// Returns true for the standard's EventTypes whose Events are not forwarded.
fn stays_at_its_server(event_type: u32) -> bool {
    use takt_space::namespace0::Namespace0;
    matches!(
        event_type,
        ids::REFRESH_START_EVENT_TYPE
            | ids::REFRESH_END_EVENT_TYPE
            | ids::REFRESH_REQUIRED_EVENT_TYPE
    ) || [ids::AUDIT_EVENT_TYPE, ids::BASE_MODEL_CHANGE_EVENT_TYPE]
        .into_iter()
        .any(|kind| Namespace0::is_subtype_of(event_type, kind))
}

/// Returns the NodeId in one of the standard's fields.
fn node_of(values: &[Variant], name: &str) -> Option<NodeId> {
    let index = FIELDS.iter().position(|field| *field == name)?;
    match values.get(index) {
        Some(Variant::NodeId(node)) => Some(NodeId::clone(node)),
        _ => None,
    }
}

/// Events that were forwarded before the end of the first refresh. An Event that is reported meanwhile comes twice: by itself, and as the
/// state of its Condition.
#[derive(Debug, Default)]
pub(super) struct FirstEvents {
    ids: HashSet<ByteString>,
    is_refreshed: bool,
}

impl FirstEvents {
    /// Returns whether the first refresh has ended.
    pub(super) fn is_refreshed(&self) -> bool {
        self.is_refreshed
    }

    /// Notes that it has ended.
    pub(super) fn end(&mut self) {
        self.is_refreshed = true;
        self.ids = HashSet::new();
    }

    /// Returns true if the Event with these fields was forwarded before.
    pub(super) fn repeats(&mut self, values: &[Variant]) -> bool {
        let place = FIELDS.iter().position(|field| *field == "EventId");
        let id = place.and_then(|place| values.get(place));
        let Some(Variant::ByteString(id)) = id else {
            return false;
        };
        if self.is_refreshed || id.as_bytes().is_empty() || id.as_bytes().len() > LONGEST_ID {
            return false;
        }
        // A server that sends Events without end gets no more memory; then, some may come twice.
        match self.ids.len() < MOST_IDS {
            true => !self.ids.insert(id.clone()),
            false => self.ids.contains(id),
        }
    }
}

/// Returns true for the Event at the end of a refresh.
pub(super) fn ends_refresh(values: &[Variant]) -> bool {
    let event_type = node_of(values, "EventType");
    event_type.is_some_and(|node| node.standard_id() == Some(ids::REFRESH_END_EVENT_TYPE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> DeclaredField {
        DeclaredField {
            event_type: NodeId::numeric(2, 1),
            path: vec![QualifiedName::new(2, "Part")],
        }
    }

    #[test]
    fn declared_fields_follow_the_ones_of_the_standard() {
        let fields = EventFields::new(&[declared()], 256);
        let mut values = vec![Variant::Empty; FIELDS.len() + 2];
        values[1] = NodeId::numeric(2, 1).into();
        values[FIELDS.len()] = NodeId::numeric(3, 7).into();
        values[FIELDS.len() + 1] = "wheel".into();
        let event = fields.event_of(&values).unwrap();
        assert_eq!(event.condition(), &NodeId::numeric(3, 7));
        assert_eq!(event.get(&declared().path), Some(&"wheel".into()));
        let select = fields.query().filter().select_clauses;
        assert_eq!(select.len(), values.len());
        assert_eq!(select.last().unwrap().browse_path, declared().path);
        let few = EventFields::new(&[declared()], FIELDS.len() + 1);
        assert_eq!(few.query().filter().select_clauses.len(), FIELDS.len() + 1);
    }

    #[test]
    fn an_event_that_comes_during_the_refresh_is_forwarded_once() {
        let place = FIELDS.iter().position(|field| *field == "EventId").unwrap();
        let event = |id: &[u8]| {
            let mut values = vec![Variant::Empty; FIELDS.len()];
            values[place] = ByteString::from(id).into();
            values
        };
        let mut first = FirstEvents::default();
        assert!(!first.repeats(&event(b"a")) && !first.repeats(&event(b"b")));
        assert!(first.repeats(&event(b"a")));
        // Without an id, each is one of its own.
        assert!(!first.repeats(&event(b"")) && !first.repeats(&event(b"")));
        for number in 0..2 * MOST_IDS {
            assert!(!first.repeats(&event(&number.to_le_bytes())));
        }
        assert_eq!(first.ids.len(), MOST_IDS);
        first.end();
        assert!(!first.repeats(&event(b"a")) && first.is_refreshed());
    }

    #[test]
    fn some_events_stay_at_their_server() {
        let fields = EventFields::new(&[], 256);
        let mut values = vec![Variant::Empty; FIELDS.len()];
        for stays in [
            ids::REFRESH_END_EVENT_TYPE,
            ids::AUDIT_WRITE_UPDATE_EVENT_TYPE,
            ids::GENERAL_MODEL_CHANGE_EVENT_TYPE,
        ] {
            values[1] = NodeId::from(stays).into();
            assert_eq!(fields.event_of(&values), None);
        }
        values[1] = NodeId::from(ids::SYSTEM_EVENT_TYPE).into();
        assert!(fields.event_of(&values).is_some());
    }

    #[test]
    fn fields_of_the_standard_are_recognized() {
        assert!(is_standard_field(&path("AckedState/Id")));
        assert!(!is_standard_field(&path("AckedState")[..0]));
        assert!(!is_standard_field(&[QualifiedName::new(1, "Message")]));
    }
}

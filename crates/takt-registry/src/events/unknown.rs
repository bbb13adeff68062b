//! Conditions whose states are not known, because the Subscription to their server has ended.
//!
//! The next Subscription asks for the states (ConditionRefresh), which tells the Conditions that clients still have to see. Of one
//! that has become normal meanwhile, for example with a restart of its server, no Event would ever come: its clients, and the
//! history, would keep it as active. A restart of the registry itself makes all states unknown ([`kept`](super::kept)).

use std::collections::HashMap;
use std::sync::Arc;

use takt_services::EventSink;
use takt_space::Event;
use takt_ua::{LocalizedText, NodeId, QualifiedName, Variant};

use super::kept::KeptCondition;
use crate::forwarding::Upstream;

/// Severity of a Condition that is not active.
const NORMAL: u16 = 1;

/// Last Events of Conditions, by the Objects of their servers.
#[derive(Default)]
pub(super) struct Unknown(HashMap<NodeId, Vec<Arc<Event>>>);

impl Unknown {
    /// Takes Conditions with the Objects of their servers.
    pub(super) fn of(conditions: Vec<KeptCondition>) -> Self {
        let mut unknown = Self::default();
        for (object, event) in conditions {
            unknown.0.entry(object).or_default().push(event);
        }
        unknown
    }

    /// Returns all Conditions with the Objects of their servers.
    pub(super) fn conditions(&self) -> impl Iterator<Item = KeptCondition> {
        let all = self.0.iter();
        all.flat_map(|(object, events)| {
            let events = events.iter();
            events.map(move |event| (object.clone(), Arc::clone(event)))
        })
    }

    /// Notes that the states of the Conditions of a server are not known any more.
    pub(super) fn forget(&mut self, sink: &EventSink, upstream: &Upstream) {
        let is_of = |condition: &NodeId| upstream.namespaces.contains(&condition.namespace);
        let gone = sink.forget_conditions(is_of);
        if !gone.is_empty() {
            self.0
                .entry(upstream.object.clone())
                .or_default()
                .extend(gone);
        }
    }

    /// Reports the end of the Conditions of a server that are not among its retained ones: the states of all are known now.
    pub(super) fn end(&mut self, sink: &EventSink, object: &NodeId) {
        for event in self.0.remove(object).unwrap_or_default() {
            if !sink.retains(&event) && !sink.knows_end(&event) {
                sink.report_unseen_end(ended(&event));
            }
        }
    }

    /// Reports the end of the Conditions of servers that do not exist any more.
    pub(super) fn end_without(&mut self, sink: &EventSink, is_known: impl Fn(&NodeId) -> bool) {
        let gone: Vec<NodeId> = self
            .0
            .keys()
            .filter(|one| !is_known(one))
            .cloned()
            .collect();
        for object in gone {
            self.end(sink, &object);
        }
    }
}

/// Returns an Event that tells that clients need not see a Condition any more, whose last Event is given.
fn ended(last: &Event) -> Event {
    let path = |names: &[&str]| -> Vec<QualifiedName> {
        let names = names.iter();
        names.map(|name| QualifiedName::new(0, *name)).collect()
    };
    let mut event = last.clone();
    // They are those of the last Event; the sink adds new ones.
    for name in ["EventId", "Time", "ReceiveTime"] {
        event.remove(&path(&[name]));
    }
    event.set(path(&["Retain"]), false.into());
    let is_active = path(&["ActiveState", "Id"]);
    if event.get(&is_active).is_some() {
        event.set(is_active, false.into());
        let text = Variant::from(LocalizedText::new("en", "Inactive"));
        event.set(path(&["ActiveState"]), text);
    }
    let name = match last.named("SourceName") {
        Some(Variant::String(name)) => name.as_str().to_owned(),
        _ => String::new(),
    };
    event
        .severity(NORMAL)
        .message(format!("{name} normal: its server does not report it any more").trim_start())
}

#[cfg(test)]
mod tests {
    use takt_ua::ids;

    use super::*;

    #[test]
    fn the_end_is_that_of_the_last_event() {
        let condition = NodeId::string(3, "Oven/Overtemperature");
        let last = Event::new(ids::EXCLUSIVE_LIMIT_ALARM_TYPE, NodeId::string(3, "Oven"))
            .of_condition(condition.clone())
            .event_id(b"1")
            .source_name("Oven")
            .severity(700)
            .field("Retain", true)
            .field("ActiveState", LocalizedText::from("Active"))
            .subfield("ActiveState", "Id", true);
        let end = ended(&last);
        assert_eq!(end.condition(), &condition);
        assert!(!end.is_retained());
        assert_eq!(end.named("EventId"), None);
        assert_eq!(end.named("Severity"), Some(&1_u16.into()));
        let id = [
            QualifiedName::new(0, "ActiveState"),
            QualifiedName::new(0, "Id"),
        ];
        assert_eq!(end.get(&id), Some(&false.into()));
        // One that is no alarm has no ActiveState.
        let dialog = Event::new(ids::CONDITION_TYPE, NodeId::NULL).of_condition(condition);
        assert_eq!(ended(&dialog).get(&id), None);
    }
}

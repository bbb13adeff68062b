//! Events (OPC 10000-3, 4.7; OPC 10000-5, 6.4) as values: an EventType, and fields by BrowsePath.
//!
//! An Event knows no Subscription and no clock. It can be reported to clients, forwarded to another server, or stored.

use takt_ua::{
    ByteString, DateTime, LocalizedText, NamespaceMap, NodeId, QualifiedName, UaString, Variant,
    ids,
};

/// Clients that may receive an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Audience {
    /// Every client that may receive Events of the source.
    #[default]
    Everybody,
    /// Clients that may see audit Events: a security-admin on an encrypted channel, and the user of the server on the same host.
    Auditors,
}

/// An Event: its type, its source, and its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    event_type: NodeId,
    source: NodeId,
    condition: NodeId,
    notifier: NodeId,
    audience: Audience,
    fields: Vec<EventField>,
}

/// A field of an [`Event`].
#[derive(Debug, Clone, PartialEq)]
pub struct EventField {
    /// BrowsePath from the EventType to the field.
    pub path: Vec<QualifiedName>,
    /// Value of the field.
    pub value: Variant,
}

impl Event {
    /// Creates an Event of this type, a subtype of BaseEventType, from this source, with the Severity 1 (of 1 to 1000).
    #[must_use]
    pub fn new(event_type: impl Into<NodeId>, source: impl Into<NodeId>) -> Self {
        let (event_type, source) = (event_type.into(), source.into());
        let event = Self {
            event_type: event_type.clone(),
            source: source.clone(),
            condition: NodeId::NULL,
            notifier: NodeId::NULL,
            audience: Audience::Everybody,
            // Room for the fields of BaseEventType and a few more.
            fields: Vec::with_capacity(12),
        };
        event
            .field("EventType", event_type)
            .field("SourceNode", source)
            .severity(1)
    }

    /// Creates an Event without any field.
    pub(crate) fn bare(event_type: NodeId, source: NodeId) -> Self {
        Self {
            event_type,
            source,
            condition: NodeId::NULL,
            notifier: NodeId::NULL,
            audience: Audience::Everybody,
            fields: Vec::new(),
        }
    }

    /// Sets the Message, a text for people.
    #[must_use]
    pub fn message(self, text: impl Into<LocalizedText>) -> Self {
        self.field("Message", text.into())
    }

    /// Sets the Severity, from 1 (information) to 1000 (catastrophe).
    #[must_use]
    pub fn severity(self, severity: u16) -> Self {
        self.field("Severity", severity.clamp(1, 1000))
    }

    /// Sets the SourceName: the name of the source for people.
    #[must_use]
    pub fn source_name(self, name: impl Into<UaString>) -> Self {
        self.field("SourceName", name.into())
    }

    /// Sets the Time at which the Event occurred. Without it, the time at which the Event is reported counts.
    #[must_use]
    pub fn time(self, time: DateTime) -> Self {
        self.field("Time", time)
    }

    /// Sets the EventId, which must be unique at the server. Without it, the server chooses one.
    #[must_use]
    pub fn event_id(self, id: impl Into<ByteString>) -> Self {
        self.field("EventId", id.into())
    }

    /// Sets a field of namespace 0.
    #[must_use]
    pub fn field(self, name: &str, value: impl Into<Variant>) -> Self {
        self.field_at(vec![QualifiedName::new(0, name)], value)
    }

    /// Sets a field of namespace 0 below another one, for example the `Id` of `AckedState`.
    #[must_use]
    pub fn subfield(self, name: &str, below: &str, value: impl Into<Variant>) -> Self {
        let path = [name, below].map(|name| QualifiedName::new(0, name));
        self.field_at(path.to_vec(), value)
    }

    /// Sets a field by its BrowsePath.
    #[must_use]
    pub fn field_at(mut self, path: Vec<QualifiedName>, value: impl Into<Variant>) -> Self {
        self.set(path, value.into());
        self
    }

    /// Sets a field by its BrowsePath.
    pub fn set(&mut self, path: Vec<QualifiedName>, value: Variant) {
        match self.fields.iter_mut().find(|field| field.path == path) {
            Some(field) => field.value = value,
            None => self.fields.push(EventField { path, value }),
        }
    }

    /// Removes a field.
    pub fn remove(&mut self, path: &[QualifiedName]) {
        self.fields.retain(|field| field.path != path);
    }

    /// Makes it an Event of a Condition (OPC 10000-9, 5.5) with this ConditionId.
    #[must_use]
    pub fn of_condition(mut self, condition: impl Into<NodeId>) -> Self {
        self.condition = condition.into();
        self
    }

    /// Adds a node at which clients receive it, besides its source, the notifiers above its source, and the Server Object.
    #[must_use]
    pub fn at_notifier(mut self, notifier: impl Into<NodeId>) -> Self {
        self.notifier = notifier.into();
        self
    }

    /// Restricts the clients that may receive it.
    #[must_use]
    pub fn to(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// Returns the EventType.
    #[must_use]
    pub fn event_type(&self) -> &NodeId {
        &self.event_type
    }

    /// Returns the SourceNode.
    #[must_use]
    pub fn source(&self) -> &NodeId {
        &self.source
    }

    /// Returns the ConditionId, null for an Event of no Condition.
    #[must_use]
    pub fn condition(&self) -> &NodeId {
        &self.condition
    }

    /// Returns the additional node at which clients receive it; null if there is none.
    #[must_use]
    pub fn notifier(&self) -> &NodeId {
        &self.notifier
    }

    /// Returns the clients that may receive it.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// Returns all fields.
    #[must_use]
    pub fn fields(&self) -> &[EventField] {
        &self.fields
    }

    /// Returns a field by its BrowsePath.
    #[must_use]
    pub fn get(&self, path: &[QualifiedName]) -> Option<&Variant> {
        let field = self.fields.iter().find(|field| field.path == path);
        field.map(|field| &field.value)
    }

    /// Returns a field of namespace 0 by its name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Variant> {
        let is_named = |field: &&EventField| match field.path.as_slice() {
            [only] => only.namespace == 0 && only.name == name,
            _ => false,
        };
        self.fields.iter().find(is_named).map(|field| &field.value)
    }

    /// Returns true if it is an Event of a Condition that a client still has to see (OPC 10000-9, 5.5.2, Retain).
    #[must_use]
    pub fn is_retained(&self) -> bool {
        !self.condition.is_null() && self.named("Retain") == Some(&Variant::Boolean(true))
    }

    /// Replaces the namespace indexes of the Event and of its fields.
    pub fn renumber(&mut self, map: &NamespaceMap) {
        self.event_type = map.type_id(&self.event_type);
        for node in [&mut self.source, &mut self.condition, &mut self.notifier] {
            if !node.is_null() {
                map.replace_node_id(node);
            }
        }
        for field in &mut self.fields {
            for name in &mut field.path {
                // The names of the path are declared by the EventType, so their namespaces are those of types.
                *name = map.type_name(name);
            }
            map.replace(&mut field.value);
        }
    }
}

/// Returns an Event of BaseEventType from the Server Object.
impl Default for Event {
    fn default() -> Self {
        Self::new(ids::BASE_EVENT_TYPE, ids::SERVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_paths() {
        let event = Event::new(ids::BASE_EVENT_TYPE, ids::SERVER)
            .message("hot")
            .severity(5000)
            .subfield("AckedState", "Id", false);
        assert_eq!(event.named("Severity"), Some(&Variant::from(1000_u16)));
        let path = ["AckedState", "Id"].map(|name| QualifiedName::new(0, name));
        assert_eq!(event.get(&path), Some(&Variant::from(false)));
        assert_eq!(event.named("AckedState"), None);
        assert_eq!(event.get(&[]), None);
    }

    #[test]
    fn only_conditions_are_retained() {
        let event = Event::default().field("Retain", true);
        assert!(!event.is_retained());
        let event = event.of_condition(NodeId::numeric(1, 7));
        assert!(event.is_retained());
        assert!(!event.field("Retain", false).is_retained());
    }

    #[test]
    fn node_ids_are_replaced_everywhere() {
        let path = |namespace| vec![QualifiedName::new(namespace, "Torque")];
        let mut event = Event::new(NodeId::numeric(1, 1), NodeId::numeric(1, 2));
        event.set(path(1), NodeId::numeric(1, 3).into());
        let map = NamespaceMap::between(&["ua", "one"], &["ua", "two", "one"]);
        event.renumber(&map);
        assert_eq!(event.source(), &NodeId::numeric(2, 2));
        assert!(event.condition().is_null());
        let type_field = event.named("EventType");
        assert_eq!(type_field, Some(&NodeId::numeric(2, 1).into()));
        assert_eq!(event.get(&path(2)), Some(&NodeId::numeric(2, 3).into()));
    }
}

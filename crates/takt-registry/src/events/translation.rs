//! Events of other servers with the NodeIds and names of the registry.

use takt_app::NamespaceMap;
use takt_space::{Event, View};
use takt_ua::binary::Encode;
use takt_ua::{NodeId, QualifiedName, Variant, ids};

use crate::forwarding::Maps;

/// Largest size of a mirrored Event in bytes. A larger one comes without its largest fields.
const MAX_SIZE: usize = 16 << 10;

/// Returns the Event of a Provider at the registry.
pub(super) fn of_provider(event: &Event, map: &NamespaceMap) -> Event {
    let source = map.node_id(event.source());
    let translated = translated(event, map, map.type_id(event.event_type()), source);
    match event.condition().is_null() {
        true => translated,
        false => translated.of_condition(map.node_id(event.condition())),
    }
}

/// Returns the Event of a mirrored server at the registry, whose nodes `view` has; `None` for one that is not forwarded.
///
/// `folder` stands for the Server Object of that server, and receives all of its Events.
pub(super) fn of_mirror(
    event: &Event,
    maps: &Maps,
    folder: &NodeId,
    view: &View<'_>,
) -> Option<Event> {
    let map = &maps.to_registry;
    let mut event_type = map.type_id(event.event_type());
    // Clients could not find a type that was not copied.
    if view.node(&event_type).is_none() {
        event_type = ids::BASE_EVENT_TYPE.into();
    }
    if view.is_subtype_of(&event_type, ids::AUDIT_EVENT_TYPE) {
        return None;
    }
    // Nodes of namespace 0 are those of the registry, not those of the server.
    let mirrored = |node: &NodeId| match map.index(node.namespace) {
        Some(namespace) if namespace != 0 => Some(map.node_id(node)),
        _ => None,
    };
    let source = mirrored(event.source()).unwrap_or_else(|| folder.clone());
    let mut translated = translated(event, map, event_type, source).at_notifier(folder.clone());
    let condition = event.condition();
    let condition = match condition.namespace {
        0 if !condition.is_null() => maps.standard_instances.map(|namespace| NodeId {
            namespace,
            identifier: condition.identifier.clone(),
        }),
        _ => mirrored(condition),
    };
    if let Some(condition) = condition {
        translated = translated.of_condition(condition);
    }
    within_limit(translated)
}

/// Returns an Event with this type and source, and the fields of another one.
fn translated(event: &Event, map: &NamespaceMap, event_type: NodeId, source: NodeId) -> Event {
    let mut translated = Event::new(event_type, source);
    for field in event.fields() {
        let mut value = field.value.clone();
        match (standard_name(&field.path), &mut value) {
            (Some("EventType" | "SourceNode"), _) => continue,
            (Some("ConditionClassId"), Variant::NodeId(class)) => **class = map.type_id(class),
            (_, value) => map.replace(value),
        }
        let path = field.path.iter().map(|name| map.type_name(name)).collect();
        translated.set(path, value);
    }
    translated
}

fn standard_name(path: &[QualifiedName]) -> Option<&str> {
    match path {
        [only] if only.namespace == 0 => Some(only.name.as_str()),
        _ => None,
    }
}

/// Removes the largest fields of an Event that is too large. Returns `None` if that is not enough.
fn within_limit(mut event: Event) -> Option<Event> {
    let nodes = [event.event_type(), event.source(), event.condition()];
    let of_nodes: usize = nodes.iter().map(|node| node.encode_to_vec().len()).sum();
    let mut sizes: Vec<(usize, Vec<QualifiedName>)> = event
        .fields()
        .iter()
        .map(|field| (field.value.encode_to_vec().len(), field.path.clone()))
        .collect();
    let mut size = of_nodes + sizes.iter().map(|(size, _)| size).sum::<usize>();
    sizes.sort_by_key(|(size, _)| *size);
    // The largest ones go first, so that as many as possible stay.
    while size > MAX_SIZE {
        let (largest, path) = sizes.pop()?;
        size -= largest;
        event.remove(&path);
    }
    Some(event)
}

#[cfg(test)]
mod tests {
    use takt_rt::memory_budget::MemoryBudget;
    use takt_space::AddressSpace;

    use super::*;

    /// Namespace 1 of the server has the index 3 for instances and 5 for types.
    fn maps() -> Maps {
        let (instances, types) = (vec![Some(0), Some(3)], vec![Some(0), Some(5)]);
        let mut maps = Maps::default();
        maps.to_registry = NamespaceMap::from_indexes(instances, types);
        maps.standard_instances = Some(6);
        maps
    }

    fn folder() -> NodeId {
        NodeId::numeric(9, 1)
    }

    fn mirrored(event: &Event) -> Option<Event> {
        let space = AddressSpace::new("urn:test", 10, 10, MemoryBudget::new(1 << 20));
        of_mirror(event, &maps(), &folder(), &space.view())
    }

    #[test]
    fn ids_and_names_are_those_of_the_registry() {
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, NodeId::numeric(1, 7))
            .of_condition(NodeId::numeric(1, 8))
            .field("ConditionClassId", NodeId::numeric(1, 9))
            .field("InputNode", NodeId::numeric(1, 10))
            .field_at(vec![QualifiedName::new(1, "Part")], 5);
        let event = mirrored(&event).unwrap();
        assert_eq!(event.source(), &NodeId::numeric(3, 7));
        assert_eq!(event.condition(), &NodeId::numeric(3, 8));
        assert_eq!(event.notifier(), &folder());
        let expected = [
            ("SourceNode", NodeId::numeric(3, 7)),
            ("ConditionClassId", NodeId::numeric(5, 9)),
            ("InputNode", NodeId::numeric(3, 10)),
        ];
        for (name, node) in expected {
            assert_eq!(event.named(name), Some(&node.into()), "{name}");
        }
        assert_eq!(event.get(&[QualifiedName::new(5, "Part")]), Some(&5.into()));
    }

    #[test]
    fn nodes_of_namespace_0_are_not_those_of_the_registry() {
        let event = Event::new(NodeId::numeric(1, 1), ids::SERVER).of_condition(ids::SERVER);
        let event = mirrored(&event).unwrap();
        assert_eq!(event.source(), &folder());
        assert_eq!(event.condition(), &NodeId::numeric(6, ids::SERVER));
        assert_eq!(event.event_type(), &NodeId::from(ids::BASE_EVENT_TYPE));
        let event = mirrored(&Event::new(NodeId::numeric(1, 1), ids::SERVER)).unwrap();
        assert!(event.condition().is_null());
        let audit = Event::new(ids::AUDIT_EVENT_TYPE, ids::SERVER);
        assert_eq!(mirrored(&audit), None);
    }

    #[test]
    fn large_events_lose_their_largest_fields() {
        let event = Event::default()
            .message("kept")
            .field("Comment", "x".repeat(MAX_SIZE).as_str())
            .field("SourceName", "y".repeat(MAX_SIZE / 2).as_str());
        let event = mirrored(&event).unwrap();
        assert_eq!(event.named("Comment"), None);
        assert!(event.named("SourceName").is_some() && event.named("Message").is_some());
        let source = NodeId::string(1, "z".repeat(2 * MAX_SIZE).as_str());
        let event = Event::new(ids::BASE_EVENT_TYPE, source);
        assert_eq!(mirrored(&event), None);
    }
}

//! Notifiers of an Event: the nodes at which clients receive it (OPC 10000-3, 4.7.2).

use takt_space::{Event, View};
use takt_ua::{NodeId, ids};

/// Maximum number of notifiers that are searched for one Event.
const MAX_NOTIFIERS: usize = 64;

/// Returns the nodes whose subscribers receive an Event: its source and its additional notifier, the nodes above them along inverse
/// HasEventSource references and their subtypes, and the Server Object.
pub(crate) fn notifiers(event: &Event, view: &View<'_>) -> Vec<NodeId> {
    let mut found = vec![NodeId::from(ids::SERVER)];
    for node in [event.source(), event.notifier()] {
        if !node.is_null() && !found.contains(node) {
            found.push(node.clone());
        }
    }
    // Not from the Server Object: it is the root of all notifiers.
    let mut next = 1;
    while let Some(id) = found.get(next) {
        next += 1;
        let Some(node) = view.node(id) else { continue };
        let references = node.references();
        for reference in references.iter().filter(|reference| !reference.is_forward) {
            let Some(above) = reference.local_target() else {
                continue;
            };
            // Known nodes are skipped, so the search ends even if the references form a loop.
            if found.len() < MAX_NOTIFIERS
                && view.is_subtype_of(reference.reference_type, ids::HAS_EVENT_SOURCE)
                && !found.iter().any(|known| above == *known)
            {
                found.push(above.to_owned());
            }
        }
    }
    found
}

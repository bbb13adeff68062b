//! Fields that the EventTypes of a mirrored server declare.

use takt_space::View;
use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeId, QualifiedName, ids};

use super::budget;
use crate::events::is_standard_field;
use crate::forwarding::DeclaredField;

/// Returns the fields that the EventTypes among these nodes declare beyond those that are forwarded from each server: the Variables
/// along hierarchical references, with their BrowsePaths.
pub(super) fn declared_fields<'n>(
    view: &View<'_>,
    types: impl Iterator<Item = &'n NodeId>,
) -> Vec<DeclaredField> {
    let mut fields = Vec::new();
    let event_types = types.filter(|node| view.is_subtype_of(*node, ids::BASE_EVENT_TYPE));
    for event_type in event_types {
        collect(view, event_type, event_type, &mut Vec::new(), &mut fields);
    }
    if fields.len() == budget::MAX_EVENT_FIELDS {
        tracing::warn!("only {} fields of EventTypes are mirrored", fields.len());
    }
    fields
}

fn collect(
    view: &View<'_>,
    event_type: &NodeId,
    parent: &NodeId,
    path: &mut Vec<QualifiedName>,
    fields: &mut Vec<DeclaredField>,
) {
    for child in view.children(parent, ids::AGGREGATES) {
        let Some(node) = view.node(&child) else {
            continue;
        };
        let class = node.node_class();
        let leads_on = matches!(class, NodeClass::Object | NodeClass::Variable);
        if !leads_on || path.len() == budget::MAX_EVENT_PATH {
            continue;
        }
        path.push(node.browse_name().to_owned());
        let is_new = class == NodeClass::Variable && !is_standard_field(path);
        if is_new && fields.len() < budget::MAX_EVENT_FIELDS {
            fields.push(DeclaredField {
                event_type: event_type.clone(),
                path: path.clone(),
            });
        }
        collect(view, event_type, &child, path, fields);
        path.pop();
    }
}

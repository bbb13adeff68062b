//! References of the copy of a server.

use std::collections::HashMap;

use takt_app::NamespaceMap;
use takt_space::{AddressSpace, AddressSpaceError, View};
use takt_ua::enumerations::NodeClass;
use takt_ua::{ExpandedNodeId, NodeId, ids};

use super::budget;
use super::scan::{Found, Scan};
use super::shared::SharedTypes;

/// Source, ReferenceType and target.
pub(super) type Reference = (NodeId, NodeId, NodeId);

/// Adds the references between the nodes, those to namespace 0 and to types, and those of other mirrors.
pub(super) fn add_references(
    space: &AddressSpace,
    folder: &NodeId,
    scan: &Scan,
    (ids, map): (&HashMap<&NodeId, NodeId>, &NamespaceMap),
    others: Vec<Reference>,
) {
    let view = space.view();
    let end = |node: &NodeId| match ids.get(node) {
        Some(node) => Some(node.clone()),
        None if node.namespace == 0 => Some(node.clone()),
        None => None,
    };
    let mut references = others;
    for (supertype, subtype) in &scan.subtypes {
        if let Some(subtype) = ids.get(subtype) {
            references.push((supertype.clone(), ids::HAS_SUBTYPE.into(), subtype.clone()));
        }
    }
    for (_, root) in &scan.roots {
        if let Some(root) = ids.get(root) {
            references.push((folder.clone(), ids::ORGANIZES.into(), root.clone()));
        }
    }
    let type_definition = NodeId::from(ids::HAS_TYPE_DEFINITION);
    for found in &scan.nodes {
        let Some(source) = ids.get(&found.node_id) else {
            continue;
        };
        if let Some(type_id) = type_of(&view, found, ids, map) {
            references.push((source.clone(), type_definition.clone(), type_id));
        }
        for (reference_type, target) in &found.references {
            // `type_of` has chosen one that the registry has.
            if *reference_type == type_definition {
                continue;
            }
            if let Some(target) = end(target) {
                let reference_type = map.type_id(reference_type);
                references.push((source.clone(), reference_type, target));
            }
        }
    }
    // A node that could not be added has no references.
    references.retain(|(source, reference_type, target)| {
        [source, reference_type, target]
            .into_iter()
            .all(|node| view.node(node).is_some())
    });
    // A view keeps deleted nodes in memory, and the steps below take a while.
    drop(view);
    for step in references.chunks(budget::STEP) {
        let mut edit = space.edit();
        for (source, reference_type, target) in step {
            let target = ExpandedNodeId::from(target.clone());
            match edit.add_reference(source, reference_type, true, &target) {
                Ok(()) | Err(AddressSpaceError::DuplicateReference { .. }) => {}
                Err(error) => tracing::debug!(%source, %error, "a reference is not mirrored"),
            }
        }
    }
}

/// Returns the type of an instance: that of the server, or a standard one if the registry does not have it.
fn type_of(
    view: &View<'_>,
    found: &Found,
    ids: &HashMap<&NodeId, NodeId>,
    map: &NamespaceMap,
) -> Option<NodeId> {
    let (wanted, instead) = match found.class {
        NodeClass::Object => (NodeClass::ObjectType, ids::BASE_OBJECT_TYPE),
        NodeClass::Variable => (NodeClass::VariableType, ids::BASE_DATA_VARIABLE_TYPE),
        _ => return None,
    };
    let type_id = ids.get(&found.type_definition).cloned();
    let type_id = type_id.unwrap_or_else(|| map.type_id(&found.type_definition));
    let class = view.node(&type_id).map(|node| node.node_class());
    Some(match class == Some(wanted) {
        true => type_id,
        false => instead.into(),
    })
}

/// Returns the references between types that are replaced and nodes that only other mirrors have, such as their instances.
pub(super) fn references_of_others(
    view: &View<'_>,
    replaced: &[NodeId],
    own: &HashMap<NodeId, u64>,
    types: &SharedTypes,
) -> Vec<Reference> {
    let mut all = Vec::new();
    for node in replaced.iter().filter(|node| types.is_shared(node)) {
        let references = view.node(node).map(|node| node.references());
        for reference in references.iter().flat_map(|references| references.iter()) {
            let Some(target) = reference.local_target().map(|target| target.to_owned()) else {
                continue;
            };
            if target.namespace == 0 || own.contains_key(&target) {
                continue;
            }
            let reference_type = reference.reference_type.to_owned();
            all.push(match reference.is_forward {
                true => (node.clone(), reference_type, target),
                false => (target, reference_type, node.clone()),
            });
        }
    }
    all
}

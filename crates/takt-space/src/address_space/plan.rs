//! Checks of AddReferences, DeleteNodes and DeleteReferences items, and the changes that they require (OPC 10000-4, 5.8.3 to
//! 5.8.5).

use std::collections::HashSet;

use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddReferencesItem, DeleteNodesItem, DeleteReferencesItem};
use takt_ua::{ExpandedNodeId, NodeId, StatusCode, ids};

use super::edit::Edit;
use super::hierarchy::TypeFilter;
use super::rules::{self, End};
use super::{AddressSpaceError, View};
use crate::change::Change;

impl Edit<'_> {
    /// Checks an AddReferencesItem and returns the change that it requires.
    ///
    /// # Errors
    /// A node or ReferenceType does not exist, the reference exists already, or OPC 10000-3 does not allow it.
    pub fn plan_add_reference(
        &self,
        mut item: AddReferencesItem,
    ) -> Result<Change, AddressSpaceError> {
        let view = self.view();
        let source = view.node(&item.source_node_id);
        let source = source
            .ok_or_else(|| AddressSpaceError::SourceNodeIdInvalid(item.source_node_id.clone()))?;
        rules::check_reference_type(&view, &item.reference_type_id)?;
        // The ServerArray contains no other servers.
        if !item.target_server_uri.is_empty() {
            return Err(AddressSpaceError::Refused(StatusCode::BadServerUriInvalid));
        }
        let target_id = self.local(&item.target_node_id);
        let target = target_id.as_ref().and_then(|target| view.node(target));
        let (Some(target_id), Some(target)) = (&target_id, target) else {
            return Err(AddressSpaceError::TargetNodeIdInvalid(
                item.target_node_id.node_id,
            ));
        };
        if item.target_node_class != NodeClass::Unspecified
            && item.target_node_class != target.node_class()
        {
            return Err(AddressSpaceError::NodeClassInvalid);
        }
        if *target_id == item.source_node_id {
            return Err(AddressSpaceError::InvalidSelfReference(
                item.reference_type_id,
            ));
        }
        let (from, to) = (End::of(&view, &source), End::of(&view, &target));
        let (from, to) = if item.is_forward {
            (from, to)
        } else {
            (to, from)
        };
        rules::check_reference(&view, &item.reference_type_id, from, to)?;
        item.target_node_id = ExpandedNodeId::from(target_id.clone());
        item.target_node_class = target.node_class();
        if self.has_reference(
            &item.source_node_id,
            &item.reference_type_id,
            item.is_forward,
            target_id,
        ) {
            return Err(AddressSpaceError::DuplicateReference {
                reference_type: item.reference_type_id,
                target: target_id.clone(),
            });
        }
        // Checked last: a client that adds an existing reference again gets BadDuplicateReferenceNotAllowed.
        rules::check_added_reference(&view, &item.reference_type_id)?;
        Ok(Change::AddReference(item))
    }

    /// Checks a DeleteNodesItem and returns the changes that it requires. Children without another parent are deleted with the
    /// node.
    ///
    /// # Errors
    /// The node does not exist, or belongs to the standard.
    pub fn plan_delete_node(
        &self,
        item: &DeleteNodesItem,
    ) -> Result<Vec<Change>, AddressSpaceError> {
        let view = self.view();
        if item.node_id.is_null() {
            return Err(AddressSpaceError::Refused(StatusCode::BadNodeIdInvalid));
        }
        let node = view.node(&item.node_id);
        let node = node.ok_or_else(|| AddressSpaceError::NodeIdUnknown(item.node_id.clone()))?;
        if node.standard().is_some() {
            return Err(AddressSpaceError::NoDeleteRights(item.node_id.clone()));
        }
        let mut doomed = vec![item.node_id.clone()];
        let mut known: HashSet<NodeId> = HashSet::from([item.node_id.clone()]);
        let mut next = 0;
        while let Some(parent) = doomed.get(next).cloned() {
            next += 1;
            for child in view.children(&parent, ids::AGGREGATES) {
                if !known.contains(&child) && view.is_orphan(&child, &known) {
                    known.insert(child.clone());
                    doomed.push(child);
                }
            }
        }
        // Children are first, so that the remaining nodes are connected at every moment.
        let changes = doomed.into_iter().rev().map(|node_id| {
            let is_child = node_id != item.node_id;
            Change::DeleteNode(DeleteNodesItem {
                node_id,
                delete_target_references: is_child || item.delete_target_references,
            })
        });
        Ok(changes.collect())
    }

    /// Checks a DeleteReferencesItem and returns the change that it requires.
    ///
    /// # Errors
    /// The reference does not exist, or belongs to the standard.
    pub fn plan_delete_reference(
        &self,
        mut item: DeleteReferencesItem,
    ) -> Result<Change, AddressSpaceError> {
        let view = self.view();
        if view.node(&item.source_node_id).is_none() {
            return Err(AddressSpaceError::SourceNodeIdInvalid(item.source_node_id));
        }
        rules::check_reference_type(&view, &item.reference_type_id)?;
        let Some(target) = self
            .local(&item.target_node_id)
            .filter(|target| !target.is_null())
        else {
            return Err(AddressSpaceError::TargetNodeIdInvalid(
                item.target_node_id.node_id,
            ));
        };
        // An Object or a Variable without a TypeDefinition is not valid.
        if item.reference_type_id.standard_id() == Some(ids::HAS_TYPE_DEFINITION) {
            return Err(AddressSpaceError::NoDeleteRights(item.source_node_id));
        }
        if !self.has_reference(
            &item.source_node_id,
            &item.reference_type_id,
            item.is_forward,
            &target,
        ) {
            return Err(AddressSpaceError::NoSuchReference {
                reference_type: item.reference_type_id,
                target,
            });
        }
        item.target_node_id = ExpandedNodeId::from(target);
        Ok(Change::DeleteReference(item))
    }
}

impl View<'_> {
    /// Returns true if a child has no parent outside of `doomed`, the nodes that are deleted.
    pub fn is_orphan(&self, child: &NodeId, doomed: &HashSet<NodeId>) -> bool {
        let Some(node) = self.node(child).filter(|node| node.standard().is_none()) else {
            return false;
        };
        let mut hierarchical = TypeFilter::with_subtypes(ids::HIERARCHICAL_REFERENCES.into());
        let references = node.references();
        let mut parents = references.iter().filter(|reference| {
            !reference.is_forward && hierarchical.matches(self, reference.reference_type)
        });
        parents.all(|parent| match parent.local_target() {
            Some(parent) => doomed.contains(&parent.to_owned()),
            // A parent at another server may still refer to the child.
            None => false,
        })
    }
}

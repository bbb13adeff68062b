//! Types and their subtypes, and searches along references for services (OPC 10000-3, 6.3 and 7.10).

use takt_ua::{NodeId, NodeIdRef, QualifiedNameRef, ids};

use super::view::View;
use crate::namespace0::{Namespace0, StandardNode};

/// Maximum depth of type hierarchies; longer walks are loops.
pub(super) const MAX_TYPE_DEPTH: usize = 64;

impl View<'_> {
    /// Returns the direct supertype of `type_id`.
    pub fn supertype<'n>(&self, type_id: impl Into<NodeIdRef<'n>>) -> Option<NodeId> {
        let node = self.node(type_id)?;
        if let Some(supertype) = node.standard().and_then(StandardNode::supertype) {
            return Some(NodeId::from(supertype.id()));
        }
        let references = node.references();
        let supertype = references.targets(ids::HAS_SUBTYPE, false).next()?;
        Some(supertype.to_owned())
    }

    /// Returns true if `type_id` is `ancestor` or a subtype of it.
    pub fn is_subtype_of<'n>(
        &self,
        type_id: impl Into<NodeIdRef<'n>>,
        ancestor: impl Into<NodeIdRef<'n>>,
    ) -> bool {
        let (type_id, ancestor) = (type_id.into(), ancestor.into());
        if let (Some(type_id), Some(ancestor)) = (type_id.standard_id(), ancestor.standard_id())
            // Supertypes of a standard type are standard types, and the table answers without references.
            && Namespace0::get(type_id).is_some()
        {
            return Namespace0::is_subtype_of(type_id, ancestor);
        }
        let mut current = type_id.to_owned();
        for _ in 0..MAX_TYPE_DEPTH {
            if ancestor == current {
                return true;
            }
            match self.supertype(&current) {
                Some(supertype) => current = supertype,
                None => return false,
            }
        }
        false
    }

    /// Returns the type of an Object or Variable.
    pub fn type_definition<'n>(&self, node_id: impl Into<NodeIdRef<'n>>) -> Option<NodeId> {
        let references = self.node(node_id)?.references();
        let type_definition = references.targets(ids::HAS_TYPE_DEFINITION, true).next()?;
        Some(type_definition.to_owned())
    }

    /// Returns the targets of forward references from `node_id` of `reference_type` or a subtype of it, in order.
    pub fn children<'n>(
        &self,
        node_id: impl Into<NodeIdRef<'n>>,
        reference_type: impl Into<NodeIdRef<'n>>,
    ) -> Vec<NodeId> {
        let Some(node) = self.node(node_id) else {
            return Vec::new();
        };
        let mut filter = TypeFilter::with_subtypes(reference_type.into());
        let references = node.references();
        references
            .iter()
            .filter(|reference| reference.is_forward)
            .filter(|reference| filter.matches(self, reference.reference_type))
            .filter_map(|reference| reference.local_target())
            .map(|target| target.to_owned())
            .collect()
    }

    /// Returns the child with this BrowseName along forward references of `reference_type` or a subtype of it.
    pub fn child<'n>(
        &self,
        node_id: impl Into<NodeIdRef<'n>>,
        reference_type: impl Into<NodeIdRef<'n>>,
        browse_name: QualifiedNameRef<'_>,
    ) -> Option<NodeId> {
        self.children(node_id, reference_type)
            .into_iter()
            .find(|child| {
                self.node(child)
                    .is_some_and(|child| child.browse_name() == browse_name)
            })
    }
}

/// Filter of ReferenceTypes that evaluates each ReferenceType once.
#[derive(Debug)]
pub struct TypeFilter {
    /// Wanted ReferenceType; null: every type.
    wanted: NodeId,
    include_subtypes: bool,
    decided: Vec<(NodeId, bool)>,
}

impl TypeFilter {
    /// Creates a filter for references of `wanted`, null for all, and of its subtypes if requested.
    pub fn new(wanted: NodeIdRef<'_>, include_subtypes: bool) -> Self {
        Self {
            wanted: wanted.to_owned(),
            include_subtypes,
            decided: Vec::new(),
        }
    }

    /// Creates a filter for references of `wanted`, null for all, and of its subtypes.
    pub fn with_subtypes(wanted: NodeIdRef<'_>) -> Self {
        Self::new(wanted, true)
    }

    /// Returns true if references of this type are wanted.
    pub fn matches(&mut self, view: &View<'_>, reference_type: NodeIdRef<'_>) -> bool {
        if self.wanted.is_null() || reference_type == self.wanted {
            return true;
        }
        if !self.include_subtypes {
            return false;
        }
        if let Some((_, decision)) = self.decided.iter().find(|(id, _)| reference_type == *id) {
            return *decision;
        }
        let decision = view.is_subtype_of(reference_type, &self.wanted);
        self.decided.push((reference_type.to_owned(), decision));
        decision
    }
}

//! References between nodes (OPC 10000-3, 4.4.4) in compact form: a ReferenceType is an index into a table.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use takt_ua::{ExpandedNodeId, NodeId, NodeIdRef, ids};

/// Target of a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TargetRef<'a> {
    /// A node of this server, which need not exist (OPC 10000-3, 4.4.4).
    Local(NodeIdRef<'a>),
    /// A node of another server.
    Remote(&'a ExpandedNodeId),
}

impl TargetRef<'_> {
    /// Returns an owned copy.
    pub fn to_owned(self) -> Target {
        match self {
            Self::Local(target) => Target::Local(target.to_owned()),
            Self::Remote(target) => Target::Remote(Box::new(target.clone())),
        }
    }
}

/// A reference as seen from one of its nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceView<'a> {
    /// Its ReferenceType.
    pub reference_type: NodeIdRef<'a>,
    /// True if the node is the source, false if it is the target.
    pub is_forward: bool,
    /// The node at the other end.
    pub target: TargetRef<'a>,
}

impl<'a> ReferenceView<'a> {
    /// Returns the other end, if it is a node of this server.
    pub fn local_target(&self) -> Option<NodeIdRef<'a>> {
        match self.target {
            TargetRef::Local(target) => Some(target),
            TargetRef::Remote(_) => None,
        }
    }
}

/// A stored reference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    pub(crate) reference_type: TypeIndex,
    pub(crate) is_forward: bool,
    pub(crate) target: Target,
}

impl Reference {
    /// Returns true if only one of its nodes lists it: this one, unless the reference is misplaced.
    pub(crate) fn has_one_end(&self) -> bool {
        self.reference_type.is_one_way()
    }

    /// Returns the reference as clients see it, with a snapshot of the types that was taken later.
    pub(crate) fn view<'r>(&'r self, types: &'r [NodeId]) -> ReferenceView<'r> {
        ReferenceView {
            reference_type: type_id(types, self.reference_type),
            is_forward: self.is_forward,
            target: self.target.as_ref(),
        }
    }

    /// Returns true if it belongs at the other end only.
    pub(crate) fn is_misplaced(&self) -> bool {
        self.has_one_end() && !self.is_forward
    }
}

/// Target of a stored reference.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A node of this server, which need not exist (OPC 10000-3, 4.4.4).
    Local(NodeId),
    /// A node of another server.
    Remote(Box<ExpandedNodeId>),
}

impl Target {
    pub(crate) fn as_ref(&self) -> TargetRef<'_> {
        match self {
            Self::Local(node_id) => TargetRef::Local(node_id.as_ref()),
            Self::Remote(node_id) => TargetRef::Remote(node_id),
        }
    }

    /// Returns the NodeId, for messages.
    pub fn node_id(&self) -> &NodeId {
        match self {
            Self::Local(node_id) => node_id,
            Self::Remote(node_id) => &node_id.node_id,
        }
    }
}

/// Index of a ReferenceType in [`ReferenceTypes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TypeIndex(u16);

impl TypeIndex {
    /// Returns true if only the source lists references of this type: HasTypeDefinition and HasModellingRule.
    ///
    /// Their targets would otherwise list all instances, which costs memory and has no use.
    #[inline]
    pub(crate) fn is_one_way(self) -> bool {
        usize::from(self.0) < ONE_WAY.len()
    }
}

/// The ReferenceTypes with the lowest indices.
const ONE_WAY: [u32; 2] = [ids::HAS_TYPE_DEFINITION, ids::HAS_MODELLING_RULE];

/// The ReferenceTypes that stored references use. The table only grows, at most to the number of ReferenceType nodes that have
/// ever existed.
#[derive(Debug)]
pub(crate) struct ReferenceTypes {
    ids: ArcSwap<Vec<NodeId>>,
    append: Mutex<()>,
}

impl ReferenceTypes {
    pub(crate) fn new() -> Self {
        let first = ONE_WAY
            .iter()
            .map(|id| NodeId::from(*id))
            .collect::<Vec<_>>();
        Self {
            ids: ArcSwap::from_pointee(first),
            append: Mutex::new(()),
        }
    }

    /// Returns the index of a ReferenceType, `None` if 65536 others have been used.
    pub(crate) fn index(&self, id: NodeIdRef<'_>) -> Option<TypeIndex> {
        if let Some(index) = self.find(id) {
            return Some(index);
        }
        let _appending = self.append.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have appended it before this one got the lock.
        if let Some(index) = self.find(id) {
            return Some(index);
        }
        let mut ids = Vec::clone(&self.ids.load());
        let index = u16::try_from(ids.len()).ok()?;
        ids.push(id.to_owned());
        self.ids.store(Arc::new(ids));
        Some(TypeIndex(index))
    }

    /// Returns the index of a ReferenceType that has been used before.
    pub(crate) fn find(&self, id: NodeIdRef<'_>) -> Option<TypeIndex> {
        let ids = self.ids.load();
        let index = ids.iter().position(|known| id == *known)?;
        u16::try_from(index).ok().map(TypeIndex)
    }

    /// Returns all ReferenceTypes so far; an index obtained before is valid in it.
    pub(crate) fn snapshot(&self) -> Arc<Vec<NodeId>> {
        self.ids.load_full()
    }
}

/// Resolves an index in a snapshot that was taken after the index.
pub(crate) fn type_id(types: &[NodeId], index: TypeIndex) -> NodeIdRef<'_> {
    types
        .get(usize::from(index.0))
        .map_or(NodeIdRef::NULL, NodeId::as_ref)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_reference_is_small() {
        assert!(size_of::<Reference>() <= 40, "{}", size_of::<Reference>());
    }

    #[test]
    fn types_are_interned() {
        let types = ReferenceTypes::new();
        let organizes = types.index(NodeIdRef::from(35)).unwrap();
        let own = types.index(NodeId::string(2, "Own").as_ref()).unwrap();
        assert_eq!(types.index(NodeIdRef::from(35)), Some(organizes));
        assert_eq!(types.find(NodeIdRef::from(36)), None);
        assert!(!organizes.is_one_way());
        assert!(
            types
                .index(NodeIdRef::from(ids::HAS_TYPE_DEFINITION))
                .unwrap()
                .is_one_way()
        );
        let snapshot = types.snapshot();
        assert_eq!(type_id(&snapshot, own), NodeId::string(2, "Own"));
        assert_eq!(type_id(&snapshot, organizes), NodeId::from(35));
    }
}

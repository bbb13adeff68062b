//! Look-up of the nodes of namespace 0.

use super::access;
use super::bytes::TABLE;
use super::node::StandardNode;
use crate::node_access::NodeAccess;

/// The nodes of namespace 0. All identifiers are numeric identifiers of that namespace.
#[derive(Debug, Clone, Copy)]
pub struct Namespace0;

impl Namespace0 {
    /// Returns RolePermissions and AccessRestrictions of a node; `None`: the Roles have their default permissions.
    pub fn access(id: u32) -> Option<&'static NodeAccess> {
        access::of(id)
    }

    /// Returns the node with this identifier.
    #[inline]
    pub fn get(id: u32) -> Option<StandardNode> {
        TABLE.find(id).map(StandardNode::at)
    }

    /// Returns all nodes, ascending by identifier.
    pub fn nodes() -> impl ExactSizeIterator<Item = StandardNode> {
        (0..TABLE.len()).map(StandardNode::at)
    }

    /// Returns true if `subtype` is `supertype` or derived from it. False if one of them does not exist or is not a type.
    #[inline]
    pub fn is_subtype_of(subtype: u32, supertype: u32) -> bool {
        if subtype == supertype {
            return TABLE.find(subtype).is_some();
        }
        match (TABLE.find(subtype), TABLE.find(supertype)) {
            (Some(subtype), Some(supertype)) => TABLE.is_subtype_of(subtype, supertype),
            _ => false,
        }
    }
}

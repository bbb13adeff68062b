//! One change of the address space (OPC 10000-4, 5.8).

use takt_ua::structures::{AddNodesItem, AddReferencesItem, DeleteNodesItem, DeleteReferencesItem};

/// One change of the address space, in the standard's own structures, so that it can be stored and applied again with
/// [`AddressSpace::apply`](crate::AddressSpace::apply).
///
/// Indices into the NamespaceArray are this server's.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A URI is appended to the NamespaceArray.
    AddNamespace {
        /// Index that the URI gets.
        index: u16,
        /// The URI.
        uri: String,
    },
    /// A node is added. `requested_new_node_id` holds the NodeId that it gets, never null.
    AddNode(Box<AddNodesItem>),
    /// A reference is added, at both ends where both are nodes of this server.
    AddReference(AddReferencesItem),
    /// A node is deleted.
    DeleteNode(DeleteNodesItem),
    /// A reference is deleted.
    DeleteReference(DeleteReferencesItem),
}

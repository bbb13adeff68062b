//! One change of the address space (OPC 10000-4, 5.8).

use takt_ua::structures::{AddNodesItem, AddReferencesItem, DeleteNodesItem, DeleteReferencesItem};
use takt_ua::{DateTime, NodeId, StatusCode, Variant};

/// One change of the address space, in the standard's own structures, so that it can be stored and applied again with
/// [`AddressSpace::apply`](crate::AddressSpace::apply).
///
/// Indices into the NamespaceArray are this server's.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Addition of a URI to the NamespaceArray.
    AddNamespace {
        /// Index that the URI gets.
        index: u16,
        /// The URI.
        uri: String,
    },
    /// Addition of a node. `requested_new_node_id` holds its NodeId, never null.
    AddNode(Box<AddNodesItem>),
    /// Addition of a reference, at both ends if both are nodes of this server.
    AddReference(AddReferencesItem),
    /// Deletion of a node.
    DeleteNode(DeleteNodesItem),
    /// Deletion of a reference.
    DeleteReference(DeleteReferencesItem),
    /// Replacement of an attribute of a node by its owner.
    SetAttribute(Box<AttributeChange>),
}

impl Change {
    /// Returns the nodes that one operation of a client adds only because the type of their parent requires them: all but the first one,
    /// which the client has named.
    pub fn instantiated(operation: &[Self]) -> impl Iterator<Item = &NodeId> {
        let added = operation.iter().filter_map(|change| match change {
            Self::AddNode(item) => Some(&item.requested_new_node_id.node_id),
            _ => None,
        });
        added.skip(1)
    }
}

/// Replacement of an attribute (OPC 10000-4, 5.11.4).
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeChange {
    /// The node.
    pub node_id: NodeId,
    /// AttributeId (OPC 10000-6, A.1).
    pub attribute_id: u32,
    /// The new value.
    pub value: Variant,
    /// StatusCode and time of a Value; `None`: Good, as of now. They need not be stored: a stored value is as of the start.
    pub stamp: Option<ValueStamp>,
    /// The value before; empty if the attribute did not exist. It need not be stored: it takes the change back.
    pub previous: Variant,
    /// StatusCode and time of the Value before.
    pub previous_stamp: Option<ValueStamp>,
}

/// StatusCode and source timestamp of a Value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueStamp {
    /// The StatusCode.
    pub status: StatusCode,
    /// The source timestamp.
    pub source_timestamp: DateTime,
}

impl AttributeChange {
    /// Returns the change that takes this one back.
    #[must_use]
    pub fn opposite(&self) -> Self {
        Self {
            node_id: self.node_id.clone(),
            attribute_id: self.attribute_id,
            value: self.previous.clone(),
            stamp: self.previous_stamp,
            previous: self.value.clone(),
            previous_stamp: self.stamp,
        }
    }
}

//! Children that an AddNodes request adds itself, so that its types require no others.
//!
//! A client that chooses NodeIds and attributes of mandatory children adds an instance and its children with one request. OPC
//! 10000-4, 5.8.2 lets the server create mandatory children; those that the client brings along are not created twice.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use takt_ua::{ExpandedNodeId, NodeId, QualifiedName};

/// Places of the children, as hashes with a key of their own: 8 bytes each, however long names are. A collision means that one
/// mandatory child is missing, which the client sees.
#[derive(Default)]
pub(super) struct Announced {
    places: HashSet<u64>,
    hasher: RandomState,
}

impl Announced {
    /// Notes a child. A parent with a namespace URI is not noted: its index may not exist yet.
    pub(super) fn add(&mut self, parent: &ExpandedNodeId, name: &QualifiedName) {
        if parent.namespace_uri.is_null() && parent.server_index == 0 {
            let place = self.place(&parent.node_id, name);
            self.places.insert(place);
        }
    }

    /// Returns true if the request adds this child.
    pub(super) fn contains(&self, parent: &NodeId, name: &QualifiedName) -> bool {
        self.places.contains(&self.place(parent, name))
    }

    /// Returns the memory that it takes in bytes.
    pub(super) fn memory(&self) -> usize {
        // A table has control bytes and free places, too.
        self.places.capacity() * 16
    }

    fn place(&self, parent: &NodeId, name: &QualifiedName) -> u64 {
        self.hasher.hash_one((parent, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_known_by_parent_and_name() {
        let mut announced = Announced::default();
        let parent = NodeId::numeric(1, 7);
        announced.add(&parent.clone().into(), &QualifiedName::new(1, "A"));
        assert!(announced.contains(&parent, &QualifiedName::new(1, "A")));
        assert!(!announced.contains(&parent, &QualifiedName::new(2, "A")));
        assert!(!announced.contains(&NodeId::numeric(1, 8), &QualifiedName::new(1, "A")));
    }
}

//! State of the changes of an address space.

use std::collections::HashSet;

use takt_rt::memory_budget::Charge;
use takt_ua::NodeId;

use super::name_cache::NameCache;

/// State that is used only by changes of the address space, under their lock.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Number of nodes beyond those of the standard's table, without exempt ones.
    pub(super) nodes: usize,
    /// The server's own nodes, which do not count.
    pub(super) exempt: HashSet<NodeId>,
    /// The last number that the server chose for a NodeId.
    pub(super) last_id: u32,
    /// BrowseNames of the children of one node.
    pub(super) names: NameCache,
    /// True if a reference may be listed at one of its ends only: its other node did not exist when the reference was added or
    /// the node was deleted, or one end was deleted alone.
    pub(super) dangling: bool,
    /// The memory of nodes, references and namespaces that clients have added.
    pub(super) memory: Option<Charge>,
}

#[cfg(test)]
mod tests {
    use takt_rt::memory_budget::MemoryBudget;
    use takt_ua::{NodeId, QualifiedName};

    use crate::{AddressSpace, AddressSpaceError, ClassAttributes, NodeDefinition};

    #[test]
    fn an_exempt_node_does_not_count_when_it_is_deleted_either() {
        let space = AddressSpace::new("urn:test", 10, 2, MemoryBudget::new(1 << 20));
        let mut edit = space.edit();
        let node = |number| {
            let class = ClassAttributes::Object { event_notifier: 0 };
            let id = NodeId::numeric(1, number);
            NodeDefinition::new(id, QualifiedName::new(1, "node"), class)
        };
        edit.add_node(node(1), &[]).unwrap();
        let own = NodeId::numeric(1, 1);
        // Once, however often this is called.
        edit.exempt_from_limit(&own);
        edit.exempt_from_limit(&own);
        edit.add_node(node(2), &[]).unwrap();
        edit.add_node(node(3), &[]).unwrap();
        edit.delete_node(&own, true).unwrap();
        let full = edit.add_node(node(4), &[]);
        assert!(matches!(
            full,
            Err(AddressSpaceError::TooManyNodes { limit: 2 })
        ));
    }
}

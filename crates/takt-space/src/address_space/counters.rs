//! State of the changes of an address space.

use takt_rt::memory_budget::Charge;

use super::name_cache::NameCache;

/// State that is used only by changes of the address space, under their lock.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Number of nodes beyond those of the standard's table.
    pub(super) nodes: usize,
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

//! Budget of one mirror: a server that is mirrored must not exhaust the registry.

/// Nodes, those of types included.
pub(super) const MAX_NODES: usize = 200_000;

/// References that are followed or kept.
pub(super) const MAX_REFERENCES: usize = 2_000_000;

/// Memory of one mirror in bytes, as shares of the memory budget of the registry.
///
/// A scan of the server and the copy of the last one are in memory at the same time. So a server takes at most twice the nodes, the
/// answers and the values: three quarters of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MirrorMemory {
    /// All nodes, names, identifiers, references and attributes that are kept.
    pub(super) nodes: usize,
    /// The answers to one call of the client.
    pub(super) answers: usize,
    /// All values that are kept.
    pub(super) values: usize,
}

impl MirrorMemory {
    /// Returns the shares of a budget of `max_memory` bytes.
    pub(super) fn of(max_memory: usize) -> Self {
        Self {
            nodes: max_memory / 4,
            answers: max_memory / 8,
            values: max_memory / 8,
        }
    }
}

/// Namespaces of the server.
pub(super) const MAX_NAMESPACES: usize = 256;

/// Length of a namespace URI in bytes.
pub(super) const MAX_URI: usize = 1024;

/// Bytes of one value that is kept. A Variable with a longer one is read at the server, for each Read.
pub(super) const MAX_VALUE: usize = 64 << 10;

/// Nodes of one Browse request. Many servers accept 1000 at most, and some fewer.
pub(super) const BROWSE: usize = 100;

/// Attributes of one Read request.
pub(super) const READ: usize = 500;

/// Nodes and references of one step of a change of the address space. Other changes can be made between two steps.
pub(super) const STEP: usize = 200;

/// Fields of EventTypes beyond those of the standard. Servers of Takt accept 256 fields in all.
pub(super) const MAX_EVENT_FIELDS: usize = 200;

/// Names in the path of a field of an EventType.
pub(super) const MAX_EVENT_PATH: usize = 4;

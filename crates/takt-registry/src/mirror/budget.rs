//! Budget of one mirror: a server that is mirrored must not exhaust the registry.

/// Nodes, those of types included.
pub(super) const MAX_NODES: usize = 200_000;

/// References that are followed or kept.
pub(super) const MAX_REFERENCES: usize = 2_000_000;

/// Memory in bytes of all nodes, names, identifiers, references and attributes that are kept.
pub(super) const MAX_BYTES: usize = 128 << 20;

/// Memory in bytes of the answers to one call of the client.
pub(super) const MAX_ANSWERS: usize = 64 << 20;

/// Namespaces of the server.
pub(super) const MAX_NAMESPACES: usize = 256;

/// Length of a namespace URI in bytes.
pub(super) const MAX_URI: usize = 1024;

/// Bytes of one value that is kept. A Variable with a longer one is read at the server, for each Read.
pub(super) const MAX_VALUE: usize = 64 << 10;

/// Bytes of all values that are kept.
pub(super) const MAX_VALUES: usize = 128 << 20;

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

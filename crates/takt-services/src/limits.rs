//! What one request, one client and all clients together may ask of the server.

use std::time::Duration;

use takt_ua::binary::Limits;

/// The limits of a server. They are enforced, and shown in ServerCapabilities (OPC 10000-5, 6.3.2 and 6.3.11).
#[derive(Debug, Clone, PartialEq)]
pub struct ServerLimits {
    /// What one request may consist of.
    pub operations: OperationLimits,
    /// What decoders accept: MaxStringLength, MaxByteStringLength and MaxArrayLength.
    pub encoding: Limits,
    /// Most Sessions at once.
    pub max_sessions: u32,
    /// Sessions live at least this long without a request.
    pub min_session_timeout: Duration,
    /// Sessions live at most this long without a request.
    pub max_session_timeout: Duration,
    /// MaxBrowseContinuationPoints per Session.
    pub max_browse_continuation_points: u16,
    /// Most references per node in one Browse result; the rest comes with BrowseNext.
    pub max_references_per_node: u32,
    /// Most nodes beyond namespace 0.
    pub max_nodes: usize,
    /// Most URIs in the NamespaceArray.
    pub max_namespaces: usize,
    /// Largest message that a deferred request is answered with, in bytes.
    pub max_response_size: usize,
    /// Worker threads for requests that may block.
    pub workers: usize,
    /// Requests that wait for one remote source; more are answered with `BadNoCommunication`.
    pub max_queued_per_remote: usize,
    /// How long a remote source is waited for if the client names no TimeoutHint, and at most.
    pub max_remote_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            operations: OperationLimits::default(),
            encoding: Limits::DEFAULT,
            max_sessions: 1024,
            min_session_timeout: Duration::from_secs(1),
            max_session_timeout: Duration::from_secs(3600),
            max_browse_continuation_points: 16,
            max_references_per_node: 10_000,
            max_nodes: 2_000_000,
            max_namespaces: 4096,
            max_response_size: 64 << 20,
            workers: 16,
            max_queued_per_remote: 64,
            max_remote_timeout: Duration::from_secs(10),
        }
    }
}

/// OperationLimits (OPC 10000-5, 6.3.11): a request with more operations gets `BadTooManyOperations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the standard's")]
pub struct OperationLimits {
    pub max_nodes_per_read: u32,
    pub max_nodes_per_write: u32,
    pub max_nodes_per_method_call: u32,
    pub max_nodes_per_browse: u32,
    pub max_nodes_per_register_nodes: u32,
    pub max_nodes_per_translate_browse_paths_to_node_ids: u32,
    pub max_nodes_per_node_management: u32,
}

impl Default for OperationLimits {
    fn default() -> Self {
        Self {
            max_nodes_per_read: 10_000,
            max_nodes_per_write: 10_000,
            max_nodes_per_method_call: 1_000,
            max_nodes_per_browse: 1_000,
            max_nodes_per_register_nodes: 10_000,
            max_nodes_per_translate_browse_paths_to_node_ids: 1_000,
            max_nodes_per_node_management: 1_000,
        }
    }
}

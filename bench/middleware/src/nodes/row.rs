//! Result of one peer.

use serde::Serialize;

/// Result of the test with many servers.
#[derive(Debug, Clone, Serialize)]
pub struct NodesRow {
    /// Name of the peer.
    pub peer: String,
    /// Round, from 0: each round tests all peers.
    pub round: u32,
    /// Number of servers, each a process.
    pub nodes: usize,
    /// Bytes of a message.
    pub bytes: u32,
    /// Nodes that were ready, or after that connected to the next one. The end is one of them.
    pub ready: usize,
    /// Seconds until all nodes were ready.
    pub start_s: Option<f64>,
    /// Seconds until each node was connected to the next one.
    pub connect_s: Option<f64>,
    /// Bytes on the loopback interface until all nodes were connected.
    pub traffic: u64,
    /// Memory of all servers and of the broker in bytes: the sum of their proportional set sizes.
    pub memory: u64,
    /// Median of the time in ms from the first message until the last one of all streams is back.
    pub median_ms: Option<f64>,
    /// 99th percentile of this time in ms.
    pub p99_ms: Option<f64>,
    /// Messages that did not come back, or not with the same bytes.
    pub faults: u64,
    /// Reason why the test ended early.
    pub failure: Option<String>,
}

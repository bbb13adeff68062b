//! Result of cleaning up.

use crate::address::ApplicationName;

/// Result of [`clean_dead`](crate::clean_dead).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanReport {
    /// Number of ended connections and servers whose shared memory was removed.
    pub nodes: usize,
    /// Number of removed services whose creation or removal was incomplete when their process was killed.
    pub services: usize,
    /// Number of removed counters of iceoryx2 (16 bytes each) that were left for other runtime directories of this user.
    pub counters: usize,
    /// Applications that were not running any more and whose lock and socket were removed.
    pub applications: Vec<ApplicationName>,
    /// Number of ended connections and servers that could not be removed, or are being removed by another process.
    pub failed: usize,
    /// Number of connections and servers that are in use.
    pub alive: usize,
}

//! File descriptors of connections.

use rustix::process::{Resource, getrlimit};

/// Maximum number of file descriptors that a server has open for one connection: the socket, the doorbell, both outboxes, and a
/// large segment in each direction.
pub const DESCRIPTORS_PER_CONNECTION: usize = 6;

/// Returns the number of connections for which the process has descriptors. A quarter of them is left for other uses.
pub(super) fn affordable_connections() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    let limit = limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    });
    ((limit - limit / 4) / DESCRIPTORS_PER_CONNECTION).max(1)
}

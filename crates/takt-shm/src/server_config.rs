//! Options of a server.

use std::path::PathBuf;

use takt_rt::memory_budget::MemoryBudget;

use crate::channel::layout::OUTBOX;
use crate::header::{HEADER_LENGTH, MAX_MESSAGE};

/// Default of the memory that a server may hold on behalf of its clients, in bytes.
const MEMORY: usize = 256 << 20;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Maximum number of connected clients, at most 32768. It is lower if three quarters of the file descriptors that the process
    /// may have are not enough for [`DESCRIPTORS_PER_CONNECTION`](crate::DESCRIPTORS_PER_CONNECTION) each.
    pub max_connections: usize,
    /// Memory that the server may hold on behalf of its clients, in bytes: outboxes, mapped requests and copies of them, and
    /// responses that are not taken. Beyond it a request or a response is refused with BadOutOfMemory. One connection gets at
    /// most the memory of the longest request and the longest response.
    pub memory: MemoryBudget,
    /// Length of the longest request, in bytes.
    pub max_request: u32,
    /// Length of the longest response, in bytes.
    pub max_response: u32,
    /// True if the server offers the public services through iceoryx2; otherwise channels alone. A group gets channels alone.
    pub public_services: bool,
    /// Runtime directory other than the usual one of the user or the group.
    pub runtime_directory: Option<PathBuf>,
    /// Unix group, by name or number, whose members can connect; by default only the user.
    pub group: Option<String>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            max_connections: 256,
            memory: MemoryBudget::new(MEMORY),
            max_request: MAX_MESSAGE,
            max_response: MAX_MESSAGE,
            public_services: true,
            runtime_directory: None,
            group: None,
        }
    }
}

impl ServerConfig {
    /// Returns true if the longest request, its copy and the longest response may not fit into the remaining memory. There are
    /// `kept` bytes for the copy.
    #[cold]
    pub(crate) fn is_scarce(&self, kept: usize) -> bool {
        let message = self.max_request.max(self.max_response) as usize;
        self.memory.available().saturating_add(kept) < message.saturating_mul(3)
    }

    /// Returns the part of the memory that one connection may take: its outboxes, and one message of each kind.
    pub(crate) fn memory_of_a_connection(
        &self,
        max_request: u32,
        max_response: u32,
    ) -> MemoryBudget {
        let message = |length: u32| {
            (HEADER_LENGTH + length as usize).next_multiple_of(takt_rt::segment::page_size())
        };
        // A response that the client has not taken when the next one is ready is also kept.
        let responses = 2 * message(max_response);
        self.memory
            .part(2 * OUTBOX + message(max_request) + responses)
    }
}

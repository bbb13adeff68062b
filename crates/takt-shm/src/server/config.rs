//! How a server is set up.

use std::path::PathBuf;

use takt_rt::memory_budget::MemoryBudget;

use crate::channel::layout::OUTBOX;
use crate::header::{HEADER_LENGTH, MAX_MESSAGE};

/// The bytes that a server may hold on behalf of its clients, unless configured.
const MEMORY: usize = 256 << 20;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// How many clients can be connected at a time, at most 32768. It is fewer if three quarters of the file descriptors that the process
    /// may have are not enough for [`DESCRIPTORS_PER_CONNECTION`](crate::DESCRIPTORS_PER_CONNECTION) each.
    pub max_connections: usize,
    /// The bytes that the server may hold on behalf of its clients: outboxes, mapped requests and copies of them, and responses that
    /// are not taken. Beyond it a request or a response is refused with BadOutOfMemory. One connection gets no more than the longest
    /// request and the longest response take.
    pub memory: MemoryBudget,
    /// The longest request, in bytes.
    pub max_request: u32,
    /// The longest response, in bytes.
    pub max_response: u32,
    /// Whether to offer the public services through iceoryx2, or channels alone. A group gets channels alone.
    pub public_services: bool,
    /// Another runtime directory than the usual one of the user or the group.
    pub runtime_directory: Option<PathBuf>,
    /// The Unix group, by name or number, whose members can connect; by default the user alone.
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
    /// Whether the longest request, its copy and the longest response may not fit into the memory that is left.
    #[cold]
    pub(super) fn is_scarce(&self) -> bool {
        let message = self.max_request.max(self.max_response) as usize;
        self.memory.available() < message.saturating_mul(3)
    }

    /// The part of the memory that one connection may take: its outboxes, and one message of each kind.
    pub(super) fn memory_of_a_connection(
        &self,
        max_request: u32,
        max_response: u32,
    ) -> MemoryBudget {
        let message = |length: u32| {
            (HEADER_LENGTH + length as usize).next_multiple_of(takt_rt::segment::page_size())
        };
        // What a client has not taken when the next one is ready is kept besides.
        let responses = 2 * message(max_response);
        self.memory
            .part(2 * OUTBOX + message(max_request) + responses)
    }
}

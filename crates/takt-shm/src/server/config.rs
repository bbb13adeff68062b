//! How a server is set up.

use std::path::PathBuf;

use crate::header::MAX_MESSAGE;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// How many clients can be connected at a time, at most 32768. It is fewer if three quarters of the file descriptors that the process
    /// may have are not enough for [`DESCRIPTORS_PER_CONNECTION`](crate::DESCRIPTORS_PER_CONNECTION) each.
    pub max_connections: usize,
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
            max_request: MAX_MESSAGE,
            max_response: MAX_MESSAGE,
            public_services: true,
            runtime_directory: None,
            group: None,
        }
    }
}

//! Giving a client a channel of its own.

use iceoryx2::prelude::Node;
use takt_ua::StatusCode;

use crate::address::ApplicationName;
use crate::channel::QUEUE;
use crate::handler::Handler;
use crate::open::{OpenRequest, OpenResponse, WaitCode};
use crate::pooled_ipc::PooledIpc;
use crate::server::ServerConfig;
use crate::server::channel::Channel;
use crate::server::completed::Completed;
use crate::server::connections::Connections;

/// What making a channel needs of a server.
pub(super) struct Opening<'a> {
    pub(super) node: &'a Node<PooledIpc>,
    pub(super) name: &'a ApplicationName,
    pub(super) config: &'a ServerConfig,
    pub(super) completed: &'a Completed,
}

impl Opening<'_> {
    /// Makes the channel that `wanted` asks for, for the connection that its token names.
    pub(super) fn open<H: Handler>(
        &self,
        handler: &H,
        connections: &mut Connections<H::Connection>,
        wanted: &OpenRequest,
    ) -> Result<OpenResponse, StatusCode> {
        // A token that nobody has, or whose connection has a channel already.
        let slot = connections
            .find(&wanted.token)
            .ok_or(StatusCode::BadSecurityChecksFailed)?;
        let connection = connections
            .get(slot)
            .ok_or(StatusCode::BadConnectionClosed)?;
        let peer = connection.peer;
        let id = random_id().ok_or(StatusCode::BadResourceUnavailable)?;
        let max_response = wanted.max_response.min(self.config.max_response);
        let channel = Channel::new(
            self.node,
            self.name,
            id,
            self.config.max_request,
            max_response,
            || handler.connect(Some(peer), self.name, self.completed.for_handler()),
        )
        .map_err(|error| {
            tracing::warn!(application = %self.name, %error, "cannot open a channel");
            error.status_code()
        })?;
        connections.open(slot, channel);
        Ok(OpenResponse {
            channel_id: id,
            wait: WaitCode::from(self.config.wait),
            max_request: self.config.max_request,
            max_response,
            queue: QUEUE,
        })
    }
}

fn random_id() -> Option<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

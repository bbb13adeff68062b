//! Opening the channel of a client.

use std::os::fd::OwnedFd;

use crate::address::ApplicationName;
use crate::channel::mail::Mail;
use crate::channel::socket;
use crate::error::ShmError;
use crate::handler::ShmChannels;
use crate::server::channel::Channel;
use crate::server::completed::Completed;
use crate::server::connections::Connections;
use crate::server::slot::Slot;
use crate::server_config::ServerConfig;

/// Parts of a server that are needed to make a channel.
pub(super) struct Opening<'a> {
    pub(super) name: &'a ApplicationName,
    pub(super) config: &'a ServerConfig,
    pub(super) completed: &'a Completed,
}

impl Opening<'_> {
    /// Makes the channel for a client with this outbox. On an error the connection has to be closed.
    pub(super) fn open<H: ShmChannels>(
        &self,
        handler: &H,
        connections: &mut Connections<H::Connection>,
        slot: Slot,
        max_response: u32,
        outbox: &OwnedFd,
    ) -> Result<(), ShmError> {
        let connection = connections.get(slot).ok_or(ShmError::ConnectionClosed)?;
        if connection.channel.is_some() {
            return Err(ShmError::Protocol("it opens a channel twice"));
        }
        let peer = connection.peer.clone();
        let max_request = self.config.max_request;
        let max_response = max_response.min(self.config.max_response);
        let memory = self
            .config
            .memory_of_a_connection(max_request, max_response);
        let channel = Channel::new(outbox, memory, max_request, max_response, || {
            handler.connect(Some(peer), self.name, self.completed.for_handler())
        });
        let channel = match channel {
            Ok(channel) => channel,
            Err(error) => {
                let status = error.status_code();
                // If it fails, the client sees the connection closed.
                let _ = socket::send(connection.post.socket(), Mail::Refused { status }, &[]);
                return Err(error);
            }
        };
        let opened = Mail::Opened {
            max_request,
            max_response,
        };
        let sent = socket::send(connection.post.socket(), opened, &[channel.fd()]);
        // This is done even if the client has gone: removing the connection tells the handler.
        connections.open(slot, channel);
        sent.map_err(|e| ShmError::io("answer a client", e))
    }
}

//! The services as the transports call them.

use std::net::SocketAddr;
use std::sync::Arc;

use takt_services::{Connection, Outcome, Peer, Server, Transport};
use takt_shm::{ApplicationName, PeerCredentials};
use takt_tcp::ChannelDescription;
use takt_ua::binary::Encoder;

/// The server that every transport of an application calls.
pub(super) struct Services(pub(super) Arc<Server>);

impl takt_tcp::RequestHandler for Services {
    type Connection = Connection;

    fn connect(
        &self,
        address: SocketAddr,
        channel: ChannelDescription<'_>,
        waker: takt_tcp::CompletionWaker,
    ) -> Connection {
        let peer = Peer {
            transport: Transport::Tcp,
            user: None,
            process: None,
            address: address.to_string(),
        };
        self.0.connect(peer, channel.endpoint_url.to_owned(), waker)
    }

    fn handle(
        &self,
        connection: &mut Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> takt_tcp::Outcome {
        match self.0.handle(connection, request_id, request, response) {
            Outcome::Complete => takt_tcp::Outcome::Complete,
            Outcome::Deferred => takt_tcp::Outcome::Deferred,
        }
    }

    fn take_completed(&self, connection: &mut Connection) -> Option<(u32, Vec<u8>)> {
        connection.take_completed()
    }

    fn disconnect(&self, connection: Connection) {
        self.0.disconnect(connection);
    }
}

impl takt_shm::Handler for Services {
    type Connection = Connection;

    fn connect(
        &self,
        peer: Option<PeerCredentials>,
        name: &ApplicationName,
        waker: takt_shm::CompletionWaker,
    ) -> Connection {
        let peer = match peer {
            Some(peer) => Peer {
                transport: Transport::SharedMemory,
                user: Some(peer.user),
                // In another PID namespace it has no number here.
                process: (peer.process != 0).then_some(peer.process),
                address: match peer.process {
                    0 => format!("a process of user {}", peer.user),
                    process => format!("process {process}"),
                },
            },
            // The public services' memory can be opened by this process's own Unix user only.
            None => Peer {
                transport: Transport::SharedMemory,
                user: Some(rustix::process::geteuid().as_raw()),
                process: None,
                address: "public services".to_owned(),
            },
        };
        self.0.connect(peer, name.endpoint_url(), waker)
    }

    fn handle(
        &self,
        connection: &mut Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> takt_shm::Outcome {
        match self.0.handle(connection, request_id, request, response) {
            Outcome::Complete => takt_shm::Outcome::Complete,
            Outcome::Deferred => takt_shm::Outcome::Deferred,
        }
    }

    fn take_completed(&self, connection: &mut Connection) -> Option<(u32, Vec<u8>)> {
        connection.take_completed()
    }

    fn disconnect(&self, connection: Connection) {
        self.0.disconnect(connection);
    }
}

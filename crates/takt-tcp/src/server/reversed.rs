//! Serving of connections that the server has opened (OPC 10000-6, 7.1.3).

use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use takt_rt::readiness::{Interest, tagged_key};

use super::reverse::{ReverseConnect, ReverseConnections};
use super::{REVERSE, TcpServer};
use crate::handler::TcpChannels;
use crate::reverse_hello::{ReverseHello, ReverseOutcome};
use crate::server_connection::ServerConnection;

impl<H: TcpChannels> TcpServer<H> {
    /// Connects to clients from now on, and serves the connections like accepted ones (OPC 10000-6, 7.1.3). One connection waits
    /// at each client; the next one is opened when the client uses it.
    ///
    /// # Errors
    /// Those of the operating system: there are no descriptors or threads left.
    pub fn connect_to(&mut self, clients: ReverseConnect) -> io::Result<()> {
        let reverse = ReverseConnections::start(clients)?;
        let key = tagged_key(self.tag, REVERSE);
        self.readiness.add(reverse.fd(), key, Interest::READ)?;
        self.reverse = Some(reverse);
        Ok(())
    }

    /// Serves the connections that the threads have established.
    pub(super) fn take_reverse(&mut self, now: Instant) {
        let Some(reverse) = &mut self.reverse else {
            return;
        };
        let (sockets, hello) = (reverse.take(), reverse.hello());
        for (position, socket) in sockets {
            let id = self.connections.next_id();
            // First, because `serve_socket` settles the connection, which looks it up here.
            if let Some(reverse) = &mut self.reverse {
                reverse.waits(position, id);
            }
            if !self.reversed(socket, &hello, now)
                && let Some(reverse) = &mut self.reverse
            {
                reverse.end(position, ReverseOutcome::Unused);
            }
        }
        self.limit_connections(now);
    }

    /// Serves a connection that begins with `hello`; returns false if it cannot be served.
    fn reversed(&mut self, socket: TcpStream, hello: &ReverseHello, now: Instant) -> bool {
        let Ok(address) = socket.peer_addr() else {
            return false;
        };
        let config = Arc::clone(&self.connection_config);
        let channel_id = self.next_channel_id();
        match ServerConnection::reverse(config, channel_id, hello, now) {
            Ok(machine) => self.serve_socket(OwnedFd::from(socket), address, machine, now),
            Err(error) => {
                tracing::error!(%error, "no ReverseHello can be sent");
                false
            }
        }
    }
}

//! Acceptance of new connections, and the choice of those that give way to them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with, sockopt};
use takt_rt::readiness::{Interest, tagged_key};

use crate::error::TransportError;
use crate::handler::TcpChannels;
use crate::served_connection::{Fate, ServedConnection, Stage};
use crate::server_connection::ServerConnection;

use super::{FIRST_CONNECTION, LISTENER, TcpServer};

/// Number of connections accepted at a time, so that a flood of them does not delay the others.
const ACCEPTS: usize = 16;
/// Number of ended connections that wait for their clients to read the reason; further ones are closed at once.
const REFUSALS: usize = 64;
/// Pause of accepting when the system has no descriptors or memory left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Notification of a client whose connection gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Farewell {
    /// An Error message with the reason; the connection stays open until the client has read it.
    ErrorMessage,
    /// None: the descriptor is needed at once.
    None,
}

impl<H: TcpChannels> TcpServer<H> {
    pub(super) fn accept(&mut self, now: Instant) {
        for _ in 0..ACCEPTS {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match acceptfrom_with(&self.listener, flags) {
                Ok((socket, address)) => {
                    let address = address.and_then(|any| SocketAddr::try_from(any).ok());
                    self.accepted(socket, address.unwrap_or(self.address), now);
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    if self.give_way(1, Farewell::None, now) > 0 {
                        continue;
                    }
                    tracing::warn!(url = %self.url, "no descriptors or memory left: cannot accept connections");
                    // The connection that waits keeps the listener readable: without a pause this would spin.
                    self.listen_for(Interest::NONE);
                    self.accept_again = Some(now + ACCEPT_PAUSE);
                    self.alarm.at(now + ACCEPT_PAUSE);
                    break;
                }
                // The connection was closed before it was accepted, or a signal interrupted the call: there may be
                // more connections.
                Err(_) => {}
            }
        }
        self.limit_connections(now);
    }

    /// Closes connections beyond the largest number.
    pub(super) fn limit_connections(&mut self, now: Instant) {
        // Connections that only linger do not count: they have a limit of their own.
        let ended = self.connections.iter();
        let ended = ended.filter(|(_, connection)| connection.is_lingering());
        let open = self.connections.len() - ended.count();
        let mut excess = open.saturating_sub(self.max_connections);
        while excess > 0 {
            match self.give_way(excess, Farewell::ErrorMessage, now) {
                0 => break,
                closed => excess -= closed,
            }
        }
    }

    pub(super) fn listen_for(&self, interest: Interest) {
        let key = tagged_key(self.tag, LISTENER);
        if let Err(error) = self.readiness.modify(self.listener.as_fd(), key, interest) {
            tracing::error!(url = %self.url, %error, "cannot wait for connections");
        }
    }

    fn accepted(&mut self, socket: OwnedFd, address: SocketAddr, now: Instant) {
        let config = Arc::clone(&self.connection_config);
        let machine = ServerConnection::new(config, self.next_channel_id(), now);
        self.serve_socket(socket, address, machine, now);
    }

    pub(super) fn next_channel_id(&mut self) -> u32 {
        // 0 is the SecureChannelId of a client that has no channel yet.
        // It wraps, because the first number is random.
        self.next_channel_id = self.next_channel_id.wrapping_add(1).max(1);
        self.next_channel_id
    }

    /// Serves a connected socket; returns false if that is not possible.
    pub(super) fn serve_socket(
        &mut self,
        socket: OwnedFd,
        address: SocketAddr,
        machine: ServerConnection,
        now: Instant,
    ) -> bool {
        // A response must not wait for the acknowledgement of the one before. Peers that vanish without closing the
        // connection are found by the keep-alive: their tokens may be valid for an hour.
        let options = sockopt::set_tcp_nodelay(&socket, true)
            .and_then(|()| sockopt::set_socket_keepalive(&socket, true))
            .and_then(|()| sockopt::set_tcp_keepidle(&socket, Duration::from_secs(60)));
        if options.is_err() {
            return false;
        }
        let id = self.connections.next_id();
        let waker = self.completions.waker(id);
        let users = Arc::clone(&self.local_users);
        let place = (self.accepted, Arc::clone(&self.misbehaved), users);
        let connection = ServedConnection::new(socket, address, place, machine, waker, now);
        self.accepted += 1;
        let key = tagged_key(self.tag, id + FIRST_CONNECTION);
        if let Err(error) = self.readiness.add(connection.fd(), key, Interest::READ) {
            tracing::warn!(client = %address, %error, "cannot wait for a connection: dropped");
            return false;
        }
        self.connections.insert(connection);
        // Sets the alarm for its Hello; a connection that begins with ReverseHello waits for room to send.
        self.settle(id, Fate::Stay, now);
        true
    }

    /// Closes up to `count` connections without an activated Session, to make room for others; returns their number.
    ///
    /// OPC 10000-4, 5.6.2.1: the oldest SecureChannel without a Session is closed. The choice is made among the
    /// clients of one address with the same progress, where there are most of these. So a flood displaces itself, and
    /// not a client that is about to open a channel or to activate a Session.
    fn give_way(&mut self, count: usize, farewell: Farewell, now: Instant) -> usize {
        let group = |connection: &ServedConnection<H::Connection>| {
            let stage = connection.stage(&self.handler);
            let stage = stage.filter(|stage| *stage != Stage::Session)?;
            Some((connection.address().ip(), stage))
        };
        let mut crowds: HashMap<_, usize> = HashMap::new();
        let mut ended = 0;
        for (_, connection) in self.connections.iter() {
            ended += usize::from(connection.is_lingering());
            if let Some(group) = group(connection) {
                *crowds.entry(group).or_default() += 1;
            }
        }
        let Some((crowd, _)) = crowds.into_iter().max_by_key(|(_, members)| *members) else {
            return 0;
        };
        let members = self.connections.iter();
        let members = members.filter(|(_, connection)| group(connection) == Some(crowd));
        let mut members: Vec<_> = members
            .map(|(id, connection)| (connection.number(), id))
            .collect();
        members.sort_unstable();
        members.truncate(count);
        for (_, id) in &members {
            if let Some(connection) = self.connections.get_mut(*id) {
                let error = TransportError::GivesWay("too many connections");
                let mut fate = connection.abandon(&self.handler, &error, now);
                if farewell == Farewell::None || ended >= REFUSALS {
                    fate = Fate::Remove;
                }
                ended += 1;
                self.settle(*id, fate, now);
            }
        }
        self.report_given_way(members.len(), now);
        members.len()
    }
}

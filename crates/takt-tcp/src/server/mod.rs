//! The server's loop: a listening socket and its connections on one level-triggered `Readiness` and one thread.

mod accept;
mod relief;
mod reverse;
mod reversed;
mod trust;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::log_limit::LogLimit;
use takt_rt::readiness::{
    Alarm, Events, Interest, Readiness, ReadyEvent, key_id, key_tag, tagged_key,
};
use takt_ua::StatusCode;

use crate::completions::Completions;
use crate::config::ServerConnectionConfig;
use crate::error::TransportError;
use crate::handler::TcpChannels;
use crate::listener::{BindError, listen};
use crate::local_users::LocalUsers;
use crate::served_connection::{Fate, ServedConnection};
use crate::slots::Slots;
use crate::trust_watch::TrustWatch;
use reverse::ReverseConnections;
use takt_ua::endpoint_url::EndpointUrl;

pub use reverse::ReverseConnect;

const LISTENER: u64 = 0;
const COMPLETIONS: u64 = 1;
const ALARM: u64 = 2;
const REVERSE: u64 = 3;
const FIRST_CONNECTION: u64 = 4;

/// Configuration of a [`TcpServer`].
#[derive(Debug, Clone)]
pub struct TcpServerConfig {
    /// Limits, policies and deadlines of each connection, and the budgets of memory for all of them.
    pub connection: ServerConnectionConfig,
    /// Largest number of connections. For one more, a connection without an activated Session is closed
    /// (OPC 10000-4, 5.6.2.1); if all have one, the new connection is refused. The client is told
    /// BadTcpNotEnoughResources.
    pub max_connections: usize,
}

impl Default for TcpServerConfig {
    /// 256 connections.
    fn default() -> Self {
        Self {
            connection: ServerConnectionConfig::default(),
            max_connections: 256,
        }
    }
}

/// Server of an opc.tcp endpoint.
///
/// If it is alone on its thread, call [`turn`](Self::turn) in a loop, with a timeout to sleep or with zero to spin.
/// If it shares a [`Readiness`] with others, pass the [events](Self::ready) with its tag to it. Deadlines are among
/// these events, so a wait without a timeout is sufficient, and is faster than one with a timeout.
///
/// ```
/// # use takt_tcp::{ChannelDescription, TcpChannels, TcpPeer, TcpServer, TcpServerConfig};
/// # use takt_rt::readiness::Events;
/// # use takt_ua::binary::Encoder;
/// # use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};
/// struct Echo;
///
/// impl RequestHandler for Echo {
///     type Connection = ();
///     fn handle(&self, _: &mut (), _: u32, request: &[u8], response: &mut Encoder<'_>) -> RequestOutcome {
///         if response.bytes(request).is_err() {
///             response.truncate(0); // The client is told that the response would be too large.
///         }
///         RequestOutcome::Complete
///     }
///     fn take_completed(&self, _: &mut ()) -> Option<(u32, Vec<u8>)> { None }
///     fn disconnect(&self, _: ()) {}
/// }
///
/// impl TcpChannels for Echo {
///     fn connect(&self, _: TcpPeer, _: ChannelDescription<'_>, _: CompletionWaker) {}
///     fn has_session(&self, _: &()) -> bool { true }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "opc.tcp://127.0.0.1:0".parse()?;
/// let mut server = TcpServer::bind(&url, TcpServerConfig::default(), Echo)?;
/// println!("listening on {}", server.url());
/// let mut events = Events::with_capacity(64);
/// # let rounds = 1;
/// # for _ in 0..rounds {
/// // in a loop:
/// server.turn(&mut events, Some(std::time::Duration::from_millis(1)))?;
/// # }
/// # Ok(())
/// # }
/// ```
pub struct TcpServer<H: TcpChannels> {
    handler: H,
    readiness: Arc<Readiness>,
    tag: u8,
    listener: TcpListener,
    address: SocketAddr,
    url: EndpointUrl,
    connection_config: Arc<ServerConnectionConfig>,
    max_connections: usize,
    connections: Slots<ServedConnection<H::Connection>>,
    completions: Completions,
    next_channel_id: u32,
    /// Number of connections accepted so far.
    accepted: u64,
    /// Alarm at the earliest deadline of any connection, or before.
    alarm: Alarm,
    accept_again: Option<Instant>,
    /// Times of the next search for memory among the connections, after a search found none: with those that have a Session, and
    /// without them.
    search_again: [Option<Instant>; 2],
    /// Limit on log lines about connections that gave way, and the number of those that are not in a line yet.
    given_way: LogLimit,
    unreported: usize,
    /// Limit on log lines about clients that misbehave.
    misbehaved: Arc<LogLimit>,
    /// Questions for the Unix users of clients.
    local_users: Arc<LocalUsers>,
    /// Connections with large messages that are ready, or whose requests can be continued: they wait until all other
    /// connections have been served.
    large: Vec<(u64, Option<ReadyEvent>)>,
    /// Place of the connection with large messages that began to wait last.
    last_large_place: u64,
    /// Connections that wait for their turn with asymmetric cryptography, the first in front.
    line: VecDeque<u64>,
    trust: TrustWatch,
    reverse: Option<ReverseConnections>,
}

impl<H: TcpChannels> TcpServer<H> {
    /// Listens on `url`, on a `Readiness` of its own. Port 0 takes a free port: see [`url`](Self::url).
    ///
    /// # Errors
    /// [`BindError`], which names the fix.
    pub fn bind(url: &EndpointUrl, config: TcpServerConfig, handler: H) -> Result<Self, BindError> {
        let readiness = Readiness::new().map_err(|error| BindError::new(url, error))?;
        Self::bind_on(url, config, handler, Arc::new(readiness), 0)
    }

    /// Listens on `url`. All keys in `readiness` carry `tag`.
    ///
    /// # Errors
    /// [`BindError`], which names the fix.
    pub fn bind_on(
        url: &EndpointUrl,
        config: TcpServerConfig,
        handler: H,
        readiness: Arc<Readiness>,
        tag: u8,
    ) -> Result<Self, BindError> {
        let (listener, address) = listen(url)?;
        let other = |error| BindError::new(url, error);
        let completions = Completions::new().map_err(other)?;
        let alarm = Alarm::new().map_err(other)?;
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|error| other(io::Error::other(error.to_string())))?;
        let add = |fd, id| readiness.add(fd, tagged_key(tag, id), Interest::READ);
        add(listener.as_fd(), LISTENER).map_err(other)?;
        add(completions.fd(), COMPLETIONS).map_err(other)?;
        add(alarm.as_fd(), ALARM).map_err(other)?;
        Ok(Self {
            handler,
            tag,
            listener,
            address,
            url: url.with_port(address.port()),
            connection_config: Arc::new(config.connection),
            max_connections: config.max_connections,
            connections: Slots::new(),
            completions,
            // OPC 10000-6, 6.7.2.2: a random start value is likely to be unique after each restart.
            next_channel_id: u32::from_ne_bytes(random),
            accepted: 0,
            alarm,
            accept_again: None,
            search_again: [None; 2],
            given_way: LogLimit::default(),
            unreported: 0,
            misbehaved: Arc::default(),
            local_users: Arc::new(LocalUsers::open(address)),
            large: Vec::new(),
            last_large_place: 0,
            line: VecDeque::new(),
            trust: TrustWatch::default(),
            reverse: None,
            readiness,
        })
    }

    /// Returns the configured URL with the actual port.
    #[must_use]
    pub fn url(&self) -> &EndpointUrl {
        &self.url
    }

    /// Returns the address of the listening socket.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the handler of the requests.
    #[must_use]
    pub fn handler(&self) -> &H {
        &self.handler
    }

    /// Returns the number of open connections, including those that are ending.
    #[must_use]
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Waits until something is ready, at most `timeout`, and serves it. With a timeout of zero it does not wait:
    /// call it in a loop to spin.
    ///
    /// Ready descriptors with another tag are ignored: other users of the `Readiness` wait for their own events.
    ///
    /// # Errors
    /// Only those of a broken `Readiness`.
    pub fn turn(&mut self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let waited = self.readiness.wait(events, timeout);
        let now = Instant::now();
        for event in events.iter() {
            if key_tag(event.key) == self.tag {
                self.ready(event, now);
            }
        }
        self.serve_large(now);
        waited
    }

    /// Handles an event whose key has this server's tag. Call [`serve_large`](Self::serve_large) after the events of a wait.
    pub fn ready(&mut self, event: ReadyEvent, now: Instant) {
        match key_id(event.key) {
            LISTENER => self.accept(now),
            COMPLETIONS => self.complete(now),
            ALARM => self.handle_timeouts(now),
            REVERSE => self.take_reverse(now),
            id => {
                self.serve_or_postpone(id - FIRST_CONNECTION, Some(event), now);
            }
        }
    }

    /// Serves one connection with large messages: of those that are ready, the one that has waited longest.
    ///
    /// A value is decoded and copied in one go. With one of them between two waits, a client with short requests waits for one
    /// large value at most, however many connections send and request such values. The other ones are ready again at once, and
    /// keep their places: new connections cannot delay them.
    ///
    /// Serves one connection that waits for its turn with asymmetric cryptography as well: it takes as long.
    pub fn serve_large(&mut self, now: Instant) {
        self.serve_line(now);
        let mut first: Option<(u64, usize)> = None;
        for (index, (id, _)) in self.large.iter().enumerate() {
            if let Some(connection) = self.connections.get_mut(*id)
                && let Some(place) = connection.large_place
                && first.is_none_or(|(earliest, _)| place < earliest)
            {
                first = Some((place, index));
            }
        }
        let first = first.map(|(_, index)| self.large.swap_remove(index));
        for (id, event) in self.large.drain(..) {
            // A socket stays ready by itself.
            if let (None, Some(connection)) = (event, self.connections.get_mut(id)) {
                connection.call_again();
            }
        }
        let Some((id, event)) = first else {
            return;
        };
        if let Some(connection) = self.connections.get_mut(id) {
            // Its next large message waits behind those that are ready now.
            connection.large_place = None;
        }
        self.serve(id, event, now);
    }

    /// Lets the first connection in the line open its SecureChannel or renew its token.
    fn serve_line(&mut self, now: Instant) {
        while let Some(id) = self.line.pop_front() {
            let Some(connection) = self.connections.get_mut(id) else {
                continue;
            };
            connection.waits_in_line = false;
            connection.grant_turn();
            self.serve(id, None, now);
            if let Some(connection) = self.connections.get_mut(id) {
                connection.end_turn();
            }
            // One at a time: all others are served in between.
            break;
        }
        // The next wait ends at once.
        while let Some(next) = self.line.front() {
            match self.connections.get_mut(*next) {
                Some(connection) => return connection.call_again(),
                None => self.line.pop_front(),
            };
        }
    }

    fn serve_or_postpone(&mut self, id: u64, event: Option<ReadyEvent>, now: Instant) {
        match self.connections.get_mut(id) {
            Some(connection) if connection.has_large_messages() => {
                if connection.large_place.is_none() {
                    self.last_large_place += 1;
                    connection.large_place = Some(self.last_large_place);
                }
                self.large.push((id, event));
            }
            _ => self.serve(id, event, now),
        }
    }

    /// Serves a connection that is ready, or whose requests can be continued.
    fn serve(&mut self, id: u64, event: Option<ReadyEvent>, now: Instant) {
        self.keep_reserve(id, now);
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let fate = match event {
            Some(event) => connection.ready(event, &self.handler, now),
            None => connection.complete(&self.handler, now),
        };
        self.settle(id, fate, now);
        if let Some(connection) = self.connections.get_mut(id)
            && connection.waits_for_turn()
            && !connection.waits_in_line
        {
            connection.waits_in_line = true;
            self.line.push_back(id);
        }
    }

    /// Returns the time of the next deadline, or an earlier one. The deadline is reported as an [event](Self::ready)
    /// too, so that calling this is optional.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.alarm.set_for()
    }

    /// Handles the deadlines that have passed: ends the connections whose clients are late, and listens again after a
    /// pause.
    ///
    /// The timer behind [`next_timeout`](Self::next_timeout) is one of the descriptors in the `Readiness`, and its
    /// [event](Self::ready) ends here; calling this at other times does no harm.
    pub fn handle_timeouts(&mut self, now: Instant) {
        if !self.alarm.is_due(now) {
            return;
        }
        self.alarm.acknowledge();
        match self.accept_again {
            Some(at) if at <= now => {
                self.accept_again = None;
                self.listen_for(Interest::READ);
            }
            Some(at) => self.alarm.at(at),
            None => {}
        }
        self.look_at_trust(now);
        for index in 0..self.connections.places() {
            if let Some(id) = self.connections.id_at(index)
                && let Some(connection) = self.connections.get_mut(id)
            {
                let fate = match connection.next_timeout() {
                    Some(at) if at <= now => connection.handle_timeout(&self.handler, now),
                    _ => Fate::Stay,
                };
                self.settle(id, fate, now);
            }
        }
    }

    /// Ends all connections with `status` (BadShutdown, for instance) and serves on. Bytes that the clients have not
    /// received are discarded when the server is dropped.
    pub fn close_connections(&mut self, status: StatusCode, reason: &str) {
        let now = Instant::now();
        for index in 0..self.connections.places() {
            if let Some(id) = self.connections.id_at(index)
                && let Some(connection) = self.connections.get_mut(id)
                && !connection.is_lingering()
            {
                let fate = connection.close(&self.handler, status, reason, now);
                self.settle(id, fate, now);
            }
        }
    }

    /// Removes a connection that has ended, or updates the events that it waits for.
    fn settle(&mut self, id: u64, fate: Fate, now: Instant) {
        let mut fate = fate;
        while let Fate::Starve(bytes) = fate {
            let has_room = self.make_room(id, bytes, now);
            let Some(connection) = self.connections.get_mut(id) else {
                return;
            };
            fate = if has_room {
                connection.serve(&self.handler, now)
            } else {
                let limit = self.connection_config.memory.limit();
                let error = TransportError::NotEnoughMemory { limit };
                connection.end(&self.handler, &error, now)
            };
        }
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if fate == Fate::Stay {
            let wanted = connection.wanted_interest();
            if wanted != connection.interest {
                connection.interest = wanted;
                let key = tagged_key(self.tag, id + FIRST_CONNECTION);
                if self.readiness.modify(connection.fd(), key, wanted).is_err() {
                    fate = Fate::Remove;
                }
            }
            let is_secured = connection.is_secured();
            if let Some(at) = connection.next_timeout() {
                self.alarm.at(at);
            }
            if is_secured {
                self.watch_trust(now);
            }
        }
        if let Some(reverse) = &mut self.reverse {
            let open = (fate == Fate::Stay).then(|| self.connections.get_mut(id));
            let open = open
                .flatten()
                .filter(|connection| !connection.is_lingering());
            reverse.settled(id, open.map(|connection| connection.has_said_hello()));
        }
        if fate == Fate::Remove
            && let Some(mut connection) = self.connections.remove(id)
        {
            // Closing the socket removes it from the Readiness, because there is no other copy of the descriptor.
            if let Some(handled) = connection.take_handled() {
                self.handler.disconnect(handled);
            }
        }
    }

    fn complete(&mut self, now: Instant) {
        let list = self.completions.take();
        for &id in &list {
            self.serve_or_postpone(id, None, now);
        }
        self.completions.recycle(list);
    }
}

impl<H: TcpChannels> fmt::Debug for TcpServer<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpServer")
            .field("url", &self.url)
            .field("address", &self.address)
            .field("connections", &self.connections.len())
            .finish_non_exhaustive()
    }
}

impl<H: TcpChannels> Drop for TcpServer<H> {
    fn drop(&mut self) {
        let now = Instant::now();
        for index in 0..self.connections.places() {
            if let Some(id) = self.connections.id_at(index) {
                self.settle(id, Fate::Remove, now);
            }
        }
        // The Readiness may be used by others after this, and a handler may keep the completions' descriptor open.
        let _ = self.readiness.remove(self.listener.as_fd());
        let _ = self.readiness.remove(self.completions.fd());
        let _ = self.readiness.remove(self.alarm.as_fd());
        if let Some(reverse) = &self.reverse {
            let _ = self.readiness.remove(reverse.fd());
        }
    }
}

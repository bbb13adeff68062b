//! Connections before they are used: those that have not sent their ReverseHello, and those of expected servers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::shared::{Arrived, Shared};
use crate::error::TransportError;
use crate::hello::emit_error;
use crate::reverse_hello::ReverseHello;

/// Number of connections without a ReverseHello. For one more, the oldest of the address with most of them is closed.
const MAX_STRANGERS: usize = 64;

/// Time limit for the ReverseHello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of connections of expected servers that wait.
const MAX_ARRIVED: usize = 64;

/// Number of those with one ReverseHello. For one more, the oldest of the address with most of them is closed.
const MAX_ARRIVED_ALIKE: usize = 4;

/// Number of connections accepted at a time, so that those before are read while a flood of them arrives.
const ACCEPTS: usize = 16;

/// Pause of accepting when the system has no descriptors or memory left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connection that has not sent its ReverseHello.
struct Stranger {
    socket: TcpStream,
    address: SocketAddr,
    deadline: Instant,
    bytes: Vec<u8>,
}

/// Result of reading from a stranger.
enum Heard {
    Nothing,
    Hello(ReverseHello),
    Refused(TransportError),
    Gone,
}

impl Stranger {
    fn read(&mut self) -> Heard {
        let mut buffer = [0; 1024];
        loop {
            match self.socket.read(&mut buffer) {
                Ok(0) => return Heard::Gone,
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Nothing,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Heard::Gone,
            }
            // After each read, so that a stranger's bytes are never more than a ReverseHello and one buffer.
            match ReverseHello::read(&self.bytes) {
                // The server waits for the Hello before it sends more.
                Ok(Some((_, size))) if size < self.bytes.len() => {
                    return Heard::Refused(TransportError::MessageType(*b"RHE"));
                }
                Ok(Some((hello, _))) => return Heard::Hello(hello),
                Ok(None) => {}
                Err(error) => return Heard::Refused(error),
            }
        }
    }
}

/// The listening socket and the connections at it.
pub(super) struct WaitingRoom {
    socket: TcpListener,
    shared: Arc<Shared>,
    strangers: Vec<Stranger>,
    accept_again: Option<Instant>,
}

impl WaitingRoom {
    pub(super) fn new(socket: TcpListener, shared: Arc<Shared>) -> Self {
        Self {
            socket,
            shared,
            strangers: Vec::new(),
            accept_again: None,
        }
    }

    /// Serves until the listener is dropped.
    pub(super) fn run(&mut self) {
        while self.wait() {
            let now = Instant::now();
            // Before the deadlines are checked: bytes that have arrived were in time.
            self.hear();
            self.strangers.retain(|stranger| stranger.deadline > now);
            if self.accept_again.is_none_or(|at| at <= now) {
                self.accept_again = None;
                self.accept(now);
            }
        }
    }

    /// Sleeps until something happens; removes connections that their servers have closed. Returns false at the end.
    fn wait(&self) -> bool {
        let now = Instant::now();
        let mut deadlines: Vec<Instant> = self.strangers.iter().map(|one| one.deadline).collect();
        deadlines.extend(self.accept_again);
        let timeout = deadlines
            .into_iter()
            .min()
            .map(|at| at.saturating_duration_since(now));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        // Copies, because a client may take and close a connection meanwhile.
        let copies: Vec<(SocketAddr, TcpStream)> = {
            let state = self.shared.state();
            if state.ended {
                return false;
            }
            let copy = |one: &Arrived| Some((one.address, one.socket.try_clone().ok()?));
            state.arrived.iter().filter_map(copy).collect()
        };
        let accepts = match self.accept_again {
            Some(_) => PollFlags::empty(),
            None => PollFlags::IN,
        };
        let waker = self.shared.waker.as_fd();
        let mut descriptors = vec![
            PollFd::from_borrowed_fd(waker, PollFlags::IN),
            PollFd::new(&self.socket, accepts),
        ];
        let strangers = self.strangers.iter();
        descriptors.extend(strangers.map(|one| PollFd::new(&one.socket, PollFlags::IN)));
        let first_copy = descriptors.len();
        descriptors.extend(
            copies
                .iter()
                .map(|(_, socket)| PollFd::new(socket, PollFlags::IN)),
        );
        // A signal may end the wait early, which is harmless.
        let _ = poll(&mut descriptors, timeout.as_ref());
        // Before the state is read: a change after that ends the next wait.
        self.shared.waker.drain();
        let ready = descriptors[first_copy..].iter().zip(&copies);
        let ended: Vec<SocketAddr> = ready
            .filter(|(descriptor, _)| !descriptor.revents().is_empty())
            .map(|(_, (address, _))| *address)
            .collect();
        let mut state = self.shared.state();
        // A server says nothing before the Hello: it has closed the connection, or misbehaves.
        state.arrived.retain(|one| !ended.contains(&one.address));
        !state.ended
    }

    /// Reads from all strangers.
    fn hear(&mut self) {
        for mut stranger in std::mem::take(&mut self.strangers) {
            match stranger.read() {
                Heard::Nothing => self.strangers.push(stranger),
                Heard::Gone => {}
                Heard::Hello(hello) => self.welcome(stranger, hello),
                Heard::Refused(error) => refuse(stranger, &error),
            }
        }
    }

    /// Lets the connection of an expected server wait for a client.
    fn welcome(&self, stranger: Stranger, hello: ReverseHello) {
        let mut state = self.shared.state();
        if !state.expected.iter().any(|server| server.fits(&hello)) {
            state.refused = Some(hello);
            drop(state);
            return refuse(stranger, &TransportError::ServerUri);
        }
        let alike = state.arrived.iter().filter(|one| one.hello == hello);
        let full = match alike.count() >= MAX_ARRIVED_ALIKE {
            true => crowd(
                state
                    .arrived
                    .iter()
                    .map(|one| (one.hello == hello, one.address)),
            ),
            false if state.arrived.len() >= MAX_ARRIVED => {
                crowd(state.arrived.iter().map(|one| (true, one.address)))
            }
            false => None,
        };
        if let Some(at) = full {
            state.arrived.remove(at);
        }
        state.arrived.push(Arrived {
            socket: stranger.socket,
            address: stranger.address,
            hello,
        });
        drop(state);
        self.shared.arrived.notify_all();
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..ACCEPTS {
            match self.socket.accept() {
                Ok((socket, address)) => {
                    if socket.set_nonblocking(true).is_err() || socket.set_nodelay(true).is_err() {
                        continue;
                    }
                    if self.strangers.len() >= MAX_STRANGERS {
                        self.give_way();
                    }
                    self.strangers.push(Stranger {
                        socket,
                        address,
                        deadline: now + HELLO_TIMEOUT,
                        bytes: Vec::new(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The connection was closed before, or a signal came: there may be more connections.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                    ) => {}
                Err(error) => {
                    // The system may lack descriptors: a connection without a ReverseHello gives up its own.
                    if !self.give_way() {
                        tracing::warn!(%error, "cannot accept connections of servers");
                        self.accept_again = Some(now + ACCEPT_PAUSE);
                        break;
                    }
                }
            }
        }
    }

    /// Closes the connection of one stranger; returns false if there is none.
    fn give_way(&mut self) -> bool {
        let at = crowd(self.strangers.iter().map(|one| (true, one.address)));
        at.map(|at| self.strangers.remove(at)).is_some()
    }
}

/// Returns the position of the oldest connection of the host with most of them, among those that count.
fn crowd(all: impl Iterator<Item = (bool, SocketAddr)> + Clone) -> Option<usize> {
    let of = |host| {
        let alike = all
            .clone()
            .filter(|(counts, one)| *counts && one.ip() == host);
        alike.count()
    };
    let counted = all.clone().enumerate().filter(|(_, (counts, _))| *counts);
    // Of equal ones the last wins, so the order is reversed by the position.
    let chosen = counted.max_by_key(|(at, (_, one))| (of(one.ip()), std::cmp::Reverse(*at)));
    chosen.map(|(at, _)| at)
}

/// Sends an Error message, as far as it fits the buffer of the socket, and closes the connection (OPC 10000-6, 7.1.2.6).
fn refuse(mut stranger: Stranger, error: &TransportError) {
    tracing::debug!(server = %stranger.address, %error, "the connection of a server is refused");
    let mut message = Vec::new();
    emit_error(&mut message, error.status_code(), &error.to_string());
    let _ = stranger.socket.write(&message);
}

//! Accepting connections: their number in a turn, and the connections that give way when places or descriptors have run out.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use takt_rt::readiness::{Interest, Waker, tagged_key};
use takt_ua::StatusCode;

use crate::channel::mail::Mail;
use crate::channel::socket;
use crate::handler::ShmChannels;
use crate::server::ShmServer;
use crate::server::connections::{Connection, Event};

/// Maximum number of connections that are accepted in a turn, so that a process that connects again and again does not delay the
/// other clients.
const ACCEPTS_PER_TURN: usize = 8;
/// Maximum number of late connections that are dropped in a turn.
const DROPS_PER_TURN: usize = 64;
/// Time without accepting when a connection cannot even be refused for want of a descriptor.
const PAUSE: Duration = Duration::from_millis(100);

impl<H: ShmChannels> ShmServer<H> {
    /// Accepts some of the waiting connections. If there are more, the listener stays readable.
    pub(super) fn accept(&mut self) {
        for _ in 0..ACCEPTS_PER_TURN {
            match socket::accept(self.connections.socket()) {
                Ok(Some(socket)) => {
                    // A client is dropped after an error, and sees its connection closed.
                    let _ = self.greet(socket);
                }
                Ok(None) => break,
                // The kernel returns this error even if no connection waits.
                Err(Errno::MFILE | Errno::NFILE)
                    if !socket::is_readable(self.connections.socket()) =>
                {
                    break;
                }
                Err(Errno::MFILE | Errno::NFILE) if self.give_way() => {}
                Err(Errno::MFILE | Errno::NFILE) => {
                    self.refuse_next();
                    break;
                }
                Err(_) => break,
            }
        }
        self.set_alarm();
    }

    /// Drops a connection that has no channel yet, if there is one.
    fn give_way(&mut self) -> bool {
        let giving_way = self.connections.giving_way();
        if let Some(slot) = giving_way {
            self.close(slot);
        }
        giving_way.is_some()
    }

    /// Refuses the next connection because there are no descriptors left. If it were left waiting, the listener would stay
    /// readable and the loop would never sleep.
    fn refuse_next(&mut self) {
        self.connections.give_spare_up();
        if let Ok(Some(socket)) = socket::accept(self.connections.socket()) {
            refuse(&socket, StatusCode::BadTcpServerTooBusy);
        }
        if !self.connections.take_spare() {
            // The descriptor has been taken elsewhere in the process.
            self.listen(Interest::NONE);
            self.accept_again = Some(Instant::now() + PAUSE);
        }
    }

    fn listen(&self, interest: Interest) {
        let key = tagged_key(self.tag, Event::Listener.to_id());
        let _ = self
            .readiness
            .modify(self.connections.listener(), key, interest);
    }

    fn greet(&mut self, socket: OwnedFd) -> Option<()> {
        let peer = socket::peer(&socket).ok()?;
        if !self.connections.admits(&socket) {
            refuse(&socket, StatusCode::BadUserAccessDenied);
            return None;
        }
        let slot = match self.connections.free_slot() {
            Some(slot) => slot,
            None if self.give_way() => self.connections.free_slot()?,
            None => {
                refuse(&socket, StatusCode::BadTcpServerTooBusy);
                return None;
            }
        };
        let has_doorbell = !self.connections.is_of_group();
        let doorbell = has_doorbell.then(Waker::new).transpose().ok()?;
        let hello = Mail::Hello {
            connection: slot.number(),
        };
        let [state, map] = self.attention.descriptors();
        let sent = match &doorbell {
            Some(doorbell) => socket::send(&socket, hello, &[state, map, doorbell.as_fd()]),
            None => socket::send(&socket, hello, &[state, map]),
        };
        sent.ok()?;
        let key = |event: Event| tagged_key(self.tag, event.to_id());
        self.readiness
            .add(socket.as_fd(), key(Event::Socket(slot)), Interest::READ)
            .ok()?;
        if let Some(doorbell) = &doorbell {
            // The count of the doorbell is not read.
            let interest = Interest::READ | Interest::EDGE;
            // After a failure, closing the socket takes the socket out of the set again.
            self.readiness
                .add(doorbell.as_fd(), key(Event::Doorbell(slot)), interest)
                .ok()?;
        }
        self.connections
            .put(slot, Connection::new(socket, doorbell, peer));
        Some(())
    }

    /// Sets the alarm. There is none while all connections have their channels and no large messages.
    pub(super) fn set_alarm(&mut self) {
        let late = self.connections.next_late();
        let others = self.accept_again.into_iter().chain(self.trim_at);
        if let Some(at) = late.into_iter().chain(others).min() {
            self.alarm.at(at);
        }
    }

    /// Drops connections that are late with opening a channel, accepts again after a pause, and gives memory for large messages
    /// back.
    pub(super) fn alarm_has_gone_off(&mut self) {
        self.alarm.acknowledge();
        let now = Instant::now();
        for _ in 0..DROPS_PER_TURN {
            match self.connections.take_late(now) {
                Some(connection) => self.finish(connection),
                None => break,
            }
        }
        if self.accept_again.is_some_and(|at| at <= now) {
            self.accept_again = None;
            self.listen(Interest::READ);
        }
        if self.trim_at.is_some_and(|at| at <= now) {
            self.trim();
        }
        self.set_alarm();
    }
}

/// Sends a client the refusal. If that fails, the client sees the connection closed.
fn refuse(socket: &OwnedFd, status: StatusCode) {
    let _ = socket::send(socket, Mail::Refused { status }, &[]);
}

//! The connections of a server: sockets, doorbells, and the channels that were opened through them.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::readiness::Waker;
use takt_ua::StatusCode;

use crate::attention::{Attention, MAX_CONNECTIONS};
use crate::error::ShmError;
use crate::mail::Mail;
use crate::post::PostBox;
use crate::runtime::Runtime;
use crate::server::channel::Channel;
use crate::socket::{self, PeerCredentials};

/// Who has not opened a channel after this time is dropped.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// A place for a connection. Its number is used again, its generation is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    index: u16,
    generation: u32,
}

/// What a descriptor's key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Somebody connects.
    Listener,
    /// There are requests to public services.
    Public,
    /// Deferred responses are ready.
    Completed,
    /// A connection's socket is readable: it closes.
    Socket(Slot),
    /// A client rang.
    Doorbell(Slot),
    /// Somebody may be late with opening a channel.
    Late,
}

impl Event {
    /// 8 bits kind, 16 bits index, 32 bits generation: what a key has room for.
    pub(super) fn to_id(self) -> u64 {
        let (kind, slot) = match self {
            Self::Listener => (0, None),
            Self::Public => (1, None),
            Self::Completed => (2, None),
            Self::Socket(slot) => (3, Some(slot)),
            Self::Doorbell(slot) => (4, Some(slot)),
            Self::Late => (5, None),
        };
        let slot = slot.map_or(0, |slot| {
            u64::from(slot.index) << 32 | u64::from(slot.generation)
        });
        kind << 48 | slot
    }

    pub(super) fn from_id(id: u64) -> Option<Self> {
        let slot = Slot {
            index: (id >> 32) as u16,
            generation: id as u32,
        };
        match id >> 48 {
            0 => Some(Self::Listener),
            1 => Some(Self::Public),
            2 => Some(Self::Completed),
            3 => Some(Self::Socket(slot)),
            4 => Some(Self::Doorbell(slot)),
            5 => Some(Self::Late),
            _ => None,
        }
    }
}

/// A client.
pub(super) struct Connection<C> {
    pub(super) post: PostBox,
    /// The client rings it.
    pub(super) doorbell: Waker,
    /// We ring it.
    pub(super) client: Waker,
    pub(super) peer: PeerCredentials,
    since: Instant,
    /// Until it is opened there is none.
    pub(super) channel: Option<Channel<C>>,
}

pub(super) struct Connections<C> {
    listener: OwnedFd,
    /// Knows who may connect.
    runtime: Arc<Runtime>,
    /// Given up for a moment to refuse a client when there are no descriptors left, so that it does not wait for ever.
    spare: Option<File>,
    places: Vec<(u32, Option<Connection<C>>)>,
    /// Those with a channel, in no order.
    open: Vec<Slot>,
    max: usize,
}

impl<C> Connections<C> {
    /// Listens at `path` for those who share in `runtime`.
    pub(super) fn listen(path: &Path, runtime: Arc<Runtime>, max: usize) -> Result<Self, ShmError> {
        Ok(Self {
            listener: socket::listen(path, runtime.socket_mode())?,
            runtime,
            spare: spare(),
            places: Vec::new(),
            open: Vec::new(),
            max: max.min(MAX_CONNECTIONS),
        })
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// How many channels there are.
    pub(super) fn channels(&self) -> usize {
        self.open.len()
    }

    /// The slot of a channel, by its place in the list of them.
    pub(super) fn channel_slot(&self, index: usize) -> Option<Slot> {
        self.open.get(index).copied()
    }

    pub(super) fn get(&mut self, slot: Slot) -> Option<&mut Connection<C>> {
        match self.places.get_mut(usize::from(slot.index)) {
            Some((generation, connection)) if *generation == slot.generation => connection.as_mut(),
            _ => None,
        }
    }

    /// The connection at a place of the map of attention, if there is one.
    #[inline]
    pub(super) fn at(&self, index: usize) -> Option<Slot> {
        let (generation, connection) = self.places.get(index)?;
        connection.as_ref()?;
        Some(Slot {
            index: u16::try_from(index).ok()?,
            generation: *generation,
        })
    }

    /// Gives a connection its channel.
    pub(super) fn open(&mut self, slot: Slot, channel: Channel<C>) {
        if let Some(connection) = self.get(slot) {
            connection.channel = Some(channel);
            self.open.push(slot);
        }
    }

    pub(super) fn remove(&mut self, slot: Slot) -> Option<Connection<C>> {
        self.get(slot)?;
        if let Some(at) = self.open.iter().position(|open| *open == slot) {
            self.open.swap_remove(at);
        }
        let (generation, connection) = self.places.get_mut(usize::from(slot.index))?;
        *generation = generation.wrapping_add(1);
        connection.take()
    }

    /// Removes one of those that are left.
    pub(super) fn take_any(&mut self) -> Option<Connection<C>> {
        let slot = self.slots().next().map(|(slot, _)| slot)?;
        self.remove(slot)
    }

    /// When somebody will be late with opening a channel, if nothing happens.
    pub(super) fn next_late(&self) -> Option<Instant> {
        self.unopened().map(|(_, deadline)| deadline).min()
    }

    /// Removes one who is late.
    pub(super) fn take_late(&mut self, now: Instant) -> Option<Connection<C>> {
        let (slot, _) = self.unopened().find(|(_, deadline)| *deadline <= now)?;
        self.remove(slot)
    }

    fn unopened(&self) -> impl Iterator<Item = (Slot, Instant)> {
        self.slots()
            .filter(|(_, connection)| connection.channel.is_none())
            .map(|(slot, connection)| (slot, connection.since + OPEN_TIMEOUT))
    }

    /// Takes all who want to connect; `register` adds their descriptors to the set that is waited for.
    pub(super) fn accept(
        &mut self,
        attention: &Attention,
        mut register: impl FnMut(BorrowedFd<'_>, Event) -> bool,
    ) {
        loop {
            match socket::accept(&self.listener) {
                Ok(Some(socket)) => {
                    self.greet(socket, attention, &mut register);
                }
                Ok(None) => return,
                Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) => {
                    // Without this the listener would stay readable and the loop would never sleep.
                    self.spare = None;
                    let refused = socket::accept(&self.listener);
                    drop(refused);
                    self.spare = spare();
                    if self.spare.is_none() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Sends the hello. A client for which something fails is dropped, and sees its connection closed.
    fn greet(
        &mut self,
        socket: OwnedFd,
        attention: &Attention,
        register: &mut impl FnMut(BorrowedFd<'_>, Event) -> bool,
    ) -> Option<()> {
        let peer = socket::peer(&socket).ok()?;
        let refuse = |status| {
            // If it cannot be told, it sees the connection closed.
            let _ = socket::send(&socket, Mail::Refused { status }, &[]);
        };
        if !self.runtime.admits(&socket) {
            refuse(StatusCode::BadUserAccessDenied);
            return None;
        }
        let Some(slot) = self.free_slot() else {
            refuse(StatusCode::BadTcpServerTooBusy);
            return None;
        };
        let connection = Connection {
            post: PostBox::new(socket),
            doorbell: Waker::new().ok()?,
            client: Waker::new().ok()?,
            peer,
            since: Instant::now(),
            channel: None,
        };
        let hello = Mail::Hello {
            connection: u32::from(slot.index),
        };
        let [state, map] = attention.descriptors();
        let bells = [connection.doorbell.as_fd(), connection.client.as_fd()];
        let [doorbell, client] = bells;
        let descriptors = [doorbell, client, state, map];
        socket::send(connection.post.socket(), hello, &descriptors).ok()?;
        if !register(connection.post.as_fd(), Event::Socket(slot)) {
            return None;
        }
        if !register(connection.doorbell.as_fd(), Event::Doorbell(slot)) {
            // Closing the socket takes it out of the set again.
            return None;
        }
        let (_, place) = self.places.get_mut(usize::from(slot.index))?;
        *place = Some(connection);
        Some(())
    }

    fn free_slot(&mut self) -> Option<Slot> {
        if self.slots().count() >= self.max {
            return None;
        }
        let free = self.places.iter().position(|(_, place)| place.is_none());
        let index = free.unwrap_or_else(|| {
            self.places.push((0, None));
            self.places.len() - 1
        });
        Some(Slot {
            index: u16::try_from(index).ok()?,
            generation: self.places.get(index)?.0,
        })
    }

    fn slots(&self) -> impl Iterator<Item = (Slot, &Connection<C>)> {
        self.places
            .iter()
            .enumerate()
            .filter_map(|(index, (generation, place))| {
                let slot = Slot {
                    index: u16::try_from(index).ok()?,
                    generation: *generation,
                };
                Some((slot, place.as_ref()?))
            })
    }
}

fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_being_keys() {
        let slot = Slot {
            index: u16::MAX,
            generation: u32::MAX,
        };
        for event in [
            Event::Listener,
            Event::Public,
            Event::Completed,
            Event::Socket(slot),
            Event::Doorbell(slot),
            Event::Late,
        ] {
            let id = event.to_id();
            assert_eq!(takt_rt::readiness::key_id(id), id);
            assert_eq!(Event::from_id(id), Some(event));
        }
        assert_eq!(Event::from_id(9 << 48), None);
    }
}

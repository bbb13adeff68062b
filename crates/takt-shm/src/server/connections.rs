//! Connections of a server: sockets, doorbells, and the channels that were opened through them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::readiness::Waker;

use crate::channel::attention::MAX_CONNECTIONS;
use crate::channel::post::PostBox;
use crate::channel::socket::{self, PeerCredentials};
use crate::directory::runtime::Runtime;
use crate::error::ShmError;
use crate::server::channel::Channel;
use crate::server::slot::Slot;

/// Time after which a connection without a channel is dropped.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Meaning of a descriptor's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A client connects.
    Listener,
    /// There are requests to public services.
    Public,
    /// Deferred responses are ready, or channels have more requests than they could have answered in their turn.
    Completed,
    /// A connection's socket is readable: there is a mail, or it closes.
    Socket(Slot),
    /// A client rang.
    Doorbell(Slot),
    /// The alarm has gone off: a connection may be late with opening a channel.
    Late,
}

impl Event {
    /// Returns the key, which has 8 bits kind, 16 bits index and 32 bits generation.
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

/// Connection of a client.
pub(super) struct Connection<C> {
    pub(super) post: PostBox,
    /// Doorbell that the client rings; the server must not. In a group there is none: see [`doorbell`](crate::channel::doorbell).
    pub(super) doorbell: Option<Waker>,
    pub(super) peer: PeerCredentials,
    since: Instant,
    /// Channel; `None` until it is opened.
    pub(super) channel: Option<Channel<C>>,
}

/// Process and user of a peer, as far as they can be seen.
type PeerKey = (u32, u32);

impl<C> Connection<C> {
    /// Creates a connection that has no channel yet.
    pub(super) fn new(socket: OwnedFd, doorbell: Option<Waker>, peer: PeerCredentials) -> Self {
        Self {
            post: PostBox::of_server(socket),
            doorbell,
            peer,
            since: Instant::now(),
            channel: None,
        }
    }

    /// Returns the time until which its channel has to be open.
    fn deadline(&self) -> Instant {
        self.since + OPEN_TIMEOUT
    }

    fn peer_key(&self) -> PeerKey {
        (self.peer.user, self.peer.process)
    }
}

pub(super) struct Connections<C> {
    listener: OwnedFd,
    /// Runtime directory, which determines the users that may connect.
    runtime: Arc<Runtime>,
    /// File that is closed for a moment to refuse a client when there are no descriptors left, so that it does not wait for ever.
    spare: Option<File>,
    places: Vec<(u32, Option<Connection<C>>)>,
    /// Connections with a channel, in no order.
    open: Vec<Slot>,
    used: usize,
    max: usize,
}

impl<C> Connections<C> {
    /// Listens at `path` for the processes that share in `runtime`.
    pub(super) fn listen(path: &Path, runtime: Arc<Runtime>, max: usize) -> Result<Self, ShmError> {
        Ok(Self {
            listener: socket::listen(path, runtime.socket_mode())?,
            runtime,
            spare: spare(),
            places: Vec::new(),
            open: Vec::new(),
            used: 0,
            max: max.min(MAX_CONNECTIONS),
        })
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.listener
    }

    /// Returns the number of channels.
    pub(super) fn channels(&self) -> usize {
        self.open.len()
    }

    /// Returns the slot of a channel, by its place in the list of them.
    pub(super) fn channel_slot(&self, index: usize) -> Option<Slot> {
        self.open.get(index).copied()
    }

    pub(super) fn get(&mut self, slot: Slot) -> Option<&mut Connection<C>> {
        match self.places.get_mut(usize::from(slot.index)) {
            Some((generation, connection)) if *generation == slot.generation => connection.as_mut(),
            _ => None,
        }
    }

    /// Returns the channel of a connection, if both exist.
    pub(super) fn channel(&self, slot: Slot) -> Option<&Channel<C>> {
        match self.places.get(usize::from(slot.index)) {
            Some((generation, connection)) if *generation == slot.generation => {
                connection.as_ref()?.channel.as_ref()
            }
            _ => None,
        }
    }

    /// Returns the connection at a place of the map of attention, if there is one.
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
        // An event for this connection cannot reach the next one in its place.
        *generation = generation.wrapping_add(1);
        self.used -= 1;
        connection.take()
    }

    /// Removes one of the remaining connections.
    pub(super) fn take_any(&mut self) -> Option<Connection<C>> {
        let slot = self.slots().next().map(|(slot, _)| slot)?;
        self.remove(slot)
    }

    /// Returns the time at which the next connection becomes late with opening a channel.
    pub(super) fn next_late(&self) -> Option<Instant> {
        // Usually all have their channels.
        if self.used == self.open.len() {
            return None;
        }
        let deadlines = self.unopened().map(|(_, connection)| connection.deadline());
        deadlines.min()
    }

    /// Removes a late connection.
    pub(super) fn take_late(&mut self, now: Instant) -> Option<Connection<C>> {
        let is_late = |connection: &Connection<C>| connection.deadline() <= now;
        let (slot, _) = self.unopened().find(|(_, it)| is_late(it))?;
        self.remove(slot)
    }

    fn unopened(&self) -> impl Iterator<Item = (Slot, &Connection<C>)> {
        self.slots()
            .filter(|(_, connection)| connection.channel.is_none())
    }

    /// Returns the connection that gives way to a new one when there is no more room: the oldest one of the process that has most
    /// of those without a channel. So one process that connects and sends nothing does not lock others out.
    pub(super) fn giving_way(&self) -> Option<Slot> {
        let mut counts: HashMap<PeerKey, usize> = HashMap::new();
        for (_, connection) in self.unopened() {
            *counts.entry(connection.peer_key()).or_default() += 1;
        }
        let count = |connection: &Connection<C>| counts.get(&connection.peer_key()).copied();
        let (slot, _) = self
            .unopened()
            .min_by_key(|(_, connection)| (Reverse(count(connection)), connection.since))?;
        Some(slot)
    }

    /// Puts a connection into its place.
    pub(super) fn put(&mut self, slot: Slot, connection: Connection<C>) {
        if let Some((_, place)) = self.places.get_mut(usize::from(slot.index)) {
            *place = Some(connection);
            self.used += 1;
        }
    }

    /// Returns true if the process at the other end of a socket may connect.
    pub(super) fn admits(&self, socket: &OwnedFd) -> bool {
        self.runtime.admits(socket)
    }

    pub(super) fn is_of_group(&self) -> bool {
        self.runtime.group().is_some()
    }

    /// Frees a descriptor for a moment.
    pub(super) fn give_spare_up(&mut self) {
        self.spare = None;
    }

    /// Takes the spare descriptor again; returns true if there is one for the next time.
    pub(super) fn take_spare(&mut self) -> bool {
        self.spare = spare();
        self.spare.is_some()
    }

    /// Returns a place without a connection.
    pub(super) fn free_slot(&mut self) -> Option<Slot> {
        if self.used >= self.max {
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

    pub(super) fn slots(&self) -> impl Iterator<Item = (Slot, &Connection<C>)> {
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

//! Attention of a server with many clients: the way in which a client makes the server look at its channel.
//!
//! A server that looks at every channel again and again gets slower with each client. So there is a map with a bit for each
//! connection, and the server looks at the channels whose bit is set. A client sets its bit after it has sent a request, unless
//! it is set; the server clears it when there were no requests for a while, and looks once more then. A busy client thus finds
//! its bit set and writes nothing; 255 idle clients cost the server four words.
//!
//! The server writes whether it sleeps to memory that only it can write; a client rings only if it sleeps.
//!
//! ```text
//! map, writable by all clients          state, writable by the server
//!   0  u64 [512]  bit i: look at          0  "TAKT", version u16, 0
//!                 connection i            8  process id u64
//!                                        64  asleep u64: ring after sending
//!                                       128  requests answered u64
//!                                       136  connections u64
//!                                       144  processor u64: number of the one processor that
//!                                            the server is bound to, plus 1; 0: none
//! ```
//!
//! Nothing is lost: each side writes what the other looks for (a request, or "I am asleep", or a cleared bit), and only then
//! looks at what the other has written, with a full fence in between. So at least one of them sees the other. A broken client can
//! clear the bits of others; for that the server looks at every channel [now and then](Attention::takes_stock) while it is awake,
//! and once more before it sleeps. While it sleeps, clients ring it whatever the bits are: it needs no timer.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use takt_rt::segment::{Segment, SegmentView};

use crate::channel::layout::VERSION;
use crate::channel::protocol::{self, Load, Store};
use crate::error::ShmError;
use crate::header::MAGIC;

/// Number of connections for which the map has room.
pub(crate) const MAX_CONNECTIONS: usize = 8 * MAP;
const MAP: usize = 4096;
const STATE: usize = 4096;

// Indices of words in the state.
const PROCESS: usize = 1;
const ASLEEP: usize = 8;
const REQUESTS: usize = 16;
const CONNECTIONS: usize = 17;
const PROCESSOR: usize = 18;

/// Number of looks between two looks at all channels.
const LOOKS_PER_STOCKTAKING: u32 = 1 << 20;

/// Server's side of the map and the state.
#[derive(Debug)]
pub(crate) struct Attention {
    map: Segment,
    state: Segment,
    /// Number of words of the map that can have bits.
    words: usize,
    requests: u64,
    looks: u32,
}

impl Attention {
    /// Creates the side for connections 0 to `max_connections - 1`. Until [`set_awake`](Self::set_awake) clients ring.
    pub(crate) fn new(max_connections: usize) -> Result<Self, ShmError> {
        let failed = |e| ShmError::io("make memory for the state of the server", e);
        let mut attention = Self {
            map: Segment::create_for_all("takt-attention", MAP).map_err(failed)?,
            state: Segment::create("takt-state", STATE).map_err(failed)?,
            words: max_connections.min(MAX_CONNECTIONS).div_ceil(64),
            requests: 0,
            looks: 0,
        };
        let [a, b, c, d] = MAGIC;
        let [v0, v1] = VERSION.to_le_bytes();
        attention.store(0, u64::from_le_bytes([a, b, c, d, v0, v1, 0, 0]));
        attention.store(PROCESS, std::process::id().into());
        attention.set_awake(false);
        Ok(attention)
    }

    /// Returns the descriptors for a client: state and map.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.state.fd(), self.map.fd()]
    }

    #[inline]
    fn store(&self, index: usize, value: u64) {
        // These words inform readers; no other memory is ordered by them.
        Store::store(&self.state, index, value, Ordering::Relaxed);
    }

    /// Sets whether the server is awake, so that clients need not ring. A server that falls asleep has to look at the channels
    /// once more after this.
    pub(crate) fn set_awake(&mut self, awake: bool) {
        protocol::set_server_asleep(&self.state, ASLEEP, !awake);
        if !awake {
            // The next look is at all channels.
            self.looks = LOOKS_PER_STOCKTAKING - 1;
        }
    }

    /// Counts answered requests, for readers of the state.
    #[inline]
    pub(crate) fn count_request(&mut self) {
        self.requests += 1;
        self.store(REQUESTS, self.requests);
    }

    /// Tells to which processor the serving thread is bound.
    pub(crate) fn set_processor(&self, processor: Option<usize>) {
        self.store(
            PROCESSOR,
            processor.map_or(0, |processor| processor as u64 + 1),
        );
    }

    pub(crate) fn set_connections(&self, connections: usize) {
        self.store(CONNECTIONS, connections as u64);
    }

    /// Returns the marked connections of the word `index` of the map.
    #[inline]
    pub(crate) fn marked(&self, index: usize) -> u64 {
        // A mark only tells where to look: the request itself is loaded with acquire ordering.
        self.map.load(index, Ordering::Relaxed)
    }

    /// Returns the number of words of the map.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns true if it is time to look at every channel, marked or not.
    #[inline]
    pub(crate) fn takes_stock(&mut self) -> bool {
        self.looks = (self.looks + 1) % LOOKS_PER_STOCKTAKING;
        self.looks == 0
    }

    /// Clears the bit of a connection; the caller looks at its channel once more after this.
    pub(crate) fn unmark(&self, connection: usize) {
        protocol::unmark(&self.map, connection);
    }
}

/// Client's side of the map and the state.
#[derive(Debug)]
pub(crate) struct ServerState {
    map: Segment,
    state: SegmentView,
    connection: usize,
}

impl ServerState {
    /// Creates the client's side from the server's state and map; the map has a bit for `connection`.
    pub(crate) fn new(state: &OwnedFd, map: OwnedFd, connection: u32) -> Result<Self, ShmError> {
        let failed = |e| ShmError::io("map the state of the server", e);
        let largest = STATE.next_multiple_of(takt_rt::segment::page_size());
        let state = Self {
            map: Segment::open_for_all(map, largest).map_err(failed)?,
            state: SegmentView::open(state, largest).map_err(failed)?,
            connection: connection as usize,
        };
        // A bit outside of the map would be dropped, and the server would never look at this client.
        if protocol::mark_of(state.connection).0 >= state.map.words().len() {
            return Err(ShmError::Protocol("a connection has no place in its map"));
        }
        Ok(state)
    }

    #[inline]
    fn load(&self, index: usize) -> u64 {
        Load::load(&self.state, index, Ordering::Acquire)
    }

    /// Makes the server look at the channel of this client; to be called after sending.
    #[inline]
    pub(crate) fn call(&self, ring: impl FnOnce()) {
        if protocol::call(&self.map, &self.state, ASLEEP, self.connection) {
            ring();
        }
    }

    /// Returns the processor to which the serving thread is bound, if it is.
    pub(crate) fn processor(&self) -> Option<usize> {
        usize::try_from(self.load(PROCESSOR)).ok()?.checked_sub(1)
    }

    /// Returns the server's counts: requests answered so far, and connections.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.load(REQUESTS), self.load(CONNECTIONS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(connection: u32) -> (Attention, ServerState) {
        let attention = Attention::new(300).unwrap();
        let [state, map] = attention
            .descriptors()
            .map(|fd| fd.try_clone_to_owned().unwrap());
        let client = ServerState::new(&state, map, connection).unwrap();
        (attention, client)
    }

    #[test]
    fn a_call_marks_the_connection_and_rings_only_the_sleeping() {
        let (mut attention, client) = pair(70);
        let rings = || {
            let mut rung = false;
            client.call(|| rung = true);
            rung
        };
        assert!(rings());
        assert_eq!((attention.words(), attention.marked(1)), (5, 1 << 6));
        attention.set_awake(true);
        attention.unmark(70);
        assert_eq!(attention.marked(1), 0);
        assert!(!rings());
        assert_eq!(attention.marked(1), 1 << 6);
        // Before the server sleeps, it looks at all channels, and then not again for a while.
        attention.set_awake(false);
        assert!(attention.takes_stock());
        assert!(!(0..1000).any(|_| attention.takes_stock()));
    }

    #[test]
    fn the_state_tells_what_the_server_does() {
        let (mut attention, client) = pair(0);
        attention.count_request();
        attention.count_request();
        attention.set_connections(3);
        assert_eq!(client.counts(), (2, 3));
        assert_eq!(client.processor(), None);
        attention.set_processor(Some(0));
        assert_eq!(client.processor(), Some(0));
        attention.set_processor(None);
        assert_eq!(client.processor(), None);
    }

    #[test]
    fn a_connection_beyond_the_map_is_refused() {
        let attention = Attention::new(1).unwrap();
        let [state, map] = attention
            .descriptors()
            .map(|fd| fd.try_clone_to_owned().unwrap());
        assert!(ServerState::new(&state, map, u32::MAX).is_err());
    }
}

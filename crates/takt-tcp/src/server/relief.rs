//! Relief when memory runs out: connections without progress for the longest time give their memory to the others.

use std::time::{Duration, Instant};

use takt_rt::memory_budget::MemoryBudget;

use crate::error::TransportError;
use crate::handler::TcpChannels;
use crate::memory::GRANTED;
use crate::served_connection::Stage;

use super::TcpServer;

/// Size in bytes of the part of each budget that is kept free for the response to the next request.
const RESERVE: usize = 1 << 20;

/// Pause after a search that found no connection with memory to free.
const SEARCH_PAUSE: Duration = Duration::from_millis(100);

impl<H: TcpChannels> TcpServer<H> {
    /// Keeps memory free for the response to the next request of connection `id`.
    pub(super) fn keep_reserve(&mut self, id: u64, now: Instant) {
        let reserve = self.reserve();
        // The budget without a Session is a part of the other one, so that it has room only if the other one has: that of all
        // connections comes first. A search without success in one of them does not delay that in the other.
        for with_session in [true, false] {
            let again = self.search_again[usize::from(with_session)];
            if self.budget(with_session).available() < reserve && again.is_none_or(|at| at <= now) {
                let found = self.free(id, reserve, with_session, now);
                self.search_again[usize::from(with_session)] = (!found).then(|| now + SEARCH_PAUSE);
            }
        }
    }

    /// Returns the size in bytes of the part of each budget that is kept free.
    fn reserve(&self) -> usize {
        // A small budget must not consist of the reserve alone.
        RESERVE.min(self.budget(false).limit() / 4)
    }

    /// Returns the budget of all connections, or of those without a Session.
    fn budget(&self, with_session: bool) -> &MemoryBudget {
        match with_session {
            true => &self.connection_config.memory,
            false => &self.connection_config.memory_without_session,
        }
    }

    /// Makes room for `bytes` that connection `id` needs for a request, and for the response to it if possible. Returns false if
    /// there is no room for the request. Connections with a Session give way only to connections with a Session.
    pub(super) fn make_room(&mut self, id: u64, bytes: usize, now: Instant) -> bool {
        let stage = self.connections.get_mut(id);
        let stage = stage.and_then(|connection| connection.stage(&self.handler));
        let with_session = stage == Some(Stage::Session);
        self.free(id, bytes + self.reserve(), with_session, now)
            || self.budget(with_session).available() >= bytes
    }

    /// Frees memory of connections other than `id` until `bytes` are available. Connections without a Session come
    /// first, then those without progress for the longest time. Freeing buffers without contents has no effect on a
    /// client.
    fn free(&mut self, id: u64, bytes: usize, with_session: bool, now: Instant) -> bool {
        loop {
            if self.budget(with_session).available() >= bytes {
                return true;
            }
            let holders = self
                .connections
                .iter()
                .filter(|(other, connection)| *other != id && connection.memory() > GRANTED);
            let ranked = holders.map(|(other, connection)| {
                let stage = connection.stage(&self.handler);
                let has_session = stage == Some(Stage::Session);
                (has_session, connection.last_progress(), other)
            });
            let allowed = ranked.filter(|(has_session, ..)| with_session || !has_session);
            let Some((.., victim)) = allowed.min() else {
                return false;
            };
            let Some(connection) = self.connections.get_mut(victim) else {
                return false;
            };
            // A connection without unused memory ends, so each round makes progress.
            if connection.release_memory() == 0 {
                let error = TransportError::GivesWay("the memory is needed for other connections");
                let fate = connection.abandon(&self.handler, &error, now);
                self.settle(victim, fate, now);
                self.report_given_way(1, now);
            }
        }
    }

    /// Writes to the log that connections gave way, once a second at most.
    pub(super) fn report_given_way(&mut self, count: usize, now: Instant) {
        self.unreported += count;
        if self.given_way.admit(now).is_some() {
            tracing::warn!(
                url = %self.url,
                closed = self.unreported,
                connections = self.connections.len(),
                memory = self.connection_config.memory.used(),
                "connections or memory ran out: closed those without a Session, or without progress"
            );
            self.unreported = 0;
        }
    }
}

//! Memory of one connection: charged to a budget of the server when a buffer grows, and refused when the budget is
//! used up.

use std::sync::Arc;

use takt_rt::memory_budget::{Charge, MemoryBudget};

use crate::config::ServerConnectionConfig;
use crate::error::TransportError;

/// Size in bytes of responses that every connection may hold, even if the budgets are used up, so that small requests
/// are always served.
pub(crate) const SMALL_RESPONSES: usize = 8 << 10;

/// Total size in bytes that every connection may hold: the first receive buffer and small responses.
pub(crate) const GRANTED: usize = (8 << 10) + SMALL_RESPONSES;

/// Reason for which memory is refused.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A budget lacks this number of bytes: other connections may make room.
    Budget { bytes: usize },
    /// The connection itself may not hold more.
    Connection(TransportError),
}

/// Memory charge of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionMemory {
    config: Arc<ServerConnectionConfig>,
    charge: Charge,
    has_session: bool,
}

impl ConnectionMemory {
    /// Creates a charge of no bytes for a connection without a Session.
    pub(crate) fn new(config: Arc<ServerConnectionConfig>) -> Self {
        Self {
            charge: config.memory_without_session.empty_charge(),
            config,
            has_session: false,
        }
    }

    /// Returns the number of bytes that are charged.
    pub(crate) fn held(&self) -> usize {
        self.charge.bytes()
    }

    fn budget(&self) -> &MemoryBudget {
        if self.has_session {
            &self.config.memory
        } else {
            &self.config.memory_without_session
        }
    }

    fn limit(&self) -> usize {
        if self.has_session {
            self.config.connection_memory
        } else {
            self.config.connection_memory_without_session
        }
    }

    /// Moves the charge to the budget for connections with a Session, or without one.
    pub(crate) fn set_session(&mut self, has_session: bool) {
        if self.has_session == has_session {
            return;
        }
        self.has_session = has_session;
        let budget = self.budget().clone();
        if self.charge.move_to(&budget).is_err() {
            // Without room in the other budget the charge is not moved; the next request tries again.
            self.has_session = !has_session;
        }
    }

    /// Returns the number of bytes that can be charged in addition.
    pub(crate) fn room(&self) -> usize {
        let own = self.limit().saturating_sub(self.held());
        own.min(self.budget().available())
    }

    /// Raises the charge to `bytes` in total, before they are allocated.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Refused> {
        if bytes <= self.held() {
            return Ok(());
        }
        if bytes <= GRANTED {
            self.charge.force(bytes);
            return Ok(());
        }
        let limit = self.limit();
        if bytes > limit {
            return Err(Refused::Connection(TransportError::NotEnoughMemory {
                limit,
            }));
        }
        let more = bytes - self.held();
        self.charge
            .resize(bytes)
            .map_err(|_| Refused::Budget { bytes: more })
    }

    /// Sets the charge to `bytes`, which are allocated in total.
    pub(crate) fn note(&mut self, bytes: usize) {
        // The memory is allocated already, so the budget cannot refuse it any more.
        self.charge.force(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(all: usize, without_session: usize) -> ConnectionMemory {
        let all = MemoryBudget::new(all);
        ConnectionMemory::new(Arc::new(ServerConnectionConfig {
            memory_without_session: all.part(without_session),
            memory: all,
            connection_memory: 100_000,
            connection_memory_without_session: 50_000,
            ..ServerConnectionConfig::default()
        }))
    }

    #[test]
    fn small_buffers_are_granted_and_larger_ones_limited() {
        let mut memory = memory(120_000, 10);
        memory.grow(GRANTED).unwrap();
        assert_eq!(memory.config.memory.used(), GRANTED);
        assert!(matches!(
            memory.grow(GRANTED + 1),
            Err(Refused::Budget { bytes: 1 })
        ));
        assert!(matches!(
            memory.grow(50_001),
            Err(Refused::Connection(TransportError::NotEnoughMemory {
                limit: 50_000
            }))
        ));
        assert_eq!((memory.held(), memory.room()), (GRANTED, 0));
        memory.set_session(true);
        assert_eq!(memory.config.memory_without_session.used(), 0);
        memory.grow(100_000).unwrap();
        assert_eq!(memory.room(), 0);
        assert!(matches!(memory.grow(100_001), Err(Refused::Connection(_))));
        // The budget for connections without a Session has no room: the charge is not moved.
        memory.set_session(false);
        assert_eq!(memory.config.memory_without_session.used(), 0);
        memory.note(10);
        memory.set_session(false);
        assert_eq!(memory.config.memory_without_session.used(), 10);
        let config = Arc::clone(&memory.config);
        drop(memory);
        assert_eq!(
            (config.memory.used(), config.memory_without_session.used()),
            (0, 0)
        );
    }
}

//! State of a listening client that its thread and those that take connections share.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use takt_rt::readiness::Waker;

use super::expected::ExpectedServer;
use crate::reverse_hello::ReverseHello;

/// State that the thread and the clients share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) address: SocketAddr,
    pub(super) state: Mutex<State>,
    pub(super) arrived: Condvar,
    pub(super) waker: Waker,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) ended: bool,
    pub(super) expected: Vec<ExpectedServer>,
    /// Connections of expected servers, the oldest first.
    pub(super) arrived: Vec<Arrived>,
    pub(super) refused: Option<ReverseHello>,
    /// Servers for which the last wait was in vain.
    pub(super) missing: Vec<ExpectedServer>,
}

/// Connection of an expected server, before the client's Hello.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) socket: TcpStream,
    pub(super) address: SocketAddr,
    pub(super) hello: ReverseHello,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

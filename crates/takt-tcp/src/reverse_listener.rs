//! The client's side of reverse connect: a listening socket at which servers connect (OPC 10000-6, 7.1.3).
//!
//! One thread accepts connections and reads their ReverseHello. Connections of expected servers wait there for a client.
//! Others get an Error message and are closed. The thread sleeps while nothing happens.

mod expected;
mod shared;
mod waiting_room;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use takt_rt::readiness::Waker;

use crate::listener::{BindError, listen};
pub use expected::ExpectedServer;
use shared::Shared;
use takt_ua::endpoint_url::EndpointUrl;
use waiting_room::WaitingRoom;

/// Error of a client that waits for a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReverseError {
    /// The expected server has not connected in time.
    #[error("the server has not connected to {listening} in time")]
    Timeout {
        /// Address at which the client listens.
        listening: SocketAddr,
    },
    /// Only other servers have connected.
    #[error("the server has not connected to {listening} in time; a server with {difference} has")]
    OtherServer {
        /// Address at which the client listens.
        listening: SocketAddr,
        /// Contents of the ReverseHello that was refused last, and those that were expected.
        difference: String,
    },
}

/// Socket at which servers connect. Copies are the same socket; it is closed with the last one.
#[derive(Debug, Clone)]
pub struct ReverseListener {
    shared: Arc<Shared>,
    // The thread holds `shared` as well, so only this counts the copies of the listener.
    _open: Arc<Open>,
}

impl PartialEq for ReverseListener {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for ReverseListener {}

/// Ends the thread when the last copy of the listener is dropped.
#[derive(Debug)]
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.waker.wake();
    }
}

impl ReverseListener {
    /// Listens at `url`, whose path is ignored.
    ///
    /// # Errors
    /// [`BindError`], which names the fix.
    pub fn bind(url: &EndpointUrl) -> Result<Self, BindError> {
        let (socket, address) = listen(url)?;
        let other = |error| BindError::new(url, error);
        let shared = Arc::new(Shared {
            address,
            state: Mutex::default(),
            arrived: Condvar::new(),
            waker: Waker::new().map_err(other)?,
        });
        Self::start(socket, &shared).map_err(other)?;
        let open = Arc::new(Open(Arc::clone(&shared)));
        Ok(Self {
            shared,
            _open: open,
        })
    }

    fn start(socket: TcpListener, shared: &Arc<Shared>) -> std::io::Result<()> {
        let mut room = WaitingRoom::new(socket, Arc::clone(shared));
        std::thread::Builder::new()
            .name("reverse-listen".to_owned())
            .spawn(move || room.run())?;
        Ok(())
    }

    /// Returns the address of the socket, with its actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Lets connections of `server` wait from now on, until a client takes them.
    pub fn expect(&self, server: &ExpectedServer) {
        let mut state = self.shared.state();
        if !state.expected.contains(server) {
            state.expected.push(server.clone());
        }
    }

    /// Returns whether the last wait for a connection of `server` was in vain.
    #[must_use]
    pub fn is_missing(&self, server: &ExpectedServer) -> bool {
        self.shared.state().missing.contains(server)
    }

    /// Waits until `server` has connected, and returns the oldest connection with its EndpointUrl, as the Hello has to
    /// repeat it.
    ///
    /// # Errors
    /// [`ReverseError`] at the deadline.
    pub fn take(
        &self,
        server: &ExpectedServer,
        deadline: Instant,
    ) -> Result<(TcpStream, String), ReverseError> {
        self.expect(server);
        let mut state = self.shared.state();
        loop {
            let mut arrived = state.arrived.iter();
            if let Some(at) = arrived.position(|one| server.fits(&one.hello)) {
                let taken = state.arrived.remove(at);
                state.missing.retain(|missing| missing != server);
                // The thread does not watch the socket any more.
                self.shared.waker.wake();
                return Ok((taken.socket, taken.hello.endpoint_url));
            }
            // After the search: a deadline in the past still takes a connection that waits.
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                if !state.missing.contains(server) {
                    state.missing.push(server.clone());
                }
                let listening = self.shared.address;
                // A server that was refused before it was expected is not another server.
                let refused = state.refused.clone();
                return Err(match refused.filter(|refused| !server.fits(refused)) {
                    Some(refused) => ReverseError::OtherServer {
                        listening,
                        difference: server.difference(&refused),
                    },
                    None => ReverseError::Timeout { listening },
                });
            }
            let waited = self.shared.arrived.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests;

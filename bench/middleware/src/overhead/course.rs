//! Course of a session: the times of its phases, and the sockets of its processes.

use std::collections::BTreeSet;
use std::time::Duration;

use super::entry::Side;
use super::message::Message;
use super::packet::Address;

/// Run of one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Bytes of the payload; `None` for a request that is not counted.
    pub(super) payload: Option<u32>,
    pub(super) begin: Duration,
    /// Time at which the client has reported its end.
    pub(super) done: Duration,
    /// End of the pause after it.
    pub(super) end: Duration,
}

impl Window {
    /// Returns true if the request or its answer was on its way at this time.
    pub(super) fn is_exchange(&self, time: Duration) -> bool {
        (self.begin..self.done).contains(&time)
    }
}

/// Times of a session, since the beginning of the epoch, and ports of its processes.
#[derive(Debug, Clone, Default)]
pub(super) struct Course {
    pub(super) server_ready: Duration,
    pub(super) windows: Vec<Window>,
    /// Time after the end of the client.
    pub(super) end: Duration,
    pub(super) ports: Vec<(Side, BTreeSet<u16>)>,
}

impl Course {
    fn owner(&self, address: Address) -> Option<Side> {
        let mut owners = self.ports.iter();
        owners.find_map(|(side, ports)| ports.contains(&address.port).then_some(*side))
    }

    /// Returns the side that asked for a connection whose socket is closed.
    fn opener(&self, message: &Message, opposite: Address) -> Side {
        match self.owner(opposite) {
            Some(Side::Client) => Side::Unknown,
            _ if message.opened_at >= self.server_ready => Side::Client,
            _ => Side::Server,
        }
    }

    /// Returns the window that a time is in, with its place.
    pub(super) fn window(&self, time: Duration) -> Option<(usize, &Window)> {
        let mut windows = self.windows.iter().enumerate();
        windows.find(|(_, window)| (window.begin..window.end).contains(&time))
    }

    /// Returns sender and receiver of a message.
    pub(super) fn sides(&self, message: &Message) -> (Side, Side) {
        let [from, to] = [message.from, message.to].map(|address| self.owner(address));
        let guess = |address, is_opener: bool| match message.is_connected && is_opener {
            true => self.opener(message, address),
            false => Side::Unknown,
        };
        (
            from.unwrap_or_else(|| guess(message.to, message.opened)),
            to.unwrap_or_else(|| guess(message.from, !message.opened)),
        )
    }
}

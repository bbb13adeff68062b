//! Exchange of one request: the way of its payload.

use super::course::Window;
use super::entry::{Category, Side};
use super::message::{Message, Purpose};
use super::packet::Address;

/// Way of a payload, as its first message shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    client: Address,
    /// Receiver of the first message: the server, or a broker.
    next: Address,
    has_broker: bool,
}

/// Hop of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) category: Category,
    pub(super) from: Side,
    pub(super) to: Side,
    /// True for the second hop, from a broker.
    pub(super) is_forwarded: bool,
}

impl Exchange {
    /// Finds the exchange of a window; `None` if nothing in it has a payload.
    pub(super) fn find(messages: &[Message], window: &Window) -> Option<Self> {
        let mut inside = messages.iter().filter(|it| carries(it, window));
        let first = inside.next()?;
        let (client, next) = (first.from, first.to);
        // The broker's address is on each connection.
        let has_broker = inside.any(|it| {
            it.is_connected
                && ((it.from == next) != (it.to == client)
                    || (it.to == next) != (it.from == client))
        });
        Some(Self {
            client,
            next,
            has_broker: has_broker && first.is_connected,
        })
    }

    /// Returns the hop of a message with the payload.
    pub(super) fn hop(&self, message: &Message) -> Hop {
        let is_request = match message.is_connected {
            // Datagrams come from any port; requests have one destination.
            false => message.to == self.next,
            true if self.has_broker => {
                message.from == self.client
                    || (message.from == self.next && message.to != self.client)
            }
            true => message.from == self.client,
        };
        let is_forwarded = self.has_broker && message.from == self.next;
        let (category, ends) = match is_request {
            true => (Category::Request, [Side::Client, Side::Server]),
            false => (Category::Answer, [Side::Server, Side::Client]),
        };
        let [from, to] = match (self.has_broker, is_forwarded) {
            (false, _) => ends,
            (true, false) => [ends[0], Side::Broker],
            (true, true) => [Side::Broker, ends[1]],
        };
        Hop {
            category,
            from,
            to,
            is_forwarded,
        }
    }
}

/// Returns true if a message has, or may have, the payload of the window's request or answer.
pub(super) fn carries(message: &Message, window: &Window) -> bool {
    match message.part.purpose {
        Purpose::Data => (window.begin..window.end).contains(&message.time),
        Purpose::Unknown => window.is_exchange(message.time),
        _ => false,
    }
}

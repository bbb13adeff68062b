//! Entry of the account: messages with one phase, one category and one way between the sides.

use serde::Serialize;

use super::message::Message;

/// Phase of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    /// From the start of the server until the client is ready.
    SetUp,
    /// Requests and the pauses after them.
    Run,
    /// From the end of the last pause until the client has ended.
    TearDown,
}

/// Purpose of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Category {
    /// Connection, session, subscription.
    SetUp,
    /// Data before the counted requests.
    WarmUp,
    /// Request with the payload.
    Request,
    /// Answer with the payload.
    Answer,
    /// Acknowledgement by the middleware; those of TCP are no payload.
    Acknowledgement,
    /// Sign of life, and other messages between requests.
    KeepAlive,
    /// Search for participants and topics.
    Discovery,
    /// End of session and connection.
    TearDown,
}

/// Process that sends or receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Side {
    /// Client.
    Client,
    /// Server.
    Server,
    /// Broker or master.
    Broker,
    /// Process that is not known: its socket was closed too early.
    Unknown,
}

/// Messages that have everything but their times in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Entry {
    pub(super) phase: Phase,
    pub(super) category: Category,
    /// Bytes of the payload, in a run.
    pub(super) payload: Option<u32>,
    pub(super) from: Side,
    pub(super) to: Side,
    /// True for the second hop of a payload, from a broker.
    pub(super) is_forwarded: bool,
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) bytes: usize,
}

impl Entry {
    /// Returns the entry of one message between two sides, with the phase and category of a set-up.
    pub(super) fn of(message: &Message, (from, to): (Side, Side)) -> Self {
        Self {
            phase: Phase::SetUp,
            category: Category::SetUp,
            payload: None,
            from,
            to,
            is_forwarded: false,
            name: message.part.name.clone(),
            count: 1,
            bytes: message.part.bytes,
        }
    }

    /// Returns true if another entry differs in numbers only.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let numbers = (other.count, other.bytes);
        let mut own = self.clone();
        (own.count, own.bytes) = numbers;
        own == *other
    }
}

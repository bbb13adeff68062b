//! Messages of a middleware, with the bytes that they take in TCP or UDP.

use std::time::Duration;

use super::packet::Address;

/// Purpose of a message, as far as the message itself shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Payload of the application.
    Data,
    /// Acknowledgement of data, or a question for one.
    Acknowledgement,
    /// Sign of life.
    KeepAlive,
    /// Search for other participants and their topics.
    Discovery,
    /// Connection and anything else.
    Control,
    /// Encrypted: the time shows the purpose.
    Unknown,
}

/// Part of a stream or datagram that a protocol has recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) purpose: Purpose,
    pub(super) bytes: usize,
}

impl Part {
    pub(super) fn new(name: impl Into<String>, purpose: Purpose, bytes: usize) -> Self {
        Self {
            name: name.into(),
            purpose,
            bytes,
        }
    }
}

/// Message in the capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) time: Duration,
    pub(super) from: Address,
    pub(super) to: Address,
    /// True in a stream: both addresses belong to one connection.
    pub(super) is_connected: bool,
    /// True if the sender is the one that asked for the connection.
    pub(super) opened: bool,
    /// Time at which the connection was opened.
    pub(super) opened_at: Duration,
    pub(super) part: Part,
}

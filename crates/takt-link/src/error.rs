//! Errors and states of links.

use std::fmt;
use std::io;

use rustix::io::Errno;
use thiserror::Error;

use crate::address::AddressError;
pub use crate::down_reason::{ConnectionRefusal, DownReason, TlsFailure};

/// State of a link, as far as this host can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// No obstacle is known.
    Up,
    /// Messages are not sent or not received. Every call tries again; the caller need not open the link anew.
    Down(DownReason),
}

impl LinkState {
    /// Returns true if the state is [`Up`](Self::Up).
    #[must_use]
    pub fn is_up(self) -> bool {
        self == Self::Up
    }
}

impl fmt::Display for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Up => f.write_str("up"),
            Self::Down(reason) => write!(f, "down: {reason}"),
        }
    }
}

/// Error of opening a link, or of sending or receiving a message. Errors of sending and receiving allocate nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The message is longer than the longest message of this link. It must be sent in chunks (OPC 10000-14, 7.2.4.4.4).
    #[error(
        "a message of {length} bytes is too long: the longest message of this link has {maximum} bytes"
    )]
    TooLarge {
        /// Length of the message, in bytes.
        length: usize,
        /// Longest message of this link, in bytes.
        maximum: usize,
    },
    /// The batch is full, and the operating system takes no message. Try again later, or give up the message.
    #[error("the queue is full")]
    Full,
    /// The messages of a flush belong together, such as the chunks of a long message, and are more than there is room for. All of
    /// them are discarded and counted. [`Sender::reserve_flush`](crate::Sender::reserve_flush) makes room.
    #[error(
        "more than {maximum} messages belong together, such as the chunks of a long one, and there is no room for more"
    )]
    TooMany {
        /// Greatest number of messages of a flush.
        maximum: usize,
    },
    /// The messages of a flush belong together, such as the chunks of a long message, and the kernel takes only a part of them
    /// although no other one waits. All are of no use; the rest is discarded and counted.
    #[error(
        "the kernel takes only {taken} of {messages} messages that belong together, although no other one waits: {limit}"
    )]
    Incomplete {
        /// Number of messages that were sent.
        taken: usize,
        /// Number of messages of the flush.
        messages: usize,
        /// Limit of the kernel.
        limit: &'static str,
    },
    /// The link is down. Queued messages are discarded and counted, because late process data is worthless.
    #[error("the link is down: {0}")]
    Down(DownReason),
    /// The operating system refused to send or to receive.
    #[error("error of the operating system: {0}")]
    System(Errno),
    /// The address is invalid.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// No network interface has that name, IP address or MAC address.
    #[error("there is no network interface {name:?}; this host has {known}")]
    NoSuchInterface {
        /// Name of the interface.
        name: String,
        /// Names of the interfaces of this host.
        known: String,
    },
    /// `opc.eth` has no network interface.
    #[error("opc.eth needs a network interface: its name, IP address or MAC address")]
    InterfaceRequired,
    /// The host name cannot be resolved.
    #[error("cannot resolve {host:?}: {cause}")]
    Resolve {
        /// Host name.
        host: String,
        /// Cause.
        cause: io::Error,
    },
    /// An option has a value that this link does not allow.
    #[error("the option {option} cannot be {value}; allowed: {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Value of the option.
        value: String,
        /// Allowed values.
        expected: &'static str,
    },
    /// The operating system refused a step of opening the link.
    #[error("cannot {operation}: {cause}{}", advice(.cause))]
    Open {
        /// Name of the step.
        operation: &'static str,
        /// Error of the step.
        cause: io::Error,
    },
    /// iceoryx2 reports an error.
    #[error("iceoryx2: cannot {operation}: {cause}")]
    Iceoryx2 {
        /// Name of the operation.
        operation: &'static str,
        /// Error of iceoryx2.
        cause: String,
    },
    /// A certificate or key cannot be used.
    #[error("cannot use {what}: {cause}")]
    Certificate {
        /// Name of the certificate or key.
        what: &'static str,
        /// Cause.
        cause: String,
    },
    /// This kind of link is not in this build.
    #[error("this program was built without support for {0}")]
    NotBuilt(&'static str),
}

fn advice(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => {
            " (root, or the capability CAP_NET_RAW for opc.eth and CAP_NET_ADMIN for priority 7, launch times and large buffers, is needed)"
        }
        io::ErrorKind::AddrNotAvailable => " (the address is not one of this host)",
        io::ErrorKind::AddrInUse => " (another program has this port)",
        _ => "",
    }
}

impl LinkError {
    #[cold]
    pub(crate) fn open(operation: &'static str, cause: impl Into<io::Error>) -> Self {
        Self::Open {
            operation,
            cause: cause.into(),
        }
    }

    #[cold]
    pub(crate) fn option(
        option: &'static str,
        value: impl ToString,
        expected: &'static str,
    ) -> Self {
        Self::Option {
            option,
            value: value.to_string(),
            expected,
        }
    }
}

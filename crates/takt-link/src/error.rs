//! What can go wrong, and what the state of a link is.

use std::fmt;
use std::io;

use rustix::io::Errno;
use thiserror::Error;

use crate::address::AddressError;

/// Whether messages get through, as far as this host can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// Nothing is known to be in the way.
    Up,
    /// Messages do not get out, or do not come in. It is tried again with every call; nothing has to be opened anew.
    Down(DownReason),
}

impl LinkState {
    /// Whether it is [`Up`](Self::Up).
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

/// Why a link is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DownReason {
    /// The network interface is switched off.
    #[error("the network interface is switched off")]
    InterfaceDown,
    /// The network interface was removed.
    #[error("the network interface is gone")]
    InterfaceGone,
    /// No cable, or nobody at the other end of it.
    #[error("the network interface has no carrier")]
    NoCarrier,
    /// There is no route to the destination.
    #[error("no route to the destination")]
    Unreachable,
    /// The broker has not been reached yet, or the connection to it broke.
    #[error("not connected to the broker")]
    NotConnected,
    /// The broker refused the connection: user name, password, certificate or client identifier.
    #[error("the broker refused the connection")]
    Refused,
    /// The TLS handshake with the broker failed.
    #[error("no TLS connection to the broker")]
    Tls,
    /// Another answer of the operating system.
    #[error("{0}")]
    System(Errno),
}

/// Why a message was not sent or received, or a link not opened. Those of sending and receiving allocate nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The message is longer than this link takes. It must be sent in chunks (OPC 10000-14, 7.2.4.4.4).
    #[error("a message of {length} bytes does not fit: this link takes {maximum}")]
    TooLarge {
        /// Of the message, in bytes.
        length: usize,
        /// Of this link, in bytes.
        maximum: usize,
    },
    /// All places of the batch are taken and none gets out. Try again later, or give up the message.
    #[error("the queue is full")]
    Full,
    /// `commit` without `reserve`.
    #[error("no message was reserved")]
    NothingReserved,
    /// The link is down. What was queued is discarded and counted: process data that is late is worth nothing.
    #[error("the link is down: {0}")]
    Down(DownReason),
    /// The operating system refused to send or to receive.
    #[error("the operating system refuses: {0}")]
    System(Errno),
    /// The address cannot be understood.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// No network interface has that name, IP address or MAC address.
    #[error("there is no network interface {name:?}; there are: {known}")]
    NoSuchInterface {
        /// What was asked for.
        name: String,
        /// Names of those that there are.
        known: String,
    },
    /// `opc.eth` does not know where to send to.
    #[error("opc.eth needs a network interface: its name, IP address or MAC address")]
    InterfaceRequired,
    /// The host name was not resolved, or to nothing of use.
    #[error("cannot resolve {host:?}: {cause}")]
    Resolve {
        /// The host name.
        host: String,
        /// Why.
        cause: io::Error,
    },
    /// An option does not go with this link.
    #[error("the option {option} cannot be {value}: {expected}")]
    Option {
        /// Its name.
        option: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
    /// The operating system refused a step of opening the link.
    #[error("cannot {operation}: {cause}{}", advice(.cause))]
    Open {
        /// The step.
        operation: &'static str,
        /// Its error.
        cause: io::Error,
    },
    /// iceoryx2 refused something.
    #[error("iceoryx2: cannot {operation}: {cause}")]
    Iceoryx2 {
        /// What was tried.
        operation: &'static str,
        /// Its error.
        cause: String,
    },
    /// A certificate or key cannot be used.
    #[error("cannot use {what}: {cause}")]
    Certificate {
        /// Which one.
        what: &'static str,
        /// Why.
        cause: String,
    },
    /// This way to the wire is not in this build.
    #[error("this program was built without {0}")]
    NotBuilt(&'static str),
}

fn advice(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => {
            " (root, or the capability CAP_NET_RAW for opc.eth and CAP_NET_ADMIN for priority 7 and large buffers, is needed)"
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

impl DownReason {
    /// What an answer of the operating system says about the link; `None` if it is not about the link.
    pub(crate) fn of(errno: Errno) -> Option<Self> {
        Some(match errno {
            Errno::NETDOWN => Self::InterfaceDown,
            Errno::NXIO | Errno::NODEV => Self::InterfaceGone,
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::HOSTDOWN | Errno::ADDRNOTAVAIL => {
                Self::Unreachable
            }
            _ => return None,
        })
    }
}

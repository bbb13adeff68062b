//! Reasons why a link is down.

use std::fmt;

use rustix::io::Errno;
use thiserror::Error;

/// Reason why a link is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DownReason {
    /// The network interface is switched off.
    #[error("the network interface is switched off")]
    InterfaceDown,
    /// The network interface was removed.
    #[error("the network interface is gone")]
    InterfaceGone,
    /// There is no cable, or no device at its other end.
    #[error("the network interface has no carrier")]
    NoCarrier,
    /// There is no route to the destination.
    #[error("no route to the destination")]
    Unreachable,
    /// The broker has not been reached yet.
    #[error("not connected to the broker")]
    NotConnected,
    /// No program accepts connections at the address and port of the broker.
    #[error(
        "not connected to the broker: the connection is refused, nothing listens at this address and port"
    )]
    NotListening,
    /// The name of the broker has no address.
    #[error("not connected to the broker: the name of its host is unknown")]
    HostUnknown,
    /// The broker does not answer in time.
    #[error("not connected to the broker: it does not answer")]
    NoAnswer,
    /// The broker ended the connection without a reason.
    #[error("not connected to the broker: it closed the connection")]
    Closed,
    /// The broker ended the connection, because a message was longer than it accepts.
    #[error("the broker closed the connection: a packet is too large for it")]
    PacketTooLarge,
    /// The broker received something that is not MQTT, or sent it.
    #[error("the other side does not speak this version of MQTT")]
    NoMqtt,
    /// The broker refused the connection, or ended it, with a reason.
    #[error("the broker refused the connection: {0}")]
    Refused(ConnectionRefusal),
    /// The TLS handshake with the broker failed.
    #[error("no TLS connection to the broker: {0}")]
    Tls(TlsFailure),
    /// Another error of the operating system.
    #[error("{0}")]
    System(Errno),
}

/// Reason why a broker refuses a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionRefusal {
    /// User name and password are wrong, or missing.
    #[error("user name or password are wrong or missing")]
    Credentials,
    /// The client has no right to connect.
    #[error("this client is not authorized")]
    NotAuthorized,
    /// The client has no right to receive from its topic filter.
    #[error("this client may not subscribe to its topic filter")]
    Subscription,
    /// The client identifier is not allowed, or another client has taken it.
    #[error("the client identifier is refused, or another client has it")]
    ClientIdentifier,
    /// The broker does not speak this version of MQTT.
    #[error("it does not speak this version of MQTT")]
    Version,
    /// The broker is busy, or shuts down.
    #[error("it is not available at present")]
    Unavailable,
    /// Another reason.
    #[error("for another reason")]
    Other,
}

/// Reason why a TLS handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The certificate of the broker is not signed by a trusted authority.
    UnknownAuthority,
    /// The certificate of the broker has expired.
    Expired,
    /// The certificate of the broker is not valid yet.
    NotYetValid,
    /// The certificate of the broker is for another name than the address has.
    OtherName,
    /// The certificate of the broker cannot be used for another reason.
    Certificate,
    /// The other side does not speak TLS.
    NoTls,
    /// The broker ended the handshake with this alert (RFC 8446, 6.2).
    Alert(u8),
    /// Another reason.
    Other,
}

impl fmt::Display for TlsFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::UnknownAuthority => "its certificate is not signed by a trusted authority",
            Self::Expired => "its certificate has expired",
            Self::NotYetValid => "its certificate is not valid yet",
            Self::OtherName => "its certificate is for another name or address",
            Self::Certificate => "its certificate cannot be used",
            Self::NoTls => "the other side does not speak TLS",
            Self::Other => "the handshake failed",
            Self::Alert(40) => {
                "it found no common parameters, or misses a client certificate (alert 40)"
            }
            Self::Alert(42 | 43 | 46) => "it refuses the client certificate",
            Self::Alert(44) => "the client certificate is revoked",
            Self::Alert(45) => "the client certificate has expired",
            Self::Alert(48) => "it does not know the authority of the client certificate",
            Self::Alert(49) => "it denies access to this client",
            Self::Alert(70) => "it does not speak this version of TLS",
            Self::Alert(116) => "it requires a client certificate",
            Self::Alert(alert) => {
                return write!(formatter, "it ended the handshake with alert {alert}");
            }
        };
        formatter.write_str(text)
    }
}

impl DownReason {
    /// Returns the reason for an error of the operating system; `None` if the error is not about the link.
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

//! Mails between the two sides over their Unix socket: they open a channel, and pass on its memory.
//!
//! ```text
//! server: Hello    its state, its map of attention, and outside of groups its doorbell (2 or 3 descriptors)
//! client: Open     the client's outbox (1 descriptor)
//! server: Opened   the server's outbox (1 descriptor)
//! either: Large    memory for a large message (1 descriptor)
//! server: Values   memory with current values (1 descriptor)
//! either: Ring     wakes the other side, where that is not done by a doorbell
//! client: Goodbye  before it closes the socket in good order
//! server: Refused  instead of Hello or Opened, and closes the socket
//! ```
//!
//! A mail is one packet: "TAKT", version u16, kind u16, and two numbers u32, all little-endian. Mails may get longer in later
//! versions; receivers ignore the unknown part.

use std::os::fd::OwnedFd;

use takt_ua::StatusCode;

use crate::channel::layout::VERSION;
use crate::header::MAGIC;

/// Maximum number of descriptors of a mail.
pub(crate) const MAX_DESCRIPTORS: usize = 3;
/// Length of a mail in bytes.
pub(crate) const LENGTH: usize = 16;

/// Mail; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mail {
    /// Place of the client in the server's map.
    Hello { connection: u32 },
    /// Request for a channel; the client takes responses of up to this number of bytes.
    Open { max_response: u32 },
    /// Agreed limits of the channel, in bytes.
    Opened { max_request: u32, max_response: u32 },
    /// Refusal of a channel.
    Refused { status: StatusCode },
    /// Memory of this generation.
    Large { generation: u32 },
    /// End of the client.
    Goodbye,
    /// Memory of this number.
    Values { number: u32 },
    /// Ring: the receiver has something to look at.
    Ring,
}

impl Mail {
    pub(crate) fn to_bytes(self) -> [u8; LENGTH] {
        let (kind, first, second): (u16, u32, u32) = match self {
            Self::Hello { connection } => (1, connection, 0),
            Self::Open { max_response } => (2, max_response, 0),
            Self::Opened {
                max_request,
                max_response,
            } => (3, max_request, max_response),
            Self::Refused { status } => (4, status.0, 0),
            Self::Large { generation } => (5, generation, 0),
            Self::Goodbye => (6, 0, 0),
            Self::Values { number } => (7, number, 0),
            Self::Ring => (8, 0, 0),
        };
        let mut bytes = [0; LENGTH];
        let fields = MAGIC
            .into_iter()
            .chain(VERSION.to_le_bytes())
            .chain(kind.to_le_bytes())
            .chain(first.to_le_bytes())
            .chain(second.to_le_bytes());
        for (target, byte) in bytes.iter_mut().zip(fields) {
            *target = byte;
        }
        bytes
    }

    /// Reads a mail.
    ///
    /// # Errors
    /// The bytes are not a mail, or of another version, or of an unknown kind.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let Some(bytes) = bytes.first_chunk::<LENGTH>() else {
            return Err("a mail is too short");
        };
        let [
            m0,
            m1,
            m2,
            m3,
            v0,
            v1,
            k0,
            k1,
            a0,
            a1,
            a2,
            a3,
            b0,
            b1,
            b2,
            b3,
        ] = *bytes;
        if [m0, m1, m2, m3] != MAGIC {
            return Err("a mail does not begin with \"TAKT\"");
        }
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err("it speaks another version of the protocol");
        }
        let first = u32::from_le_bytes([a0, a1, a2, a3]);
        let second = u32::from_le_bytes([b0, b1, b2, b3]);
        Ok(match u16::from_le_bytes([k0, k1]) {
            1 => Self::Hello { connection: first },
            2 => Self::Open {
                max_response: first,
            },
            3 => Self::Opened {
                max_request: first,
                max_response: second,
            },
            4 => Self::Refused {
                status: StatusCode(first),
            },
            5 => Self::Large { generation: first },
            6 => Self::Goodbye,
            7 => Self::Values { number: first },
            8 => Self::Ring,
            _ => return Err("a mail of an unknown kind"),
        })
    }
}

/// Mail, and the descriptors that came with it.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) mail: Mail,
    pub(crate) descriptors: Vec<OwnedFd>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mails_come_back_as_they_were() {
        for mail in [
            Mail::Hello { connection: 7 },
            Mail::Open { max_response: 1 },
            Mail::Opened {
                max_request: 2,
                max_response: u32::MAX,
            },
            Mail::Refused {
                status: StatusCode::BadUserAccessDenied,
            },
            Mail::Large { generation: 9 },
            Mail::Goodbye,
            Mail::Values { number: 3 },
            Mail::Ring,
        ] {
            let bytes = mail.to_bytes();
            assert_eq!(Mail::parse(&bytes), Ok(mail));
            let longer = [&bytes[..], b"later versions"].concat();
            assert_eq!(Mail::parse(&longer), Ok(mail));
            assert!(Mail::parse(&bytes[..LENGTH - 1]).is_err());
        }
        let mut other = Mail::Goodbye.to_bytes();
        other[4] = 9;
        assert!(Mail::parse(&other).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_mail_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(mail) = Mail::parse(&bytes) {
                prop_assert_eq!(&mail.to_bytes()[..8], &bytes[..8]);
            }
        }
    }
}

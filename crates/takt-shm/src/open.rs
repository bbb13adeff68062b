//! How a client comes to a channel of its own.
//!
//! 1. The client connects to the application's Unix socket. The server sends a [`Hello`]: a token, and two eventfds,
//!    the server's doorbell and the client's.
//! 2. The client sends an [`OpenRequest`] with the token to the service `<ApplicationName>/Channel/Open`. So the channel
//!    belongs to the connection, and to the process that the kernel names as its other end.
//! 3. The server makes the two services of the channel and answers with an [`OpenResponse`].
//! 4. The client opens them. When the connection closes, the server drops the channel.
//!
//! All three are little-endian and may get longer in later versions; receivers ignore what they do not know.

use crate::wait::WaitPolicy;

/// Proves that an [`OpenRequest`] comes from the other end of a connection.
pub(crate) type Token = [u8; 16];

/// What the server sends over the socket, together with its doorbell and the client's, in this order.
///
/// ```text
/// 0  "TAKT"    4  version u16    6  0 u16    8  token [16]
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Of the layouts.
    pub(crate) version: u16,
    /// Of the connection.
    pub(crate) token: Token,
}

impl Hello {
    pub(crate) const LENGTH: usize = 24;

    pub(crate) fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let (start, token) = bytes.split_at_mut(8);
        start.copy_from_slice(&[
            b'T',
            b'A',
            b'K',
            b'T',
            self.version.to_le_bytes()[0],
            self.version.to_le_bytes()[1],
            0,
            0,
        ]);
        token.copy_from_slice(&self.token);
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let [b'T', b'A', b'K', b'T', v0, v1, _, _, rest @ ..] = bytes else {
            return None;
        };
        Some(Self {
            version: u16::from_le_bytes([*v0, *v1]),
            token: *rest.first_chunk()?,
        })
    }
}

/// The body of a request to `<ApplicationName>/Channel/Open`.
///
/// ```text
/// 0  token [16]    16  wait u32    20  max response u32
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenRequest {
    /// From the hello.
    pub(crate) token: Token,
    /// How the client waits.
    pub(crate) wait: WaitCode,
    /// The longest body, in bytes, that the client takes.
    pub(crate) max_response: u32,
}

impl OpenRequest {
    pub(crate) const LENGTH: usize = 24;

    pub(crate) fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let (token, rest) = bytes.split_at_mut(16);
        token.copy_from_slice(&self.token);
        let (wait, response) = rest.split_at_mut(4);
        wait.copy_from_slice(&(self.wait as u32).to_le_bytes());
        response.copy_from_slice(&self.max_response.to_le_bytes());
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut words = Words(bytes.get(16..)?);
        Some(Self {
            token: *bytes.first_chunk()?,
            wait: WaitCode::from_u32(words.next()?),
            max_response: words.next()?,
        })
    }
}

/// The body of the answer to an [`OpenRequest`].
///
/// ```text
/// 0  channel id u64    8  wait u32    12  max request u32    16  max response u32    20  queue u32
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenResponse {
    /// Names the services of the channel.
    pub(crate) channel_id: u64,
    /// How the server waits.
    pub(crate) wait: WaitCode,
    /// The longest body, in bytes, of a request.
    pub(crate) max_request: u32,
    /// The longest body, in bytes, of a response.
    pub(crate) max_response: u32,
    /// How many requests and responses may wait to be received.
    pub(crate) queue: u32,
}

impl OpenResponse {
    pub(crate) const LENGTH: usize = 24;

    pub(crate) fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let (id, words) = bytes.split_at_mut(8);
        id.copy_from_slice(&self.channel_id.to_le_bytes());
        let values = [
            self.wait as u32,
            self.max_request,
            self.max_response,
            self.queue,
        ];
        for (word, value) in words.chunks_exact_mut(4).zip(values) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (id, rest) = bytes.split_first_chunk()?;
        let mut words = Words(rest);
        Some(Self {
            channel_id: u64::from_le_bytes(*id),
            wait: WaitCode::from_u32(words.next()?),
            max_request: words.next()?,
            max_response: words.next()?,
            queue: words.next()?,
        })
    }
}

/// Whether a side may be asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum WaitCode {
    /// It never sleeps: its doorbell need not be rung.
    Spins = 0,
    /// It may.
    Sleeps = 1,
}

impl WaitCode {
    fn from_u32(code: u32) -> Self {
        // A doorbell that is rung in vain costs time; one that is not rung costs the answer.
        if code == Self::Spins as u32 {
            Self::Spins
        } else {
            Self::Sleeps
        }
    }
}

impl From<WaitPolicy> for WaitCode {
    fn from(policy: WaitPolicy) -> Self {
        if policy.sleeps() {
            Self::Sleeps
        } else {
            Self::Spins
        }
    }
}

struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_survive_the_way() {
        let token = *b"0123456789abcdef";
        let hello = Hello { version: 1, token };
        assert_eq!(Hello::parse(&hello.to_bytes()), Some(hello));
        let request = OpenRequest {
            token,
            wait: WaitCode::Sleeps,
            max_response: 70_000,
        };
        assert_eq!(OpenRequest::parse(&request.to_bytes()), Some(request));
        let response = OpenResponse {
            channel_id: 0x1122_3344_5566_7788,
            wait: WaitCode::Spins,
            max_request: 1,
            max_response: 2,
            queue: 3,
        };
        assert_eq!(OpenResponse::parse(&response.to_bytes()), Some(response));
        assert_eq!(
            response.to_bytes()[..9],
            [0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0]
        );
    }

    #[test]
    fn short_or_foreign_bytes_are_none() {
        let hello = Hello {
            version: 1,
            token: [7; 16],
        }
        .to_bytes();
        for length in 0..24 {
            assert_eq!(Hello::parse(&hello[..length]), None);
            assert_eq!(OpenRequest::parse(&[0; 24][..length]), None);
            assert_eq!(OpenResponse::parse(&[0; 24][..length]), None);
        }
        assert_eq!(Hello::parse(&[0; 24]), None);
    }
}

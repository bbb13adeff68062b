//! ReverseHello: the first message of a connection that the server has opened (OPC 10000-6, 7.1.2.6), and the pauses
//! between such connections.

use std::time::Duration;

use takt_ua::binary::Decoder;

use crate::chunk::{HEADER_SIZE, MessageType};
use crate::error::TransportError;
use crate::hello::emit;
use takt_ua::endpoint_url::MAX_ENDPOINT_URL_LENGTH;

/// Longest ServerUri in bytes that a ReverseHello may carry (OPC 10000-6, 7.1.2.6).
pub const MAX_SERVER_URI_LENGTH: usize = 4096;

/// Size in bytes of the longest ReverseHello: its header, and two strings with their lengths.
const MAX_SIZE: usize = HEADER_SIZE + 4 + MAX_SERVER_URI_LENGTH + 4 + MAX_ENDPOINT_URL_LENGTH;

/// Contents of a ReverseHello.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReverseHello {
    /// ApplicationUri of the server.
    pub server_uri: String,
    /// EndpointUrl that the client has to send back in its Hello.
    pub endpoint_url: String,
}

impl ReverseHello {
    /// Reads a ReverseHello from the bytes received so far, and returns it with its size in bytes. `None` if bytes are
    /// missing.
    ///
    /// # Errors
    /// [`TransportError`] as soon as the bytes cannot become a ReverseHello.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, TransportError> {
        let code = MessageType::ReverseHello.code();
        let begun = bytes.len().min(code.len());
        // A peer of another protocol is refused at its first byte, not after a timeout.
        if bytes[..begun] != code[..begun] {
            let mut found = [0; 3];
            found[..begun].copy_from_slice(&bytes[..begun]);
            return Err(TransportError::MessageType(found));
        }
        let Some(header) = bytes.first_chunk::<HEADER_SIZE>() else {
            return Ok(None);
        };
        if header[3] != b'F' {
            return Err(TransportError::ChunkType(header[3]));
        }
        let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        if !(HEADER_SIZE..=MAX_SIZE).contains(&size) {
            let limit = MAX_SIZE;
            return Err(TransportError::ChunkSize { size, limit });
        }
        let Some(body) = bytes.get(HEADER_SIZE..size) else {
            return Ok(None);
        };
        let mut d = Decoder::new(body);
        let server_uri = text(&mut d, MAX_SERVER_URI_LENGTH, TransportError::ServerUri)?;
        let endpoint_url = text(&mut d, MAX_ENDPOINT_URL_LENGTH, TransportError::EndpointUrl)?;
        let hello = Self {
            server_uri,
            endpoint_url,
        };
        Ok(Some((hello, size)))
    }

    /// Appends the message.
    ///
    /// # Errors
    /// [`TransportError`] if a text is too long.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), TransportError> {
        if self.server_uri.len() > MAX_SERVER_URI_LENGTH {
            return Err(TransportError::ServerUri);
        }
        if self.endpoint_url.len() > MAX_ENDPOINT_URL_LENGTH {
            return Err(TransportError::EndpointUrl);
        }
        emit(out, MessageType::ReverseHello, MAX_SIZE, |e| {
            e.string(Some(&self.server_uri))?;
            e.string(Some(&self.endpoint_url))
        });
        Ok(())
    }
}

fn text(
    d: &mut Decoder<'_>,
    limit: usize,
    fault: TransportError,
) -> Result<String, TransportError> {
    let bytes = d.byte_string().ok().map(Option::unwrap_or_default);
    let bytes = bytes.filter(|bytes| bytes.len() <= limit);
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.map(str::to_owned).ok_or(fault)
}

/// End of a connection as far as the next one is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReverseOutcome {
    /// The client has sent its Hello: it uses the connection.
    Used,
    /// The connection was not established, or it was closed before a Hello.
    Unused,
}

/// Pauses of a server between its connections to one client (OPC 10000-6, 7.1.3): short while the client uses them,
/// longer and longer while it is away or refuses them.
#[derive(Debug, Clone, Default)]
pub struct ReversePauses {
    failures: u32,
}

impl ReversePauses {
    /// Pause after a connection that the client uses: at most 20 connections are opened in a second.
    pub const AFTER_USE: Duration = Duration::from_millis(50);
    /// Longest pause after the first failure.
    pub const FIRST: Duration = Duration::from_millis(250);
    /// Longest pause after many failures.
    pub const LONGEST: Duration = Duration::from_secs(8);

    /// Returns the pause before the next connection. After a failure it is between half the backed-off time and all of it,
    /// as `random` tells, so that servers that lost a client together do not return together.
    pub fn next(&mut self, outcome: ReverseOutcome, random: u32) -> Duration {
        match outcome {
            ReverseOutcome::Used => {
                self.failures = 0;
                Self::AFTER_USE
            }
            ReverseOutcome::Unused => {
                // The bound keeps the shift in range; LONGEST is reached long before.
                let longest = Self::FIRST.saturating_mul(1 << self.failures.min(16));
                let longest = longest.min(Self::LONGEST);
                self.failures = self.failures.saturating_add(1);
                longest.mul_f64(0.5 + 0.5 * f64::from(random) / f64::from(u32::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hello(server_uri: &str, endpoint_url: &str) -> ReverseHello {
        ReverseHello {
            server_uri: server_uri.to_owned(),
            endpoint_url: endpoint_url.to_owned(),
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_standard() {
        let mut out = Vec::new();
        hello("urn:a", "opc.tcp://b").write(&mut out).unwrap();
        let expected = b"RHEF\x20\0\0\0\x05\0\0\0urn:a\x0b\0\0\0opc.tcp://b";
        assert_eq!(out, expected);
    }

    #[test]
    fn long_texts_are_refused() {
        let longest = "x".repeat(4096);
        let mut out = Vec::new();
        hello(&longest, &longest).write(&mut out).unwrap();
        assert!(ReverseHello::read(&out).unwrap().is_some());
        let too_long = "x".repeat(4097);
        let refused = hello(&too_long, "").write(&mut out);
        assert_eq!(refused, Err(TransportError::ServerUri));
        let refused = hello("", &too_long).write(&mut out);
        assert_eq!(refused, Err(TransportError::EndpointUrl));

        let mut long = b"RHEF".to_vec();
        long.extend(4113_u32.to_le_bytes());
        long.extend(4097_u32.to_le_bytes());
        long.extend([b'x'; 4097]);
        long.extend([0; 4]);
        assert_eq!(ReverseHello::read(&long), Err(TransportError::ServerUri));
    }

    #[test]
    fn other_bytes_are_refused_at_once() {
        for bytes in [&b"G"[..], b"HEL", b"RHX", b"GET / HTTP/1.1"] {
            let read = ReverseHello::read(bytes);
            assert!(
                matches!(read, Err(TransportError::MessageType(_))),
                "{bytes:?}"
            );
        }
        let read = ReverseHello::read(b"RHEC\x10\0\0\0");
        assert_eq!(read, Err(TransportError::ChunkType(b'C')));
        for size in [0_u32, 7, 8209, u32::MAX] {
            let bytes = [b"RHEF".to_vec(), size.to_le_bytes().to_vec()].concat();
            let read = ReverseHello::read(&bytes);
            assert!(
                matches!(read, Err(TransportError::ChunkSize { .. })),
                "{size}"
            );
        }
    }

    #[test]
    fn pauses_grow_to_a_limit_and_end_with_the_first_use() {
        let mut pauses = ReversePauses::default();
        let mut last = Duration::ZERO;
        for _ in 0..40 {
            let pause = pauses.next(ReverseOutcome::Unused, u32::MAX);
            assert!(pause >= last && pause <= ReversePauses::LONGEST);
            last = pause;
        }
        assert_eq!(last, ReversePauses::LONGEST);
        assert_eq!(pauses.next(ReverseOutcome::Unused, 0), last / 2);
        assert_eq!(
            pauses.next(ReverseOutcome::Used, 0),
            ReversePauses::AFTER_USE
        );
        let first = pauses.next(ReverseOutcome::Unused, u32::MAX);
        assert_eq!(first, ReversePauses::FIRST);
    }

    proptest! {
        #[test]
        fn texts_survive_and_pieces_are_incomplete(uri in ".{0,40}", url in ".{0,40}", cut in any::<prop::sample::Index>()) {
            let sent = hello(&uri, &url);
            let mut out = Vec::new();
            sent.write(&mut out).unwrap();
            prop_assert_eq!(ReverseHello::read(&out[..cut.index(out.len())]), Ok(None));
            let size = out.len();
            out.extend(b"more");
            prop_assert_eq!(ReverseHello::read(&out), Ok(Some((sent, size))));
        }

        #[test]
        fn arbitrary_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..64), whole in any::<bool>()) {
            if whole && bytes.len() >= 8 {
                let size = u32::try_from(bytes.len()).unwrap();
                bytes[..4].copy_from_slice(b"RHEF");
                bytes[4..8].copy_from_slice(&size.to_le_bytes());
            }
            if let Ok(Some((read, size))) = ReverseHello::read(&bytes) {
                prop_assert!(size <= bytes.len());
                let mut out = Vec::new();
                read.write(&mut out).unwrap();
                prop_assert!(out.len() <= size);
            }
        }
    }
}

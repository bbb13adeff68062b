//! Hello, Acknowledge and Error, and the limits that are negotiated by the first two (OPC 10000-6, 7.1.2.3 to
//! 7.1.2.5).

use takt_ua::StatusCode;
use takt_ua::binary::{Decoder, EncodeError, Encoder};

use crate::chunk::{ChunkHeader, ChunkType, HEADER_SIZE, MessageType};
use crate::error::TransportError;
use takt_ua::endpoint_url::MAX_ENDPOINT_URL_LENGTH;

/// Smallest buffer size that the standard allows without an ECC policy, in bytes (OPC 10000-6, 7.1.2.3).
pub const MIN_BUFFER_SIZE: u32 = 8192;

/// Largest length in bytes of a reason that is sent or read in an Error message or abort chunk
/// (OPC 10000-6, 7.1.2.5).
pub const MAX_REASON_LENGTH: usize = 4096;

/// Protocol version of this implementation.
pub(crate) const PROTOCOL_VERSION: u32 = 0;

/// Limits of what one side of a connection accepts and sends. 0 stands for no limit, except for buffer sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportLimits {
    /// Largest received chunk, in bytes; at least [`MIN_BUFFER_SIZE`].
    pub receive_buffer_size: u32,
    /// Largest sent chunk, in bytes; at least [`MIN_BUFFER_SIZE`].
    pub send_buffer_size: u32,
    /// Largest body of a received message, in bytes.
    pub max_message_size: u32,
    /// Largest number of chunks of a received message.
    pub max_chunk_count: u32,
    /// Largest body of a sent message, in bytes; a peer may allow less.
    pub max_sent_message_size: u32,
}

impl Default for TransportLimits {
    /// Chunks of 64 KiB; messages of 16 MiB in up to 4096 chunks are received, of 64 MiB sent.
    fn default() -> Self {
        Self {
            receive_buffer_size: 1 << 16,
            send_buffer_size: 1 << 16,
            max_message_size: 16 << 20,
            max_chunk_count: 4096,
            max_sent_message_size: 64 << 20,
        }
    }
}

impl TransportLimits {
    /// Returns the own limits, reduced to those of the peer's Hello or Acknowledge.
    fn negotiate(&self, peer: &PeerLimits) -> Self {
        let peer_max = unlimited_if_zero(peer.max_message_size);
        Self {
            // Crosswise: one side's send buffer is the other side's receive buffer.
            receive_buffer_size: self.receive_buffer_size.min(peer.send_buffer_size),
            send_buffer_size: self.send_buffer_size.min(peer.receive_buffer_size),
            // The peer's largest message limits only what is sent to it, so the own limit for received ones stays.
            max_sent_message_size: self.max_sent_message_size.min(peer_max),
            ..*self
        }
    }

    /// Raises buffer sizes to the standard's minimum; elsewhere 0 means no limit.
    pub(crate) fn at_least_minimum(self) -> Self {
        Self {
            receive_buffer_size: self.receive_buffer_size.max(MIN_BUFFER_SIZE),
            send_buffer_size: self.send_buffer_size.max(MIN_BUFFER_SIZE),
            max_message_size: unlimited_if_zero(self.max_message_size),
            max_chunk_count: unlimited_if_zero(self.max_chunk_count),
            max_sent_message_size: unlimited_if_zero(self.max_sent_message_size),
        }
    }
}

/// Limits after negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NegotiatedLimits {
    /// Own limits, reduced to what the peer allows.
    pub local: TransportLimits,
    /// Largest number of chunks that the peer accepts in one message.
    pub max_sent_chunk_count: u32,
}

const fn unlimited_if_zero(limit: u32) -> u32 {
    if limit == 0 { u32::MAX } else { limit }
}

/// The fields that Hello and Acknowledge have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PeerLimits {
    protocol_version: u32,
    receive_buffer_size: u32,
    send_buffer_size: u32,
    max_message_size: u32,
    max_chunk_count: u32,
}

impl PeerLimits {
    fn of(limits: &TransportLimits) -> Self {
        Self {
            protocol_version: PROTOCOL_VERSION,
            receive_buffer_size: limits.receive_buffer_size,
            send_buffer_size: limits.send_buffer_size,
            max_message_size: limits.max_message_size,
            max_chunk_count: limits.max_chunk_count,
        }
    }

    fn decode(d: &mut Decoder<'_>, message: &'static str) -> Result<Self, TransportError> {
        let mut next = || decoding(message, d.u32());
        Ok(Self {
            protocol_version: next()?,
            receive_buffer_size: next()?,
            send_buffer_size: next()?,
            max_message_size: next()?,
            max_chunk_count: next()?,
        })
    }

    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.u32(self.protocol_version)?;
        e.u32(self.receive_buffer_size)?;
        e.u32(self.send_buffer_size)?;
        e.u32(self.max_message_size)?;
        e.u32(self.max_chunk_count)
    }

    /// Negotiates the smaller ones of these and the own limits.
    fn agree(&self, local: &TransportLimits) -> Result<NegotiatedLimits, TransportError> {
        for size in [self.receive_buffer_size, self.send_buffer_size] {
            if size < MIN_BUFFER_SIZE {
                return Err(TransportError::BufferSize(size));
            }
        }
        Ok(NegotiatedLimits {
            local: local.negotiate(self),
            max_sent_chunk_count: unlimited_if_zero(self.max_chunk_count),
        })
    }
}

/// Names the message in which decoding failed.
pub(crate) fn decoding<T>(
    message: &'static str,
    result: Result<T, takt_ua::binary::DecodeError>,
) -> Result<T, TransportError> {
    result.map_err(|error| TransportError::Decoding { message, error })
}

/// Contents of a Hello that a server uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) endpoint_url: String,
    pub(crate) limits: NegotiatedLimits,
}

impl Hello {
    /// Reads the body of a Hello and negotiates limits.
    pub(crate) fn decode(body: &[u8], local: &TransportLimits) -> Result<Self, TransportError> {
        let mut d = Decoder::new(body);
        let peer = PeerLimits::decode(&mut d, "Hello")?;
        // All versions so far are 0, and a server answers with its own version: a higher one is not refused.
        // Read as bytes: a URL that is not UTF-8 gets the StatusCode of a bad URL, too.
        let url = d.byte_string().map_err(|_| TransportError::EndpointUrl)?;
        let url = url.unwrap_or_default();
        if url.len() > MAX_ENDPOINT_URL_LENGTH {
            return Err(TransportError::EndpointUrl);
        }
        let url = std::str::from_utf8(url).map_err(|_| TransportError::EndpointUrl)?;
        Ok(Self {
            endpoint_url: url.into(),
            limits: peer.agree(local)?,
        })
    }
}

/// Appends a Hello.
pub(crate) fn emit_hello(out: &mut Vec<u8>, limits: &TransportLimits, endpoint_url: &str) {
    emit(out, MessageType::Hello, MAX_CONTROL_MESSAGE, |e| {
        PeerLimits::of(limits).encode(e)?;
        e.string(Some(endpoint_url))
    });
}

/// Appends the Acknowledge that states `negotiated`.
pub(crate) fn emit_acknowledge(out: &mut Vec<u8>, negotiated: &NegotiatedLimits) {
    emit(out, MessageType::Acknowledge, MAX_CONTROL_MESSAGE, |e| {
        PeerLimits::of(&negotiated.local).encode(e)
    });
}

/// Reads the body of an Acknowledge that answers a Hello with `local`.
pub(crate) fn decode_acknowledge(
    body: &[u8],
    local: &TransportLimits,
) -> Result<NegotiatedLimits, TransportError> {
    PeerLimits::decode(&mut Decoder::new(body), "Acknowledge")?.agree(local)
}

/// Appends an Error message.
pub(crate) fn emit_error(out: &mut Vec<u8>, status: StatusCode, reason: &str) {
    emit(out, MessageType::Error, MAX_CONTROL_MESSAGE, |e| {
        encode_reason(e, status, reason)
    });
}

/// Writes the body that Error messages and abort chunks share.
pub(crate) fn encode_reason(
    e: &mut Encoder<'_>,
    status: StatusCode,
    reason: &str,
) -> Result<(), EncodeError> {
    let mut end = reason.len().min(MAX_REASON_LENGTH);
    // This ends at 0 at the latest, which is a boundary.
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    e.u32(status.0)?;
    e.string((end > 0).then_some(&reason[..end]))
}

/// Reads the body of an Error message or abort chunk. A reason that is too long or not valid UTF-8 is ignored
/// (OPC 10000-6, 7.1.2.5).
pub(crate) fn decode_reason(body: &[u8]) -> Result<(StatusCode, String), TransportError> {
    let mut d = Decoder::new(body);
    let status = StatusCode(decoding("Error", d.u32())?);
    let reason = match d.string() {
        Ok(Some(reason)) if reason.len() <= MAX_REASON_LENGTH => reason.into(),
        _ => String::new(),
    };
    Ok((status, reason))
}

/// Appends a message of the connection layer: header and body.
pub(crate) fn emit(
    out: &mut Vec<u8>,
    message_type: MessageType,
    limit: usize,
    body: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_SIZE]);
    let written = body(&mut Encoder::growing(out, limit));
    debug_assert!(written.is_ok(), "all strings are cut to length before");
    let header = ChunkHeader {
        message_type,
        chunk_type: ChunkType::Final,
        size: out.len() - start,
    };
    header.emit(&mut out[start..]);
}

/// Largest size in bytes of a message that a peer may send before limits are negotiated; larger than all of these
/// messages.
pub(crate) const MAX_CONTROL_MESSAGE: usize = MIN_BUFFER_SIZE as usize;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: TransportLimits = TransportLimits {
        receive_buffer_size: 65536,
        send_buffer_size: 32768,
        max_message_size: 1 << 20,
        max_chunk_count: 100,
        max_sent_message_size: 1 << 24,
    };

    fn hello(sizes: [u32; 5], url: &[u8]) -> Vec<u8> {
        let mut body: Vec<u8> = sizes.iter().flat_map(|n| n.to_le_bytes()).collect();
        body.extend(u32::try_from(url.len()).unwrap().to_le_bytes());
        body.extend(url);
        body
    }

    #[test]
    fn the_smaller_limit_of_each_direction_wins() {
        let body = hello([0, 8192, 100_000, 5000, 0], b"opc.tcp://plc:4840");
        let hello = Hello::decode(&body, &LIMITS).unwrap();
        assert_eq!(hello.endpoint_url, "opc.tcp://plc:4840");
        let local = hello.limits.local;
        assert_eq!(local.receive_buffer_size, 65536);
        assert_eq!(local.send_buffer_size, 8192);
        assert_eq!(local.max_sent_message_size, 5000);
        assert_eq!(local.max_message_size, 1 << 20);
        assert_eq!(hello.limits.max_sent_chunk_count, u32::MAX);

        let mut out = Vec::new();
        emit_acknowledge(&mut out, &hello.limits);
        let expected: Vec<u8> = [
            b"ACKF".to_vec(),
            [28_u32, 0, 65536, 8192, 1 << 20, 100]
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .collect(),
        ]
        .concat();
        assert_eq!(out, expected);
    }

    #[test]
    fn both_sides_agree() {
        let mut out = Vec::new();
        emit_hello(&mut out, &LIMITS, "opc.tcp://plc");
        let server = TransportLimits {
            receive_buffer_size: 20_000,
            ..LIMITS
        };
        let server = Hello::decode(&out[8..], &server).unwrap().limits;
        let mut ack = Vec::new();
        emit_acknowledge(&mut ack, &server);
        let client = decode_acknowledge(&ack[8..], &LIMITS).unwrap();
        assert_eq!(
            client.local.send_buffer_size,
            server.local.receive_buffer_size
        );
        assert_eq!(
            client.local.receive_buffer_size,
            server.local.send_buffer_size
        );
        assert_eq!(client.local.send_buffer_size, 20_000);
        assert_eq!(client.max_sent_chunk_count, 100);
    }

    #[test]
    fn bad_hellos() {
        let good = [0, 8192, 8192, 0, 0];
        let decode = |sizes, url: &[u8]| Hello::decode(&hello(sizes, url), &LIMITS);
        assert!(decode(good, b"").is_ok());
        assert!(decode(good, &[b'x'; 4096]).is_ok());
        assert_eq!(
            decode(good, &[b'x'; 4097]),
            Err(TransportError::EndpointUrl)
        );
        assert_eq!(decode(good, &[0xFF]), Err(TransportError::EndpointUrl));
        assert_eq!(
            decode([0, 8191, 8192, 0, 0], b""),
            Err(TransportError::BufferSize(8191))
        );
        assert_eq!(
            decode([9, 8192, 0, 0, 0], b""),
            Err(TransportError::BufferSize(0))
        );
        let mut lying = hello(good, b"");
        lying.truncate(20);
        lying.extend(i32::MAX.to_le_bytes());
        assert_eq!(
            Hello::decode(&lying, &LIMITS),
            Err(TransportError::EndpointUrl)
        );
        assert!(matches!(
            Hello::decode(&[0; 19], &LIMITS),
            Err(TransportError::Decoding { .. })
        ));
    }

    #[test]
    fn reasons_are_cut_at_a_character() {
        let long = "ä".repeat(3000);
        let mut out = Vec::new();
        emit_error(&mut out, StatusCode::BadTimeout, &format!("x{long}"));
        let (status, reason) = decode_reason(&out[8..]).unwrap();
        assert_eq!(status, StatusCode::BadTimeout);
        assert_eq!(reason.len(), 4095);

        let mut too_long = StatusCode::BadTimeout.0.to_le_bytes().to_vec();
        too_long.extend(4097_u32.to_le_bytes());
        too_long.extend([b'x'; 4097]);
        assert_eq!(
            decode_reason(&too_long).unwrap(),
            (StatusCode::BadTimeout, String::new())
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bodies_never_panic(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Hello::decode(&body, &LIMITS);
            let _ = decode_acknowledge(&body, &LIMITS);
            let _ = decode_reason(&body);
        }
    }
}

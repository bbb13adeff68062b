//! Headers of chunks: message header, symmetric security header and sequence header (OPC 10000-6, 6.7.2.2 to 6.7.2.4
//! and 7.1.2.2). All numbers are little endian.

use crate::error::TransportError;

/// Byte ranges of the fields.
mod field {
    use core::ops::Range;

    pub(super) const MESSAGE_TYPE: Range<usize> = 0..3;
    pub(super) const CHUNK_TYPE: usize = 3;
    pub(super) const MESSAGE_SIZE: Range<usize> = 4..8;
    pub(super) const SECURE_CHANNEL_ID: Range<usize> = 8..12;
    pub(super) const TOKEN_ID: Range<usize> = 12..16;
}

/// Bytes of the message header: type, chunk type, size.
pub(crate) const HEADER_SIZE: usize = 8;
/// Bytes of the message header with the SecureChannelId, where the security header begins.
pub(crate) const CHANNEL_HEADER_SIZE: usize = 12;
/// Bytes up to the end of the symmetric security header (TokenId), where encryption begins.
pub(crate) const SYMMETRIC_HEADER_SIZE: usize = 16;
/// Bytes of the sequence header: SequenceNumber and RequestId.
pub(crate) const SEQUENCE_HEADER_SIZE: usize = 8;

/// Type of a message (OPC 10000-6, Tables 57 and 73).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageType {
    /// `HEL`: the client's limits and the EndpointUrl.
    Hello,
    /// `ACK`: the server's limits.
    Acknowledge,
    /// `ERR`: the reason for which the connection is being closed.
    Error,
    /// `RHE`: the first message of a server that connects to a client.
    ReverseHello,
    /// `OPN`: OpenSecureChannel.
    OpenSecureChannel,
    /// `CLO`: CloseSecureChannel.
    CloseSecureChannel,
    /// `MSG`: requests and responses of all other services.
    Message,
}

impl MessageType {
    /// Returns the three ASCII characters.
    #[must_use]
    pub(crate) const fn code(self) -> [u8; 3] {
        match self {
            Self::Hello => *b"HEL",
            Self::Acknowledge => *b"ACK",
            Self::Error => *b"ERR",
            Self::ReverseHello => *b"RHE",
            Self::OpenSecureChannel => *b"OPN",
            Self::CloseSecureChannel => *b"CLO",
            Self::Message => *b"MSG",
        }
    }

    /// Returns the type with this code.
    #[must_use]
    pub(crate) const fn from_code(code: [u8; 3]) -> Option<Self> {
        Some(match &code {
            b"HEL" => Self::Hello,
            b"ACK" => Self::Acknowledge,
            b"ERR" => Self::Error,
            b"RHE" => Self::ReverseHello,
            b"OPN" => Self::OpenSecureChannel,
            b"CLO" => Self::CloseSecureChannel,
            b"MSG" => Self::Message,
            _ => return None,
        })
    }

    /// Returns whether the message belongs to the SecureChannel layer and carries a SecureChannelId.
    #[must_use]
    pub(crate) const fn is_secure_channel(self) -> bool {
        matches!(
            self,
            Self::OpenSecureChannel | Self::CloseSecureChannel | Self::Message
        )
    }
}

/// Position of a MessageChunk in its Message: the IsFinal field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkType {
    /// `C`: more follow.
    Intermediate,
    /// `F`: the last one.
    Final,
    /// `A`: the Message is aborted; the body has the reason (OPC 10000-6, 6.7.3).
    Abort,
}

impl ChunkType {
    /// Returns the ASCII character.
    #[must_use]
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Intermediate => b'C',
            Self::Final => b'F',
            Self::Abort => b'A',
        }
    }
}

/// A checked message header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    /// Type of the message.
    pub(crate) message_type: MessageType,
    /// Position of the chunk in the message.
    pub(crate) chunk_type: ChunkType,
    /// Bytes of the whole chunk, this header included.
    pub(crate) size: usize,
}

impl ChunkHeader {
    /// Reads the header at the start of `bytes`; `None` when more bytes are needed to tell.
    ///
    /// An unknown type is reported as soon as its three bytes are there. A peer of another protocol is disconnected
    /// at once, not after the timeout.
    ///
    /// # Errors
    /// [`TransportError::MessageType`] for unknown types, [`TransportError::ChunkType`] for an IsFinal value that the
    /// type does not allow, [`TransportError::ChunkSize`] for a size that cannot hold the headers or exceeds `limit`.
    pub(crate) fn parse(bytes: &[u8], limit: usize) -> Result<Option<Self>, TransportError> {
        let Some(&code) = bytes.first_chunk::<3>() else {
            return Ok(None);
        };
        let message_type = MessageType::from_code(code).ok_or(TransportError::MessageType(code))?;
        if bytes.len() < HEADER_SIZE {
            return Ok(None);
        }
        // Only `MSG` has several chunks; for other types the field is always `F`.
        let chunk_type = match (message_type, bytes[field::CHUNK_TYPE]) {
            (_, b'F') => ChunkType::Final,
            (MessageType::Message, b'C') => ChunkType::Intermediate,
            (MessageType::Message, b'A') => ChunkType::Abort,
            // OPC 10000-6, 7.1.2.2: reserved and to be ignored below the SecureChannel layer.
            (other, _) if !other.is_secure_channel() => ChunkType::Final,
            (_, code) => return Err(TransportError::ChunkType(code)),
        };
        let size = read_u32(bytes, field::MESSAGE_SIZE);
        let smallest = match message_type {
            MessageType::Message | MessageType::CloseSecureChannel => {
                SYMMETRIC_HEADER_SIZE + SEQUENCE_HEADER_SIZE
            }
            // Three empty strings make the shortest asymmetric security header.
            MessageType::OpenSecureChannel => CHANNEL_HEADER_SIZE + 12 + SEQUENCE_HEADER_SIZE,
            _ => HEADER_SIZE,
        };
        let size = size as usize;
        // Before the buffer grows: a header alone must not make it larger than the negotiated chunk.
        if size < smallest || size > limit {
            return Err(TransportError::ChunkSize { size, limit });
        }
        Ok(Some(Self {
            message_type,
            chunk_type,
            size,
        }))
    }

    /// Writes the header over the first eight bytes of `bytes`.
    pub(crate) fn emit(&self, bytes: &mut [u8]) {
        bytes[field::MESSAGE_TYPE].copy_from_slice(&self.message_type.code());
        bytes[field::CHUNK_TYPE] = self.chunk_type.code();
        // A chunk is never larger than a negotiated buffer size, which is a UInt32.
        #[allow(clippy::cast_possible_truncation)]
        write_u32(bytes, field::MESSAGE_SIZE, self.size as u32);
    }
}

/// Returns the SecureChannelId of an `OPN`, `CLO` or `MSG` chunk whose [`ChunkHeader`] was checked.
pub(crate) fn secure_channel_id(chunk: &[u8]) -> u32 {
    read_u32(chunk, field::SECURE_CHANNEL_ID)
}

/// Returns the TokenId of a `CLO` or `MSG` chunk whose [`ChunkHeader`] was checked.
pub(crate) fn token_id(chunk: &[u8]) -> u32 {
    read_u32(chunk, field::TOKEN_ID)
}

/// Writes SecureChannelId and TokenId of a `CLO` or `MSG` chunk.
pub(crate) fn emit_symmetric(chunk: &mut [u8], secure_channel_id: u32, token_id: u32) {
    write_u32(chunk, field::SECURE_CHANNEL_ID, secure_channel_id);
    write_u32(chunk, field::TOKEN_ID, token_id);
}

/// Writes the SecureChannelId of an `OPN` chunk.
pub(crate) fn emit_secure_channel_id(chunk: &mut [u8], secure_channel_id: u32) {
    write_u32(chunk, field::SECURE_CHANNEL_ID, secure_channel_id);
}

/// SequenceNumber and RequestId.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SequenceHeader {
    pub(crate) sequence_number: u32,
    pub(crate) request_id: u32,
}

impl SequenceHeader {
    /// Reads the sequence header that starts at `offset`; `None` when `chunk` ends before it does.
    pub(crate) fn parse(chunk: &[u8], offset: usize) -> Option<Self> {
        let bytes = chunk.get(offset..offset.checked_add(SEQUENCE_HEADER_SIZE)?)?;
        Some(Self {
            sequence_number: read_u32(bytes, 0..4),
            request_id: read_u32(bytes, 4..8),
        })
    }

    /// Writes the sequence header at `offset`.
    pub(crate) fn emit(self, chunk: &mut [u8], offset: usize) {
        write_u32(chunk, offset..offset + 4, self.sequence_number);
        write_u32(chunk, offset + 4..offset + 8, self.request_id);
    }
}

fn read_u32(bytes: &[u8], range: core::ops::Range<usize>) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[range]);
    u32::from_le_bytes(word)
}

fn write_u32(bytes: &mut [u8], range: core::ops::Range<usize>, value: u32) {
    bytes[range].copy_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A CloseSecureChannel chunk as on the wire, without its body.
    const CLOSE: [u8; 24] = [
        b'C', b'L', b'O', b'F', 24, 0, 0, 0, // header
        0x78, 0x56, 0x34, 0x12, // SecureChannelId
        2, 0, 0, 0, // TokenId
        51, 0, 0, 0, // SequenceNumber
        1, 1, 0, 0, // RequestId
    ];

    #[test]
    fn reads_and_writes_a_header() {
        let header = ChunkHeader::parse(&CLOSE, 8192).unwrap().unwrap();
        assert_eq!(header.message_type, MessageType::CloseSecureChannel);
        assert_eq!(header.chunk_type, ChunkType::Final);
        assert_eq!(header.size, 24);
        assert_eq!(secure_channel_id(&CLOSE), 0x1234_5678);
        assert_eq!(token_id(&CLOSE), 2);
        let sequence = SequenceHeader::parse(&CLOSE, SYMMETRIC_HEADER_SIZE).unwrap();
        assert_eq!((sequence.sequence_number, sequence.request_id), (51, 257));

        let mut written = [0; 24];
        header.emit(&mut written);
        emit_symmetric(&mut written, 0x1234_5678, 2);
        sequence.emit(&mut written, SYMMETRIC_HEADER_SIZE);
        assert_eq!(written, CLOSE);
        assert_eq!(SequenceHeader::parse(&CLOSE, 17), None);
    }

    #[test]
    fn every_type_has_its_code() {
        use MessageType as M;
        for message_type in [
            M::Hello,
            M::Acknowledge,
            M::Error,
            M::ReverseHello,
            M::OpenSecureChannel,
            M::CloseSecureChannel,
            M::Message,
        ] {
            assert_eq!(M::from_code(message_type.code()), Some(message_type));
        }
    }

    #[test]
    fn an_unknown_protocol_is_recognised_by_three_bytes() {
        assert_eq!(ChunkHeader::parse(b"GE", 8192), Ok(None));
        assert_eq!(
            ChunkHeader::parse(b"GET", 8192),
            Err(TransportError::MessageType(*b"GET"))
        );
        assert_eq!(ChunkHeader::parse(b"MSGF\x10\0\0", 8192), Ok(None));
    }

    #[test]
    fn sizes_and_chunk_types_are_checked() {
        let size = |message: &[u8; 4], size: u32| {
            let mut bytes = message.to_vec();
            bytes.extend(size.to_le_bytes());
            ChunkHeader::parse(&bytes, 8192)
        };
        assert!(size(b"MSGF", 8192).is_ok());
        assert!(matches!(
            size(b"MSGF", 8193),
            Err(TransportError::ChunkSize {
                size: 8193,
                limit: 8192
            })
        ));
        assert!(size(b"MSGF", 23).is_err());
        assert!(size(b"MSGC", u32::MAX).is_err());
        assert!(size(b"OPNF", 31).is_err());
        assert!(size(b"HELF", 7).is_err());
        assert_eq!(size(b"OPNC", 99), Err(TransportError::ChunkType(b'C')));
        assert_eq!(size(b"MSGX", 99), Err(TransportError::ChunkType(b'X')));
        assert!(size(b"HEL\0", 99).is_ok());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = ChunkHeader::parse(&bytes, 8192);
            let _ = SequenceHeader::parse(&bytes, SYMMETRIC_HEADER_SIZE);
        }
    }
}

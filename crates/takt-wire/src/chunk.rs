//! Chunks: parts of payloads (OPC 10000-14, 7.2.4.4.4).

use takt_ua::binary::{Decoder, Encoder};

use crate::error::{WireEncodeError, WireError, WireErrorKind, padding};
use crate::network_message_type::NetworkMessageType;

/// A part of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Type of the message that the payload belongs to: data, or a discovery announcement.
    pub network_message_type: NetworkMessageType,
    /// DataSetWriterId of the DataSetMessage if there is a PayloadHeader; none in discovery.
    pub data_set_writer_id: Option<u16>,
    /// Sequence number of the payload: that of the DataSetMessage or announcement.
    pub message_sequence_number: u16,
    /// Offset in bytes of the part within the payload.
    pub chunk_offset: u32,
    /// Size of the payload in bytes.
    pub total_size: u32,
    /// Bytes of the part.
    pub chunk_data: Vec<u8>,
}

/// A borrowed [`Chunk`]. It is within the payload and not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRef<'a> {
    /// Type of the message that the payload belongs to.
    pub network_message_type: NetworkMessageType,
    /// DataSetWriterId of the DataSetMessage if there is a PayloadHeader.
    pub data_set_writer_id: Option<u16>,
    /// Sequence number of the payload.
    pub message_sequence_number: u16,
    /// Offset in bytes of the part within the payload.
    pub chunk_offset: u32,
    /// Size of the payload in bytes.
    pub total_size: u32,
    /// Bytes of the part.
    pub chunk_data: &'a [u8],
}

const EMPTY: &str = "a chunk without data (OPC 10000-14, 7.2.4.4.4)";
const BEYOND: &str = "a chunk that ends beyond TotalSize (OPC 10000-14, 7.2.4.4.4)";

/// Returns the broken rule if the position of a chunk is invalid.
fn position_rule(chunk_offset: u32, total_size: u32, length: usize) -> Option<&'static str> {
    if length == 0 {
        return Some(EMPTY);
    }
    // In 64 bits, because offset and length together may exceed 32 bits.
    let end = u64::from(chunk_offset).saturating_add(length as u64);
    (end > u64::from(total_size)).then_some(BEYOND)
}

impl Chunk {
    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), WireEncodeError> {
        let length = self.chunk_data.len();
        if let Some(rule) = position_rule(self.chunk_offset, self.total_size, length) {
            return Err(WireEncodeError::Forbidden(rule));
        }
        encoder.u16(self.message_sequence_number)?;
        encoder.u32(self.chunk_offset)?;
        encoder.u32(self.total_size)?;
        Ok(encoder.byte_string(Some(&self.chunk_data))?)
    }
}

impl<'a> ChunkRef<'a> {
    pub(crate) fn decode(
        network_message_type: NetworkMessageType,
        data_set_writer_id: Option<u16>,
        decoder: &mut Decoder<'a>,
    ) -> Result<Self, WireError> {
        let start = decoder.position();
        let chunk = Self {
            network_message_type,
            data_set_writer_id,
            message_sequence_number: decoder.u16()?,
            chunk_offset: decoder.u32()?,
            total_size: decoder.u32()?,
            chunk_data: decoder.byte_string()?.unwrap_or_default(),
        };
        let length = chunk.chunk_data.len();
        if let Some(rule) = position_rule(chunk.chunk_offset, chunk.total_size, length) {
            return Err(WireError::new(start, WireErrorKind::Forbidden(rule)));
        }
        padding(decoder)?;
        Ok(chunk)
    }

    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> Chunk {
        Chunk {
            network_message_type: self.network_message_type,
            data_set_writer_id: self.data_set_writer_id,
            message_sequence_number: self.message_sequence_number,
            chunk_offset: self.chunk_offset,
            total_size: self.total_size,
            chunk_data: self.chunk_data.to_vec(),
        }
    }

    /// Returns whether this is the last part of the payload.
    pub fn is_last(&self) -> bool {
        self.chunk_offset as usize + self.chunk_data.len() == self.total_size as usize
    }
}

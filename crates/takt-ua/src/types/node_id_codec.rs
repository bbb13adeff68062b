//! The binary encodings of NodeIds (OPC 10000-6, 5.2.2.9): two bytes, four bytes, numeric, String, Guid, ByteString.
//! The shortest possible one is written; all are read.

use super::{Guid, Identifier, IdentifierRef, NodeId, NodeIdRef, UaString};
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

impl NodeIdRef<'_> {
    /// Encodes with flag bits in the encoding byte, as an ExpandedNodeId has them.
    #[inline]
    pub(super) fn encode_with_flags(
        &self,
        flags: u8,
        encoder: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        match self.identifier {
            IdentifierRef::Numeric(id) => {
                if let (0, Ok(id)) = (self.namespace, u8::try_from(id)) {
                    return encoder.bytes(&[flags, id]);
                }
                if let (Ok(namespace), Ok(id)) = (u8::try_from(self.namespace), u16::try_from(id)) {
                    let [low, high] = id.to_le_bytes();
                    return encoder.bytes(&[0x01 | flags, namespace, low, high]);
                }
                encoder.u8(0x02 | flags)?;
                encoder.u16(self.namespace)?;
                encoder.u32(id)
            }
            IdentifierRef::String(id) => {
                encoder.u8(0x03 | flags)?;
                encoder.u16(self.namespace)?;
                encoder.string(Some(id))
            }
            IdentifierRef::Guid(id) => {
                encoder.u8(0x04 | flags)?;
                encoder.u16(self.namespace)?;
                id.encode(encoder)
            }
            IdentifierRef::Opaque(id) => {
                encoder.u8(0x05 | flags)?;
                encoder.u16(self.namespace)?;
                encoder.byte_string(Some(id))
            }
        }
    }
}

impl<'a> NodeIdRef<'a> {
    /// Decodes the bytes behind an encoding byte whose flag bits are masked out.
    #[inline]
    pub(super) fn decode_kind(kind: u8, decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let (namespace, identifier) = match kind {
            0x00 => (0, IdentifierRef::Numeric(u32::from(decoder.u8()?))),
            0x01 => {
                let namespace = u16::from(decoder.u8()?);
                (namespace, IdentifierRef::Numeric(u32::from(decoder.u16()?)))
            }
            0x02 => (decoder.u16()?, IdentifierRef::Numeric(decoder.u32()?)),
            0x03 => (
                decoder.u16()?,
                IdentifierRef::String(decoder.string()?.unwrap_or_default()),
            ),
            0x04 => (decoder.u16()?, IdentifierRef::Guid(Guid::decode(decoder)?)),
            0x05 => (
                decoder.u16()?,
                IdentifierRef::Opaque(decoder.byte_string()?.unwrap_or_default()),
            ),
            other => {
                let offset = decoder.position().saturating_sub(1);
                return Err(DecodeError::new(
                    offset,
                    DecodeErrorKind::InvalidEncodingByte(other),
                ));
            }
        };
        Ok(Self {
            namespace,
            identifier,
        })
    }
}

impl Encode for NodeIdRef<'_> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode_with_flags(0, encoder)
    }
}

impl<'a> Decode<'a> for NodeIdRef<'a> {
    const MIN_SIZE: usize = 2;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let kind = decoder.u8()?;
        Self::decode_kind(kind, decoder)
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        match decoder.u8()? {
            0x00 => decoder.bytes(1).map(|_| ()),
            0x01 => decoder.bytes(3).map(|_| ()),
            0x02 => decoder.bytes(6).map(|_| ()),
            kind => Self::decode_kind(kind, decoder).map(|_| ()),
        }
    }
}

impl Encode for NodeId {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_ref().encode(encoder)
    }
}

impl NodeId {
    /// Decodes the bytes behind an encoding byte whose flag bits are masked out.
    #[inline]
    pub(super) fn decode_kind(kind: u8, decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        // In a String, a tolerant decoder replaces what is not UTF-8, which a borrowed text cannot hold.
        if kind != 0x03 {
            return NodeIdRef::decode_kind(kind, decoder).map(|node_id| node_id.to_owned());
        }
        let namespace = decoder.u16()?;
        let identifier = UaString::decode(decoder)?.into_string();
        Ok(Self {
            namespace,
            identifier: Identifier::String(identifier.into()),
        })
    }
}

impl<'a> Decode<'a> for NodeId {
    const MIN_SIZE: usize = 2;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let kind = decoder.u8()?;
        Self::decode_kind(kind, decoder)
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        NodeIdRef::skip(decoder)
    }
}

//! ExtensionObject (OPC 10000-6, 5.2.2.15).

use super::extent::binary_body;
use super::{NodeId, NodeIdRef, Structure};
use crate::binary::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Limits,
};

/// A structure together with the NodeId of its encoding. Its body is only decoded on request by code that knows the
/// type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtensionObject {
    /// NodeId of the DataType's encoding.
    pub type_id: NodeId,
    /// The encoded structure.
    pub body: ExtensionObjectBody,
}

/// The body of an [`ExtensionObject`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ExtensionObjectBody {
    /// No body.
    #[default]
    None,
    /// The structure in the OPC UA Binary DataEncoding.
    Binary(Vec<u8>),
    /// The structure in the OPC UA XML DataEncoding.
    Xml(String),
}

/// A borrowed [`ExtensionObject`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtensionObjectRef<'a> {
    /// NodeId of the DataType's encoding.
    pub type_id: NodeIdRef<'a>,
    /// The encoded structure.
    pub body: ExtensionObjectBodyRef<'a>,
}

/// The body of an [`ExtensionObjectRef`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExtensionObjectBodyRef<'a> {
    /// No body.
    #[default]
    None,
    /// The structure in the OPC UA Binary DataEncoding.
    Binary(&'a [u8]),
    /// The structure in the OPC UA XML DataEncoding.
    Xml(&'a str),
}

impl ExtensionObject {
    /// The null ExtensionObject: null TypeId, no body.
    pub const NULL: ExtensionObject = ExtensionObject {
        type_id: NodeId::NULL,
        body: ExtensionObjectBody::None,
    };

    /// Wraps a structure, in its binary encoding.
    pub fn from_structure<T: Structure>(structure: &T) -> Self {
        Self {
            type_id: NodeId::numeric(0, T::BINARY_ENCODING_ID),
            body: ExtensionObjectBody::Binary(structure.encode_to_vec()),
        }
    }

    /// Returns whether there is neither type nor body.
    pub fn is_null(&self) -> bool {
        self.type_id.is_null() && self.body == ExtensionObjectBody::None
    }

    /// Returns the same, borrowed.
    #[inline]
    pub fn as_ref(&self) -> ExtensionObjectRef<'_> {
        let body = match &self.body {
            ExtensionObjectBody::None => ExtensionObjectBodyRef::None,
            ExtensionObjectBody::Binary(bytes) => ExtensionObjectBodyRef::Binary(bytes),
            ExtensionObjectBody::Xml(text) => ExtensionObjectBodyRef::Xml(text),
        };
        ExtensionObjectRef {
            type_id: self.type_id.as_ref(),
            body,
        }
    }

    /// Returns whether the body is a binary-encoded `T`.
    pub fn is<T: Structure>(&self) -> bool {
        self.as_ref().is::<T>()
    }

    /// Decodes the body within [`Limits::STRUCTURE`]; see [`ExtensionObjectRef::decode_as`].
    pub fn decode_as<T: Structure>(&self) -> Result<T, DecodeError> {
        self.as_ref().decode_as(Limits::STRUCTURE)
    }
}

impl ExtensionObjectRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> ExtensionObject {
        let body = match self.body {
            ExtensionObjectBodyRef::None => ExtensionObjectBody::None,
            ExtensionObjectBodyRef::Binary(bytes) => ExtensionObjectBody::Binary(bytes.to_vec()),
            ExtensionObjectBodyRef::Xml(text) => ExtensionObjectBody::Xml(text.to_owned()),
        };
        ExtensionObject {
            type_id: self.type_id.to_owned(),
            body,
        }
    }

    /// Returns whether the body is a binary-encoded `T`.
    pub fn is<T: Structure>(&self) -> bool {
        matches!(self.body, ExtensionObjectBodyRef::Binary(_))
            && self.type_id.standard_id() == Some(T::BINARY_ENCODING_ID)
    }

    /// Decodes the body.
    ///
    /// Fails if the TypeId is not that of the Default Binary encoding of `T`, or if the body is not
    /// exactly one `T`. Offsets in the error count from the start of the body.
    pub fn decode_as<T: Structure>(&self, limits: Limits) -> Result<T, DecodeError> {
        let bytes = match self.body {
            ExtensionObjectBodyRef::Binary(bytes) if self.is::<T>() => bytes,
            _ => {
                let kind = DecodeErrorKind::InvalidValue("an ExtensionObject holds another type");
                return Err(DecodeError::new(0, kind));
            }
        };
        let mut decoder = Decoder::with_limits(bytes, limits);
        let value = T::decode(&mut decoder)?;
        if decoder.remaining() > 0 {
            let kind = DecodeErrorKind::InvalidValue("an ExtensionObject is longer than its type");
            return Err(decoder.error(kind));
        }
        Ok(value)
    }
}

impl Encode for ExtensionObjectRef<'_> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.type_id.encode(encoder)?;
        match self.body {
            ExtensionObjectBodyRef::None => encoder.u8(0),
            ExtensionObjectBodyRef::Binary(bytes) => {
                encoder.u8(1)?;
                encoder.byte_string(Some(bytes))
            }
            ExtensionObjectBodyRef::Xml(text) => {
                encoder.u8(2)?;
                encoder.string(Some(text))
            }
        }
    }
}

impl<'a> Decode<'a> for ExtensionObjectRef<'a> {
    const MIN_SIZE: usize = 3;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        // The null object in its shortest form ends every RequestHeader.
        if decoder.rest().starts_with(&[0; 3]) {
            decoder.bytes(3)?;
            return Ok(Self::default());
        }
        let type_id = NodeIdRef::decode(decoder)?;
        let body = match decoder.u8()? {
            0 => ExtensionObjectBodyRef::None,
            1 => ExtensionObjectBodyRef::Binary(decoder.byte_string()?.unwrap_or_default()),
            2 => ExtensionObjectBodyRef::Xml(decoder.string()?.unwrap_or_default()),
            other => {
                let offset = decoder.position().saturating_sub(1);
                return Err(DecodeError::new(
                    offset,
                    DecodeErrorKind::InvalidEncodingByte(other),
                ));
            }
        };
        Ok(Self { type_id, body })
    }
}

impl Encode for ExtensionObject {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_ref().encode(encoder)
    }
}

impl<'a> Decode<'a> for ExtensionObject {
    const MIN_SIZE: usize = 3;

    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        if !decoder.is_tolerant() {
            return ExtensionObjectRef::decode(decoder).map(|object| object.to_owned());
        }
        let type_id = NodeId::decode(decoder)?;
        let body = match decoder.u8()? {
            0 => ExtensionObjectBody::None,
            1 => ExtensionObjectBody::Binary(binary_body(type_id.as_ref(), decoder)?.to_vec()),
            2 => ExtensionObjectBody::Xml(decoder.text()?.unwrap_or_default().into_owned()),
            other => return Err(decoder.error(DecodeErrorKind::InvalidEncodingByte(other))),
        };
        Ok(Self { type_id, body })
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        ExtensionObjectRef::decode(decoder).map(|_| ())
    }
}

//! Variant (OPC 10000-6, 5.2.2.16).

use super::encoding_mask::{ARRAY, mask_type};
use super::extent::pass_variant;
use super::{
    Array, BuiltInType, ByteString, DataValue, DateTime, DiagnosticInfo, ExpandedNodeId,
    ExtensionObject, Guid, LocalizedText, NodeId, QualifiedName, UaString, Variant, VariantRef,
    XmlElement,
};
use crate::StatusCode;
use crate::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

impl Variant {
    /// Returns the default value of a type: zero, empty, or null (OPC 10000-6, 5.1.2).
    pub fn default_of(built_in_type: BuiltInType) -> Self {
        use BuiltInType as B;
        match built_in_type {
            B::Boolean => false.into(),
            B::SByte => 0_i8.into(),
            B::Byte => 0_u8.into(),
            B::Int16 => 0_i16.into(),
            B::UInt16 => 0_u16.into(),
            B::Int32 => 0_i32.into(),
            B::UInt32 => 0_u32.into(),
            B::Int64 => 0_i64.into(),
            B::UInt64 => 0_u64.into(),
            B::Float => 0_f32.into(),
            B::Double => 0_f64.into(),
            B::String => UaString::null().into(),
            B::DateTime => DateTime::MIN.into(),
            B::Guid => Guid::NULL.into(),
            B::ByteString => ByteString::null().into(),
            B::XmlElement => XmlElement::default().into(),
            B::NodeId => NodeId::NULL.into(),
            B::ExpandedNodeId => ExpandedNodeId::NULL.into(),
            B::StatusCode => StatusCode::Good.into(),
            B::QualifiedName => QualifiedName::NULL.into(),
            B::LocalizedText => LocalizedText::NULL.into(),
            B::ExtensionObject => ExtensionObject::NULL.into(),
            B::DataValue => DataValue::default().into(),
            B::DiagnosticInfo => DiagnosticInfo::default().into(),
            B::Variant => Variant::Empty,
        }
    }

    /// Returns the type of the value, or of the array's elements; `None` for [`Empty`](Self::Empty).
    pub fn built_in_type(&self) -> Option<BuiltInType> {
        use BuiltInType as B;
        Some(match self {
            Variant::Empty => return None,
            Variant::Boolean(_) => B::Boolean,
            Variant::SByte(_) => B::SByte,
            Variant::Byte(_) => B::Byte,
            Variant::Int16(_) => B::Int16,
            Variant::UInt16(_) => B::UInt16,
            Variant::Int32(_) => B::Int32,
            Variant::UInt32(_) => B::UInt32,
            Variant::Int64(_) => B::Int64,
            Variant::UInt64(_) => B::UInt64,
            Variant::Float(_) => B::Float,
            Variant::Double(_) => B::Double,
            Variant::String(_) => B::String,
            Variant::DateTime(_) => B::DateTime,
            Variant::Guid(_) => B::Guid,
            Variant::ByteString(_) => B::ByteString,
            Variant::XmlElement(_) => B::XmlElement,
            Variant::NodeId(_) => B::NodeId,
            Variant::ExpandedNodeId(_) => B::ExpandedNodeId,
            Variant::StatusCode(_) => B::StatusCode,
            Variant::QualifiedName(_) => B::QualifiedName,
            Variant::LocalizedText(_) => B::LocalizedText,
            Variant::ExtensionObject(_) => B::ExtensionObject,
            Variant::DataValue(_) => B::DataValue,
            Variant::DiagnosticInfo(_) => B::DiagnosticInfo,
            Variant::Array(array) => array.element_type(),
        })
    }

    /// Returns whether there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self, Variant::Empty)
    }

    /// Returns whether this is an array or a matrix.
    #[inline]
    pub fn is_array(&self) -> bool {
        matches!(self, Variant::Array(_))
    }

    /// Returns the length of each dimension of an array; `None` for a scalar.
    pub fn array_dimensions(&self) -> Option<Vec<u32>> {
        match self {
            Variant::Array(array) => Some(array.lengths()),
            _ => None,
        }
    }

    /// Decodes a value whose type is known, as it stands in a Variant or in a structure: without an encoding mask.
    pub fn decode_scalar(
        built_in_type: BuiltInType,
        decoder: &mut Decoder<'_>,
    ) -> Result<Self, DecodeError> {
        use BuiltInType as B;
        Ok(match built_in_type {
            B::Boolean => Variant::Boolean(decoder.bool()?),
            B::SByte => Variant::SByte(decoder.i8()?),
            B::Byte => Variant::Byte(decoder.u8()?),
            B::Int16 => Variant::Int16(decoder.i16()?),
            B::UInt16 => Variant::UInt16(decoder.u16()?),
            B::Int32 => Variant::Int32(decoder.i32()?),
            B::UInt32 => Variant::UInt32(decoder.u32()?),
            B::Int64 => Variant::Int64(decoder.i64()?),
            B::UInt64 => Variant::UInt64(decoder.u64()?),
            B::Float => Variant::Float(decoder.f32()?),
            B::Double => Variant::Double(decoder.f64()?),
            B::String => Variant::String(decoder.value()?),
            B::DateTime => Variant::DateTime(decoder.value()?),
            B::Guid => Variant::Guid(decoder.value()?),
            B::ByteString => Variant::ByteString(decoder.value()?),
            B::XmlElement => Variant::XmlElement(decoder.value()?),
            B::NodeId => Variant::NodeId(Box::new(decoder.value()?)),
            B::ExpandedNodeId => Variant::ExpandedNodeId(Box::new(decoder.value()?)),
            B::StatusCode => Variant::StatusCode(decoder.value()?),
            B::QualifiedName => Variant::QualifiedName(Box::new(decoder.value()?)),
            B::LocalizedText => Variant::LocalizedText(Box::new(decoder.value()?)),
            B::ExtensionObject => Variant::ExtensionObject(Box::new(decoder.value()?)),
            // These types may contain Variants; a boxed value is decoded one level deeper.
            B::DataValue => Variant::DataValue(decoder.value()?),
            B::DiagnosticInfo => Variant::DiagnosticInfo(decoder.value()?),
            B::Variant => {
                let kind = DecodeErrorKind::InvalidValue("a Variant directly within a Variant");
                return Err(decoder.error(kind));
            }
        })
    }

    /// Encodes the value without the encoding mask, as it stands in a structure; nothing for an array.
    #[inline]
    pub fn encode_scalar(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self {
            Variant::Empty | Variant::Array(_) => Ok(()),
            Variant::Boolean(value) => encoder.bool(*value),
            Variant::SByte(value) => encoder.i8(*value),
            Variant::Byte(value) => encoder.u8(*value),
            Variant::Int16(value) => encoder.i16(*value),
            Variant::UInt16(value) => encoder.u16(*value),
            Variant::Int32(value) => encoder.i32(*value),
            Variant::UInt32(value) => encoder.u32(*value),
            Variant::Int64(value) => encoder.i64(*value),
            Variant::UInt64(value) => encoder.u64(*value),
            Variant::Float(value) => encoder.f32(*value),
            Variant::Double(value) => encoder.f64(*value),
            Variant::String(value) => value.encode(encoder),
            Variant::DateTime(value) => value.encode(encoder),
            Variant::Guid(value) => value.encode(encoder),
            Variant::ByteString(value) => value.encode(encoder),
            Variant::XmlElement(value) => value.encode(encoder),
            Variant::NodeId(value) => value.encode(encoder),
            Variant::ExpandedNodeId(value) => value.encode(encoder),
            Variant::StatusCode(value) => value.encode(encoder),
            Variant::QualifiedName(value) => value.encode(encoder),
            Variant::LocalizedText(value) => value.encode(encoder),
            Variant::ExtensionObject(value) => value.encode(encoder),
            Variant::DataValue(value) => value.encode(encoder),
            Variant::DiagnosticInfo(value) => value.encode(encoder),
        }
    }
}

impl<'a> Decode<'a> for Variant {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mask = decoder.u8()?;
        let Some(built_in_type) = mask_type(mask, decoder)? else {
            return Ok(Variant::Empty);
        };
        if mask & ARRAY != 0 {
            return Array::decode(mask, built_in_type, decoder)
                .map(|array| Variant::Array(Box::new(array)));
        }
        Self::decode_scalar(built_in_type, decoder)
    }

    /// A value that cannot be decoded is the StatusCode `BadDecodingError` if the decoder is tolerant (OPC 10000-6, 5.2.2.15).
    #[inline]
    fn decode_field(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let start = decoder.rest();
        Self::decode(decoder).or_else(|error| {
            let passed = decoder.pass_unreadable(start, error, pass_variant);
            passed.map(Variant::StatusCode)
        })
    }

    /// Elements that cannot be decoded are StatusCodes, as in a field.
    fn decode_elements(decoder: &mut Decoder<'a>, count: usize) -> Result<Vec<Self>, DecodeError> {
        decoder.count_elements::<Self>(count)?;
        // An element is larger in memory than its encoding, and the count is not trusted.
        let affordable = decoder.remaining() / size_of::<Self>();
        let mut elements = Vec::with_capacity(count.min(affordable.max(16)));
        for _ in 0..count {
            elements.push(Self::decode_field(decoder)?);
        }
        Ok(elements)
    }

    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        VariantRef::skip(decoder)
    }
}

impl Encode for Variant {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        if let Variant::Array(array) = self {
            return array.encode(encoder);
        }
        encoder.u8(self
            .built_in_type()
            .map_or(0, |built_in_type| built_in_type as u8))?;
        self.encode_scalar(encoder)
    }
}

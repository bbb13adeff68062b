//! Borrowed Variants, with which requests are read and responses are written without allocating.

use super::encoding_mask::{ARRAY, mask_type};
use super::{
    ArrayRef, BuiltInType, DataValue, DateTime, DiagnosticInfo, ExpandedNodeIdRef,
    ExtensionObjectRef, Guid, LocalizedTextRef, NodeIdRef, QualifiedNameRef, Variant, XmlElement,
    data_value,
};
use crate::StatusCode;
use crate::binary::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoded, Encoder,
};

/// A borrowed [`Variant`]. Types that can contain Variants stay encoded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(missing_docs, reason = "the names are those of the built-in types")]
pub enum VariantRef<'a> {
    /// No value: null.
    #[default]
    Empty,
    Boolean(bool),
    SByte(i8),
    Byte(u8),
    Int16(i16),
    UInt16(u16),
    Int32(i32),
    UInt32(u32),
    Int64(i64),
    UInt64(u64),
    Float(f32),
    Double(f64),
    String(Option<&'a str>),
    DateTime(DateTime),
    Guid(Guid),
    ByteString(Option<&'a [u8]>),
    XmlElement(Option<&'a str>),
    NodeId(NodeIdRef<'a>),
    ExpandedNodeId(ExpandedNodeIdRef<'a>),
    StatusCode(StatusCode),
    QualifiedName(QualifiedNameRef<'a>),
    LocalizedText(LocalizedTextRef<'a>),
    ExtensionObject(ExtensionObjectRef<'a>),
    DataValue(Encoded<'a, DataValueRef<'a>>),
    DiagnosticInfo(Encoded<'a, DiagnosticInfo>),
    /// An array, or a matrix, of any of the types.
    Array(ArrayRef<'a>),
}

/// A borrowed [`DataValue`].
pub type DataValueRef<'a> = data_value::DataValue<VariantRef<'a>>;

impl DataValueRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> DataValue {
        DataValue {
            value: self.value.as_ref().map(VariantRef::to_owned),
            status: self.status,
            source_timestamp: self.source_timestamp,
            source_picoseconds: self.source_picoseconds,
            server_timestamp: self.server_timestamp,
            server_picoseconds: self.server_picoseconds,
        }
    }
}

impl<'a> VariantRef<'a> {
    /// Returns the type of the value, or of the array's elements; `None` for [`Empty`](Self::Empty).
    #[inline]
    pub fn built_in_type(&self) -> Option<BuiltInType> {
        use BuiltInType as B;
        Some(match self {
            VariantRef::Empty => return None,
            VariantRef::Boolean(_) => B::Boolean,
            VariantRef::SByte(_) => B::SByte,
            VariantRef::Byte(_) => B::Byte,
            VariantRef::Int16(_) => B::Int16,
            VariantRef::UInt16(_) => B::UInt16,
            VariantRef::Int32(_) => B::Int32,
            VariantRef::UInt32(_) => B::UInt32,
            VariantRef::Int64(_) => B::Int64,
            VariantRef::UInt64(_) => B::UInt64,
            VariantRef::Float(_) => B::Float,
            VariantRef::Double(_) => B::Double,
            VariantRef::String(_) => B::String,
            VariantRef::DateTime(_) => B::DateTime,
            VariantRef::Guid(_) => B::Guid,
            VariantRef::ByteString(_) => B::ByteString,
            VariantRef::XmlElement(_) => B::XmlElement,
            VariantRef::NodeId(_) => B::NodeId,
            VariantRef::ExpandedNodeId(_) => B::ExpandedNodeId,
            VariantRef::StatusCode(_) => B::StatusCode,
            VariantRef::QualifiedName(_) => B::QualifiedName,
            VariantRef::LocalizedText(_) => B::LocalizedText,
            VariantRef::ExtensionObject(_) => B::ExtensionObject,
            VariantRef::DataValue(_) => B::DataValue,
            VariantRef::DiagnosticInfo(_) => B::DiagnosticInfo,
            VariantRef::Array(array) => array.element_type(),
        })
    }

    /// Returns whether there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self, VariantRef::Empty)
    }

    /// Returns whether this is an array or a matrix.
    #[inline]
    pub fn is_array(&self) -> bool {
        matches!(self, VariantRef::Array(_))
    }

    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> Variant {
        match self {
            VariantRef::Empty => Variant::Empty,
            VariantRef::Boolean(value) => Variant::Boolean(*value),
            VariantRef::SByte(value) => Variant::SByte(*value),
            VariantRef::Byte(value) => Variant::Byte(*value),
            VariantRef::Int16(value) => Variant::Int16(*value),
            VariantRef::UInt16(value) => Variant::UInt16(*value),
            VariantRef::Int32(value) => Variant::Int32(*value),
            VariantRef::UInt32(value) => Variant::UInt32(*value),
            VariantRef::Int64(value) => Variant::Int64(*value),
            VariantRef::UInt64(value) => Variant::UInt64(*value),
            VariantRef::Float(value) => Variant::Float(*value),
            VariantRef::Double(value) => Variant::Double(*value),
            VariantRef::String(value) => Variant::String((*value).into()),
            VariantRef::DateTime(value) => Variant::DateTime(*value),
            VariantRef::Guid(value) => Variant::Guid(*value),
            VariantRef::ByteString(value) => Variant::ByteString((*value).into()),
            VariantRef::XmlElement(value) => Variant::XmlElement(XmlElement((*value).into())),
            VariantRef::NodeId(value) => value.to_owned().into(),
            VariantRef::ExpandedNodeId(value) => value.to_owned().into(),
            VariantRef::StatusCode(value) => Variant::StatusCode(*value),
            VariantRef::QualifiedName(value) => value.to_owned().into(),
            VariantRef::LocalizedText(value) => value.to_owned().into(),
            VariantRef::ExtensionObject(value) => value.to_owned().into(),
            // Both were checked when the Variant was decoded, so they always decode.
            VariantRef::DataValue(value) => value.get().unwrap_or_default().to_owned().into(),
            VariantRef::DiagnosticInfo(value) => value.get().unwrap_or_default().into(),
            VariantRef::Array(array) => array.to_owned().into(),
        }
    }

    /// Decodes a value whose type is known, as it stands in a Variant or in an array: without an encoding mask.
    #[inline]
    pub fn decode_scalar(
        built_in_type: BuiltInType,
        decoder: &mut Decoder<'a>,
    ) -> Result<Self, DecodeError> {
        use BuiltInType as B;
        Ok(match built_in_type {
            B::Boolean => VariantRef::Boolean(decoder.bool()?),
            B::SByte => VariantRef::SByte(decoder.i8()?),
            B::Byte => VariantRef::Byte(decoder.u8()?),
            B::Int16 => VariantRef::Int16(decoder.i16()?),
            B::UInt16 => VariantRef::UInt16(decoder.u16()?),
            B::Int32 => VariantRef::Int32(decoder.i32()?),
            B::UInt32 => VariantRef::UInt32(decoder.u32()?),
            B::Int64 => VariantRef::Int64(decoder.i64()?),
            B::UInt64 => VariantRef::UInt64(decoder.u64()?),
            B::Float => VariantRef::Float(decoder.f32()?),
            B::Double => VariantRef::Double(decoder.f64()?),
            B::String => VariantRef::String(decoder.string()?),
            B::DateTime => VariantRef::DateTime(decoder.value()?),
            B::Guid => VariantRef::Guid(decoder.value()?),
            B::ByteString => VariantRef::ByteString(decoder.byte_string()?),
            B::XmlElement => VariantRef::XmlElement(decoder.string()?),
            B::NodeId => VariantRef::NodeId(decoder.value()?),
            B::ExpandedNodeId => VariantRef::ExpandedNodeId(decoder.value()?),
            B::StatusCode => VariantRef::StatusCode(decoder.value()?),
            B::QualifiedName => VariantRef::QualifiedName(decoder.value()?),
            B::LocalizedText => VariantRef::LocalizedText(decoder.value()?),
            B::ExtensionObject => VariantRef::ExtensionObject(decoder.value()?),
            B::DataValue => VariantRef::DataValue(decoder.nested(Decoder::value)?),
            B::DiagnosticInfo => VariantRef::DiagnosticInfo(decoder.nested(Decoder::value)?),
            B::Variant => {
                return Err(decoder.error(DecodeErrorKind::InvalidValue(
                    "a Variant directly within a Variant",
                )));
            }
        })
    }
}

impl<'a> Decode<'a> for VariantRef<'a> {
    #[inline]
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        let mask = decoder.u8()?;
        match mask_type(mask, decoder)? {
            None => Ok(VariantRef::Empty),
            Some(built_in_type) if mask & ARRAY != 0 => {
                ArrayRef::decode(mask, built_in_type, decoder).map(VariantRef::Array)
            }
            Some(built_in_type) => Self::decode_scalar(built_in_type, decoder),
        }
    }

    #[inline]
    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        let mask = decoder.u8()?;
        match mask_type(mask, decoder)? {
            None => Ok(()),
            Some(built_in_type) if mask & ARRAY != 0 => {
                ArrayRef::decode(mask, built_in_type, decoder).map(|_| ())
            }
            Some(built_in_type) => match built_in_type.encoded_size() {
                Some(size) => decoder.bytes(size).map(|_| ()),
                None => Self::decode_scalar(built_in_type, decoder).map(|_| ()),
            },
        }
    }
}

impl Encode for VariantRef<'_> {
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        if let VariantRef::Array(array) = self {
            return array.encode(encoder);
        }
        encoder.u8(self
            .built_in_type()
            .map_or(0, |built_in_type| built_in_type as u8))?;
        match self {
            VariantRef::Empty | VariantRef::Array(_) => Ok(()),
            VariantRef::Boolean(value) => encoder.bool(*value),
            VariantRef::SByte(value) => encoder.i8(*value),
            VariantRef::Byte(value) => encoder.u8(*value),
            VariantRef::Int16(value) => encoder.i16(*value),
            VariantRef::UInt16(value) => encoder.u16(*value),
            VariantRef::Int32(value) => encoder.i32(*value),
            VariantRef::UInt32(value) => encoder.u32(*value),
            VariantRef::Int64(value) => encoder.i64(*value),
            VariantRef::UInt64(value) => encoder.u64(*value),
            VariantRef::Float(value) => encoder.f32(*value),
            VariantRef::Double(value) => encoder.f64(*value),
            VariantRef::String(value) | VariantRef::XmlElement(value) => encoder.string(*value),
            VariantRef::DateTime(value) => value.encode(encoder),
            VariantRef::Guid(value) => value.encode(encoder),
            VariantRef::ByteString(value) => encoder.byte_string(*value),
            VariantRef::NodeId(value) => value.encode(encoder),
            VariantRef::ExpandedNodeId(value) => value.encode(encoder),
            VariantRef::StatusCode(value) => value.encode(encoder),
            VariantRef::QualifiedName(value) => value.encode(encoder),
            VariantRef::LocalizedText(value) => value.encode(encoder),
            VariantRef::ExtensionObject(value) => value.encode(encoder),
            VariantRef::DataValue(value) => value.encode(encoder),
            VariantRef::DiagnosticInfo(value) => value.encode(encoder),
        }
    }
}

macro_rules! from {
    ($($name:ident($type:ty)),*) => {$(
        impl<'a> From<$type> for VariantRef<'a> {
            #[inline]
            fn from(value: $type) -> Self {
                Self::$name(value)
            }
        }
    )*};
}

from! {
    Boolean(bool), SByte(i8), Byte(u8), Int16(i16), UInt16(u16), Int32(i32), UInt32(u32), Int64(i64),
    UInt64(u64), Float(f32), Double(f64), DateTime(DateTime), Guid(Guid), StatusCode(StatusCode),
    NodeId(NodeIdRef<'a>), ExpandedNodeId(ExpandedNodeIdRef<'a>), QualifiedName(QualifiedNameRef<'a>),
    LocalizedText(LocalizedTextRef<'a>), ExtensionObject(ExtensionObjectRef<'a>), Array(ArrayRef<'a>)
}

impl<'a> From<&'a str> for VariantRef<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        Self::String(Some(text))
    }
}

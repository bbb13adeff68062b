//! Decoding and encoding of borrowed arrays.

use super::array::decode_dimensions;
use super::encoding_mask::{ARRAY, DIMENSIONS};
use super::{
    Array, ArrayRef, BuiltInType, ByteString, DataValueRef, DiagnosticInfo, Elements,
    ExpandedNodeIdRef, ExtensionObjectRef, LocalizedTextRef, NodeIdRef, QualifiedNameRef, UaString,
    VariantRef,
};
use crate::binary::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Limits,
};

impl<'a> ArrayRef<'a> {
    /// Returns an iterator that decodes the elements one by one. For an array of Variants it returns the elements.
    pub fn iter(&self) -> impl Iterator<Item = VariantRef<'a>> {
        let mut decoder = Decoder::with_limits(self.bytes, Limits::VALIDATED);
        let element_type = self.element_type;
        // The elements were checked when the array was decoded, so this cannot fail.
        (0..self.length).map_while(move |_| match element_type {
            BuiltInType::Variant => VariantRef::decode(&mut decoder).ok(),
            _ => VariantRef::decode_scalar(element_type, &mut decoder).ok(),
        })
    }

    /// Returns the same, owned.
    pub fn to_owned(&self) -> Array {
        let mut decoder = Decoder::with_limits(self.bytes, Limits::VALIDATED);
        // The elements were checked when the array was decoded, so this cannot fail.
        let elements = Elements::decode(self.element_type, self.length, &mut decoder)
            .unwrap_or_else(|_| Elements::empty(self.element_type));
        Array {
            elements,
            dimensions: self.dimensions().collect(),
        }
    }

    /// Decodes the bytes behind a Variant's encoding mask that has [`ARRAY`] set.
    #[inline]
    pub(super) fn decode(
        mask: u8,
        element_type: BuiltInType,
        decoder: &mut Decoder<'a>,
    ) -> Result<Self, DecodeError> {
        let length = decoder
            .array_length(Elements::min_size(element_type))?
            .unwrap_or(0);
        let bytes = match element_type.encoded_size() {
            Some(size) => decoder.bytes(length.saturating_mul(size))?,
            None => {
                let start = decoder.rest();
                skip_elements(element_type, length, decoder)?;
                start
                    .get(..start.len() - decoder.remaining())
                    .unwrap_or_default()
            }
        };
        let dimensions = if mask & DIMENSIONS != 0 {
            decode_dimensions(decoder, length)?
        } else {
            &[]
        };
        Ok(Self {
            element_type,
            length,
            bytes,
            dimensions,
        })
    }
}

/// Checks and skips elements of a type whose size varies.
fn skip_elements(
    element_type: BuiltInType,
    count: usize,
    decoder: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    use BuiltInType as B;
    match element_type {
        B::String | B::XmlElement => UaString::skip_elements(decoder, count),
        B::ByteString => ByteString::skip_elements(decoder, count),
        B::NodeId => NodeIdRef::skip_elements(decoder, count),
        B::ExpandedNodeId => ExpandedNodeIdRef::skip_elements(decoder, count),
        B::QualifiedName => QualifiedNameRef::skip_elements(decoder, count),
        B::LocalizedText => LocalizedTextRef::skip_elements(decoder, count),
        B::ExtensionObject => ExtensionObjectRef::skip_elements(decoder, count),
        B::DataValue => decoder.nested(|decoder| DataValueRef::skip_elements(decoder, count)),
        B::Variant => decoder.nested(|decoder| VariantRef::skip_elements(decoder, count)),
        B::DiagnosticInfo => DiagnosticInfo::skip_elements(decoder, count),
        // Types with a fixed size are not checked here.
        _ => Err(decoder.error(DecodeErrorKind::InvalidValue(
            "an array of a type with a fixed size",
        ))),
    }
}

impl Encode for ArrayRef<'_> {
    /// Encodes the array as a Variant, with its encoding mask; the elements in one copy.
    #[inline]
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let flags = if self.dimensions.is_empty() {
            ARRAY
        } else {
            ARRAY | DIMENSIONS
        };
        encoder.u8(self.element_type as u8 | flags)?;
        encoder.array_length(Some(self.length))?;
        encoder.bytes(self.bytes)?;
        if !self.dimensions.is_empty() {
            encoder.array_length(Some(self.dimensions.len() / 4))?;
            encoder.bytes(self.dimensions)?;
        }
        Ok(())
    }
}

//! Arrays and matrices within a Variant (OPC 10000-6, 5.2.2.16).

use super::encoding_mask::{ARRAY, DIMENSIONS};
use super::{Array, BuiltInType, Elements};
use crate::StatusCode;
use crate::binary::{DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder};

impl Array {
    /// Creates an array of one dimension.
    pub fn new(elements: impl Into<Elements>) -> Self {
        Self {
            elements: elements.into(),
            dimensions: Vec::new(),
        }
    }

    /// Returns a matrix. `BadInvalidArgument` if the product of the dimensions is not the number of elements.
    pub fn matrix(elements: impl Into<Elements>, dimensions: &[u32]) -> Result<Self, StatusCode> {
        let elements = elements.into();
        if product(dimensions.iter().map(|length| i64::from(*length))) != Some(elements.len()) {
            return Err(StatusCode::BadInvalidArgument);
        }
        Ok(Self {
            elements,
            dimensions: dimensions.to_vec(),
        })
    }

    /// Returns the type of the elements.
    pub fn element_type(&self) -> BuiltInType {
        self.elements.element_type()
    }

    /// Returns the number of elements, over all dimensions.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Returns the length of each dimension; also of the only one.
    pub fn lengths(&self) -> Vec<u32> {
        if self.dimensions.is_empty() {
            vec![u32::try_from(self.len()).unwrap_or(u32::MAX)]
        } else {
            self.dimensions.clone()
        }
    }

    /// Returns the dimensions, if they are to be encoded: two or more, none of them 0, and with the number of
    /// elements as their product.
    fn encoded_dimensions(&self) -> Option<&[u32]> {
        let lengths = || self.dimensions.iter().map(|length| i64::from(*length));
        let encoded = self.dimensions.len() >= 2
            && product(lengths()) == Some(self.len())
            && !self.is_empty();
        encoded.then_some(self.dimensions.as_slice())
    }
}

/// Returns the product of dimensions; `None` if one is negative or the product too large.
pub(super) fn product(dimensions: impl Iterator<Item = i64>) -> Option<usize> {
    dimensions
        .map(usize::try_from)
        .try_fold(1_usize, |product, length| product.checked_mul(length.ok()?))
}

/// Reads the ArrayDimensions that follow `count` elements; returns their encoded values.
///
/// Dimensions that are not greater than 0, or whose product is not `count`, are refused, as the standard requires.
#[inline]
pub(super) fn decode_dimensions<'a>(
    decoder: &mut Decoder<'a>,
    count: usize,
) -> Result<&'a [u8], DecodeError> {
    let start = decoder.position();
    let rank = decoder.array_length(4)?.unwrap_or(0);
    let bytes = decoder.bytes(rank.saturating_mul(4))?;
    let lengths = || {
        bytes
            .as_chunks()
            .0
            .iter()
            .map(|chunk| i64::from(i32::from_le_bytes(*chunk)))
    };
    // An empty list of dimensions has the meaning of a missing field.
    if rank > 0 && (product(lengths()) != Some(count) || lengths().any(|length| length == 0)) {
        let kind = DecodeErrorKind::InvalidValue(
            "the array dimensions do not match the number of elements",
        );
        return Err(DecodeError::new(start, kind));
    }
    Ok(bytes)
}

impl Array {
    /// Decodes the bytes behind a Variant's encoding mask that has [`ARRAY`] set.
    pub(super) fn decode(
        mask: u8,
        element_type: BuiltInType,
        decoder: &mut Decoder<'_>,
    ) -> Result<Self, DecodeError> {
        let count = decoder
            .array_length(Elements::min_size(element_type))?
            .unwrap_or(0);
        let elements = match element_type {
            // Only the elements of these may contain arrays again.
            BuiltInType::Variant | BuiltInType::DataValue => {
                decoder.nested(|decoder| Elements::decode(element_type, count, decoder))?
            }
            _ => Elements::decode(element_type, count, decoder)?,
        };
        let dimensions = if mask & DIMENSIONS != 0 {
            let bytes = decode_dimensions(decoder, count)?;
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|chunk| u32::from_le_bytes(*chunk))
                .collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            elements,
            dimensions,
        })
    }
}

impl Encode for Array {
    /// Encodes the array as a Variant, with its encoding mask.
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let dimensions = self.encoded_dimensions();
        let flags = if dimensions.is_some() {
            ARRAY | DIMENSIONS
        } else {
            ARRAY
        };
        encoder.u8(self.element_type() as u8 | flags)?;
        encoder.array_length(Some(self.len()))?;
        self.elements.encode(encoder)?;
        match dimensions {
            Some(dimensions) => dimensions.encode(encoder),
            None => Ok(()),
        }
    }
}

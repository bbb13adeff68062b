//! The fields of DataSetMessages, owned and borrowed.

use takt_ua::binary::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, ListRef};
use takt_ua::{DataValue, DataValueRef, Variant, VariantRef};

/// Fields of a key frame, in the order of the metadata (OPC 10000-14, 7.2.4.5.5).
#[derive(Debug, Clone, PartialEq)]
pub enum Fields {
    /// Values encoded with their types. A StatusCode in place of the value stands for a bad value, a DataValue for an
    /// uncertain one.
    Variant(Vec<Variant>),
    /// Values with StatusCode and timestamps.
    DataValue(Vec<DataValue>),
    /// Values whose types and sizes only the metadata has; see [`RawDataLayout`](crate::RawDataLayout).
    RawData(Vec<u8>),
}

/// Fields of a delta frame (OPC 10000-14, 7.2.4.5.6).
#[derive(Debug, Clone, PartialEq)]
pub enum DeltaFields {
    /// Values encoded with their types.
    Variant(Vec<DeltaField<Variant>>),
    /// Values with StatusCode and timestamps.
    DataValue(Vec<DeltaField<DataValue>>),
}

/// A changed field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeltaField<T> {
    /// Index of the field in the metadata; unique within a message.
    pub field_index: u16,
    /// Its value.
    pub field_value: T,
}

impl<T> DeltaField<T> {
    /// Creates the new value of the field with this index.
    pub fn new(field_index: u16, field_value: impl Into<T>) -> Self {
        Self {
            field_index,
            field_value: field_value.into(),
        }
    }
}

impl<T: Encode> Encode for DeltaField<T> {
    fn encode(&self, encoder: &mut Encoder<'_>) -> Result<(), EncodeError> {
        encoder.u16(self.field_index)?;
        self.field_value.encode(encoder)
    }
}

impl<'a, T: Decode<'a>> Decode<'a> for DeltaField<T> {
    const MIN_SIZE: usize = 2 + T::MIN_SIZE;

    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            field_index: decoder.u16()?,
            field_value: T::decode(decoder)?,
        })
    }

    fn skip(decoder: &mut Decoder<'a>) -> Result<(), DecodeError> {
        decoder.u16()?;
        T::skip(decoder)
    }
}

/// Borrowed [`Fields`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldsRef<'a> {
    /// Values encoded with their types.
    Variant(ListRef<'a, VariantRef<'a>>),
    /// Values with StatusCode and timestamps.
    DataValue(ListRef<'a, DataValueRef<'a>>),
    /// All fields, encoded, with the padding that follows them.
    RawData(&'a [u8]),
}

/// Borrowed [`DeltaFields`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DeltaFieldsRef<'a> {
    /// Values encoded with their types.
    Variant(ListRef<'a, DeltaField<VariantRef<'a>>>),
    /// Values with StatusCode and timestamps.
    DataValue(ListRef<'a, DeltaField<DataValueRef<'a>>>),
}

impl FieldsRef<'_> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> Fields {
        match self {
            Self::Variant(fields) => {
                Fields::Variant(fields.iter().map(|field| field.to_owned()).collect())
            }
            Self::DataValue(fields) => {
                Fields::DataValue(fields.iter().map(|field| field.to_owned()).collect())
            }
            Self::RawData(bytes) => Fields::RawData(bytes.to_vec()),
        }
    }
}

impl<'a> DeltaFieldsRef<'a> {
    /// Returns the same, owned.
    #[allow(
        clippy::wrong_self_convention,
        reason = "taking self by reference keeps ToOwned out of the way"
    )]
    pub fn to_owned(&self) -> DeltaFields {
        match self {
            Self::Variant(fields) => {
                let owned = |field: DeltaField<VariantRef<'a>>| DeltaField {
                    field_index: field.field_index,
                    field_value: field.field_value.to_owned(),
                };
                DeltaFields::Variant(fields.iter().map(owned).collect())
            }
            Self::DataValue(fields) => {
                let owned = |field: DeltaField<DataValueRef<'a>>| DeltaField {
                    field_index: field.field_index,
                    field_value: field.field_value.to_owned(),
                };
                DeltaFields::DataValue(fields.iter().map(owned).collect())
            }
        }
    }

    /// Returns whether a FieldIndex occurs twice.
    pub(super) fn has_duplicates(&self) -> bool {
        match self {
            Self::Variant(fields) => duplicates(fields.iter().map(|field| field.field_index)),
            Self::DataValue(fields) => duplicates(fields.iter().map(|field| field.field_index)),
        }
    }
}

/// Returns whether an index occurs twice. Ascending indexes, as Publishers send them, are checked in one pass.
pub(super) fn duplicates(indexes: impl Iterator<Item = u16> + Clone) -> bool {
    let ascending = indexes
        .clone()
        .zip(indexes.clone().skip(1))
        .all(|(first, second)| first < second);
    if ascending {
        return false;
    }
    // A bit for each possible index keeps this linear, whichever order an attacker chooses.
    let mut seen = [0_u64; 1024];
    for index in indexes {
        let (word, bit) = (usize::from(index / 64), 1 << (index % 64));
        if let Some(word) = seen.get_mut(word) {
            if *word & bit != 0 {
                return true;
            }
            *word |= bit;
        }
    }
    false
}

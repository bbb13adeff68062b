//! RawData fields: values without types and, where the metadata has their largest lengths, at fixed offsets
//! (OPC 10000-14, 7.2.4.5.11).

mod error;
mod layout;
mod padding;
mod recode;
mod resolve;
#[cfg(test)]
mod tests;
mod value;

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::structures::DataSetMetaDataType;
use takt_ua::{StatusCode, Variant, foreign};

use self::error::Problem;
use crate::data_set_message::DamagedField;

pub use error::RawDataError;
pub(crate) use layout::{Rank, RawField, RawStructure, RawType, StructureKind, cells};
pub(crate) use value::{decode as decode_field, encode as encode_field};

/// Layout of the fields of a DataSet as RawData. It is created from the metadata once, and then encodes and decodes
/// any number of messages.
///
/// Types that the standard forbids as RawData are refused when the layout is created: NodeId, ExpandedNodeId,
/// QualifiedName, LocalizedText, XmlElement, DiagnosticInfo, DataValue, abstract types, structures with subtyped
/// values, and structures that contain themselves.
#[derive(Debug, Clone)]
pub struct RawDataLayout {
    pub(crate) fields: Vec<RawField>,
}

impl RawDataLayout {
    /// Creates the layout of the DataSet that the metadata describes.
    pub fn new(meta_data: &DataSetMetaDataType) -> Result<Self, RawDataError> {
        let fields = resolve::Resolver::new(meta_data).fields()?;
        Ok(Self { fields })
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the size of all fields in bytes if it is always the same.
    pub fn fixed_size(&self) -> Option<usize> {
        self.fields
            .iter()
            .try_fold(0_usize, |sum, field| sum.checked_add(field.fixed_size()?))
    }

    /// Returns the ranges of the fields in bytes, from the first field to the last one whose range is always the same.
    pub fn fixed_positions(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.fields.iter().scan(0_usize, |end, field| {
            let start = *end;
            *end = start.checked_add(field.fixed_size()?)?;
            Some(start..*end)
        })
    }

    /// Appends all fields. A structure has to be an ExtensionObject with a binary body in the encoding that the
    /// metadata names; a matrix has to have its dimensions.
    pub fn encode(
        &self,
        values: &[Variant],
        encoder: &mut Encoder<'_>,
    ) -> Result<(), RawDataError> {
        if values.len() != self.fields.len() {
            return Err(RawDataError::FieldCount {
                expected: self.fields.len(),
                found: values.len(),
            });
        }
        for (index, (field, value)) in self.fields.iter().zip(values).enumerate() {
            value::encode(field, value, encoder).map_err(|kind| kind.at(index))?;
        }
        Ok(())
    }

    /// Returns all fields in a `Vec` of their own.
    pub fn encode_to_vec(&self, values: &[Variant]) -> Result<Vec<u8>, RawDataError> {
        let mut bytes = Vec::new();
        self.encode(values, &mut Encoder::growing(&mut bytes, usize::MAX))?;
        Ok(bytes)
    }

    /// Reads all fields. Only zeros, which are padding, may follow.
    pub fn decode(&self, bytes: &[u8]) -> Result<Vec<Variant>, RawDataError> {
        let (values, offset) = self.decode_start(bytes)?;
        let padding = bytes.get(offset..).unwrap_or_default();
        match padding.iter().all(|byte| *byte == 0) {
            true => Ok(values),
            false => Err(RawDataError::TrailingBytes { offset }),
        }
    }

    /// Reads all fields; also returns their size in bytes. The next DataSetMessage may follow.
    pub fn decode_start(&self, bytes: &[u8]) -> Result<(Vec<Variant>, usize), RawDataError> {
        let mut decoder = Decoder::new(bytes);
        let mut values = Vec::with_capacity(self.fields.len());
        for (index, field) in self.fields.iter().enumerate() {
            let value = value::decode(field, &mut decoder).map_err(|kind| kind.at(index))?;
            values.push(value);
        }
        Ok((values, decoder.position()))
    }

    /// Reads all fields, even if some cannot be decoded: a StatusCode stands for such a field. Also returns the fields that
    /// could not be decoded, and those whose text was mended. The end of a field is known from its largest length, or from
    /// the length of its text.
    ///
    /// # Errors
    /// The end of a field is not known.
    pub fn mend(&self, bytes: &[u8]) -> Result<(Vec<Variant>, Vec<DamagedField>), RawDataError> {
        foreign::decode_as(bytes, |decoder| {
            let mut damaged = Vec::new();
            let mut values = Vec::new();
            for (index, field) in self.fields.iter().enumerate() {
                let start = decoder.clone();
                // Each field is read twice: the strict error tells which fields the tolerant decoder has mended.
                let strict = value::decode(field, &mut Decoder::new(start.rest()));
                let (value, error) = match (value::decode(field, decoder), field.fixed_size()) {
                    (Ok(value), _) => (value, None),
                    (Err(_), Some(size)) if size <= start.remaining() => {
                        *decoder = start;
                        decoder
                            .bytes(size)
                            .map_err(|error| Problem::from(error).at(index))?;
                        let error = StatusCode::BadDecodingError;
                        (Variant::StatusCode(error), Some(error))
                    }
                    (Err(problem), _) => return Err(problem.at(index)),
                };
                if strict.is_err() {
                    damaged.push(DamagedField { index, error });
                }
                values.push(value);
            }
            Ok((values, damaged))
        })
    }
}

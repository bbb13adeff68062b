//! Decoding of DataSetMessages to DataValues (OPC 10000-14, 6.2.4.2).

use takt_ua::{DataValue, DateTime, Variant};
use takt_wire::{DataSetContentRef, DataSetMessageRef, DeltaFieldsRef, FieldsRef, RawDataLayout};

use super::data_set_reader::DataSetReader;
use crate::error::ReceiveError;

impl DataSetReader {
    /// Decodes the fields, with their indexes, to DataValues from any encoding (OPC 10000-14, 6.2.4.2).
    pub(super) fn decode(
        &self,
        message: &DataSetMessageRef<'_>,
        timestamp: Option<DateTime>,
    ) -> Result<Vec<(usize, DataValue)>, ReceiveError> {
        let stamped = |value: DataValue| DataValue {
            source_timestamp: value.source_timestamp.or(timestamp),
            ..value
        };
        let of_variant = |value: Variant| stamped(from_variant(value));
        let fields: Vec<(usize, DataValue)> = match &message.content {
            DataSetContentRef::KeyFrame(FieldsRef::Variant(fields)) => {
                let fields = fields.iter().map(|field| of_variant(field.to_owned()));
                fields.enumerate().collect()
            }
            DataSetContentRef::KeyFrame(FieldsRef::DataValue(fields)) => {
                let fields = fields.iter().map(|field| stamped(field.to_owned()));
                fields.enumerate().collect()
            }
            DataSetContentRef::KeyFrame(FieldsRef::RawData(bytes))
                if self.meta_data.fields.is_empty() && !bytes.is_empty() =>
            {
                let reader = self.name.clone();
                return Err(match self.missing_meta_data() {
                    Some(_) => ReceiveError::MetaDataMissing { reader },
                    None => ReceiveError::MetaDataUnknown { reader },
                });
            }
            DataSetContentRef::KeyFrame(FieldsRef::RawData(bytes)) => {
                let values = match &self.raw_data {
                    Some(layout) => layout.decode_start(bytes)?.0,
                    // The error names the part that the metadata lacks.
                    None => RawDataLayout::new(&self.meta_data)?.decode_start(bytes)?.0,
                };
                let status = message.status.filter(|status| !status.is_good());
                let values = values.into_iter().map(|value| {
                    stamped(DataValue {
                        status,
                        ..DataValue::good(value)
                    })
                });
                values.enumerate().collect()
            }
            DataSetContentRef::DeltaFrame(DeltaFieldsRef::Variant(fields)) => fields
                .iter()
                .map(|field| {
                    (
                        usize::from(field.field_index),
                        of_variant(field.field_value.to_owned()),
                    )
                })
                .collect(),
            DataSetContentRef::DeltaFrame(DeltaFieldsRef::DataValue(fields)) => fields
                .iter()
                .map(|field| {
                    (
                        usize::from(field.field_index),
                        stamped(field.field_value.to_owned()),
                    )
                })
                .collect(),
            DataSetContentRef::Event(fields) => {
                let fields = fields.iter().map(|field| of_variant(field.to_owned()));
                fields.enumerate().collect()
            }
            _ => Vec::new(),
        };
        let count = self.meta_data.fields.len();
        let beyond = fields
            .iter()
            .map(|(index, _)| *index)
            .find(|index| *index >= count);
        match beyond {
            // A reader without metadata accepts fields that contain their type.
            Some(index) if count > 0 => {
                let reader = self.name.clone();
                Err(ReceiveError::Field {
                    reader,
                    index,
                    count,
                })
            }
            _ => Ok(fields),
        }
    }
}

/// Converts a Variant: a StatusCode is the status of a Bad field, and a DataValue is an Uncertain value (OPC 10000-14, Table
/// 162).
fn from_variant(value: Variant) -> DataValue {
    match value {
        Variant::StatusCode(status) if status.is_bad() => DataValue::status(status),
        Variant::DataValue(value) => *value,
        value => DataValue::good(value),
    }
}

//! Decoding of DataSetMessages to DataValues (OPC 10000-14, 6.2.4.2).

use takt_ua::{DataValue, DateTime, Variant};
use takt_wire::{
    DamagedField, DataSetContentRef, DataSetMessageRef, DeltaFieldsRef, FieldsRef, RawDataLayout,
};

use super::data_set_reader::DataSetReader;
use super::incoming::Decoded;
use crate::error::ReceiveError;

impl DataSetReader {
    /// Decodes the fields, with their indexes, to DataValues from any encoding (OPC 10000-14, 6.2.4.2). `damaged` are fields that
    /// were replaced.
    pub(super) fn decode(
        &self,
        message: &DataSetMessageRef<'_>,
        damaged: &[DamagedField],
        timestamp: Option<DateTime>,
    ) -> Result<Decoded, ReceiveError> {
        let mut damaged = damaged.to_vec();
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
                let values = self.decode_raw_data(bytes, &mut damaged)?;
                let status = message.status.filter(|status| !status.is_good());
                let values = values.into_iter().map(|value| {
                    stamped(DataValue {
                        status,
                        ..DataValue::good(value)
                    })
                });
                let mut values: Vec<_> = values.enumerate().collect();
                for field in &damaged {
                    if let (Some((_, value)), Some(error)) =
                        (values.get_mut(field.index), field.error)
                    {
                        *value = stamped(DataValue::status(error));
                    }
                }
                values
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
            _ => Ok(Decoded { fields, damaged }),
        }
    }

    fn decode_raw_data(
        &self,
        bytes: &[u8],
        damaged: &mut Vec<DamagedField>,
    ) -> Result<Vec<Variant>, ReceiveError> {
        let Some(layout) = &self.raw_data else {
            // The error names the part that the metadata lacks.
            return Ok(RawDataLayout::new(&self.meta_data)?.decode_start(bytes)?.0);
        };
        if let Ok((values, _)) = layout.decode_start(bytes) {
            return Ok(values);
        }
        let (values, found) = layout
            .mend(bytes)
            .map_err(|error| self.lost_raw_data(error))?;
        damaged.extend(found);
        Ok(values)
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

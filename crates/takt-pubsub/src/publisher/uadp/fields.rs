//! DataSetMessages as UADP (OPC 10000-14, 6.3.1.3 and 7.2.4.5).

use takt_ua::enumerations::UadpDataSetMessageContentMask;
use takt_ua::structures::UadpDataSetWriterMessageDataType;
use takt_ua::{DataValue, StatusCode, Variant};
use takt_wire::{DataSetContent, DataSetMessage, DeltaField, DeltaFields, Fields, RawDataError};

use crate::publisher::data_set_writer::{DataSetWriter, FieldEncoding, Sample, SampleKind};
use crate::publisher::data_value::data_value;
use crate::time::Now;

impl DataSetWriter {
    /// Returns the DataSetMessage of a sample.
    pub(super) fn uadp_message(
        &self,
        settings: &UadpDataSetWriterMessageDataType,
        sample: Sample,
        now: Now,
        with_id: bool,
    ) -> Result<DataSetMessage, RawDataError> {
        use UadpDataSetMessageContentMask as Mask;
        let mask = settings.data_set_message_content_mask;
        let has = |bit: u32| mask & bit != 0;
        let status = match sample.kind {
            SampleKind::KeyFrame | SampleKind::DeltaFrame(_) => self.status(),
            SampleKind::Event(_) | SampleKind::KeepAlive => StatusCode::Good,
        };
        Ok(DataSetMessage {
            data_set_writer_id: with_id.then_some(self.data_set_writer_id),
            sequence_number: has(Mask::SequenceNumber).then_some(sample.sequence_number as u16),
            timestamp: has(Mask::Timestamp).then_some(now.date_time),
            // PicoSeconds alone, without the timestamp that they refine, mean nothing.
            pico_seconds: (has(Mask::PicoSeconds) && has(Mask::Timestamp)).then_some(0),
            status: has(Mask::Status).then_some(status),
            major_version: has(Mask::MajorVersion).then_some(self.version.major_version),
            minor_version: has(Mask::MinorVersion).then_some(self.version.minor_version),
            configured_size: settings.configured_size,
            content: self.content(sample.kind, now)?,
        })
    }

    fn content(&self, kind: SampleKind, now: Now) -> Result<DataSetContent, RawDataError> {
        Ok(match kind {
            SampleKind::KeepAlive => DataSetContent::KeepAlive,
            SampleKind::Event(fields) => DataSetContent::Event(fields),
            SampleKind::KeyFrame => {
                DataSetContent::KeyFrame(match (self.encoding, &self.raw_data) {
                    (FieldEncoding::RawData, Some(layout)) => {
                        // RawData has no status of a field: a Bad value is replaced by the default value, and the DataSetMessage
                        // has the status.
                        let usable = |value: &DataValue| match &value.value {
                            Some(inner) if !value.status_code().is_bad() => Some(inner.clone()),
                            _ => None,
                        };
                        let fields = self.values.iter().zip(&self.raw_defaults);
                        let values: Vec<_> = fields
                            .map(|(value, default)| {
                                usable(value).unwrap_or_else(|| default.clone())
                            })
                            .collect();
                        Fields::RawData(layout.encode_to_vec(&values)?)
                    }
                    (FieldEncoding::RawData, None) => Fields::RawData(Vec::new()),
                    (FieldEncoding::Variant, _) => {
                        Fields::Variant(self.values.iter().map(variant).collect())
                    }
                    (FieldEncoding::DataValue(members), _) => {
                        let value = |value| data_value(value, members, now);
                        Fields::DataValue(self.values.iter().map(value).collect())
                    }
                })
            }
            SampleKind::DeltaFrame(changed) => {
                DataSetContent::DeltaFrame(self.delta_fields(&changed, now))
            }
        })
    }

    fn delta_fields(&self, changed: &[u16], now: Now) -> DeltaFields {
        let values = changed.iter().filter_map(|index| {
            let value = self.values.get(usize::from(*index))?;
            Some((*index, value))
        });
        match self.encoding {
            FieldEncoding::DataValue(members) => DeltaFields::DataValue(
                values
                    .map(|(field_index, value)| DeltaField {
                        field_index,
                        field_value: data_value(value, members, now),
                    })
                    .collect(),
            ),
            // RawData writers have key frames only.
            FieldEncoding::Variant | FieldEncoding::RawData => DeltaFields::Variant(
                values
                    .map(|(field_index, value)| DeltaField {
                        field_index,
                        field_value: variant(value),
                    })
                    .collect(),
            ),
        }
    }
}

/// Returns the Variant of a field: a StatusCode instead of a Bad value, and a DataValue for an Uncertain value (OPC 10000-14,
/// 7.2.4.5.4, Table 162).
pub(in crate::publisher) fn variant(value: &DataValue) -> Variant {
    let status = value.status_code();
    if status.is_bad() {
        return Variant::StatusCode(status);
    }
    let inner = value.value.clone().unwrap_or_default();
    if status.is_uncertain() {
        let uncertain = DataValue {
            value: Some(inner),
            status: Some(status),
            ..DataValue::default()
        };
        return Variant::DataValue(Box::new(uncertain));
    }
    inner
}

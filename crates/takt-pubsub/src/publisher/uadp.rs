//! What a DataSetWriter sends, as UADP (OPC 10000-14, 6.3.1 and 7.2.4).

use takt_ua::binary::Encoder;
use takt_ua::enumerations::{
    DataSetFieldContentMask, UadpDataSetMessageContentMask, UadpNetworkMessageContentMask,
};
use takt_ua::{DataValue, StatusCode, Variant};
use takt_wire::{
    ChunkWriter, DataSetContent, DataSetMessage, DeltaField, DeltaFields, Fields, Payload,
    RawDataError,
};

use super::data_set_writer::{DataSetWriter, FieldEncoding, Sample, SampleKind};
use super::output::Output;
use super::protection::send;
use super::writer_group::WriterGroup;
use crate::error::PublishError;
use crate::state::Condition;
use crate::time::Now;

impl DataSetWriter {
    /// The DataSetMessage of a sample.
    pub(super) fn uadp_message(
        &self,
        sample: Sample,
        now: Now,
        with_id: bool,
    ) -> Result<DataSetMessage, RawDataError> {
        use UadpDataSetMessageContentMask as Mask;
        let settings = self.mapping.uadp();
        let mask = settings.map_or(0, |it| it.data_set_message_content_mask);
        let has = |bit: u32| mask & bit != 0;
        let status = match sample.kind {
            SampleKind::KeyFrame | SampleKind::DeltaFrame(_) => self.status(),
            SampleKind::Event(_) | SampleKind::KeepAlive => StatusCode::Good,
        };
        Ok(DataSetMessage {
            data_set_writer_id: with_id.then_some(self.data_set_writer_id),
            sequence_number: has(Mask::SequenceNumber).then_some(sample.sequence_number as u16),
            timestamp: has(Mask::Timestamp).then_some(now.date_time),
            pico_seconds: (has(Mask::PicoSeconds) && has(Mask::Timestamp)).then_some(0),
            status: has(Mask::Status).then_some(status),
            major_version: has(Mask::MajorVersion).then_some(self.version.major_version),
            minor_version: has(Mask::MinorVersion).then_some(self.version.minor_version),
            configured_size: settings.map_or(0, |it| it.configured_size),
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
                        // There is no place for a status: what is Bad becomes the default value, and the status of the
                        // DataSetMessage says it.
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

impl WriterGroup {
    /// Sends samples of writers that share a NetworkMessage. A sample that cannot be a message does not keep the others back.
    pub(super) fn send_uadp<O: Output>(
        &mut self,
        number: u16,
        now: Now,
        samples: Vec<(usize, Sample)>,
        output: &mut O,
    ) -> Result<usize, PublishError> {
        let with_id = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let mut messages = Vec::with_capacity(samples.len());
        let mut outcome = Ok(());
        for (index, sample) in samples {
            let Some(writer) = self.writers.get_mut(index) else {
                continue;
            };
            match writer.uadp_message(sample, now, with_id) {
                Ok(message) => {
                    writer.condition = Condition::Ready;
                    messages.push((index, message));
                }
                Err(error) => {
                    writer.condition = Condition::Failed;
                    outcome = Err(error.into());
                }
            }
        }
        if messages.is_empty() {
            return outcome.map(|()| 0);
        }
        let sent = self.send_together(number, now, messages, output);
        outcome.and(sent)
    }

    /// One NetworkMessage if that is not too long, else one for each DataSetMessage, and those in chunks.
    fn send_together<O: Output>(
        &mut self,
        number: u16,
        now: Now,
        messages: Vec<(usize, DataSetMessage)>,
        output: &mut O,
    ) -> Result<usize, PublishError> {
        let limit = self.limit(output);
        let (indexes, messages): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        let first = indexes.first().copied();
        let message = self.network_message(number, now, first, messages);
        let mut encoded = Vec::new();
        let layout = match message.encode(&mut Encoder::growing(&mut encoded, usize::MAX)) {
            Ok(layout) => layout,
            Err(error) => {
                self.set_condition(&indexes, Condition::Failed);
                return Err(error.into());
            }
        };
        if encoded.len() <= limit {
            self.sequence_number = self.sequence_number.wrapping_add(1);
            send(&mut self.protection, now, &encoded, &layout, output)?;
            return Ok(1);
        }
        let Payload::DataSetMessages(messages) = message.payload else {
            return Ok(0);
        };
        if messages.len() > 1 {
            let mut count = 0;
            for (index, message) in indexes.into_iter().zip(messages) {
                count += self.send_together(number, now, vec![(index, message)], output)?;
            }
            return Ok(count);
        }
        let message = self.network_message(number, now, first, messages);
        let unnumbered = self.sequence_number;
        let chunks = match ChunkWriter::new(&message, limit, unnumbered) {
            Ok(chunks) => chunks,
            Err(error) => {
                self.set_condition(&indexes, Condition::Failed);
                return Err(error.into());
            }
        };
        let mut count = 0;
        for chunk in chunks {
            let mut part = self.network_message(number, now, first, Vec::new());
            part.payload = Payload::Chunk(chunk);
            let mut encoded = Vec::new();
            let layout = part.encode(&mut Encoder::growing(&mut encoded, usize::MAX))?;
            self.sequence_number = self.sequence_number.wrapping_add(1);
            send(&mut self.protection, now, &encoded, &layout, output)?;
            count += 1;
        }
        Ok(count)
    }
}

/// A Variant holds a StatusCode instead of a value that is Bad, and a DataValue where the value is Uncertain
/// (7.2.4.5.4, Table 162).
pub(super) fn variant(value: &DataValue) -> Variant {
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

/// Exactly the members that the mask names, so that the message always has the same size. A time that the source does not
/// know is when the message was made.
pub(super) fn data_value(value: &DataValue, members: u32, now: Now) -> DataValue {
    use DataSetFieldContentMask as Mask;
    let has = |bit: u32| members & bit != 0;
    let status = value.status_code();
    DataValue {
        value: value.value.clone().filter(|_| !status.is_bad()),
        status: (has(Mask::StatusCode) || !status.is_good()).then_some(status),
        source_timestamp: has(Mask::SourceTimestamp)
            .then(|| value.source_timestamp.unwrap_or(now.date_time)),
        source_picoseconds: has(Mask::SourcePicoSeconds)
            .then(|| value.source_picoseconds.unwrap_or(0)),
        server_timestamp: has(Mask::ServerTimestamp)
            .then(|| value.server_timestamp.unwrap_or(now.date_time)),
        server_picoseconds: has(Mask::ServerPicoSeconds)
            .then(|| value.server_picoseconds.unwrap_or(0)),
    }
}

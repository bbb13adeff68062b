//! JSON message mapping (OPC 10000-14, 6.3.2 and 7.2.5).

use takt_ua::enumerations::{
    DataSetFieldContentMask, JsonDataSetMessageContentMask, JsonNetworkMessageContentMask,
};
use takt_ua::structures::{
    DataSetMetaDataType, DataSetWriterDataType, JsonDataSetWriterMessageDataType,
    JsonWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_ua::{DataValue, StatusCode, UaString};
use takt_wire::json::{
    JsonDataSetMessage, JsonDataSetMessageType, JsonDiscoveryContent, JsonDiscoveryMessage,
    JsonField, JsonFieldEncoding, JsonLayout, JsonMessage, JsonNetworkMessage, JsonPayload,
};

use super::data_set_writer::{DataSetWriter, FieldEncoding, Sample, SampleKind};
use super::data_value::data_value;
use super::fixed_message::FixedNetworkMessage;
use super::mapping::{
    GroupParameters, MessageMapping, Sent, SharedSamples, Sink, set_condition, writer_settings,
};
use super::plan::{Alike, Plan};
use super::protection;
use crate::error::{ConfigurationError, ConfigurationProblem, PublishError};
use crate::settings::decode_settings;
use crate::state::Condition;
use crate::time::Now;

/// JSON mapping of a WriterGroup.
#[derive(Debug)]
pub(super) struct JsonMapping {
    /// Bits of a JsonNetworkMessageContentMask.
    mask: u32,
    layout: JsonLayout,
    writers: Vec<JsonWriter>,
    /// Random number, so that MessageIds differ from those of other Publishers and of earlier runs.
    id: u64,
    messages: u64,
}

/// Settings of a DataSetWriter.
#[derive(Debug)]
struct JsonWriter {
    /// Bits of a JsonDataSetMessageContentMask.
    mask: u32,
    fields: JsonFieldEncoding,
}

impl JsonMapping {
    pub(super) fn new(group: &WriterGroupDataType) -> Result<Self, ConfigurationError> {
        let at = |problem: ConfigurationProblem| problem.at(group.name.as_str());
        let problem = |name, what| at(ConfigurationProblem::parameter(name, what));
        if protection::mode(group.security_mode).is_some() {
            let what = "JSON messages have no message security (OPC 10000-14, 7.2.5)".to_owned();
            return Err(problem("SecurityMode", what));
        }
        let settings: JsonWriterGroupMessageDataType =
            decode_settings(&group.message_settings).map_err(at)?;
        let mask = settings.network_message_content_mask;
        // MessageIds must differ from those of an earlier run.
        let id = getrandom::u64().map_err(|error| {
            let what = format!("no random number for the MessageId: {error}");
            problem("MessageSettings", what)
        })?;
        let settings: Vec<JsonDataSetWriterMessageDataType> = writer_settings(group)?;
        let writers = group.data_set_writers.iter().zip(settings);
        Ok(Self {
            mask,
            layout: JsonLayout::from_mask(mask),
            writers: writers
                .map(|(writer, settings)| JsonWriter::new(writer, &settings))
                .collect(),
            id,
            messages: 0,
        })
    }

    fn has(&self, bit: u32) -> bool {
        self.mask & bit != 0
    }

    /// Returns the MessageId of the next message, which no other message has.
    fn next_message_id(&mut self) -> UaString {
        self.messages += 1;
        UaString::from(format!("{:016x}-{}", self.id, self.messages).as_str())
    }

    fn send_messages(
        &mut self,
        group: &GroupParameters,
        writers: &mut [DataSetWriter],
        messages: Vec<(usize, JsonDataSetMessage)>,
        sink: &mut dyn Sink,
    ) -> Sent {
        let mut sent = Sent::default();
        let limit = sink.limit();
        let (indexes, messages): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        let first = indexes.first().and_then(|index| writers.get(*index));
        let message = JsonMessage::Data(self.network_message(group, first, messages));
        let error = match message.encode() {
            Ok(encoded) if encoded.len() <= limit => {
                set_condition(writers, &indexes, Condition::Ready);
                sent.note(sink.send(encoded.as_bytes(), None));
                return sent;
            }
            // The JSON mapping has no chunks.
            Ok(encoded) => PublishError::TooLong {
                length: encoded.len(),
                limit,
            },
            Err(error) => error.into(),
        };
        match message {
            JsonMessage::Data(message) if indexes.len() > 1 => {
                for one in indexes.into_iter().zip(message.messages) {
                    sent.add(self.send_messages(group, writers, vec![one], sink));
                }
            }
            _ => {
                set_condition(writers, &indexes, Condition::Failed);
                sent.fail(error);
            }
        }
        sent
    }

    /// Returns a NetworkMessage with the headers of the NetworkMessageContentMask (OPC 10000-14, 6.3.2.1.1); `first` is the
    /// writer of the first DataSetMessage.
    fn network_message(
        &mut self,
        group: &GroupParameters,
        first: Option<&DataSetWriter>,
        messages: Vec<JsonDataSetMessage>,
    ) -> JsonNetworkMessage {
        use JsonNetworkMessageContentMask as Mask;
        let class = first.map(|writer| writer.data_set_class_id);
        JsonNetworkMessage {
            layout: self.layout,
            message_id: self.next_message_id(),
            publisher_id: when(self.has(Mask::PublisherId), publisher_id(group)),
            writer_group_name: when(
                self.has(Mask::WriterGroupName),
                group.configuration.name.clone(),
            ),
            data_set_class_id: class.filter(|_| self.has(Mask::DataSetClassId)),
            messages,
            refused: Vec::new(),
        }
    }

    /// Returns the DataSetMessage of a sample; `None` if the layout cannot represent it.
    fn data_set_message(
        &self,
        group: &GroupParameters,
        writer: &DataSetWriter,
        settings: &JsonWriter,
        sample: Sample,
        now: Now,
    ) -> Option<JsonDataSetMessage> {
        use JsonDataSetMessageContentMask as Mask;
        use JsonNetworkMessageContentMask as Headers;
        // Only its header tells a keep-alive from other messages.
        if sample.kind == SampleKind::KeepAlive && !self.layout.data_set_message_header {
            return None;
        }
        let has = |bit: u32| settings.mask & bit != 0;
        // A field of the NetworkMessage header is not repeated (OPC 10000-14, Table 185).
        let is_absent = |bit: u32| !(self.layout.network_message_header && self.has(bit));
        let message_type = match &sample.kind {
            SampleKind::KeyFrame => JsonDataSetMessageType::KeyFrame,
            SampleKind::DeltaFrame(_) => JsonDataSetMessageType::DeltaFrame,
            SampleKind::Event(_) => JsonDataSetMessageType::Event,
            SampleKind::KeepAlive => JsonDataSetMessageType::KeepAlive,
        };
        let status = match &sample.kind {
            SampleKind::KeyFrame | SampleKind::DeltaFrame(_) => writer.status(),
            SampleKind::Event(_) | SampleKind::KeepAlive => StatusCode::Good,
        };
        let version = &writer.version;
        Some(JsonDataSetMessage {
            data_set_writer_id: has(Mask::DataSetWriterId).then_some(writer.data_set_writer_id),
            data_set_writer_name: when(has(Mask::DataSetWriterName), writer.name().into()),
            publisher_id: when(
                has(Mask::PublisherId) && is_absent(Headers::PublisherId),
                publisher_id(group),
            ),
            writer_group_name: when(
                has(Mask::WriterGroupName) && is_absent(Headers::WriterGroupName),
                group.configuration.name.clone(),
            ),
            sequence_number: has(Mask::SequenceNumber).then_some(sample.sequence_number),
            meta_data_version: has(Mask::MetaDataVersion).then(|| version.clone()),
            // The MetaDataVersion contains the MinorVersion.
            minor_version: (has(Mask::MinorVersion) && !has(Mask::MetaDataVersion))
                .then_some(version.minor_version),
            timestamp: has(Mask::Timestamp).then_some(now.date_time),
            // A message without a status is Good.
            status: (has(Mask::Status) && !status.is_good()).then_some(status),
            message_type: has(Mask::MessageType).then_some(message_type),
            payload: writer.json_payload(settings.fields, &sample.kind, now),
        })
    }
}

impl JsonWriter {
    fn new(writer: &DataSetWriterDataType, settings: &JsonDataSetWriterMessageDataType) -> Self {
        let mask = settings.data_set_message_content_mask;
        // RawData excludes the other members of a DataValue (OPC 10000-14, 6.2.4.2).
        let field_mask = match writer.data_set_field_content_mask {
            raw if raw & DataSetFieldContentMask::RawData != 0 => DataSetFieldContentMask::RawData,
            other => other,
        };
        Self {
            mask,
            fields: JsonFieldEncoding::from_masks(mask, field_mask),
        }
    }
}

impl MessageMapping for JsonMapping {
    fn has_raw_data_layout(&self) -> bool {
        false
    }

    /// Returns the plans: all writers share a NetworkMessage, or those with one DataSetClassId if it is in the header (OPC
    /// 10000-14, 6.3.2.1.1).
    fn plans(&self, writers: &[DataSetWriter]) -> Vec<Plan> {
        let with_class = self.has(JsonNetworkMessageContentMask::DataSetClassId);
        let class = |index: usize| writers.get(index).map(|it| it.data_set_class_id);
        let mut plans: Vec<Plan> = Vec::new();
        for index in 0..writers.len() {
            let fits = |plan: &&mut Plan| {
                // The header has one DataSetClassId for all DataSetMessages.
                let same = plan
                    .writers
                    .iter()
                    .all(|other| class(*other) == class(index));
                !self.layout.single_data_set_message && (same || !with_class)
            };
            match plans.iter_mut().find(fits) {
                Some(plan) => plan.writers.push(index),
                None => plans.push(Plan {
                    network_message_number: None,
                    writers: vec![index],
                    fixed: None,
                    alike: Alike::default(),
                }),
            }
        }
        plans
    }

    /// Returns `None`: numbers as text have no fixed length.
    fn fixed(
        &self,
        _: &GroupParameters,
        _: &mut [DataSetWriter],
        _: &Plan,
        _: Now,
    ) -> Option<FixedNetworkMessage> {
        None
    }

    fn send(
        &mut self,
        group: &mut GroupParameters,
        writers: &mut [DataSetWriter],
        shared: SharedSamples,
        sink: &mut dyn Sink,
    ) -> Sent {
        let now = shared.now;
        let mut messages = Vec::new();
        for (index, sample) in shared.samples {
            let (Some(writer), Some(settings)) = (writers.get(index), self.writers.get(index))
            else {
                continue;
            };
            let message = self.data_set_message(group, writer, settings, sample, now);
            messages.extend(message.map(|message| (index, message)));
        }
        if messages.is_empty() {
            return Sent::default();
        }
        self.send_messages(group, writers, messages, sink)
    }

    fn meta_data_message(
        &mut self,
        group: &GroupParameters,
        writer: &DataSetWriter,
        meta_data: &DataSetMetaDataType,
        now: Now,
    ) -> Result<Vec<u8>, PublishError> {
        let message = JsonDiscoveryMessage {
            message_id: self.next_message_id(),
            publisher_id: publisher_id(group),
            timestamp: now.date_time,
            content: JsonDiscoveryContent::DataSetMetaData {
                data_set_writer_id: Some(writer.data_set_writer_id),
                writer_group_name: group.configuration.name.clone(),
                data_set_writer_name: writer.name().into(),
                meta_data: meta_data.clone(),
            },
        };
        let text = JsonMessage::Discovery(Box::new(message)).encode()?;
        Ok(text.into_bytes())
    }
}

/// Returns the PublisherId as text, as JSON messages have it.
fn publisher_id(group: &GroupParameters) -> UaString {
    group.publisher_id.to_string().as_str().into()
}

impl DataSetWriter {
    fn json_payload(
        &self,
        fields: JsonFieldEncoding,
        kind: &SampleKind,
        now: Now,
    ) -> Option<JsonPayload> {
        let named = |index: usize, value: DataValue| {
            let field = self.fields.get(index)?;
            Some(JsonField {
                name: field.meta_data.name.to_string(),
                value,
            })
        };
        let current = |index: usize| {
            let value = self.values.get(index)?;
            let value = match self.encoding {
                FieldEncoding::DataValue(members) => data_value(value, members, now),
                FieldEncoding::Variant | FieldEncoding::RawData => value.clone(),
            };
            named(index, value)
        };
        let payload: Vec<JsonField> = match kind {
            SampleKind::KeepAlive => return None,
            SampleKind::KeyFrame => (0..self.values.len()).filter_map(current).collect(),
            SampleKind::DeltaFrame(changed) => {
                let changed = changed.iter().map(|index| usize::from(*index));
                changed.filter_map(current).collect()
            }
            SampleKind::Event(values) => values
                .iter()
                .enumerate()
                .filter_map(|(index, value)| named(index, DataValue::good(value.clone())))
                .collect(),
        };
        Some(JsonPayload::new(
            &payload,
            fields,
            self.meta_data.as_deref(),
        ))
    }
}

/// Returns the text if `is_wanted`, otherwise null.
fn when(is_wanted: bool, text: UaString) -> UaString {
    match is_wanted {
        true => text,
        false => UaString::null(),
    }
}

//! What a DataSetWriter sends, as JSON (OPC 10000-14, 6.3.2 and 7.2.5).

use takt_ua::enumerations::{JsonDataSetMessageContentMask, JsonNetworkMessageContentMask};
use takt_ua::{DataValue, StatusCode, UaString};
use takt_wire::json::{
    JsonDataSetMessage, JsonDataSetMessageType, JsonField, JsonLayout, JsonMessage,
    JsonNetworkMessage, JsonPayload,
};

use super::data_set_writer::{DataSetWriter, FieldEncoding, Sample, SampleKind};
use super::mapping::{DataSetMapping, Mapping};
use super::output::Output;
use super::plan::Plan;
use super::protection::send_bytes;
use super::uadp::data_value;
use super::writer_group::WriterGroup;
use crate::error::{ConfigurationProblem, PublishError};
use crate::state::Condition;
use crate::time::Now;

/// The headers of a WriterGroup's JSON messages.
#[derive(Debug)]
pub(super) struct JsonHeaders {
    /// A JsonNetworkMessageContentMask.
    mask: u32,
    layout: JsonLayout,
    /// Random, so that MessageIds are not those of another Publisher, or of another time.
    id: u64,
    messages: u64,
}

impl JsonHeaders {
    pub(super) fn new(mask: u32) -> Result<Self, ConfigurationProblem> {
        let id = getrandom::u64().map_err(|error| {
            let what = format!("no random number for the MessageId: {error}");
            ConfigurationProblem::parameter("MessageSettings", what)
        })?;
        Ok(Self {
            mask,
            layout: JsonLayout::from_mask(mask),
            id,
            messages: 0,
        })
    }

    fn has(&self, bit: u32) -> bool {
        self.mask & bit != 0
    }

    /// Unique for each message.
    pub(super) fn next_message_id(&mut self) -> UaString {
        self.messages += 1;
        UaString::from(format!("{:016x}-{}", self.id, self.messages).as_str())
    }
}

impl WriterGroup {
    /// Which writers share a NetworkMessage: all that have one DataSetClass, if that is in the header (6.3.2.1.1).
    pub(super) fn json_plans(&self, headers: &JsonHeaders) -> Vec<Plan> {
        let with_class = headers.has(JsonNetworkMessageContentMask::DataSetClassId);
        let class = |index: usize| self.writers.get(index).map(|it| it.data_set_class_id);
        let mut plans: Vec<Plan> = Vec::new();
        for index in 0..self.writers.len() {
            let fits = |plan: &&mut Plan| {
                let same = plan
                    .writers
                    .iter()
                    .all(|other| class(*other) == class(index));
                !headers.layout.single_data_set_message && (same || !with_class)
            };
            match plans.iter_mut().find(fits) {
                Some(plan) => plan.writers.push(index),
                None => plans.push(Plan {
                    network_message_number: 0,
                    writers: vec![index],
                    fixed: None,
                }),
            }
        }
        plans
    }

    /// Sends samples as one message, or as one for each if that would be too long.
    pub(super) fn send_json<O: Output>(
        &mut self,
        now: Now,
        samples: Vec<(usize, Sample)>,
        output: &mut O,
    ) -> Result<usize, PublishError> {
        let mut messages = Vec::new();
        for (index, sample) in samples {
            let found = self.writers.get(index);
            let message = found.and_then(|writer| self.json_message(writer, sample, now));
            messages.extend(message.map(|message| (index, message)));
        }
        if messages.is_empty() {
            return Ok(0);
        }
        self.send_json_messages(messages, output)
    }

    fn send_json_messages<O: Output>(
        &mut self,
        messages: Vec<(usize, JsonDataSetMessage)>,
        output: &mut O,
    ) -> Result<usize, PublishError> {
        let limit = self.limit(output);
        let (indexes, messages): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        let Some(message) = self.json_network_message(&indexes, messages) else {
            return Ok(0);
        };
        let message = JsonMessage::Data(message);
        let encoded = message.encode().map_err(|error| {
            self.set_condition(&indexes, Condition::Failed);
            PublishError::from(error)
        })?;
        if encoded.len() <= limit {
            self.set_condition(&indexes, Condition::Ready);
            send_bytes(encoded.as_bytes(), output)?;
            return Ok(1);
        }
        match message {
            JsonMessage::Data(message) if indexes.len() > 1 => {
                let (mut count, mut outcome) = (0, Ok(()));
                for one in indexes.into_iter().zip(message.messages) {
                    match self.send_json_messages(vec![one], output) {
                        Ok(sent) => count += sent,
                        Err(error) => outcome = Err(error),
                    }
                }
                outcome.map(|()| count)
            }
            // JSON knows no chunks.
            _ => {
                self.set_condition(&indexes, Condition::Failed);
                let length = encoded.len();
                Err(PublishError::TooLong { length, limit })
            }
        }
    }

    /// The headers that the NetworkMessageContentMask asks for (6.3.2.1.1).
    fn json_network_message(
        &mut self,
        writers: &[usize],
        messages: Vec<JsonDataSetMessage>,
    ) -> Option<JsonNetworkMessage> {
        use JsonNetworkMessageContentMask as Mask;
        let first = writers.first().and_then(|index| self.writers.get(*index));
        let class = first.map(|writer| writer.data_set_class_id);
        let publisher_id = self.publisher_id_text();
        let writer_group_name = self.configuration.name.clone();
        let Mapping::Json(headers) = &mut self.mapping else {
            return None;
        };
        Some(JsonNetworkMessage {
            layout: headers.layout,
            message_id: headers.next_message_id(),
            publisher_id: when(headers.has(Mask::PublisherId), publisher_id),
            writer_group_name: when(headers.has(Mask::WriterGroupName), writer_group_name),
            data_set_class_id: class.filter(|_| headers.has(Mask::DataSetClassId)),
            messages,
        })
    }

    /// The DataSetMessage of a sample; `None` if the layout has no place for it.
    fn json_message(
        &self,
        writer: &DataSetWriter,
        sample: Sample,
        now: Now,
    ) -> Option<JsonDataSetMessage> {
        use JsonDataSetMessageContentMask as Mask;
        use JsonNetworkMessageContentMask as Headers;
        let (Mapping::Json(headers), DataSetMapping::Json { mask, .. }) =
            (&self.mapping, &writer.mapping)
        else {
            return None;
        };
        if sample.kind == SampleKind::KeepAlive && !headers.layout.data_set_message_header {
            return None;
        }
        let has = |bit: u32| mask & bit != 0;
        // What is in the header of the NetworkMessage is not said again (Table 185).
        let unsaid = |bit: u32| !(headers.layout.network_message_header && headers.has(bit));
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
                has(Mask::PublisherId) && unsaid(Headers::PublisherId),
                self.publisher_id_text(),
            ),
            writer_group_name: when(
                has(Mask::WriterGroupName) && unsaid(Headers::WriterGroupName),
                self.configuration.name.clone(),
            ),
            sequence_number: has(Mask::SequenceNumber).then_some(sample.sequence_number),
            meta_data_version: has(Mask::MetaDataVersion).then(|| version.clone()),
            minor_version: (has(Mask::MinorVersion) && !has(Mask::MetaDataVersion))
                .then_some(version.minor_version),
            timestamp: has(Mask::Timestamp).then_some(now.date_time),
            status: (has(Mask::Status) && !status.is_good()).then_some(status),
            message_type: has(Mask::MessageType).then_some(message_type),
            payload: writer.json_payload(&sample.kind, now),
        })
    }

    /// The PublisherId as JSON messages have it.
    pub(super) fn publisher_id_text(&self) -> UaString {
        self.publisher_id.to_string().as_str().into()
    }
}

impl DataSetWriter {
    fn json_payload(&self, kind: &SampleKind, now: Now) -> Option<JsonPayload> {
        let DataSetMapping::Json { fields, .. } = self.mapping else {
            return None;
        };
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

/// The text, or none.
fn when(is_wanted: bool, text: UaString) -> UaString {
    match is_wanted {
        true => text,
        false => UaString::null(),
    }
}

//! UADP message mapping (OPC 10000-14, 6.3.1 and 7.2.4).

mod fields;
mod headers;
mod plan;

use takt_ua::StatusCode;
use takt_ua::binary::Encoder;
use takt_ua::enumerations::{MessageSecurityMode, PubSubState, UadpNetworkMessageContentMask};
use takt_ua::structures::{
    DataSetMetaDataType, UadpDataSetWriterMessageDataType, UadpWriterGroupMessageDataType,
    WriterGroupDataType,
};
use takt_wire::{
    AnnouncementContent, ChunkWriter, DataSetMessage, DiscoveryAnnouncement, NetworkMessage,
    Payload,
};

use super::data_set_writer::DataSetWriter;
use super::fixed_message::FixedNetworkMessage;
use super::mapping::{
    GroupParameters, MessageMapping, Sent, SharedSamples, Sink, set_condition, writer_settings,
};
use super::plan::Plan;
use super::protection;
use crate::error::{ConfigurationError, PublishError};
use crate::settings::decode_settings;
use crate::state::Condition;
use crate::time::Now;

/// UADP mapping of a WriterGroup.
#[derive(Debug)]
pub(super) struct UadpMapping {
    settings: UadpWriterGroupMessageDataType,
    /// Settings of the DataSetWriters, in their order.
    writers: Vec<UadpDataSetWriterMessageDataType>,
    security_mode: Option<MessageSecurityMode>,
    announcement_number: u16,
}

impl UadpMapping {
    pub(super) fn new(group: &WriterGroupDataType) -> Result<Self, ConfigurationError> {
        let settings = decode_settings(&group.message_settings);
        Ok(Self {
            settings: settings.map_err(|problem| problem.at(group.name.as_str()))?,
            writers: writer_settings(group)?,
            security_mode: protection::mode(group.security_mode),
            announcement_number: 0,
        })
    }

    /// Sends one NetworkMessage if it is short enough and can be encoded, otherwise one for each DataSetMessage, in chunks if
    /// that is too long.
    fn send_together(
        &self,
        group: &mut GroupParameters,
        writers: &mut [DataSetWriter],
        (planned, now): (Option<u16>, Now),
        messages: Vec<(usize, DataSetMessage)>,
        sink: &mut dyn Sink,
    ) -> Sent {
        let mut sent = Sent::default();
        let number = group.message_number(planned);
        let (indexes, messages): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        let first = indexes.first().and_then(|index| writers.get(*index));
        let message = self.network_message(group, number, now, first, messages);
        let mut encoded = Vec::new();
        let layout = message.encode(&mut Encoder::growing(&mut encoded, usize::MAX));
        match layout {
            Ok(layout) if encoded.len() <= sink.limit() => {
                group.sequence_number = group.sequence_number.wrapping_add(1);
                group.last_message_number = number;
                sent.note(sink.send(&encoded, Some(&layout)));
                return sent;
            }
            Err(error) if indexes.len() < 2 => {
                set_condition(writers, &indexes, Condition::Failed);
                sent.fail(error.into());
                return sent;
            }
            _ => {}
        }
        // The message is too long, or one of several DataSetMessages cannot be encoded: each is sent alone.
        let Payload::DataSetMessages(messages) = message.payload else {
            return sent;
        };
        if indexes.len() > 1 {
            for one in indexes.into_iter().zip(messages) {
                // Readers may choose their DataSetMessage by a number that is planned.
                sent.add(self.send_together(group, writers, (planned, now), vec![one], sink));
            }
            return sent;
        }
        let message = self.network_message(group, number, now, first, messages);
        let outcome = self.send_chunks(group, first, &message, (planned, now), sink, &mut sent);
        if let Err(error) = outcome {
            if matches!(error, PublishError::Encode(_)) {
                set_condition(writers, &indexes, Condition::Failed);
            }
            sent.fail(error);
        }
        sent
    }

    /// Sends a NetworkMessage in chunks. The rest of them is of no use after an error.
    fn send_chunks(
        &self,
        group: &mut GroupParameters,
        writer: Option<&DataSetWriter>,
        message: &NetworkMessage,
        (mut planned, now): (Option<u16>, Now),
        sink: &mut dyn Sink,
        sent: &mut Sent,
    ) -> Result<(), PublishError> {
        let unnumbered = group.sequence_number;
        for chunk in ChunkWriter::new(message, sink.limit(), unnumbered)? {
            // The first chunk has the number of the plan, and each one that follows the next number.
            let number = group.message_number(planned.take());
            let mut part = self.network_message(group, number, now, writer, Vec::new());
            part.payload = Payload::Chunk(chunk);
            let mut encoded = Vec::new();
            let layout = part.encode(&mut Encoder::growing(&mut encoded, usize::MAX))?;
            // Each chunk is a NetworkMessage, and has numbers of its own.
            group.sequence_number = group.sequence_number.wrapping_add(1);
            group.last_message_number = number;
            sink.send(&encoded, Some(&layout))?;
            sent.count += 1;
        }
        Ok(())
    }
}

impl MessageMapping for UadpMapping {
    fn has_raw_data_layout(&self) -> bool {
        true
    }

    fn plans(&self, writers: &[DataSetWriter]) -> Vec<Plan> {
        self.make_plans(writers)
    }

    fn fixed(
        &self,
        group: &GroupParameters,
        writers: &mut [DataSetWriter],
        plan: &Plan,
        now: Now,
    ) -> Option<FixedNetworkMessage> {
        // PromotedFields are not among the stored places.
        if self.has(UadpNetworkMessageContentMask::PromotedFields) {
            return None;
        }
        let with_id = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let mut messages = Vec::new();
        for index in &plan.writers {
            let (writer, settings) = (writers.get_mut(*index)?, self.writers.get(*index)?);
            let is_operational = writer.is_operational(PubSubState::Operational);
            if !is_operational || !writer.only_key_frames() || settings.configured_size != 0 {
                return None;
            }
            let sample = writer.typical_sample()?;
            messages.push(writer.uadp_message(settings, sample, now, with_id).ok()?);
        }
        let first = plan.writers.first().and_then(|index| writers.get(*index));
        let number = group.message_number(plan.network_message_number);
        let message = self.network_message(group, number, now, first, messages);
        FixedNetworkMessage::new(&message, writers, &plan.writers)
    }

    fn send(
        &mut self,
        group: &mut GroupParameters,
        writers: &mut [DataSetWriter],
        shared: SharedSamples,
        sink: &mut dyn Sink,
    ) -> Sent {
        let SharedSamples {
            network_message_number: planned,
            now,
            samples,
        } = shared;
        let with_id = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let mut messages = Vec::with_capacity(samples.len());
        let mut sent = Sent::default();
        for (index, sample) in samples {
            let (Some(writer), Some(settings)) = (writers.get_mut(index), self.writers.get(index))
            else {
                continue;
            };
            match writer.uadp_message(settings, sample, now, with_id) {
                Ok(message) => {
                    writer.condition = Condition::Ready;
                    messages.push((index, message));
                }
                Err(error) => {
                    writer.condition = Condition::Failed;
                    sent.fail(error.into());
                }
            }
        }
        if !messages.is_empty() {
            sent.add(self.send_together(group, writers, (planned, now), messages, sink));
        }
        sent
    }

    fn meta_data_message(
        &mut self,
        group: &GroupParameters,
        writer: &DataSetWriter,
        meta_data: &DataSetMetaDataType,
        _: Now,
    ) -> Result<Vec<u8>, PublishError> {
        let announcement = DiscoveryAnnouncement {
            sequence_number: self.announcement_number,
            content: AnnouncementContent::DataSetMetaData {
                data_set_writer_id: writer.data_set_writer_id,
                meta_data: Box::new(meta_data.clone()),
                status_code: StatusCode::Good,
            },
        };
        self.announcement_number = self.announcement_number.wrapping_add(1);
        let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
        let message = NetworkMessage::discovery(group.publisher_id.clone(), payload);
        Ok(message.encode_to_vec()?)
    }
}

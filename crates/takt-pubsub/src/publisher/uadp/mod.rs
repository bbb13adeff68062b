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
    GroupParameters, MessageMapping, SharedSamples, Sink, set_condition, writer_settings,
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

    /// Sends one NetworkMessage if it is short enough, otherwise one for each DataSetMessage, in chunks if that is too long.
    fn send_together(
        &self,
        group: &mut GroupParameters,
        writers: &mut [DataSetWriter],
        number: u16,
        now: Now,
        messages: Vec<(usize, DataSetMessage)>,
        sink: &mut dyn Sink,
    ) -> Result<usize, PublishError> {
        let limit = sink.limit();
        let (indexes, messages): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        let first = indexes.first().copied();
        let headers = |group: &GroupParameters, writers: &[DataSetWriter], messages| {
            let first = first.and_then(|index| writers.get(index));
            self.network_message(group, number, now, first, messages)
        };
        let message = headers(group, writers, messages);
        let mut encoded = Vec::new();
        let layout = match message.encode(&mut Encoder::growing(&mut encoded, usize::MAX)) {
            Ok(layout) => layout,
            Err(error) => {
                set_condition(writers, &indexes, Condition::Failed);
                return Err(error.into());
            }
        };
        if encoded.len() <= limit {
            group.sequence_number = group.sequence_number.wrapping_add(1);
            sink.send(&encoded, Some(&layout))?;
            return Ok(1);
        }
        let Payload::DataSetMessages(messages) = message.payload else {
            return Ok(0);
        };
        if messages.len() > 1 {
            let mut count = 0;
            for (index, message) in indexes.into_iter().zip(messages) {
                let one = vec![(index, message)];
                count += self.send_together(group, writers, number, now, one, sink)?;
            }
            return Ok(count);
        }
        let message = headers(group, writers, messages);
        let unnumbered = group.sequence_number;
        let chunks = match ChunkWriter::new(&message, limit, unnumbered) {
            Ok(chunks) => chunks,
            Err(error) => {
                set_condition(writers, &indexes, Condition::Failed);
                return Err(error.into());
            }
        };
        let mut count = 0;
        for chunk in chunks {
            let mut part = headers(group, writers, Vec::new());
            part.payload = Payload::Chunk(chunk);
            let mut encoded = Vec::new();
            let layout = part.encode(&mut Encoder::growing(&mut encoded, usize::MAX))?;
            group.sequence_number = group.sequence_number.wrapping_add(1);
            sink.send(&encoded, Some(&layout))?;
            count += 1;
        }
        Ok(count)
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
        let number = plan.network_message_number;
        let message = self.network_message(group, number, now, first, messages);
        FixedNetworkMessage::new(&message, writers, &plan.writers)
    }

    /// Sends samples of writers that share a NetworkMessage. A sample that cannot be encoded does not hold back the others.
    fn send(
        &mut self,
        group: &mut GroupParameters,
        writers: &mut [DataSetWriter],
        shared: SharedSamples,
        sink: &mut dyn Sink,
    ) -> Result<usize, PublishError> {
        let SharedSamples {
            network_message_number: number,
            now,
            samples,
        } = shared;
        let with_id = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let mut messages = Vec::with_capacity(samples.len());
        let mut outcome = Ok(());
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
                    outcome = Err(error.into());
                }
            }
        }
        if messages.is_empty() {
            return outcome.map(|()| 0);
        }
        let sent = self.send_together(group, writers, number, now, messages, sink);
        outcome.and(sent)
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

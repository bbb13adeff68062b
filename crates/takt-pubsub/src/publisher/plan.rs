//! Which DataSetMessages share a NetworkMessage, and the headers of that.

use takt_ua::Variant;
use takt_ua::enumerations::{
    DataSetFieldFlags, DataSetOrderingType, PubSubState, UadpNetworkMessageContentMask,
};
use takt_wire::{DataSetMessage, GroupHeader, NetworkMessage, Payload};

use super::data_set_writer::DataSetWriter;
use super::fixed::FixedNetworkMessage;
use super::mapping::Mapping;
use super::writer_group::WriterGroup;
use crate::time::Now;

/// A NetworkMessage of a publishing interval.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) network_message_number: u16,
    /// Indexes of the writers that share it.
    pub(super) writers: Vec<usize>,
    /// The message, if it always has the same layout.
    pub(super) fixed: Option<FixedNetworkMessage>,
}

impl WriterGroup {
    /// Which writers share a NetworkMessage: those with the same NetworkMessageNumber, unless the order of their messages says that
    /// each has one of its own (6.3.1.1.3).
    pub(super) fn make_plans(&mut self) {
        let ordering = match &self.mapping {
            Mapping::Uadp(settings) => settings.data_set_ordering,
            Mapping::Json(headers) => {
                self.plans = self.json_plans(headers);
                return;
            }
        };
        let mut order: Vec<usize> = (0..self.writers.len()).collect();
        if ordering != DataSetOrderingType::Undefined {
            order.sort_by_key(|index| self.writers.get(*index).map(|it| it.data_set_writer_id));
        }
        let single = ordering == DataSetOrderingType::AscendingWriterIdSingle;
        let with_header = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let mut plans: Vec<Plan> = Vec::new();
        for index in order {
            let Some(writer) = self.writers.get(index) else {
                continue;
            };
            let settings = writer.mapping.uadp();
            let number = settings.map_or(0, |settings| settings.network_message_number);
            // Without a PayloadHeader only their sizes tell several DataSetMessages apart.
            let sized = settings.is_some_and(|settings| settings.configured_size != 0);
            let unmarked = !with_header && !sized;
            let alone = single || unmarked && number == 0;
            let fits = |plan: &&mut Plan| {
                !alone
                    && plan.writers.len() < usize::from(u8::MAX)
                    && (plan.network_message_number == number || number == 0)
                    && self.shares(plan, writer)
            };
            match plans.iter_mut().find(fits) {
                Some(plan) => plan.writers.push(index),
                None => {
                    // Numbers count from 1 (6.3.1.3.4).
                    let next = plans.len() as u16 + 1;
                    plans.push(Plan {
                        network_message_number: if number == 0 { next } else { number },
                        writers: vec![index],
                        fixed: None,
                    });
                }
            }
        }
        self.plans = plans;
    }

    /// One DataSetClassId, and PromotedFields, stand in the header for all DataSetMessages.
    fn shares(&self, plan: &Plan, writer: &DataSetWriter) -> bool {
        let first = plan
            .writers
            .first()
            .and_then(|index| self.writers.get(*index));
        let class = writer.data_set_class_id;
        let same_class = first.is_none_or(|first| first.data_set_class_id == class);
        !self.has(UadpNetworkMessageContentMask::PromotedFields)
            && (same_class || !self.has(UadpNetworkMessageContentMask::DataSetClassId))
    }

    /// Builds the messages that always look the same.
    pub(super) fn build_fixed(&mut self) {
        let now = Now::read();
        let mut plans = std::mem::take(&mut self.plans);
        for plan in &mut plans {
            plan.fixed = self.fixed_message(plan, now);
        }
        self.plans = plans;
    }

    fn fixed_message(&mut self, plan: &Plan, now: Now) -> Option<FixedNetworkMessage> {
        self.mapping.uadp()?;
        // What is promoted changes; it is not among the offsets.
        if self.has(UadpNetworkMessageContentMask::PromotedFields) {
            return None;
        }
        let with_id = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let mut messages = Vec::new();
        for index in &plan.writers {
            let writer = self.writers.get_mut(*index)?;
            if !writer.is_operational(PubSubState::Operational) {
                return None;
            }
            let sample = writer.typical_sample()?;
            messages.push(writer.uadp_message(sample, now, with_id).ok()?);
        }
        let first = plan.writers.first().copied();
        let message = self.network_message(plan.network_message_number, now, first, messages);
        FixedNetworkMessage::new(&message, &self.writers, &plan.writers)
    }

    pub(super) fn has(&self, bit: u32) -> bool {
        let settings = self.mapping.uadp();
        settings.is_some_and(|settings| settings.network_message_content_mask & bit != 0)
    }

    /// The headers that the NetworkMessageContentMask asks for (6.3.1.1.4); `writer` is the index of the one whose DataSetMessage
    /// comes first.
    pub(super) fn network_message(
        &self,
        number: u16,
        now: Now,
        writer: Option<usize>,
        messages: Vec<DataSetMessage>,
    ) -> NetworkMessage {
        use UadpNetworkMessageContentMask as Mask;
        let first = writer.and_then(|index| self.writers.get(index));
        let class = first
            .map(|first| first.data_set_class_id)
            .unwrap_or_default();
        let promoted = first
            .filter(|_| self.has(Mask::PromotedFields) && messages.len() == 1)
            .map(promoted_fields);
        let when = |bit: u32, value: u16| self.has(bit).then_some(value);
        let mut message = NetworkMessage {
            publisher_id: self
                .has(Mask::PublisherId)
                .then(|| self.publisher_id.clone()),
            data_set_class_id: self.has(Mask::DataSetClassId).then_some(class),
            group_header: self.has(Mask::GroupHeader).then(|| GroupHeader {
                writer_group_id: when(Mask::WriterGroupId, self.configuration.writer_group_id),
                group_version: self
                    .mapping
                    .uadp()
                    .filter(|_| self.has(Mask::GroupVersion))
                    .map(|settings| settings.group_version),
                network_message_number: when(Mask::NetworkMessageNumber, number),
                sequence_number: when(Mask::SequenceNumber, self.sequence_number),
            }),
            timestamp: self.has(Mask::Timestamp).then_some(now.date_time),
            pico_seconds: when(Mask::PicoSeconds, 0).filter(|_| self.has(Mask::Timestamp)),
            promoted_fields: promoted,
            ..NetworkMessage::new(Payload::DataSetMessages(messages))
        };
        if let Some(protection) = &self.protection {
            protection.prepare(&mut message);
        }
        message
    }
}

/// The values that can be read without decoding the payload (6.2.3.2.5).
fn promoted_fields(writer: &DataSetWriter) -> Vec<Variant> {
    let fields = writer.fields.iter().zip(&writer.values);
    let promoted = fields
        .filter(|(field, _)| field.meta_data.field_flags & DataSetFieldFlags::PromotedField != 0);
    promoted
        .map(|(_, value)| super::uadp::variant(value))
        .collect()
}

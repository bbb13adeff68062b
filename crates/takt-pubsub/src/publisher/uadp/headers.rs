//! Headers of UADP NetworkMessages (OPC 10000-14, 6.3.1.1.4).

use takt_ua::Variant;
use takt_ua::enumerations::{DataSetFieldFlags, UadpNetworkMessageContentMask};
use takt_wire::{DataSetMessage, GroupHeader, NetworkMessage, Payload};

use super::UadpMapping;
use super::fields::variant;
use crate::publisher::data_set_writer::DataSetWriter;
use crate::publisher::mapping::GroupParameters;
use crate::publisher::protection;
use crate::time::Now;

impl UadpMapping {
    /// Returns true if the NetworkMessageContentMask has this bit.
    pub(super) fn has(&self, bit: u32) -> bool {
        self.settings.network_message_content_mask & bit != 0
    }

    /// Returns a NetworkMessage with the headers of the NetworkMessageContentMask (OPC 10000-14, 6.3.1.1.4); `first` is the
    /// writer of the first DataSetMessage.
    pub(super) fn network_message(
        &self,
        group: &GroupParameters,
        number: u16,
        now: Now,
        first: Option<&DataSetWriter>,
        messages: Vec<DataSetMessage>,
    ) -> NetworkMessage {
        use UadpNetworkMessageContentMask as Mask;
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
                .then(|| group.publisher_id.clone()),
            data_set_class_id: self.has(Mask::DataSetClassId).then_some(class),
            group_header: self.has(Mask::GroupHeader).then(|| GroupHeader {
                writer_group_id: when(Mask::WriterGroupId, group.configuration.writer_group_id),
                group_version: self
                    .has(Mask::GroupVersion)
                    .then_some(self.settings.group_version),
                network_message_number: when(Mask::NetworkMessageNumber, number),
                sequence_number: when(Mask::SequenceNumber, group.sequence_number),
            }),
            timestamp: self.has(Mask::Timestamp).then_some(now.date_time),
            pico_seconds: when(Mask::PicoSeconds, 0).filter(|_| self.has(Mask::Timestamp)),
            promoted_fields: promoted,
            ..NetworkMessage::new(Payload::DataSetMessages(messages))
        };
        if let Some(mode) = self.security_mode {
            protection::prepare(mode, &mut message);
        }
        message
    }
}

/// Returns the PromotedFields, which can be read without decoding the payload (OPC 10000-14, 6.2.3.2.5).
fn promoted_fields(writer: &DataSetWriter) -> Vec<Variant> {
    let fields = writer.fields.iter().zip(&writer.values);
    let promoted = fields
        .filter(|(field, _)| field.meta_data.field_flags & DataSetFieldFlags::PromotedField != 0);
    promoted.map(|(_, value)| variant(value)).collect()
}

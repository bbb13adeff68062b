//! Encoder of NetworkMessages.

use takt_ua::binary::{Encode, Encoder};

use super::{NetworkMessage, Payload, action_rule, flags, rules};
use crate::data_set_message::{DataSetContent, DataSetMessage};
use crate::error::{WireEncodeError, count};
use crate::mark::{Mark, Marker};
use crate::network_message_type::NetworkMessageType;
use crate::security::SecurityLayout;

/// Largest DataSetMessage in bytes: their size fields have 2 bytes, and a UDP datagram cannot be longer either.
const MAX_DATA_SET_MESSAGE: usize = 65_535;

impl NetworkMessage {
    /// Appends the message: not encrypted, and with [`signature`](Self::signature) unchanged. The returned layout has
    /// the ranges to encrypt and sign; its offsets count from the start of the message.
    ///
    /// After an error, rewind the encoder to where the message began.
    pub fn encode(&self, encoder: &mut Encoder<'_>) -> Result<SecurityLayout, WireEncodeError> {
        self.encode_marking(encoder, &mut |_, _| {})
    }

    /// Returns the message in a `Vec` of its own.
    pub fn encode_to_vec(&self) -> Result<Vec<u8>, WireEncodeError> {
        let mut bytes = Vec::new();
        self.encode(&mut Encoder::growing(&mut bytes, usize::MAX))?;
        Ok(bytes)
    }

    pub(crate) fn encode_marking(
        &self,
        encoder: &mut Encoder<'_>,
        marker: Marker<'_>,
    ) -> Result<SecurityLayout, WireEncodeError> {
        self.check_rules().map_err(WireEncodeError::Forbidden)?;
        // The encoder may have bytes before the message; marks count from its start.
        let base = encoder.position();
        let mut layout = SecurityLayout::default();
        let mut note = |mark: Mark, offset: usize| {
            match mark {
                Mark::MessageNonce(length) => layout.message_nonce = offset..offset + length,
                Mark::Payload => layout.encrypted = offset..offset,
                Mark::SecurityFooter(length) => {
                    layout.encrypted.end = offset;
                    layout.security_footer = offset..offset + length;
                }
                Mark::Signature(length) => {
                    layout.signed = 0..offset;
                    layout.signature = offset..offset + length;
                }
                _ => {}
            }
            marker(mark, offset);
        };
        self.encode_headers(encoder, base, &mut note)?;
        note(Mark::Payload, encoder.position() - base);
        self.encode_payload(encoder, base, &mut note)?;
        let footer = self.security_header.as_ref();
        let footer = footer.and_then(|header| header.security_footer.as_deref());
        let footer = footer.unwrap_or_default();
        note(
            Mark::SecurityFooter(footer.len()),
            encoder.position() - base,
        );
        encoder.bytes(footer)?;
        note(
            Mark::Signature(self.signature.len()),
            encoder.position() - base,
        );
        encoder.bytes(&self.signature)?;
        Ok(layout)
    }

    /// Checks the combination of headers and payload against the rules of the standard.
    fn check_rules(&self) -> Result<(), &'static str> {
        let rule = |kept: bool, rule: &'static str| if kept { Ok(()) } else { Err(rule) };
        rule(
            self.pico_seconds.is_none() || self.timestamp.is_some(),
            rules::PICO_SECONDS,
        )?;
        let signed = self.security_header.as_ref().is_some_and(|h| h.signed);
        rule(signed || self.signature.is_empty(), rules::SIGNATURE)?;
        rule(
            !signed || !self.signature.is_empty(),
            rules::ENCRYPTED_SIGNATURE,
        )?;
        if let Payload::DataSetMessages(messages) = &self.payload {
            rule(!messages.is_empty(), rules::NO_DATA_SET_MESSAGE)?;
            rule(
                self.promoted_fields.is_none() || messages.len() == 1,
                rules::PROMOTED_FIELDS,
            )?;
            let with_id = |message: &DataSetMessage| message.data_set_writer_id.is_some();
            rule(
                messages.iter().all(with_id) || !messages.iter().any(with_id),
                rules::SOME_WRITER_IDS,
            )?;
            let header = self.action_header.as_ref().map(|header| header.request);
            for message in messages {
                let action = match &message.content {
                    DataSetContent::ActionRequest(_) => Some(true),
                    DataSetContent::ActionResponse(_) => Some(false),
                    // An invalid message has no type, so it fits requests and responses.
                    DataSetContent::Invalid => header,
                    _ => None,
                };
                action_rule(header, action).map_or(Ok(()), Err)?;
            }
        }
        if self.network_message_type() == NetworkMessageType::DataSetMessage {
            return Ok(());
        }
        let bare = self.data_set_class_id.is_none()
            && self.group_header.is_none()
            && self.timestamp.is_none()
            && self.promoted_fields.is_none()
            && self.action_header.is_none();
        rule(bare, rules::DISCOVERY_HEADER)?;
        rule(self.publisher_id.is_some(), rules::DISCOVERY_PUBLISHER_ID)?;
        let probe = self.network_message_type() == NetworkMessageType::DiscoveryProbe;
        rule(
            !(probe && matches!(self.payload, Payload::Chunk(_))),
            rules::PROBE_CHUNK,
        )
    }

    fn encode_headers(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        let publisher_id = self.publisher_id.as_ref().map(|id| id.as_ref());
        let payload_header = match &self.payload {
            // All of them have an id, or none has: `check_rules` refuses others.
            Payload::DataSetMessages(messages) => messages
                .first()
                .is_some_and(|message| message.data_set_writer_id.is_some()),
            Payload::Chunk(chunk) => chunk.data_set_writer_id.is_some(),
            _ => false,
        };
        let flags2 = self.network_message_type().bits()
            | bit(matches!(self.payload, Payload::Chunk(_)), flags::CHUNK)
            | bit(self.promoted_fields.is_some(), flags::PROMOTED_FIELDS)
            | bit(self.action_header.is_some(), flags::ACTION_HEADER);
        let flags1 = publisher_id.map_or(0, |id| id.type_bits())
            | bit(self.data_set_class_id.is_some(), flags::DATA_SET_CLASS_ID)
            | bit(self.security_header.is_some(), flags::SECURITY_HEADER)
            | bit(self.timestamp.is_some(), flags::TIMESTAMP)
            | bit(self.pico_seconds.is_some(), flags::PICO_SECONDS)
            | bit(flags2 != 0, flags::EXTENDED_FLAGS2);
        // The lower four bits are the UADPVersion.
        encoder.u8(1
            | bit(publisher_id.is_some(), flags::PUBLISHER_ID)
            | bit(self.group_header.is_some(), flags::GROUP_HEADER)
            | bit(payload_header, flags::PAYLOAD_HEADER)
            | bit(flags1 != 0, flags::EXTENDED_FLAGS1))?;
        if flags1 != 0 {
            encoder.u8(flags1)?;
        }
        if flags2 != 0 {
            encoder.u8(flags2)?;
        }
        if let Some(id) = publisher_id {
            id.encode(encoder)?;
        }
        if let Some(id) = self.data_set_class_id {
            id.encode(encoder)?;
        }
        if let Some(header) = &self.group_header {
            header.encode(encoder, base, marker)?;
        }
        if payload_header {
            self.encode_payload_header(encoder)?;
        }
        if let Some(timestamp) = self.timestamp {
            marker(Mark::Timestamp, encoder.position() - base);
            timestamp.encode(encoder)?;
        }
        if let Some(pico_seconds) = self.pico_seconds {
            marker(Mark::PicoSeconds, encoder.position() - base);
            encoder.u16(pico_seconds)?;
        }
        if let Some(fields) = &self.promoted_fields {
            let position = encoder.position();
            // The size precedes the fields, but is known only behind them.
            encoder.u16(0)?;
            fields.iter().try_for_each(|field| field.encode(encoder))?;
            let size = encoder.position() - position - 2;
            let size = count("bytes of PromotedFields", size, 65_535)?;
            encoder.patch_u16(position, size);
        }
        if let Some(header) = &self.security_header {
            header.encode(encoder, base, marker)?;
        }
        if let Some(header) = &self.action_header {
            header.encode(encoder)?;
        }
        Ok(())
    }

    fn encode_payload_header(&self, encoder: &mut Encoder<'_>) -> Result<(), WireEncodeError> {
        match &self.payload {
            Payload::DataSetMessages(messages) => {
                // The Count is one Byte.
                encoder.u8(count("DataSetMessages", messages.len(), 255)?)?;
                for message in messages {
                    encoder.u16(message.data_set_writer_id.unwrap_or(0))?;
                }
            }
            Payload::Chunk(chunk) => encoder.u16(chunk.data_set_writer_id.unwrap_or(0))?,
            _ => {}
        }
        Ok(())
    }

    fn encode_payload(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        match &self.payload {
            Payload::DataSetMessages(messages) => {
                encode_data_set_messages(messages, encoder, base, marker)
            }
            Payload::Chunk(chunk) => chunk.encode(encoder),
            Payload::DiscoveryProbe(probe) => Ok(probe.encode(encoder)?),
            Payload::DiscoveryAnnouncement(announcement) => announcement.encode(encoder),
        }
    }
}

/// Encodes the sizes, if there are several messages with ids, and the messages, and the messages
/// (OPC 10000-14, 7.2.4.5.3).
fn encode_data_set_messages(
    messages: &[DataSetMessage],
    encoder: &mut Encoder<'_>,
    base: usize,
    marker: Marker<'_>,
) -> Result<(), WireEncodeError> {
    let with_ids = messages
        .first()
        .is_some_and(|message| message.data_set_writer_id.is_some());
    let mut size_at = (with_ids && messages.len() > 1).then_some(encoder.position());
    if size_at.is_some() {
        // The sizes precede the messages, but are known only behind them.
        messages.iter().try_for_each(|_| encoder.u16(0))?;
    }
    for message in messages {
        let start = encoder.position();
        message.encode(encoder, base, marker)?;
        if let Some(position) = &mut size_at {
            let size = encoder.position() - start;
            let size = count("bytes of a DataSetMessage", size, MAX_DATA_SET_MESSAGE)?;
            encoder.patch_u16(*position, size);
            *position += 2;
        }
    }
    Ok(())
}

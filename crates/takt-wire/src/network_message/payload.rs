//! Decoder of the payload of NetworkMessages.

use std::ops::Range;

use takt_ua::foreign;

use super::view::{PayloadHeader, decoder_of};
use super::{NetworkMessage, NetworkMessageRef, Payload, action_rule, rules};
use crate::chunk::ChunkRef;
use crate::data_set_message::{DataSetMessageRef, LostMessage, MendedDataSetMessage};
use crate::discovery::{DiscoveryAnnouncement, DiscoveryProbe};
use crate::error::{WireError, WireErrorKind};
use crate::network_message_type::NetworkMessageType;

/// Information that a receiver needs to decode a message, besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PayloadParameters<'p> {
    /// Length in bytes of the SecurityPolicy's signature, if the message has one.
    pub signature_length: usize,
    /// Size of each DataSetMessage, for messages without a PayloadHeader that have more than one: their
    /// ConfiguredSizes.
    pub data_set_message_sizes: &'p [u16],
}

/// The payload of a received message.
#[derive(Debug, Clone, PartialEq)]
pub enum PayloadRef<'a> {
    /// Data, events, or Actions.
    DataSetMessages(DataSetMessagesRef<'a>),
    /// A part of a payload that was too long for one message.
    Chunk(ChunkRef<'a>),
    /// Request of a Subscriber for information of Publishers.
    DiscoveryProbe(DiscoveryProbe),
    /// Information of a Publisher about itself.
    DiscoveryAnnouncement(Box<DiscoveryAnnouncement>),
}

/// The DataSetMessages of a received message. Their sizes have been checked; each message is checked when it is read,
/// so that unread ones cost nothing, and an invalid one can be skipped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataSetMessagesRef<'a> {
    bytes: &'a [u8],
    ids: PayloadHeader<'a>,
    sizes: Sizes<'a>,
    /// Start of the first message and end of the last one.
    range: (usize, usize),
    /// True if the ActionHeader announces requests.
    action: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sizes<'a> {
    /// One message, without a size.
    One,
    /// Sizes in the payload, encoded.
    Encoded(&'a [u8]),
    /// Sizes that the receiver knows.
    Configured(&'a [u16]),
}

impl<'a> NetworkMessageRef<'a> {
    /// Returns the payload of a message that is not encrypted, or has been decrypted in place.
    pub fn payload<'s>(
        &self,
        parameters: &PayloadParameters<'s>,
    ) -> Result<PayloadRef<'s>, WireError>
    where
        'a: 's,
    {
        let layout = self.security_layout(parameters.signature_length)?;
        let range = layout.encrypted;
        if self.chunk {
            let mut decoder = decoder_of(self.bytes, range.start, range.end)?;
            let data_set_writer_id = match self.payload_header {
                PayloadHeader::Chunk(id) => Some(id),
                _ => None,
            };
            let message_type = self.network_message_type;
            let chunk = ChunkRef::decode(message_type, data_set_writer_id, &mut decoder)?;
            return Ok(PayloadRef::Chunk(chunk));
        }
        self.whole_payload(self.bytes, range, parameters.data_set_message_sizes)
    }

    /// Returns the DataSetMessage at an offset from the start of the message: the DataSetOffset of a DataSetReader
    /// (OPC 10000-14, 6.3.1.4.3), for messages without a PayloadHeader. Bytes behind it are ignored, because its size
    /// is not known; RawData fields take all remaining bytes, see
    /// [`RawDataLayout::decode_start`](crate::RawDataLayout::decode_start).
    pub fn data_set_message_at(
        &self,
        data_set_offset: u16,
        signature_length: usize,
    ) -> Result<DataSetMessageRef<'a>, WireError> {
        let payload = self.security_layout(signature_length)?.encrypted;
        let offset = usize::from(data_set_offset);
        let data = self.network_message_type == NetworkMessageType::DataSetMessage && !self.chunk;
        if !data || !payload.contains(&offset) {
            let kind = WireErrorKind::Forbidden(
                "a DataSetOffset outside of DataSetMessages (OPC 10000-14, 6.3.1.4.3)",
            );
            return Err(WireError::new(offset, kind));
        }
        let mut decoder = decoder_of(self.bytes, offset, payload.end)?;
        let message = DataSetMessageRef::decode_start(None, &mut decoder)?;
        self.check_action(&message, offset)?;
        Ok(message)
    }

    /// Mends the DataSetMessage at an offset, which [`data_set_message_at`](Self::data_set_message_at) refuses with `error`.
    ///
    /// # Errors
    /// Nothing of the message can be used.
    pub fn mend_data_set_message_at(
        &self,
        data_set_offset: u16,
        signature_length: usize,
        error: WireError,
    ) -> Result<MendedDataSetMessage, LostMessage> {
        let end = self.security_layout(signature_length)?.encrypted.end;
        let start = usize::from(data_set_offset);
        MendedDataSetMessage::new(None, self.bytes, (start, end), false, error)
    }

    /// Checks that Actions, and only these, have an ActionHeader of their kind.
    fn check_action(
        &self,
        message: &DataSetMessageRef<'_>,
        offset: usize,
    ) -> Result<(), WireError> {
        let header = self.action_header.map(|header| header.request);
        match action_rule(header, message.content.action(header)) {
            Some(rule) => Err(WireError::new(offset, WireErrorKind::Forbidden(rule))),
            None => Ok(()),
        }
    }

    /// Returns the payload of a message whose chunks were reassembled; see
    /// [`ChunkReassembler`](crate::ChunkReassembler). Offsets in errors count from the start of that payload.
    pub fn reassembled_payload<'s>(&self, payload: &'s [u8]) -> Result<PayloadRef<'s>, WireError>
    where
        'a: 's,
    {
        // Chunks are of one DataSetMessage, which has no size.
        self.whole_payload(payload, 0..payload.len(), &[])
    }

    fn whole_payload<'s>(
        &self,
        bytes: &'s [u8],
        range: Range<usize>,
        sizes: &'s [u16],
    ) -> Result<PayloadRef<'s>, WireError>
    where
        'a: 's,
    {
        let mut decoder = decoder_of(bytes, range.start, range.end)?;
        Ok(match self.network_message_type {
            NetworkMessageType::DataSetMessage => {
                let messages = self.data_set_messages(bytes, range, sizes)?;
                PayloadRef::DataSetMessages(messages)
            }
            NetworkMessageType::DiscoveryProbe => {
                PayloadRef::DiscoveryProbe(DiscoveryProbe::decode(&mut decoder)?)
            }
            NetworkMessageType::DiscoveryAnnouncement => {
                let announcement = match DiscoveryAnnouncement::decode(&mut decoder) {
                    Ok(announcement) => announcement,
                    // One text that is not UTF-8, or one bad value of a property, does not spoil the metadata.
                    Err(error) => foreign::decode_as(
                        bytes.get(range).unwrap_or_default(),
                        DiscoveryAnnouncement::decode,
                    )
                    .map_err(|_| error)?,
                };
                PayloadRef::DiscoveryAnnouncement(Box::new(announcement))
            }
        })
    }

    fn data_set_messages<'s>(
        &self,
        bytes: &'s [u8],
        range: Range<usize>,
        configured: &'s [u16],
    ) -> Result<DataSetMessagesRef<'s>, WireError>
    where
        'a: 's,
    {
        let mut decoder = decoder_of(bytes, range.start, range.end)?;
        let sizes = match (self.payload_header, configured) {
            (PayloadHeader::DataSetMessages(ids), _) if ids.len() > 2 => {
                // A single message has no size (OPC 10000-14, 7.2.4.5.3). A size has two bytes, as a DataSetWriterId has.
                Sizes::Encoded(decoder.bytes(ids.len())?)
            }
            // A single size is not needed: one message takes the whole payload.
            (PayloadHeader::None, [_, _, ..]) => Sizes::Configured(configured),
            _ => Sizes::One,
        };
        if self.promoted_fields.is_some() && sizes != Sizes::One {
            let kind = WireErrorKind::Forbidden(rules::PROMOTED_FIELDS);
            return Err(WireError::new(range.start, kind));
        }
        let messages = DataSetMessagesRef {
            bytes,
            ids: self.payload_header,
            sizes,
            range: (decoder.position(), range.end),
            action: self.action_header.map(|header| header.request),
        };
        messages.check_sizes(range.start)?;
        Ok(messages)
    }
}

impl<'a> DataSetMessagesRef<'a> {
    /// Checks that the sizes fill the payload; only padding, as of an Ethernet frame, may follow the last message.
    fn check_sizes(&self, offset: usize) -> Result<(), WireError> {
        let (start, end) = self.range;
        if self.sizes == Sizes::One {
            return Ok(());
        }
        let found = (0..self.len()).map(|index| self.size(index)).sum();
        let expected = end - start;
        let padding = self.bytes.get(start..end).unwrap_or_default();
        // Short Ethernet frames are filled up with zeros.
        let padding = padding.get(found..);
        if padding.is_some_and(|padding| padding.iter().all(|byte| *byte == 0)) {
            return Ok(());
        }
        let kind = WireErrorKind::LengthMismatch {
            field: "Sizes",
            expected,
            found,
        };
        Err(WireError::new(offset, kind))
    }

    /// Returns the number of DataSetMessages, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(&self) -> usize {
        match self.sizes {
            Sizes::One => 1,
            Sizes::Encoded(sizes) => sizes.len() / 2,
            Sizes::Configured(sizes) => sizes.len(),
        }
    }

    fn size(&self, index: usize) -> usize {
        let size = match self.sizes {
            Sizes::One => return self.range.1 - self.range.0,
            Sizes::Encoded(sizes) => encoded_u16(sizes, index),
            Sizes::Configured(sizes) => sizes.get(index).copied(),
        };
        size.map_or(0, usize::from)
    }

    /// Returns the DataSetWriterId of a DataSetMessage, if there is a PayloadHeader.
    pub fn data_set_writer_id(&self, index: usize) -> Option<u16> {
        match self.ids {
            PayloadHeader::None => None,
            PayloadHeader::DataSetMessages(ids) => encoded_u16(ids, index),
            PayloadHeader::Chunk(id) => Some(id),
        }
    }

    /// Returns one of the DataSetMessages.
    pub fn get(&self, index: usize) -> Option<Result<DataSetMessageRef<'a>, WireError>> {
        if index >= self.len() {
            return None;
        }
        let start = self.range.0 + (0..index).map(|index| self.size(index)).sum::<usize>();
        Some(self.read(index, start))
    }

    /// Mends a DataSetMessage that cannot be decoded because of `error`.
    ///
    /// # Errors
    /// Nothing of the message can be used.
    pub fn mend(
        &self,
        index: usize,
        error: WireError,
    ) -> Result<MendedDataSetMessage, LostMessage> {
        let start = self.range.0 + (0..index).map(|index| self.size(index)).sum::<usize>();
        let place = (start, start + self.size(index));
        let id = self.data_set_writer_id(index);
        let mended = MendedDataSetMessage::new(id, self.bytes, place, true, error)?;
        let action = mended.message()?.content.action(self.action);
        match action_rule(self.action, action) {
            Some(_) => Err(error.into()),
            None => Ok(mended),
        }
    }

    fn read(&self, index: usize, start: usize) -> Result<DataSetMessageRef<'a>, WireError> {
        let mut decoder = decoder_of(self.bytes, start, start + self.size(index))?;
        let message = DataSetMessageRef::decode(self.data_set_writer_id(index), &mut decoder)?;
        let action = message.content.action(self.action);
        match action_rule(self.action, action) {
            Some(rule) => Err(WireError::new(start, WireErrorKind::Forbidden(rule))),
            None => Ok(message),
        }
    }

    /// Returns an iterator that decodes the DataSetMessages one by one. Invalid ones have to be skipped.
    pub fn iter(&self) -> impl Iterator<Item = Result<DataSetMessageRef<'a>, WireError>> + use<'a> {
        let messages = *self;
        let mut start = self.range.0;
        (0..self.len()).map(move |index| {
            let message = messages.read(index, start);
            start += messages.size(index);
            message
        })
    }
}

fn encoded_u16(bytes: &[u8], index: usize) -> Option<u16> {
    let bytes = bytes.as_chunks().0.get(index)?;
    Some(u16::from_le_bytes(*bytes))
}

impl NetworkMessage {
    /// Reads a whole message that is not encrypted, or has been decrypted in place.
    pub fn decode(bytes: &[u8], parameters: &PayloadParameters<'_>) -> Result<Self, WireError> {
        let message = NetworkMessageRef::new_checked(bytes)?;
        let layout = message.security_layout(parameters.signature_length)?;
        let payload = match message.payload(parameters)? {
            PayloadRef::DataSetMessages(messages) => {
                let messages = messages.iter().map(|message| Ok(message?.to_owned()));
                Payload::DataSetMessages(messages.collect::<Result<_, WireError>>()?)
            }
            PayloadRef::Chunk(chunk) => Payload::Chunk(chunk.to_owned()),
            PayloadRef::DiscoveryProbe(probe) => Payload::DiscoveryProbe(probe),
            PayloadRef::DiscoveryAnnouncement(announcement) => {
                Payload::DiscoveryAnnouncement(announcement)
            }
        };
        let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
        let footer = part(layout.security_footer);
        Ok(Self {
            publisher_id: message.publisher_id.map(|id| id.to_owned()),
            data_set_class_id: message.data_set_class_id,
            group_header: message.group_header,
            timestamp: message.timestamp,
            pico_seconds: message.pico_seconds,
            promoted_fields: message
                .promoted_fields
                .map(|fields| fields.iter().map(|field| field.to_owned()).collect()),
            security_header: message
                .security_header
                .map(|header| header.to_owned_with(footer)),
            action_header: message.action_header.map(|header| header.to_owned()),
            payload,
            signature: part(layout.signature).to_vec(),
        })
    }
}

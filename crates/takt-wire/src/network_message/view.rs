//! Decoder of the headers of NetworkMessages.

use takt_ua::binary::{Decode, Decoder, ListRef};
use takt_ua::{DateTime, Guid, VariantRef};

use super::{flags, rules};
use crate::action_header::ActionHeaderRef;
use crate::error::{WireError, WireErrorKind};
use crate::group_header::GroupHeader;
use crate::network_message_type::NetworkMessageType;
use crate::publisher_id::PublisherIdRef;
use crate::security::{SecurityHeaderRef, SecurityLayout};

/// The checked headers of a received message. [`payload`](Self::payload) decodes the payload separately, because it
/// may have to be decrypted first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkMessageRef<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) payload_start: usize,
    pub(super) payload_header: PayloadHeader<'a>,
    nonce_start: usize,
    /// Type of the message.
    pub network_message_type: NetworkMessageType,
    /// True if the payload is a chunk.
    pub chunk: bool,
    /// PublisherId of the sender.
    pub publisher_id: Option<PublisherIdRef<'a>>,
    /// DataSetClassId of the DataSetMessages.
    pub data_set_class_id: Option<Guid>,
    /// Fields that concern the WriterGroup.
    pub group_header: Option<GroupHeader>,
    /// Time at which the message was created.
    pub timestamp: Option<DateTime>,
    /// Addition to the timestamp, in units of 10 ps.
    pub pico_seconds: Option<u16>,
    /// Fields for filtering.
    pub promoted_fields: Option<ListRef<'a, VariantRef<'a>>>,
    /// Protection of the message.
    pub security_header: Option<SecurityHeaderRef<'a>>,
    /// Fields that all Action requests or responses share.
    pub action_header: Option<ActionHeaderRef<'a>>,
}

/// DataSetWriterIds of the payload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PayloadHeader<'a> {
    /// No PayloadHeader.
    None,
    /// The DataSetWriterId of each DataSetMessage, encoded: at least one (OPC 10000-14, 7.2.4.5.2).
    DataSetMessages(&'a [u8]),
    /// The DataSetWriterId of the chunked DataSetMessage (OPC 10000-14, 7.2.4.4.4).
    Chunk(u16),
}

fn refuse<T>(offset: usize, what: &'static str) -> Result<T, WireError> {
    Err(WireError::new(offset, WireErrorKind::Forbidden(what)))
}

fn reserved<T>(offset: usize, field: &'static str, value: u8) -> Result<T, WireError> {
    let kind = WireErrorKind::Reserved {
        field,
        value: value.into(),
    };
    Err(WireError::new(offset, kind))
}

/// UADPFlags, ExtendedFlags1 and ExtendedFlags2.
struct Flags {
    flags: u8,
    flags1: u8,
    flags2: u8,
}

impl Flags {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, WireError> {
        let start = decoder.position();
        let flags = decoder.u8()?;
        if flags & flags::VERSION != 1 {
            let kind = WireErrorKind::UnsupportedVersion(flags & flags::VERSION);
            return Err(WireError::new(start, kind));
        }
        let start1 = decoder.position();
        let flags1 = match flags & flags::EXTENDED_FLAGS1 {
            0 => 0,
            _ => decoder.u8()?,
        };
        let publisher_id_type = flags1 & flags::PUBLISHER_ID_TYPE;
        if PublisherIdRef::reserved(publisher_id_type) {
            return reserved(start1, "ExtendedFlags1", flags1);
        }
        if flags & flags::PUBLISHER_ID == 0 && publisher_id_type != 0 {
            return refuse(start1, rules::PUBLISHER_ID_TYPE);
        }
        if flags1 & flags::PICO_SECONDS != 0 && flags1 & flags::TIMESTAMP == 0 {
            return refuse(start1, rules::PICO_SECONDS);
        }
        let start2 = decoder.position();
        let flags2 = match flags1 & flags::EXTENDED_FLAGS2 {
            0 => 0,
            _ => decoder.u8()?,
        };
        if flags2 & flags::RESERVED2 != 0 || NetworkMessageType::from_bits(flags2).is_none() {
            return reserved(start2, "ExtendedFlags2", flags2);
        }
        let decoded = Self {
            flags,
            flags1,
            flags2,
        };
        match decoded.discovery_rule() {
            Some(rule) => refuse(start, rule),
            None => Ok(decoded),
        }
    }

    fn network_message_type(&self) -> NetworkMessageType {
        // Reserved types were refused.
        NetworkMessageType::from_bits(self.flags2).unwrap_or(NetworkMessageType::DataSetMessage)
    }

    /// Returns whether the message is a chunk of an announcement. Protection relays (SICAM, SIPROTEC) send their metadata in chunks with a
    /// PayloadHeader. Its length is known, so that the chunk is read all the same.
    fn is_announced_chunk(&self) -> bool {
        let is_announcement =
            self.network_message_type() == NetworkMessageType::DiscoveryAnnouncement;
        is_announcement && self.flags2 & flags::CHUNK != 0
    }

    /// Returns the broken rule if a discovery message has fields that it must not have.
    fn discovery_rule(&self) -> Option<&'static str> {
        let message_type = self.network_message_type();
        if message_type == NetworkMessageType::DataSetMessage {
            return None;
        }
        // The bits of the three bytes may coincide, so that only zero means something.
        let forbidden = self.flags & flags::GROUP_HEADER
            | self.flags1 & (flags::DATA_SET_CLASS_ID | flags::TIMESTAMP | flags::PICO_SECONDS)
            | self.flags2 & (flags::PROMOTED_FIELDS | flags::ACTION_HEADER);
        let has_payload_header = self.flags & flags::PAYLOAD_HEADER != 0;
        if forbidden != 0 || has_payload_header && !self.is_announced_chunk() {
            return Some(rules::DISCOVERY_HEADER);
        }
        if self.flags & flags::PUBLISHER_ID == 0 {
            return Some(rules::DISCOVERY_PUBLISHER_ID);
        }
        let probe = message_type == NetworkMessageType::DiscoveryProbe;
        (probe && self.flags2 & flags::CHUNK != 0).then_some(rules::PROBE_CHUNK)
    }
}

impl<'a> NetworkMessageRef<'a> {
    /// Checks the headers of a message that consists of all of `bytes`.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut decoder = Decoder::new(bytes);
        let flags = Flags::decode(&mut decoder)?;
        let has = |bit: u8| flags.flags & bit != 0;
        let has1 = |bit: u8| flags.flags1 & bit != 0;
        let has2 = |bit: u8| flags.flags2 & bit != 0;
        let chunk = has2(flags::CHUNK);
        let decoder = &mut decoder;
        let publisher_id = has(flags::PUBLISHER_ID)
            .then(|| PublisherIdRef::decode(flags.flags1 & flags::PUBLISHER_ID_TYPE, decoder))
            .transpose()?;
        let data_set_class_id = has1(flags::DATA_SET_CLASS_ID)
            .then(|| Guid::decode(decoder))
            .transpose()?;
        let group_header = has(flags::GROUP_HEADER)
            .then(|| GroupHeader::decode(decoder))
            .transpose()?;
        let payload_header = match has(flags::PAYLOAD_HEADER) {
            true => PayloadHeader::decode(chunk, has2(flags::PROMOTED_FIELDS), decoder)?,
            false => PayloadHeader::None,
        };
        let timestamp = has1(flags::TIMESTAMP)
            .then(|| DateTime::decode(decoder))
            .transpose()?;
        let pico_seconds = has1(flags::PICO_SECONDS)
            .then(|| decoder.u16())
            .transpose()?;
        let promoted_fields = has2(flags::PROMOTED_FIELDS)
            .then(|| promoted_fields(bytes, decoder))
            .transpose()?;
        let security_header = has1(flags::SECURITY_HEADER)
            .then(|| SecurityHeaderRef::decode(decoder))
            .transpose()?;
        let nonce_start = security_header.map_or(0, |header| {
            // The nonce and the size of the footer end the header: its place is counted back from there.
            let behind = header.message_nonce.len()
                + header.security_footer_size.map_or(0, |_| size_of::<u16>());
            decoder.position().saturating_sub(behind)
        });
        let action_header = has2(flags::ACTION_HEADER)
            .then(|| ActionHeaderRef::decode(decoder))
            .transpose()?;
        Ok(Self {
            bytes,
            payload_start: decoder.position(),
            payload_header,
            nonce_start,
            network_message_type: flags.network_message_type(),
            chunk,
            publisher_id,
            data_set_class_id,
            group_header,
            timestamp,
            pico_seconds,
            promoted_fields,
            security_header,
            action_header,
        })
    }

    /// Returns the whole message.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the rule of the standard that the message breaks although it can be read; `None` for nearly all messages.
    pub fn broken_rule(&self) -> Option<&'static str> {
        let is_data = self.network_message_type == NetworkMessageType::DataSetMessage;
        match self.payload_header {
            PayloadHeader::Chunk(_) if !is_data => Some(rules::CHUNK_HEADER),
            _ => None,
        }
    }

    /// Returns the DataSetWriterIds of the PayloadHeader; none if there is no such header. A Subscriber that reads
    /// none of these need not decode the payload.
    pub fn data_set_writer_ids(&self) -> impl Iterator<Item = u16> + 'a {
        let (ids, chunk) = match self.payload_header {
            PayloadHeader::None => (&[][..], None),
            PayloadHeader::DataSetMessages(ids) => (ids, None),
            PayloadHeader::Chunk(id) => (&[][..], Some(id)),
        };
        let ids = ids.as_chunks().0.iter();
        ids.map(|id| u16::from_le_bytes(*id)).chain(chunk)
    }

    /// Returns the ranges of the message that security applies to. `signature_length` is the length of the signature
    /// in bytes, which follows from the SecurityPolicy; 0 for a message that is not signed.
    pub fn security_layout(&self, signature_length: usize) -> Result<SecurityLayout, WireError> {
        let header = self.security_header.unwrap_or_default();
        // The length is that of the SecurityPolicy, but this message need not be signed.
        let signature_length = if header.signed { signature_length } else { 0 };
        let footer_length = usize::from(header.security_footer_size.unwrap_or(0));
        let end = self.bytes.len();
        let payload_end = signature_length
            .checked_add(footer_length)
            .and_then(|length| end.checked_sub(length))
            .filter(|payload_end| *payload_end >= self.payload_start);
        let Some(payload_end) = payload_end else {
            return Err(WireError::new(end, WireErrorKind::NoRoomForSignature));
        };
        let signature_start = end - signature_length;
        Ok(SecurityLayout {
            message_nonce: self.nonce_start..self.nonce_start + header.message_nonce.len(),
            encrypted: self.payload_start..payload_end,
            security_footer: payload_end..signature_start,
            signed: 0..signature_start,
            signature: signature_start..end,
        })
    }
}

impl<'a> PayloadHeader<'a> {
    fn decode(
        chunk: bool,
        promoted_fields: bool,
        decoder: &mut Decoder<'a>,
    ) -> Result<Self, WireError> {
        if chunk {
            return Ok(Self::Chunk(decoder.u16()?));
        }
        let start = decoder.position();
        let count = usize::from(decoder.u8()?);
        if count == 0 {
            return refuse(start, rules::NO_DATA_SET_MESSAGE);
        }
        if promoted_fields && count > 1 {
            return refuse(start, rules::PROMOTED_FIELDS);
        }
        Ok(Self::DataSetMessages(decoder.bytes(count * 2)?))
    }
}

/// Reads size and fields: the Variants within that number of bytes.
fn promoted_fields<'a>(
    bytes: &'a [u8],
    decoder: &mut Decoder<'a>,
) -> Result<ListRef<'a, VariantRef<'a>>, WireError> {
    let size = usize::from(decoder.u16()?);
    let start = decoder.position();
    // The header goes on behind them, whatever they contain.
    decoder.bytes(size)?;
    let mut fields = decoder_of(bytes, start, start + size)?;
    // The message has only their total size, so they are counted first.
    let mut counter = fields.clone();
    let mut count = 0;
    while counter.remaining() > 0 {
        if VariantRef::skip(&mut counter).is_err() {
            // Their values are in the payload, too: without them, nothing is lost.
            return Ok(ListRef::default());
        }
        count += 1;
    }
    Ok(ListRef::take(&mut fields, count)?)
}

/// Reads a part of a message; positions count from the start of the message.
pub(super) fn decoder_of(bytes: &[u8], start: usize, end: usize) -> Result<Decoder<'_>, WireError> {
    let mut decoder = Decoder::new(bytes.get(..end).unwrap_or(bytes));
    decoder.bytes(start)?;
    Ok(decoder)
}

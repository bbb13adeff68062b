//! NetworkMessages (OPC 10000-14, 7.2.4.4).

mod encode;
mod payload;
#[cfg(test)]
mod tests;
mod view;

use takt_ua::{DateTime, Guid, Variant};

use crate::action_header::ActionHeader;
use crate::chunk::Chunk;
use crate::data_set_message::DataSetMessage;
use crate::discovery::{DiscoveryAnnouncement, DiscoveryProbe};
use crate::group_header::GroupHeader;
use crate::network_message_type::NetworkMessageType;
use crate::publisher_id::PublisherId;
use crate::security::SecurityHeader;

pub use payload::{DataSetMessagesRef, PayloadParameters, PayloadRef};
pub use view::NetworkMessageRef;

/// A message as it is sent: headers, and DataSetMessages or something else as payload. The flags of the headers
/// follow from the fields that are present.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkMessage {
    /// PublisherId of the sender.
    pub publisher_id: Option<PublisherId>,
    /// DataSetClassId of all DataSetMessages.
    pub data_set_class_id: Option<Guid>,
    /// Fields that concern the WriterGroup.
    pub group_header: Option<GroupHeader>,
    /// Time at which the message was created.
    pub timestamp: Option<DateTime>,
    /// Addition to the timestamp, in units of 10 ps, at most 9999.
    pub pico_seconds: Option<u16>,
    /// Fields for filtering that stay readable when the payload is encrypted; only with one DataSetMessage.
    pub promoted_fields: Option<Vec<Variant>>,
    /// Protection of the message.
    pub security_header: Option<SecurityHeader>,
    /// Fields that all Action requests or responses share.
    pub action_header: Option<ActionHeader>,
    /// Payload of the message.
    pub payload: Payload,
    /// The signature, or bytes of the same length; empty if the message is not signed.
    pub signature: Vec<u8>,
}

/// Payload of a NetworkMessage.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// Data, events, or Actions: at least one DataSetMessage (OPC 10000-14, 7.2.4.5).
    DataSetMessages(Vec<DataSetMessage>),
    /// A part of a payload that is too long for one message (OPC 10000-14, 7.2.4.4.4).
    Chunk(Chunk),
    /// Request of a Subscriber for information of Publishers (OPC 10000-14, 7.2.4.6.12).
    DiscoveryProbe(DiscoveryProbe),
    /// Information of a Publisher about itself (OPC 10000-14, 7.2.4.6.3).
    DiscoveryAnnouncement(Box<DiscoveryAnnouncement>),
}

impl NetworkMessage {
    /// Creates a message without header fields.
    pub fn new(payload: Payload) -> Self {
        Self {
            publisher_id: None,
            data_set_class_id: None,
            group_header: None,
            timestamp: None,
            pico_seconds: None,
            promoted_fields: None,
            security_header: None,
            action_header: None,
            payload,
            signature: Vec::new(),
        }
    }

    /// Returns a message with DataSetMessages.
    pub fn data(publisher_id: Option<PublisherId>, data_set_messages: Vec<DataSetMessage>) -> Self {
        Self {
            publisher_id,
            ..Self::new(Payload::DataSetMessages(data_set_messages))
        }
    }

    /// Returns a discovery message with the header that OPC 10000-14, 7.2.4.6.3 and 7.2.4.6.12.1 require: it has a
    /// SecurityHeader even if it is not protected. (Version 1.04 has none; both are read.)
    pub fn discovery(publisher_id: PublisherId, payload: Payload) -> Self {
        Self {
            publisher_id: Some(publisher_id),
            security_header: Some(SecurityHeader::default()),
            ..Self::new(payload)
        }
    }

    /// Returns the type of the message.
    pub fn network_message_type(&self) -> NetworkMessageType {
        match &self.payload {
            Payload::DataSetMessages(_) => NetworkMessageType::DataSetMessage,
            Payload::Chunk(chunk) => chunk.network_message_type,
            Payload::DiscoveryProbe(_) => NetworkMessageType::DiscoveryProbe,
            Payload::DiscoveryAnnouncement(_) => NetworkMessageType::DiscoveryAnnouncement,
        }
    }
}

/// Bits of UADPFlags, ExtendedFlags1 and ExtendedFlags2, Table 154.
mod flags {
    pub(super) const VERSION: u8 = 0x0F;
    pub(super) const PUBLISHER_ID: u8 = 0x10;
    pub(super) const GROUP_HEADER: u8 = 0x20;
    pub(super) const PAYLOAD_HEADER: u8 = 0x40;
    pub(super) const EXTENDED_FLAGS1: u8 = 0x80;

    pub(super) const PUBLISHER_ID_TYPE: u8 = 0x07;
    pub(super) const DATA_SET_CLASS_ID: u8 = 0x08;
    pub(super) const SECURITY_HEADER: u8 = 0x10;
    pub(super) const TIMESTAMP: u8 = 0x20;
    pub(super) const PICO_SECONDS: u8 = 0x40;
    pub(super) const EXTENDED_FLAGS2: u8 = 0x80;

    pub(super) const CHUNK: u8 = 0x01;
    pub(super) const PROMOTED_FIELDS: u8 = 0x02;
    pub(super) const ACTION_HEADER: u8 = 0x20;
    pub(super) const RESERVED2: u8 = 0xC0;
}

/// Texts of the rules of the standard.
mod rules {
    pub(super) const PUBLISHER_ID_TYPE: &str =
        "a PublisherId type without a PublisherId (OPC 10000-14, 7.2.4.4.2)";
    pub(super) const PICO_SECONDS: &str =
        "PicoSeconds without a Timestamp (OPC 10000-14, 7.2.4.4.2)";
    pub(super) const NO_DATA_SET_MESSAGE: &str =
        "a payload without a DataSetMessage (OPC 10000-14, 7.2.4.5.2)";
    pub(super) const SOME_WRITER_IDS: &str =
        "DataSetWriterIds for some DataSetMessages only (OPC 10000-14, 7.2.4.5.2)";
    pub(super) const PROMOTED_FIELDS: &str =
        "PromotedFields with more than one DataSetMessage (OPC 10000-14, 7.2.4.4.2)";
    pub(super) const DISCOVERY_HEADER: &str = "a discovery message with other headers than PublisherId and security (OPC 10000-14, 7.2.4.6.3 and 7.2.4.6.12.1)";
    pub(super) const CHUNK_HEADER: &str =
        "a PayloadHeader in a chunk of an announcement (OPC 10000-14, 7.2.4.6.12.1)";
    pub(super) const DISCOVERY_PUBLISHER_ID: &str =
        "a discovery message without a PublisherId (OPC 10000-14, 7.2.4.6.3 and 7.2.4.6.12.1)";
    pub(super) const PROBE_CHUNK: &str = "a probe in chunks (OPC 10000-14, 7.2.4.6.12.1)";
    pub(super) const ACTION_HEADER: &str =
        "Actions and an ActionHeader, one without the other (OPC 10000-14, 7.2.4.4.2)";
    pub(super) const ACTION_KIND: &str =
        "Action requests and responses in one NetworkMessage (OPC 10000-14, 7.2.4.4.2)";
    pub(super) const SIGNATURE: &str =
        "a signature that the SecurityHeader does not name (OPC 10000-14, 7.2.4.4.2)";
    pub(super) const ENCRYPTED_SIGNATURE: &str =
        "signed, but without room for a signature (OPC 10000-14, 7.2.4.4.2)";
}

/// Checks that Actions, and only these, have an ActionHeader of their kind. `action` is true for a DataSetMessage
/// with a request, and `None` if it is not an Action.
fn action_rule(header: Option<bool>, action: Option<bool>) -> Option<&'static str> {
    match (header, action) {
        (None, None) => None,
        (Some(header), Some(action)) if header == action => None,
        (Some(_), Some(_)) => Some(rules::ACTION_KIND),
        _ => Some(rules::ACTION_HEADER),
    }
}

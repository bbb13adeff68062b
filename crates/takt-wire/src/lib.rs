//! PubSub messages of OPC 10000-14, sans-io: decoders from bytes to plain data, and encoders back. The message
//! mappings are UADP (OPC 10000-14, 7.2.4) and, in [`json`], JSON (OPC 10000-14, 7.2.5). Sections are those of
//! version 1.05.
//!
//! * [`NetworkMessage`] and [`DataSetMessage`] are messages as plain data, with the standard's names for header
//!   fields; [`NetworkMessageRef`] and [`DataSetMessageRef`] are views of received bytes. `new_checked` creates a
//!   view, after which no access to it can fail; a [`WireError`] describes an invalid message, with the offset of the
//!   error.
//! * Discovery announcements and probes ([`DiscoveryAnnouncement`], [`DiscoveryProbe`]), Actions ([`Action`]).
//! * [`RawDataLayout`]: RawData fields, whose types and sizes only the metadata has.
//! * [`ChunkWriter`] and [`ChunkReassembler`]: messages longer than a datagram.
//! * [`SecurityLayout`]: the ranges of a message that are signed and encrypted. The crate contains no cryptography.
//! * [`MessageTree`]: every field of a message with its place, for people; [`lua_dissector`]: the same for Wireshark.
//! * [`FixedMessage`] and [`FixedMessageReader`]: the fast path for messages whose layout never changes. Values are
//!   stored and read at known offsets; nothing is allocated.
//!
//! ```
//! use takt_ua::Variant;
//! use takt_wire::{
//!     DataSetContent, DataSetMessage, Fields, NetworkMessage, NetworkMessageRef, PayloadParameters,
//!     PayloadRef, PublisherId,
//! };
//!
//! let message = NetworkMessage::data(
//!     Some(PublisherId::UInt16(1)),
//!     vec![DataSetMessage {
//!         data_set_writer_id: Some(7),
//!         ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(vec![Variant::Double(21.5)])))
//!     }],
//! );
//! let bytes = message.encode_to_vec()?;
//!
//! let received = NetworkMessageRef::new_checked(&bytes)?;
//! if received.data_set_writer_ids().any(|id| id == 7) {
//!     if let PayloadRef::DataSetMessages(messages) = received.payload(&PayloadParameters::default())? {
//!         for message in messages.iter().flatten() {
//!             println!("{message:?}");
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate has neither sockets nor clocks: callers pass in bytes and times. Values are those of `takt-ua`;
//! publishers and subscribers are in `takt-pubsub`.
//!
//! All input is treated as hostile: every length is checked against the actual number of bytes, and nothing is
//! allocated for a count before its elements are there. Reserved values and forbidden combinations are rejected when
//! decoding and when encoding.

#![forbid(unsafe_code)]

mod action_header;
mod chunk;
mod chunking;
mod data_set_message;
mod discovery;
mod error;
mod fixed;
mod group_header;
mod header_layout;
pub mod json;
mod mark;
mod network_message;
mod network_message_type;
mod publisher_id;
mod raw_data;
mod security;
mod tree;

pub use action_header::{ActionHeader, ActionHeaderRef};
pub use chunk::{Chunk, ChunkRef};
pub use chunking::{
    ChunkReassembler, ChunkWriter, ReassembledPayload, ReassemblyError, ReassemblyLimits,
};
pub use data_set_message::{
    Action, ActionFields, ActionFieldsRef, ActionRef, DamagedField, DataSetContent,
    DataSetContentRef, DataSetMessage, DataSetMessageRef, DeltaField, DeltaFields, DeltaFieldsRef,
    Fields, FieldsRef, LostMessage, MendedDataSetMessage,
};
pub use discovery::{
    AnnouncementContent, ApplicationInformation, DiscoveryAnnouncement, DiscoveryProbe,
};
pub use error::{WireEncodeError, WireError, WireErrorKind};
pub use fixed::{
    FixedMessage, FixedMessageError, FixedMessageReader, FixedMessageRef, FixedValue, ScalarPlace,
    Slot, SlotSeries,
};
pub use group_header::GroupHeader;
pub use header_layout::{HeaderLayout, HeaderLayoutViolation};
pub use network_message::{
    DataSetMessagesRef, NetworkMessage, NetworkMessageRef, Payload, PayloadParameters, PayloadRef,
};
pub use network_message_type::NetworkMessageType;
pub use publisher_id::{PublisherId, PublisherIdRef};
pub use raw_data::{RawDataError, RawDataLayout};
pub use security::{SecurityHeader, SecurityHeaderRef, SecurityLayout};
pub use tree::{DataSetFields, MessageTree, TreeBits, TreeNode, TreeParameters, lua_dissector};

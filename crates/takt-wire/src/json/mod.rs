//! The JSON message mapping (OPC 10000-14, 7.2.5): what goes over MQTT, or wherever texts are wanted.
//!
//! A [`JsonMessage`] is a text as plain data: a [`JsonNetworkMessage`] with DataSetMessages, or a
//! [`JsonDiscoveryMessage`] (metadata, status and so on), or a [`JsonActionMessage`]. Headers are read at once. The
//! fields of a DataSetMessage stay JSON until they are asked for, because only the metadata of their DataSetWriter
//! tells the types of those that do not say theirs, and which writer it is, is in the header.
//!
//! ```
//! use takt_ua::Variant;
//! use takt_wire::json::{
//!     JsonDataSetMessage, JsonField, JsonFieldEncoding, JsonLayout, JsonMessage, JsonNetworkMessage, JsonPayload,
//! };
//!
//! let fields = [JsonField::new("Speed", Variant::Double(21.5))];
//! let message = JsonNetworkMessage {
//!     message_id: "1".into(),
//!     publisher_id: "7".into(),
//!     messages: vec![JsonDataSetMessage {
//!         data_set_writer_id: Some(1),
//!         payload: Some(JsonPayload::new(&fields, JsonFieldEncoding::default(), None)),
//!         ..JsonDataSetMessage::default()
//!     }],
//!     ..JsonNetworkMessage::default()
//! };
//! let text = JsonMessage::Data(message).encode()?;
//! assert_eq!(
//!     text,
//!     r#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"7","Messages":[{"DataSetWriterId":1,"Payload":{"Speed":{"UaType":11,"Value":21.5}}}]}"#
//! );
//!
//! let JsonMessage::Data(received) = JsonMessage::decode(text.as_bytes())? else { unreachable!() };
//! let payload = received.messages[0].payload.as_ref().expect("a key frame");
//! assert_eq!(payload.fields(None)?, fields);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is written is the form of version 1.05. What is read may be that of 1.04 as well, and as lax as others write
//! it: fields that are not known are ignored, and numbers may be texts.

mod action;
mod data_set_message;
mod discovery;
mod error;
mod field;
mod header;
mod layout;
mod message;
mod network_message;
mod payload;

pub use action::{JsonAction, JsonActionKind, JsonActionMessage};
pub use data_set_message::{JsonDataSetMessage, JsonDataSetMessageType};
pub use discovery::{JsonDiscoveryContent, JsonDiscoveryMessage};
pub use error::{JsonMessageError, JsonMessageErrorKind};
pub use field::{JsonField, JsonFieldContent, JsonFieldEncoding};
pub use layout::JsonLayout;
pub use message::JsonMessage;
pub use network_message::JsonNetworkMessage;
pub use payload::JsonPayload;

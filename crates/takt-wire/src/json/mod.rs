//! The JSON message mapping (OPC 10000-14, 7.2.5): messages as texts, for example over MQTT.
//!
//! A [`JsonMessage`] is a decoded message: a [`JsonNetworkMessage`] with DataSetMessages, or a
//! [`JsonDiscoveryMessage`] (metadata, status and so on), or a [`JsonActionMessage`]. Headers are read at once. The
//! fields of a DataSetMessage stay JSON until they are accessed: the types of fields without a type are in the
//! metadata of their DataSetWriter, which the header identifies.
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
//! Messages are written in the form of version 1.05. Version 1.04 is read too, and so are deviations of other
//! products: unknown fields are ignored, and numbers may be texts.

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

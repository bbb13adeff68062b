//! JSON messages of any type.

use serde_json::Value;
use takt_ua::json_encoding::{DEFAULT_MAX_LENGTH, parse_tolerant};

use super::{
    JsonActionMessage, JsonDiscoveryMessage, JsonLayout, JsonMessageError, JsonMessageErrorKind,
    JsonNetworkMessage,
};

/// A JSON NetworkMessage of any MessageType (OPC 10000-14, 7.2.5.1).
#[derive(Debug, Clone, PartialEq)]
pub enum JsonMessage {
    /// DataSetMessages: `ua-data`, or no header at all.
    Data(JsonNetworkMessage),
    /// Information of a Publisher about itself: `ua-metadata`, `ua-application`, `ua-endpoints`, `ua-status`,
    /// `ua-connection`, `ua-action-metadata` and `ua-action-responder`.
    Discovery(Box<JsonDiscoveryMessage>),
    /// Requests for Actions, or responses to them: `ua-action-request` and `ua-action-response`.
    Action(JsonActionMessage),
}

impl JsonMessage {
    /// Reads a message of at most [`DEFAULT_MAX_LENGTH`] bytes. The headers are recognized by their fields.
    pub fn decode(text: &[u8]) -> Result<Self, JsonMessageError> {
        Self::decode_with(text, None, DEFAULT_MAX_LENGTH)
    }

    /// Reads a message of at most `max_length` bytes. If a layout is given, DataSetMessages are read according to it;
    /// this matters if fields of a DataSet have names such as `Payload`.
    ///
    /// Words that are not JSON, such as `NaN`, are read as texts ([`parse_tolerant`]).
    pub fn decode_with(
        text: &[u8],
        layout: Option<JsonLayout>,
        max_length: usize,
    ) -> Result<Self, JsonMessageError> {
        let value = parse_tolerant(text, max_length)?;
        let has_header = layout.is_none_or(|layout| layout.network_message_header);
        if let Some(message_type) = message_type(&value).filter(|_| has_header) {
            if let Some(message) = JsonDiscoveryMessage::decode(message_type, &value)? {
                return Ok(Self::Discovery(Box::new(message)));
            }
            if let Some(message) = JsonActionMessage::decode(message_type, &value)? {
                return Ok(Self::Action(message));
            }
            if message_type != "ua-data" {
                // Only the beginning is shown: a peer may send a text of any length.
                let shown = message_type.chars().take(60).collect();
                let kind = JsonMessageErrorKind::UnknownMessageType(shown);
                return Err(JsonMessageError::new(kind));
            }
        }
        // Messages of types other than ua-data always have the header; a message without it contains data.
        let layout = layout.unwrap_or_else(|| JsonNetworkMessage::guess(&value));
        JsonNetworkMessage::decode(value, layout).map(Self::Data)
    }

    /// Returns the text of the message, without line breaks.
    pub fn encode(&self) -> Result<String, JsonMessageError> {
        let value = match self {
            Self::Data(message) => message.encode()?,
            Self::Discovery(message) => message.encode(),
            Self::Action(message) => message.encode(),
        };
        Ok(value.to_string())
    }
}

/// Returns the MessageType of a NetworkMessage. DataSetMessages have one too, and payloads without headers may.
fn message_type(value: &Value) -> Option<&str> {
    let object = value.as_object()?;
    let message_type = object.get("MessageType")?.as_str()?;
    let of_data_set_message = ["ua-keyframe", "ua-deltaframe", "ua-event", "ua-keepalive"];
    let is_header = object.contains_key("MessageId") || object.contains_key("Messages");
    (is_header && message_type.starts_with("ua-") && !of_data_set_message.contains(&message_type))
        .then_some(message_type)
}

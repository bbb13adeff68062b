//! DataSetMessages (OPC 10000-14, 7.2.5.4).

use serde_json::{Map, Value};
use takt_ua::structures::ConfigurationVersionDataType;
use takt_ua::{BuiltInType, DateTime, StatusCode, UaString};

use super::header::{Fields, Writer};
use super::{JsonMessageError, JsonPayload};

/// Type of a DataSetMessage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonDataSetMessageType {
    /// `ua-keyframe`: all fields.
    KeyFrame,
    /// `ua-deltaframe`: the changed fields.
    DeltaFrame,
    /// `ua-event`: the fields of an event.
    Event,
    /// `ua-keepalive`: no values have changed.
    KeepAlive,
    /// A type that the standard does not define.
    Other(String),
}

impl JsonDataSetMessageType {
    /// Returns the type as in a message.
    pub fn as_str(&self) -> &str {
        match self {
            Self::KeyFrame => "ua-keyframe",
            Self::DeltaFrame => "ua-deltaframe",
            Self::Event => "ua-event",
            Self::KeepAlive => "ua-keepalive",
            Self::Other(text) => text,
        }
    }
}

impl From<&str> for JsonDataSetMessageType {
    fn from(text: &str) -> Self {
        let known = [
            Self::KeyFrame,
            Self::DeltaFrame,
            Self::Event,
            Self::KeepAlive,
        ];
        known
            .into_iter()
            .find(|known| known.as_str() == text)
            .unwrap_or_else(|| Self::Other(text.into()))
    }
}

/// A DataSetMessage: its header, if present, and its fields. Null texts are left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonDataSetMessage {
    /// DataSetWriterId, unique within the Publisher.
    pub data_set_writer_id: Option<u16>,
    /// The name of the DataSetWriter.
    pub data_set_writer_name: UaString,
    /// PublisherId, if no NetworkMessage header contains it.
    pub publisher_id: UaString,
    /// Name of the WriterGroup, if no NetworkMessage header contains it.
    pub writer_group_name: UaString,
    /// Sequence number, increased by 1 for each message of the DataSetWriter.
    pub sequence_number: Option<u32>,
    /// The version of the metadata that describes the fields.
    pub meta_data_version: Option<ConfigurationVersionDataType>,
    /// Minor version of the metadata, if only that is sent.
    pub minor_version: Option<u32>,
    /// Time at which the values were taken.
    pub timestamp: Option<DateTime>,
    /// Quality of all values; `None` stands for Good.
    pub status: Option<StatusCode>,
    /// Type of the message.
    pub message_type: Option<JsonDataSetMessageType>,
    /// The fields; none in a keep-alive message.
    pub payload: Option<JsonPayload>,
}

/// The names of the header's fields.
const HEADER: [&str; 10] = [
    "DataSetWriterId",
    "DataSetWriterName",
    "PublisherId",
    "WriterGroupName",
    "SequenceNumber",
    "MetaDataVersion",
    "MinorVersion",
    "Timestamp",
    "Status",
    "MessageType",
];

impl JsonDataSetMessage {
    /// Returns the type of the message. Without a MessageType, a message without fields is a keep-alive message, any
    /// other a key frame.
    pub fn message_type(&self) -> JsonDataSetMessageType {
        match (&self.message_type, &self.payload) {
            (Some(message_type), _) => message_type.clone(),
            (None, Some(_)) => JsonDataSetMessageType::KeyFrame,
            (None, None) => JsonDataSetMessageType::KeepAlive,
        }
    }

    /// Returns whether an object looks like a DataSetMessage with a header, and not like fields without a header.
    pub(super) fn has_header(object: &Map<String, Value>) -> bool {
        let known = |name: &String| HEADER.contains(&name.as_str());
        match object.get("Payload") {
            Some(Value::Object(_) | Value::Null) => {
                object.keys().all(|name| known(name) || name == "Payload")
            }
            // It is a field that happens to have this name.
            Some(_) => false,
            // A keep-alive message has at least an id of its source.
            None => {
                object.keys().all(known)
                    && ["DataSetWriterId", "DataSetWriterName", "MessageType"]
                        .iter()
                        .any(|name| object.contains_key(*name))
            }
        }
    }

    /// Reads a message with a header, or one that consists of its fields.
    pub(super) fn decode(value: Value, has_header: bool) -> Result<Self, JsonMessageError> {
        let mut object = match value {
            Value::Object(object) => object,
            other => return Err(JsonMessageError::expected("a DataSetMessage", &other)),
        };
        if !has_header {
            return Ok(Self {
                payload: Some(JsonPayload::from_object(object)),
                ..Self::default()
            });
        }
        let payload = match object.shift_remove("Payload") {
            None | Some(Value::Null) => None,
            Some(Value::Object(fields)) => Some(JsonPayload::from_object(fields)),
            Some(other) => {
                return Err(JsonMessageError::expected("an object", &other).in_field("Payload"));
            }
        };
        let fields = Fields { object: &object };
        let (data_set_writer_id, data_set_writer_name) = fields.writer_id()?;
        let message_type = fields.text("MessageType")?;
        Ok(Self {
            data_set_writer_id,
            data_set_writer_name,
            publisher_id: fields.text("PublisherId")?,
            writer_group_name: fields.text("WriterGroupName")?,
            sequence_number: fields.number("SequenceNumber")?,
            meta_data_version: fields.structure("MetaDataVersion")?,
            minor_version: fields.number("MinorVersion")?,
            timestamp: fields.optional_time("Timestamp")?,
            status: fields.optional("Status", BuiltInType::StatusCode)?,
            message_type: message_type.as_option().map(Into::into),
            payload,
        })
    }

    /// Writes the message, or its fields alone.
    pub(super) fn encode(&self, with_header: bool) -> Result<Value, JsonMessageError> {
        if !with_header {
            let fields = self.payload.as_ref().ok_or_else(|| {
                JsonMessageError::forbidden("a keep-alive message without a DataSetMessage header")
            })?;
            return Ok(fields.as_object().clone().into());
        }
        let mut writer = Writer::default();
        writer.optional("DataSetWriterId", self.data_set_writer_id);
        writer.text("DataSetWriterName", &self.data_set_writer_name);
        writer.text("PublisherId", &self.publisher_id);
        writer.text("WriterGroupName", &self.writer_group_name);
        writer.optional("SequenceNumber", self.sequence_number);
        if let Some(version) = &self.meta_data_version {
            // Both numbers are written: a missing number stands for 1, but not every receiver knows that.
            let version = Map::from_iter([
                ("MajorVersion".into(), version.major_version.into()),
                ("MinorVersion".into(), version.minor_version.into()),
            ]);
            writer.insert("MetaDataVersion", version);
        }
        writer.optional("MinorVersion", self.minor_version);
        if let Some(timestamp) = self.timestamp {
            writer.time("Timestamp", timestamp);
        }
        if let Some(status) = self.status {
            writer.insert("Status", Writer::encoder().status_code(status));
        }
        let message_type = self.message_type.as_ref();
        writer.optional(
            "MessageType",
            message_type.map(JsonDataSetMessageType::as_str),
        );
        let payload = self.payload.as_ref();
        writer.optional(
            "Payload",
            payload.map(|payload| payload.as_object().clone()),
        );
        Ok(writer.object.into())
    }
}

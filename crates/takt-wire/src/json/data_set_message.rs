//! DataSetMessages (OPC 10000-14, 7.2.5.4).

use serde_json::{Map, Value};
use takt_ua::structures::ConfigurationVersionDataType;
use takt_ua::{BuiltInType, DateTime, StatusCode, UaString};

use super::header::{Fields, Writer};
use super::{JsonMessageError, JsonPayload};

/// What a DataSetMessage is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonDataSetMessageType {
    /// `ua-keyframe`: all fields.
    KeyFrame,
    /// `ua-deltaframe`: the fields that changed.
    DeltaFrame,
    /// `ua-event`: the fields of an event.
    Event,
    /// `ua-keepalive`: nothing happened.
    KeepAlive,
    /// Something that the standard does not know.
    Other(String),
}

impl JsonDataSetMessageType {
    /// As it stands in a message.
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

/// A DataSetMessage: its header, as far as it is there, and its fields. Null texts are missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonDataSetMessage {
    /// The DataSetWriter that made it, unique within the Publisher.
    pub data_set_writer_id: Option<u16>,
    /// The name of the DataSetWriter.
    pub data_set_writer_name: UaString,
    /// The Publisher, if there is no NetworkMessage header that says it.
    pub publisher_id: UaString,
    /// The name of the WriterGroup, if there is no NetworkMessage header that says it.
    pub writer_group_name: UaString,
    /// Grows by one with each message of the DataSetWriter.
    pub sequence_number: Option<u32>,
    /// The version of the metadata that describes the fields.
    pub meta_data_version: Option<ConfigurationVersionDataType>,
    /// Its minor version, if that alone is sent.
    pub minor_version: Option<u32>,
    /// When the values were taken.
    pub timestamp: Option<DateTime>,
    /// The quality of all values; none says Good.
    pub status: Option<StatusCode>,
    /// What the message is.
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
    /// What the message is, also if it does not say it: without fields a keep-alive message, else a key frame.
    pub fn message_type(&self) -> JsonDataSetMessageType {
        match (&self.message_type, &self.payload) {
            (Some(message_type), _) => message_type.clone(),
            (None, Some(_)) => JsonDataSetMessageType::KeyFrame,
            (None, None) => JsonDataSetMessageType::KeepAlive,
        }
    }

    /// Returns whether an object looks like a DataSetMessage with a header, and not like its fields alone.
    pub(super) fn has_header(object: &Map<String, Value>) -> bool {
        let known = |name: &String| HEADER.contains(&name.as_str());
        match object.get("Payload") {
            Some(Value::Object(_) | Value::Null) => {
                object.keys().all(|name| known(name) || name == "Payload")
            }
            Some(_) => false,
            // A keep-alive message says at least whose it is.
            None => {
                object.keys().all(known)
                    && ["DataSetWriterId", "DataSetWriterName", "MessageType"]
                        .iter()
                        .any(|name| object.contains_key(*name))
            }
        }
    }

    /// Reads a message with a header, or one that is its fields alone.
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
            // Written out: a missing number would be one, but not everybody knows that.
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

//! Requests for Actions, and responses to them (OPC 10000-14, 7.2.5.6).

use serde_json::{Map, Value};
use takt_ua::enumerations::ActionState;
use takt_ua::json_encoding::{JsonContext, JsonDecoder};
use takt_ua::structures::ConfigurationVersionDataType;
use takt_ua::{BuiltInType, ByteString, DateTime, StatusCode, UaString};

use super::header::{Fields, Writer};
use super::{JsonMessageError, JsonMessageErrorKind, JsonPayload};

/// Kind of an Action message: requests or responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonActionKind {
    /// `ua-action-request`: requests of a Requestor.
    Request,
    /// `ua-action-response`: responses of a Responder.
    Response,
}

impl JsonActionKind {
    fn message_type(self) -> &'static str {
        match self {
            Self::Request => "ua-action-request",
            Self::Response => "ua-action-response",
        }
    }
}

/// A NetworkMessage of requests or responses (OPC 10000-14, 7.2.5.6.1). Null texts are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonActionMessage {
    /// Kind of the message: requests or responses.
    pub kind: JsonActionKind,
    /// Id that is unique for each message.
    pub message_id: UaString,
    /// PublisherId of the Responder, in requests and responses.
    pub publisher_id: UaString,
    /// Time at which the message was first sent.
    pub timestamp: DateTime,
    /// Address of the responses; only in requests.
    pub response_address: UaString,
    /// Data or id chosen by the Requestor and returned by the Responder.
    pub correlation_data: ByteString,
    /// PublisherId of the Requestor.
    pub requestor_id: UaString,
    /// Time that the Requestor waits, in milliseconds; only in requests.
    pub timeout_hint: Option<f64>,
    /// The requests or responses.
    pub messages: Vec<JsonAction>,
}

/// A request or a response (OPC 10000-14, 7.2.5.6.2 and 7.2.5.6.3).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonAction {
    /// DataSetWriterId of the Responder.
    pub data_set_writer_id: Option<u16>,
    /// Name of the DataSetWriter.
    pub data_set_writer_name: UaString,
    /// The target of the Action, unique within its ActionMetaData.
    pub action_target_id: u16,
    /// The name of the WriterGroup.
    pub writer_group_name: UaString,
    /// The version of the metadata that describes the fields.
    pub meta_data_version: Option<ConfigurationVersionDataType>,
    /// Minor version of the metadata, if only that is sent.
    pub minor_version: Option<u32>,
    /// Time at which the values were taken.
    pub timestamp: Option<DateTime>,
    /// Result of the Action; only in responses.
    pub status: Option<StatusCode>,
    /// The MessageType, if it is sent.
    pub message_type: UaString,
    /// Data or id chosen by the Requestor and returned by the Responder.
    pub request_id: u16,
    /// State that a request asks for or a response reports.
    pub action_state: ActionState,
    /// Arguments or results.
    pub payload: Option<JsonPayload>,
}

impl JsonActionMessage {
    /// Reads a message; `None` if its MessageType is not one of these.
    pub(super) fn decode(
        message_type: &str,
        value: &Value,
    ) -> Result<Option<Self>, JsonMessageError> {
        let kind = match message_type {
            "ua-action-request" => JsonActionKind::Request,
            "ua-action-response" => JsonActionKind::Response,
            _ => return Ok(None),
        };
        let fields = Fields::of(value)?;
        let messages = fields.array("Messages")?.iter().enumerate();
        let message = |(index, value)| {
            let action = JsonAction::decode(value);
            action.map_err(|error| error.in_element(index).in_field("Messages"))
        };
        Ok(Some(Self {
            kind,
            message_id: fields.text("MessageId")?,
            publisher_id: fields.text("PublisherId")?,
            timestamp: fields.time("Timestamp")?,
            response_address: fields.text("ResponseAddress")?,
            correlation_data: fields
                .optional("CorrelationData", BuiltInType::ByteString)?
                .unwrap_or_default(),
            requestor_id: fields.text("RequestorId")?,
            timeout_hint: fields.optional("TimeoutHint", BuiltInType::Double)?,
            messages: messages.map(message).collect::<Result<_, _>>()?,
        }))
    }

    pub(super) fn encode(&self) -> Value {
        let mut writer = Writer::default();
        writer.text("MessageId", &self.message_id);
        writer.insert("MessageType", self.kind.message_type());
        writer.text("PublisherId", &self.publisher_id);
        writer.time("Timestamp", self.timestamp);
        writer.text("ResponseAddress", &self.response_address);
        if !self.correlation_data.is_null() {
            let data = self.correlation_data.clone().into();
            writer.insert("CorrelationData", Writer::encoder().value(&data));
        }
        writer.text("RequestorId", &self.requestor_id);
        if let Some(timeout) = self.timeout_hint {
            writer.insert("TimeoutHint", Writer::encoder().value(&timeout.into()));
        }
        writer.insert(
            "Messages",
            self.messages
                .iter()
                .map(JsonAction::encode)
                .collect::<Value>(),
        );
        writer.object.into()
    }
}

impl JsonAction {
    fn decode(value: &Value) -> Result<Self, JsonMessageError> {
        let fields = Fields::of(value)?;
        let (data_set_writer_id, data_set_writer_name) = fields.writer_id()?;
        let payload = match fields.get("Payload") {
            None => None,
            Some(Value::Object(object)) => Some(JsonPayload::from_object(object.clone())),
            Some(other) => {
                return Err(JsonMessageError::expected("an object", other).in_field("Payload"));
            }
        };
        let missing =
            |name| move || JsonMessageError::new(JsonMessageErrorKind::MissingField(name));
        Ok(Self {
            data_set_writer_id,
            data_set_writer_name,
            action_target_id: fields
                .optional("ActionTargetId", BuiltInType::UInt16)?
                .ok_or_else(missing("ActionTargetId"))?,
            writer_group_name: fields.text("WriterGroupName")?,
            meta_data_version: fields.structure("MetaDataVersion")?,
            minor_version: fields.number("MinorVersion")?,
            timestamp: fields.optional_time("Timestamp")?,
            status: fields.optional("Status", BuiltInType::StatusCode)?,
            message_type: fields.text("MessageType")?,
            request_id: fields
                .optional("RequestId", BuiltInType::UInt16)?
                .ok_or_else(missing("RequestId"))?,
            action_state: action_state(fields)?,
            payload,
        })
    }

    fn encode(&self) -> Value {
        let mut writer = Writer::default();
        writer.optional("DataSetWriterId", self.data_set_writer_id);
        writer.insert("ActionTargetId", self.action_target_id);
        writer.text("DataSetWriterName", &self.data_set_writer_name);
        writer.text("WriterGroupName", &self.writer_group_name);
        if let Some(version) = &self.meta_data_version {
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
        writer.text("MessageType", &self.message_type);
        writer.insert("RequestId", self.request_id);
        writer.insert("ActionState", self.action_state.0);
        let payload = self.payload.as_ref();
        writer.optional(
            "Payload",
            payload.map(|payload| payload.as_object().clone()),
        );
        writer.object.into()
    }
}

fn action_state(fields: Fields<'_>) -> Result<ActionState, JsonMessageError> {
    let state = fields.get("ActionState").map(|value| {
        JsonDecoder::new(JsonContext::default())
            .enumeration(value)
            .map_err(|error| error.in_field("ActionState"))
    });
    Ok(ActionState(state.transpose()?.unwrap_or_default()))
}

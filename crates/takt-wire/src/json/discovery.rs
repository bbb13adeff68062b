//! Discovery messages: information of a Publisher about itself (OPC 10000-14, 7.2.5.5).

use serde_json::Value;
use takt_ua::enumerations::PubSubState;
use takt_ua::json_encoding::{JsonContext, JsonDecoder};
use takt_ua::structures::{
    ActionMethodDataType, ActionTargetDataType, ApplicationDescription, DataSetMetaDataType,
    EndpointDescription, FieldMetaData, PubSubConnectionDataType,
};
use takt_ua::{BuiltInType, DateTime, UaString};

use super::header::{Fields, Writer};
use super::{JsonMessageError, JsonMessageErrorKind};

/// A discovery message.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonDiscoveryMessage {
    /// Id that is unique for each message.
    pub message_id: UaString,
    /// PublisherId; a number is written in decimal digits.
    pub publisher_id: UaString,
    /// Time at which the message was first sent. Version 1.04 does not have it; then it is `DateTime::MIN`.
    pub timestamp: DateTime,
    /// Contents of the message.
    pub content: JsonDiscoveryContent,
}

/// Contents of a discovery message.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonDiscoveryContent {
    /// `ua-metadata`: metadata of a DataSetWriter (OPC 10000-14, 7.2.5.5.2).
    DataSetMetaData {
        /// DataSetWriterId, unique within the Publisher; `None` if the sender identifies the DataSetWriter by name.
        data_set_writer_id: Option<u16>,
        /// The name of the WriterGroup.
        writer_group_name: UaString,
        /// The name of the DataSetWriter.
        data_set_writer_name: UaString,
        /// The metadata.
        meta_data: DataSetMetaDataType,
    },
    /// `ua-application`: description of the application (OPC 10000-14, 7.2.5.5.3).
    ApplicationDescription {
        /// The application.
        description: ApplicationDescription,
        /// Identifiers of its capabilities, see OPC 10000-12.
        server_capabilities: Vec<UaString>,
    },
    /// `ua-endpoints`: Endpoints of its server (OPC 10000-14, 7.2.5.5.4).
    ServerEndpoints(Vec<EndpointDescription>),
    /// `ua-status`: state of the PubSubConnection (OPC 10000-14, 7.2.5.5.5).
    Status {
        /// True if the message is sent regularly.
        is_cyclic: bool,
        /// The state.
        status: PubSubState,
        /// Latest time of the next message, if messages are sent regularly.
        next_report_time: Option<DateTime>,
    },
    /// `ua-connection`: configuration of the PubSubConnection (OPC 10000-14, 7.2.5.5.6).
    PubSubConnection(PubSubConnectionDataType),
    /// `ua-action-metadata`: Actions that can be requested (OPC 10000-14, 7.2.5.5.7).
    ActionMetaData {
        /// DataSetWriterId of the responses.
        data_set_writer_id: Option<u16>,
        /// Name of the DataSetWriter.
        data_set_writer_name: UaString,
        /// Targets of the Actions.
        action_targets: Vec<ActionTargetDataType>,
        /// Metadata of requests.
        request: Box<DataSetMetaDataType>,
        /// Metadata of responses.
        response: Box<DataSetMetaDataType>,
        /// The Methods that the targets are, if they are Methods.
        action_methods: Vec<ActionMethodDataType>,
    },
    /// `ua-action-responder`: configuration of the connection for Actions (OPC 10000-14, 7.2.5.5.8).
    ActionResponder(PubSubConnectionDataType),
}

impl JsonDiscoveryContent {
    fn message_type(&self) -> &'static str {
        match self {
            Self::DataSetMetaData { .. } => "ua-metadata",
            Self::ApplicationDescription { .. } => "ua-application",
            Self::ServerEndpoints(_) => "ua-endpoints",
            Self::Status { .. } => "ua-status",
            Self::PubSubConnection(_) => "ua-connection",
            Self::ActionMetaData { .. } => "ua-action-metadata",
            Self::ActionResponder(_) => "ua-action-responder",
        }
    }
}

impl JsonDiscoveryMessage {
    /// Reads a message; `None` if its MessageType is not one of these.
    pub(super) fn decode(
        message_type: &str,
        value: &Value,
    ) -> Result<Option<Self>, JsonMessageError> {
        let fields = Fields::of(value)?;
        let content = match message_type {
            "ua-metadata" => {
                let (data_set_writer_id, data_set_writer_name) = fields.writer_id()?;
                JsonDiscoveryContent::DataSetMetaData {
                    data_set_writer_id,
                    writer_group_name: fields.text("WriterGroupName")?,
                    data_set_writer_name,
                    meta_data: meta_data(fields, "MetaData")?,
                }
            }
            "ua-application" => JsonDiscoveryContent::ApplicationDescription {
                description: fields.required("Description")?,
                server_capabilities: fields.texts("ServerCapabilities")?,
            },
            "ua-endpoints" => {
                JsonDiscoveryContent::ServerEndpoints(fields.structures("Endpoints")?)
            }
            "ua-status" => JsonDiscoveryContent::Status {
                is_cyclic: fields
                    .optional("IsCyclic", BuiltInType::Boolean)?
                    .unwrap_or(false),
                status: status(fields)?,
                next_report_time: fields.optional_time("NextReportTime")?,
            },
            "ua-connection" => {
                JsonDiscoveryContent::PubSubConnection(fields.required("Connection")?)
            }
            "ua-action-metadata" => {
                let (data_set_writer_id, data_set_writer_name) = fields.writer_id()?;
                JsonDiscoveryContent::ActionMetaData {
                    data_set_writer_id,
                    data_set_writer_name,
                    action_targets: fields.structures("ActionTargets")?,
                    request: Box::new(meta_data(fields, "Request")?),
                    response: Box::new(meta_data(fields, "Response")?),
                    action_methods: fields.structures("ActionMethods")?,
                }
            }
            "ua-action-responder" => {
                JsonDiscoveryContent::ActionResponder(fields.required("Connection")?)
            }
            _ => return Ok(None),
        };
        Ok(Some(Self {
            message_id: fields.text("MessageId")?,
            publisher_id: fields.text("PublisherId")?,
            timestamp: fields.time("Timestamp")?,
            content,
        }))
    }

    pub(super) fn encode(&self) -> Value {
        let mut writer = Writer::default();
        writer.text("MessageId", &self.message_id);
        writer.insert("MessageType", self.content.message_type());
        writer.text("PublisherId", &self.publisher_id);
        let timestamp = Some(self.timestamp).filter(|time| !time.is_null());
        let time = |writer: &mut Writer| {
            if let Some(timestamp) = timestamp {
                writer.time("Timestamp", timestamp);
            }
        };
        match &self.content {
            JsonDiscoveryContent::DataSetMetaData {
                data_set_writer_id,
                writer_group_name,
                data_set_writer_name,
                meta_data,
            } => {
                writer.optional("DataSetWriterId", *data_set_writer_id);
                writer.text("WriterGroupName", writer_group_name);
                writer.text("DataSetWriterName", data_set_writer_name);
                time(&mut writer);
                writer.structure("MetaData", meta_data);
            }
            JsonDiscoveryContent::ApplicationDescription {
                description,
                server_capabilities,
            } => {
                time(&mut writer);
                writer.structure("Description", description);
                let capabilities = Writer::encoder().value(&server_capabilities.clone().into());
                writer.insert("ServerCapabilities", capabilities);
            }
            JsonDiscoveryContent::ServerEndpoints(endpoints) => {
                time(&mut writer);
                writer.structures("Endpoints", endpoints);
            }
            JsonDiscoveryContent::Status {
                is_cyclic,
                status,
                next_report_time,
            } => {
                time(&mut writer);
                writer.insert("IsCyclic", *is_cyclic);
                writer.insert("Status", status.0);
                if let Some(next) = next_report_time {
                    writer.time("NextReportTime", *next);
                }
            }
            JsonDiscoveryContent::PubSubConnection(connection)
            | JsonDiscoveryContent::ActionResponder(connection) => {
                time(&mut writer);
                writer.structure("Connection", connection);
            }
            JsonDiscoveryContent::ActionMetaData {
                data_set_writer_id,
                data_set_writer_name,
                action_targets,
                request,
                response,
                action_methods,
            } => {
                writer.optional("DataSetWriterId", *data_set_writer_id);
                writer.text("DataSetWriterName", data_set_writer_name);
                time(&mut writer);
                writer.structures("ActionTargets", action_targets);
                writer.structure("Request", &**request);
                writer.structure("Response", &**response);
                writer.structures("ActionMethods", action_methods);
            }
        }
        writer.object.into()
    }
}

/// Reads metadata, which contains the namespaces of its NodeIds.
fn meta_data(
    fields: Fields<'_>,
    name: &'static str,
) -> Result<DataSetMetaDataType, JsonMessageError> {
    let missing = || JsonMessageError::new(JsonMessageErrorKind::MissingField(name));
    let value = fields.get(name).ok_or_else(missing)?;
    let meta_data = Fields::of(value).and_then(|fields| {
        let namespaces = fields.texts("Namespaces")?;
        // NodeIds in the metadata may have the NamespaceUris that it lists itself.
        let context = JsonContext {
            namespaces: &namespaces,
            ..JsonContext::default()
        };
        let decoder = JsonDecoder::new(context);
        let whole = decoder.structure(value);
        // If that does not help, the first error is told: it names the place.
        whole.or_else(|error| without_bad_fields(&decoder, fields).ok_or(error.into()))
    });
    meta_data.map_err(|error| error.in_field(name))
}

/// Reads metadata one of whose fields cannot be decoded. It is read without its properties; if that fails, only its name is kept,
/// so that it has no type. `None` if something else cannot be decoded.
#[cold]
fn without_bad_fields(
    decoder: &JsonDecoder<'_>,
    fields: Fields<'_>,
) -> Option<DataSetMetaDataType> {
    let described = fields.array("Fields").ok()?;
    let mut rest = fields.object.clone();
    // Each field is read alone, so that a bad one does not spoil the others.
    rest.shift_remove("Fields");
    let mut meta_data: DataSetMetaDataType = decoder.structure(&Value::Object(rest)).ok()?;
    let read = |field: &Value| {
        let whole = decoder.structure(field);
        let bare = whole.or_else(|_| {
            let mut field = field.as_object().cloned().unwrap_or_default();
            field.shift_remove("Properties");
            decoder.structure(&Value::Object(field))
        });
        bare.unwrap_or_else(|_| FieldMetaData {
            name: field.get("Name").and_then(Value::as_str).into(),
            value_rank: ANY_RANK,
            ..FieldMetaData::default()
        })
    };
    meta_data.fields = described.iter().map(read).collect();
    Some(meta_data)
}

/// ValueRank of a scalar or an array (OPC 10000-3, 5.6.2).
const ANY_RANK: i32 = -2;

fn status(fields: Fields<'_>) -> Result<PubSubState, JsonMessageError> {
    let status = fields.get("Status").map(|value| {
        JsonDecoder::new(JsonContext::default())
            .enumeration(value)
            .map_err(|error| error.in_field("Status"))
    });
    Ok(PubSubState(status.transpose()?.unwrap_or_default()))
}

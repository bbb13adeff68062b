//! Action messages of both mappings (OPC 10000-14, 7.2.4.4.2, 7.2.4.5.9, 7.2.4.5.10 and 7.2.5.6).

use std::collections::HashMap;
use std::time::Duration;

use takt_ua::enumerations::ActionState;
use takt_ua::structures::DataSetMetaDataType;
use takt_ua::{ByteString, DataValue, DateTime, StatusCode, UaString, Variant};
use takt_wire::json::{
    JsonAction, JsonActionKind, JsonActionMessage, JsonField, JsonFieldEncoding, JsonMessage,
    JsonMessageError, JsonPayload,
};
use takt_wire::{
    Action, ActionFields, ActionFieldsRef, ActionHeader, DataSetContent, DataSetContentRef,
    DataSetMessage, DataSetMessageRef, NetworkMessage, NetworkMessageRef, PayloadParameters,
    PayloadRef, PublisherId, RawDataLayout,
};

use crate::error::{PublishError, ReceiveError};
use crate::settings::milliseconds;
use crate::subscriber::is_json;

/// Encoding of Action messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionMapping {
    /// UADP, with the layout UADP-Dynamic.
    Uadp,
    /// JSON, in NetworkMessages of their own.
    Json,
}

/// Requests or responses that share a NetworkMessage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ActionMessage {
    pub(super) is_request: bool,
    /// PublisherId of the Responder.
    pub(super) publisher_id: PublisherId,
    pub(super) response_address: Option<String>,
    pub(super) correlation_data: Option<Vec<u8>>,
    /// PublisherId of the Requestor.
    pub(super) requestor_id: Option<PublisherId>,
    pub(super) timeout_hint: Option<Duration>,
    pub(super) exchanges: Vec<Exchange>,
    /// Error of a request or response that cannot be decoded; it is not among the others.
    pub(super) lost: Option<ReceiveError>,
}

/// Request, or the response to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    pub(super) data_set_writer_id: u16,
    pub(super) action_target_id: u16,
    pub(super) request_id: u16,
    pub(super) action_state: ActionState,
    pub(super) status: StatusCode,
    /// Arguments or results; an error if they do not match the metadata, or if an argument cannot be decoded. For a result that
    /// cannot be decoded, there is its StatusCode.
    pub(super) fields: Result<Vec<Variant>, StatusCode>,
}

/// Function that returns the metadata of the requests or responses of a DataSetWriter.
pub(super) type MetaDataOf<'m> = &'m dyn Fn(u16) -> Option<&'m DataSetMetaDataType>;

impl ActionMessage {
    /// Reads a message of either mapping; `None` if it is not an Action message. `meta_data` returns the metadata of requests if
    /// its first argument is true.
    pub(super) fn decode<'m>(
        bytes: &[u8],
        meta_data: &dyn Fn(bool, u16) -> Option<&'m DataSetMetaDataType>,
    ) -> Result<Option<Self>, ReceiveError> {
        match is_json(bytes) {
            true => match JsonMessage::decode(bytes)? {
                JsonMessage::Action(message) => Ok(Some(Self::of_json(message, meta_data))),
                _ => Ok(None),
            },
            false => Self::of_uadp(bytes, meta_data),
        }
    }

    fn of_uadp<'m>(
        bytes: &[u8],
        meta_data: &dyn Fn(bool, u16) -> Option<&'m DataSetMetaDataType>,
    ) -> Result<Option<Self>, ReceiveError> {
        let message = NetworkMessageRef::new_checked(bytes)?;
        let is_protected = message.security_header.is_some_and(|header| header.signed);
        let (Some(header), Some(publisher_id)) = (message.action_header, message.publisher_id)
        else {
            return Ok(None);
        };
        // There are no keys for Actions. A signature that is not verified would let forged requests in.
        if is_protected {
            return Err(ReceiveError::NotExpected);
        }
        let PayloadRef::DataSetMessages(messages) =
            message.payload(&PayloadParameters::default())?
        else {
            return Ok(None);
        };
        let is_request = header.request;
        let (mut exchanges, mut lost) = (Vec::new(), None);
        for (position, found) in messages.iter().enumerate() {
            let mended;
            let (message, is_mended) = match found {
                Ok(message) => (message, false),
                Err(error) => match messages.mend(position, error) {
                    Ok(message) => {
                        mended = message;
                        (mended.message()?, true)
                    }
                    Err(error) => {
                        lost = Some(error.error.into());
                        continue;
                    }
                },
            };
            let id = message.data_set_writer_id.unwrap_or(0);
            let exchange = Exchange::of_uadp(&message, is_request, meta_data(is_request, id));
            exchanges.extend(exchange.map(|exchange| match is_mended && is_request {
                // An Action is not carried out with an argument that is guessed.
                true => Exchange {
                    fields: Err(StatusCode::BadDecodingError),
                    ..exchange
                },
                false => exchange,
            }));
        }
        let header = header.to_owned();
        Ok(Some(Self {
            is_request,
            publisher_id: publisher_id.to_owned(),
            response_address: header.response_address.and_then(|it| text(&it)),
            correlation_data: header
                .correlation_data
                .and_then(|data| data.as_option().map(<[u8]>::to_vec)),
            requestor_id: header
                .requestor_id
                .as_ref()
                .and_then(PublisherId::from_variant),
            timeout_hint: header.timeout_hint.map(milliseconds),
            exchanges,
            lost,
        }))
    }

    fn of_json<'m>(
        message: JsonActionMessage,
        meta_data: &dyn Fn(bool, u16) -> Option<&'m DataSetMetaDataType>,
    ) -> Self {
        let is_request = message.kind == JsonActionKind::Request;
        let exchange = |action: &JsonAction| {
            let id = action.data_set_writer_id.unwrap_or(0);
            Exchange::of_json(action, is_request, meta_data(is_request, id))
        };
        Self {
            is_request,
            publisher_id: PublisherId::String(message.publisher_id),
            response_address: text(&message.response_address),
            correlation_data: message.correlation_data.as_option().map(<[u8]>::to_vec),
            requestor_id: (!message.requestor_id.is_null())
                .then_some(PublisherId::String(message.requestor_id)),
            timeout_hint: message.timeout_hint.map(milliseconds),
            exchanges: message.messages.iter().map(exchange).collect(),
            lost: None,
        }
    }

    /// Writes the message. `message_id` is the MessageId of a message in JSON.
    pub(super) fn encode(
        &self,
        mapping: ActionMapping,
        meta_data: MetaDataOf<'_>,
        message_id: &str,
        now: DateTime,
    ) -> Result<Vec<u8>, PublishError> {
        match mapping {
            ActionMapping::Uadp => Ok(self.uadp().encode_to_vec()?),
            ActionMapping::Json => {
                let message = self.json(meta_data, message_id, now);
                Ok(JsonMessage::Action(message).encode()?.into_bytes())
            }
        }
    }

    fn uadp(&self) -> NetworkMessage {
        let messages = self.exchanges.iter();
        let messages = messages.map(|exchange| exchange.uadp(self.is_request));
        NetworkMessage {
            action_header: Some(ActionHeader {
                request: self.is_request,
                response_address: self.response_address.as_deref().map(UaString::from),
                correlation_data: self
                    .correlation_data
                    .as_deref()
                    .map(|data| ByteString::from(Some(data))),
                requestor_id: self.requestor_id.clone().map(Variant::from),
                timeout_hint: self.timeout_hint.map(|hint| hint.as_secs_f64() * 1000.0),
            }),
            ..NetworkMessage::data(Some(self.publisher_id.clone()), messages.collect())
        }
    }

    fn json(
        &self,
        meta_data: MetaDataOf<'_>,
        message_id: &str,
        now: DateTime,
    ) -> JsonActionMessage {
        let messages = self.exchanges.iter();
        let messages = messages
            .map(|exchange| exchange.json(self.is_request, meta_data(exchange.data_set_writer_id)));
        JsonActionMessage {
            kind: match self.is_request {
                true => JsonActionKind::Request,
                false => JsonActionKind::Response,
            },
            message_id: message_id.into(),
            publisher_id: self.publisher_id.to_string().as_str().into(),
            timestamp: now,
            response_address: self.response_address.as_deref().into(),
            correlation_data: self.correlation_data.as_deref().into(),
            requestor_id: self
                .requestor_id
                .as_ref()
                .map_or(UaString::default(), |id| id.to_string().as_str().into()),
            timeout_hint: self.timeout_hint.map(|hint| hint.as_secs_f64() * 1000.0),
            messages: messages.collect(),
        }
    }
}

impl Exchange {
    fn of_uadp(
        message: &DataSetMessageRef<'_>,
        is_request: bool,
        meta_data: Option<&DataSetMetaDataType>,
    ) -> Option<Self> {
        let action = match message.content {
            DataSetContentRef::ActionRequest(action)
            | DataSetContentRef::ActionResponse(action) => action,
            _ => return None,
        };
        let fields = match action.fields {
            ActionFieldsRef::Variant(fields) => {
                Ok(fields.iter().map(|field| field.to_owned()).collect())
            }
            ActionFieldsRef::RawData { bytes, .. } => meta_data
                .and_then(|meta_data| RawDataLayout::new(meta_data).ok())
                .and_then(|layout| match layout.decode(bytes) {
                    Ok(values) => Some(values),
                    Err(_) if is_request => None,
                    Err(_) => layout.mend(bytes).ok().map(|(values, _)| values),
                })
                .ok_or(StatusCode::BadDecodingError),
        };
        Some(Self {
            data_set_writer_id: message.data_set_writer_id.unwrap_or(0),
            action_target_id: action.action_target_id,
            request_id: action.request_id,
            action_state: action.action_state,
            status: message.status.unwrap_or(StatusCode::Good),
            fields,
        })
    }

    /// Reads the fields of a JSON message by their names, in the order of the metadata. A result that is missing is null, if
    /// another one follows.
    fn of_json(
        action: &JsonAction,
        is_request: bool,
        meta_data: Option<&DataSetMetaDataType>,
    ) -> Self {
        let empty = JsonPayload::default();
        let payload = action.payload.as_ref().unwrap_or(&empty);
        let value = |read: Result<DataValue, JsonMessageError>| match read {
            Ok(value) if value.status_code().is_bad() => {
                Ok(Variant::StatusCode(value.status_code()))
            }
            Ok(value) => Ok(value.value.unwrap_or_default()),
            // An Action is not carried out with an argument that cannot be decoded.
            Err(error) if is_request => Err(error.status_code()),
            Err(error) => Ok(Variant::StatusCode(error.status_code())),
        };
        let fields = payload.read(meta_data);
        let fields = fields.map(|(name, read)| Ok((name, value(read)?)));
        let read = fields.collect::<Result<Vec<_>, _>>().map(|fields| {
            let Some(meta_data) = meta_data else {
                return fields.into_iter().map(|(_, value)| value).collect();
            };
            let mut fields: HashMap<&str, Variant> = fields.into_iter().collect();
            let mut found = Vec::new();
            for (index, described) in meta_data.fields.iter().enumerate() {
                if let Some(value) = fields.remove(described.name.as_str()) {
                    found.resize(index, Variant::Empty);
                    found.push(value);
                }
            }
            found
        });
        Self {
            data_set_writer_id: action.data_set_writer_id.unwrap_or(0),
            action_target_id: action.action_target_id,
            request_id: action.request_id,
            action_state: action.action_state,
            status: action.status.unwrap_or(StatusCode::Good),
            fields: read,
        }
    }

    fn uadp(&self, is_request: bool) -> DataSetMessage {
        let action = Action {
            action_target_id: self.action_target_id,
            request_id: self.request_id,
            action_state: self.action_state,
            fields: ActionFields::Variant(self.fields.clone().unwrap_or_default()),
        };
        DataSetMessage {
            data_set_writer_id: Some(self.data_set_writer_id),
            status: (!is_request).then_some(self.status),
            ..DataSetMessage::new(match is_request {
                true => DataSetContent::ActionRequest(action),
                false => DataSetContent::ActionResponse(action),
            })
        }
    }

    fn json(&self, is_request: bool, meta_data: Option<&DataSetMetaDataType>) -> JsonAction {
        let values = self.fields.clone().unwrap_or_default();
        let names = meta_data.map_or(&[][..], |meta_data| &meta_data.fields);
        let fields = values.into_iter().enumerate().map(|(index, value)| {
            // A Payload has names only: without metadata, a position is the name.
            let name = names.get(index).map(|field| field.name.to_string());
            JsonField::new(name.unwrap_or_else(|| index.to_string()), value)
        });
        let fields: Vec<JsonField> = fields.collect();
        JsonAction {
            data_set_writer_id: Some(self.data_set_writer_id),
            action_target_id: self.action_target_id,
            request_id: self.request_id,
            action_state: self.action_state,
            status: (!is_request).then_some(self.status),
            payload: Some(JsonPayload::new(
                &fields,
                JsonFieldEncoding::default(),
                meta_data,
            )),
            ..JsonAction::default()
        }
    }
}

fn text(text: &UaString) -> Option<String> {
    let text = text.as_option().filter(|text| !text.is_empty());
    text.map(str::to_owned)
}

/// Returns true if two PublisherIds are the same. JSON represents them as texts.
pub(super) fn same_id(one: &PublisherId, other: &PublisherId) -> bool {
    one.to_string() == other.to_string()
}

/// Error: a message was not understood, or its response was not made.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// The bytes are not a message of OPC 10000-14.
    #[error(transparent)]
    Receive(#[from] ReceiveError),
    /// The response cannot be encoded.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

//! NetworkMessages with DataSetMessages (OPC 10000-14, 7.2.5.3).

use serde_json::{Map, Value};
use takt_ua::{BuiltInType, Guid, UaString};

use super::header::{Fields, Writer};
use super::{JsonDataSetMessage, JsonLayout, JsonMessageError};

/// A NetworkMessage of DataSetMessages: `ua-data`. Null texts are left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JsonNetworkMessage {
    /// Headers of the message. Fields of missing headers are not written.
    pub layout: JsonLayout,
    /// Id that is unique for each message.
    pub message_id: UaString,
    /// PublisherId; a number is written in decimal digits.
    pub publisher_id: UaString,
    /// The name of the WriterGroup.
    pub writer_group_name: UaString,
    /// The DataSetClass of all DataSetMessages.
    pub data_set_class_id: Option<Guid>,
    /// The DataSetMessages; one if the layout requires it.
    pub messages: Vec<JsonDataSetMessage>,
    /// Errors of DataSetMessages that cannot be decoded, with their places. They are not written.
    pub refused: Vec<JsonMessageError>,
}

/// Names of the header's fields.
const HEADER: [&str; 5] = [
    "MessageId",
    "PublisherId",
    "WriterGroupName",
    "DataSetClassId",
    "Messages",
];

impl JsonNetworkMessage {
    /// Returns the layout that fits the form of a message.
    pub(super) fn guess(value: &Value) -> JsonLayout {
        let messages = value.as_object().and_then(|object| object.get("Messages"));
        // Without headers, a field of the payload could be named MessageType; so its value and the other fields are
        // checked as well.
        let has_messages = messages.is_some_and(|it| it.is_array() || it.is_object());
        let network_message_header = match value.get("MessageType").map(Value::as_str) {
            Some(Some("ua-data")) if messages.is_none() => value.get("MessageId").is_some(),
            Some(Some("ua-data")) => has_messages,
            Some(_) => false,
            // Without a MessageType, nothing but headers may be there.
            None => {
                let mut names = value.as_object().into_iter().flat_map(Map::keys);
                has_messages
                    && messages.is_some_and(have_headers)
                    && names.all(|name| HEADER.contains(&name.as_str()))
            }
        };
        let messages = match messages {
            _ if !network_message_header => value,
            Some(messages) => messages,
            None => return JsonLayout::NETWORK_MESSAGE,
        };
        JsonLayout {
            network_message_header,
            // Without a header, one broken message must not make fields of the headers of the others.
            data_set_message_header: match network_message_header {
                true => any_has_header(messages),
                false => have_headers(messages),
            },
            single_data_set_message: !messages.is_array(),
        }
    }

    pub(super) fn decode(value: Value, layout: JsonLayout) -> Result<Self, JsonMessageError> {
        let mut message = Self {
            layout,
            ..Self::default()
        };
        if !layout.network_message_header {
            message.take(value, layout, |error| error)?;
            return Ok(message);
        }
        let mut object: Map<String, Value> = match value {
            Value::Object(object) => object,
            other => return Err(JsonMessageError::expected("a NetworkMessage", &other)),
        };
        // A message without DataSetMessages is empty.
        let messages = match object.shift_remove("Messages") {
            None | Some(Value::Null) => Value::Array(Vec::new()),
            Some(messages) => messages,
        };
        let fields = Fields { object: &object };
        message.message_id = fields.text("MessageId")?;
        message.publisher_id = fields.text("PublisherId")?;
        message.writer_group_name = fields.text("WriterGroupName")?;
        message.data_set_class_id = fields.optional("DataSetClassId", BuiltInType::Guid)?;
        message.take(messages, layout, |error| error.in_field("Messages"))?;
        Ok(message)
    }

    /// Reads one or many DataSetMessages regardless of the layout, because other products do not follow it strictly. Of several,
    /// those that cannot be decoded do not spoil the others.
    fn take(
        &mut self,
        value: Value,
        layout: JsonLayout,
        at: impl Fn(JsonMessageError) -> JsonMessageError,
    ) -> Result<(), JsonMessageError> {
        let has_header = layout.data_set_message_header;
        let elements = match value {
            Value::Array(elements) => elements,
            single => {
                let message = JsonDataSetMessage::decode(single, has_header).map_err(at)?;
                self.messages.push(message);
                return Ok(());
            }
        };
        for (index, element) in elements.into_iter().enumerate() {
            match JsonDataSetMessage::decode(element, has_header) {
                Ok(message) => self.messages.push(message),
                Err(error) => self.refused.push(at(error.in_element(index))),
            }
        }
        // If all are bad, the message is refused, as one with a single DataSetMessage would be.
        match (self.messages.is_empty(), self.refused.first()) {
            (true, Some(error)) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    pub(super) fn encode(&self) -> Result<Value, JsonMessageError> {
        let with_header = self.layout.data_set_message_header;
        let mut messages = self
            .messages
            .iter()
            .map(|message| message.encode(with_header));
        let messages = if self.layout.single_data_set_message {
            match (messages.next(), messages.next()) {
                (Some(message), None) => message?,
                _ => {
                    let what = "other than one DataSetMessage in the layout for one";
                    return Err(JsonMessageError::forbidden(what));
                }
            }
        } else {
            messages.collect::<Result<Vec<_>, _>>()?.into()
        };
        if !self.layout.network_message_header {
            return Ok(messages);
        }
        let mut writer = Writer::default();
        writer.text("MessageId", &self.message_id);
        writer.insert("MessageType", "ua-data");
        writer.text("PublisherId", &self.publisher_id);
        writer.text("WriterGroupName", &self.writer_group_name);
        writer.optional(
            "DataSetClassId",
            self.data_set_class_id.map(|id| id.to_string()),
        );
        writer.insert("Messages", messages);
        Ok(writer.object.into())
    }
}

/// Returns true if one or many DataSetMessages look as if they had headers.
fn have_headers(messages: &Value) -> bool {
    elements(messages).iter().all(has_header)
}

/// Returns true if there is no DataSetMessage, or one that looks as if it had a header.
fn any_has_header(messages: &Value) -> bool {
    let elements = elements(messages);
    elements.is_empty() || elements.iter().any(has_header)
}

fn elements(messages: &Value) -> &[Value] {
    match messages {
        Value::Array(elements) => elements,
        single => std::slice::from_ref(single),
    }
}

fn has_header(message: &Value) -> bool {
    let object = message.as_object();
    object.is_some_and(JsonDataSetMessage::has_header)
}

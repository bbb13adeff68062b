//! JSON messages: written messages are read again, and hostile texts do no harm.

use crate::common::values::{data_value, ua_string, variant};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use takt_ua::enumerations::{ActionState, PubSubState};
use takt_ua::json_encoding::JsonEncoding;
use takt_ua::structures::{
    ActionTargetDataType, ApplicationDescription, ConfigurationVersionDataType,
    DataSetMetaDataType, EndpointDescription, FieldMetaData, PubSubConnectionDataType,
};
use takt_ua::{BuiltInType, DateTime, NodeId, StatusCode, UaString};
use takt_wire::json::{
    JsonAction, JsonActionKind, JsonActionMessage, JsonDataSetMessage, JsonDiscoveryContent,
    JsonDiscoveryMessage, JsonField, JsonFieldContent, JsonFieldEncoding, JsonLayout, JsonMessage,
    JsonNetworkMessage, JsonPayload,
};

fn simple(name: &str, built_in_type: BuiltInType) -> FieldMetaData {
    FieldMetaData {
        name: name.into(),
        built_in_type: built_in_type as u8,
        data_type: NodeId::numeric(0, built_in_type as u32),
        value_rank: -1,
        ..FieldMetaData::default()
    }
}

fn meta_data(fields: Vec<FieldMetaData>) -> DataSetMetaDataType {
    DataSetMetaDataType {
        fields,
        ..DataSetMetaDataType::default()
    }
}

fn time() -> impl Strategy<Value = DateTime> {
    (1..2_650_467_743_990_000_000_i64).prop_map(DateTime)
}

fn json_fields() -> impl Strategy<Value = Vec<JsonField>> {
    let field =
        ("[A-Za-z ]{1,8}", data_value()).prop_map(|(name, value)| JsonField { name, value });
    vec(field, 0..4)
}

fn encoding() -> impl Strategy<Value = JsonFieldEncoding> {
    (0..3, any::<bool>()).prop_map(|(encoding, variant)| JsonFieldEncoding {
        encoding: match encoding {
            0 => JsonEncoding::Compact,
            1 => JsonEncoding::Verbose,
            _ => JsonEncoding::RawData,
        },
        content: if variant {
            JsonFieldContent::Variant
        } else {
            JsonFieldContent::DataValue
        },
    })
}

fn payload() -> impl Strategy<Value = JsonPayload> {
    (json_fields(), encoding())
        .prop_map(|(fields, encoding)| JsonPayload::new(&fields, encoding, None))
}

fn version() -> impl Strategy<Value = ConfigurationVersionDataType> {
    any::<(u32, u32)>().prop_map(
        |(major_version, minor_version)| ConfigurationVersionDataType {
            major_version,
            minor_version,
        },
    )
}

fn data_set_message() -> impl Strategy<Value = JsonDataSetMessage> {
    let ids = (
        option::of(any::<u16>()),
        ua_string(),
        ua_string(),
        ua_string(),
    );
    let header = (
        option::of(any::<u32>()),
        option::of(version()),
        option::of(any::<u32>()),
        option::of(time()),
        option::of(any::<u32>()),
        option::of("[a-z-]{1,12}"),
    );
    (ids, header, option::of(payload())).prop_map(|(ids, header, payload)| JsonDataSetMessage {
        data_set_writer_id: ids.0,
        data_set_writer_name: ids.1,
        publisher_id: ids.2,
        writer_group_name: ids.3,
        sequence_number: header.0,
        meta_data_version: header.1,
        minor_version: header.2,
        timestamp: header.3,
        status: header.4.map(StatusCode),
        message_type: header.5.as_deref().map(Into::into),
        payload,
    })
}

fn action() -> impl Strategy<Value = JsonAction> {
    let ids = any::<(Option<u16>, u16, u16, i32)>();
    let rest = (
        ua_string(),
        option::of(version()),
        option::of(time()),
        option::of(payload()),
    );
    (ids, rest).prop_map(|(ids, rest)| JsonAction {
        data_set_writer_id: ids.0,
        action_target_id: ids.1,
        request_id: ids.2,
        action_state: ActionState(ids.3),
        writer_group_name: rest.0,
        meta_data_version: rest.1,
        timestamp: rest.2,
        payload: rest.3,
        ..JsonAction::default()
    })
}

fn content() -> impl Strategy<Value = JsonDiscoveryContent> {
    let connection = |(name, enabled): (UaString, bool)| PubSubConnectionDataType {
        name,
        enabled,
        publisher_id: 7_u16.into(),
        ..PubSubConnectionDataType::default()
    };
    let named = |name: UaString| DataSetMetaDataType {
        name,
        fields: vec![simple("Speed", BuiltInType::Double)],
        ..DataSetMetaDataType::default()
    };
    let capabilities = vec(ua_string(), 0..3);
    prop_oneof![
        (option::of(any::<u16>()), ua_string(), ua_string()).prop_map(move |(id, group, name)| {
            JsonDiscoveryContent::DataSetMetaData {
                data_set_writer_id: id,
                writer_group_name: group,
                data_set_writer_name: name.clone(),
                meta_data: named(name),
            }
        }),
        (ua_string(), capabilities).prop_map(|(uri, server_capabilities)| {
            JsonDiscoveryContent::ApplicationDescription {
                description: ApplicationDescription {
                    application_uri: uri,
                    ..ApplicationDescription::default()
                },
                server_capabilities,
            }
        }),
        vec(ua_string(), 0..3).prop_map(|urls| {
            let endpoint = |endpoint_url| EndpointDescription {
                endpoint_url,
                ..EndpointDescription::default()
            };
            JsonDiscoveryContent::ServerEndpoints(urls.into_iter().map(endpoint).collect())
        }),
        (any::<bool>(), any::<i32>(), option::of(time())).prop_map(
            |(is_cyclic, status, next_report_time)| JsonDiscoveryContent::Status {
                is_cyclic,
                status: PubSubState(status),
                next_report_time,
            }
        ),
        (ua_string(), any::<bool>())
            .prop_map(move |parts| JsonDiscoveryContent::PubSubConnection(connection(parts))),
        (ua_string(), any::<bool>())
            .prop_map(move |parts| JsonDiscoveryContent::ActionResponder(connection(parts))),
        (any::<u16>(), ua_string()).prop_map(move |(id, name)| {
            JsonDiscoveryContent::ActionMetaData {
                data_set_writer_id: Some(id),
                data_set_writer_name: name.clone(),
                action_targets: vec![ActionTargetDataType {
                    action_target_id: id,
                    ..ActionTargetDataType::default()
                }],
                request: Box::new(named(name)),
                response: Box::default(),
                action_methods: Vec::new(),
            }
        }),
    ]
}

fn message() -> impl Strategy<Value = JsonMessage> {
    let data = (
        (any::<bool>(), any::<bool>(), any::<bool>()),
        (ua_string(), ua_string()),
        vec(data_set_message(), 1..4),
    );
    let data = data.prop_map(
        |((network_message_header, data_set_message_header, single), ids, mut messages)| {
            if single {
                messages.truncate(1);
            }
            for message in &mut messages {
                if !data_set_message_header {
                    let payload = std::mem::take(&mut message.payload).unwrap_or_default();
                    *message = JsonDataSetMessage {
                        payload: Some(payload),
                        ..JsonDataSetMessage::default()
                    };
                }
            }
            let ids = if network_message_header {
                ids
            } else {
                Default::default()
            };
            JsonMessage::Data(JsonNetworkMessage {
                layout: JsonLayout {
                    network_message_header,
                    data_set_message_header,
                    single_data_set_message: single,
                },
                message_id: ids.0,
                publisher_id: ids.1,
                messages,
                ..JsonNetworkMessage::default()
            })
        },
    );
    let ids = ("[0-9A-F]{1,8}", ua_string(), time());
    let discovery =
        (ids, content()).prop_map(|((message_id, publisher_id, timestamp), content)| {
            JsonMessage::Discovery(Box::new(JsonDiscoveryMessage {
                message_id: message_id.into(),
                publisher_id,
                timestamp,
                content,
            }))
        });
    let ids = ("[0-9A-F]{1,8}", ua_string(), time());
    let rest = (
        any::<bool>(),
        option::of(0.0..1e9),
        option::of(vec(any::<u8>(), 0..5)),
    );
    let actions = (ids, rest, vec(action(), 0..3)).prop_map(|(ids, rest, messages)| {
        JsonMessage::Action(JsonActionMessage {
            kind: if rest.0 {
                JsonActionKind::Request
            } else {
                JsonActionKind::Response
            },
            message_id: ids.0.into(),
            publisher_id: ids.1.clone(),
            timestamp: ids.2,
            response_address: ids.1,
            correlation_data: rest.2.as_deref().into(),
            requestor_id: UaString::null(),
            timeout_hint: rest.1,
            messages,
        })
    });
    prop_oneof![data, discovery, actions]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn encoded_messages_are_decoded_to_the_same(message in message()) {
        let text = message.encode().unwrap();
        let layout = match &message {
            JsonMessage::Data(message) => Some(message.layout),
            _ => None,
        };
        let again = JsonMessage::decode_with(text.as_bytes(), layout, usize::MAX).unwrap();
        prop_assert_eq!(again, message);
        // It is read as a message, with any recognized layout.
        prop_assert!(JsonMessage::decode(text.as_bytes()).is_ok());
    }

    #[test]
    fn fields_are_the_same_with_their_metadata(value in variant(), encoding in encoding()) {
        let built_in_type = value.built_in_type().unwrap_or(BuiltInType::Variant);
        let meta_data = meta_data(vec![simple("A", built_in_type)]);
        let fields = [JsonField::new("A", value)];
        let payload = JsonPayload::new(&fields, encoding, Some(&meta_data));
        let text = serde_json::Value::Object(payload.as_object().clone()).to_string();
        let message = JsonMessage::decode_with(text.as_bytes(), Some(JsonLayout::MINIMAL), usize::MAX);
        let JsonMessage::Data(message) = message.unwrap() else { unreachable!() };
        let read = message.messages[0].payload.as_ref().unwrap();
        let again = read.fields(Some(&meta_data));
        // RawData does not contain the types of these values: another value is read, or none.
        let unknown = matches!(
            built_in_type,
            BuiltInType::Variant | BuiltInType::ExtensionObject | BuiltInType::DataValue
        );
        if encoding.encoding != JsonEncoding::RawData || !unknown {
            let written = JsonPayload::new(&again.unwrap(), encoding, Some(&meta_data));
            prop_assert_eq!(&written, read);
        }
    }

    #[test]
    fn a_changed_message_does_no_harm(message in message(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = message.encode().unwrap().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(JsonMessage::Data(message)) = JsonMessage::decode(&bytes) {
            for message in &message.messages {
                let _ = message.payload.as_ref().map(|payload| payload.fields(None));
            }
        }
        let _ = JsonMessage::decode(&bytes[..at]);
    }
}

#[test]
fn a_null_text_in_a_data_value_is_a_value() {
    let encoding = JsonFieldEncoding {
        encoding: JsonEncoding::Verbose,
        content: JsonFieldContent::DataValue,
    };
    let null = takt_ua::Variant::String(UaString::null());
    let meta_data = meta_data(vec![simple("A", BuiltInType::String)]);
    let fields = [JsonField::new("A", null.clone())];
    let payload = JsonPayload::new(&fields, encoding, Some(&meta_data));
    let text = serde_json::Value::Object(payload.as_object().clone()).to_string();
    assert_eq!(text, r#"{"A":{"Value":null}}"#);
    let read = payload.fields(Some(&meta_data)).unwrap();
    assert_eq!(read[0].value.value, Some(null));
}

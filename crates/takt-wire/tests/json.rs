//! JSON messages: those of others are read, ours are read again, and hostile ones do no harm.

#![allow(clippy::unwrap_used)] // A failing test may panic.

#[allow(dead_code, reason = "not every test file uses every strategy")]
mod common;

use common::values::{data_value, ua_string, variant};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use takt_ua::enumerations::{
    ActionState, DataSetFieldContentMask, JsonDataSetMessageContentMask,
    JsonNetworkMessageContentMask, PubSubState, StructureType,
};
use takt_ua::json_encoding::JsonEncoding;
use takt_ua::structures::{
    ActionTargetDataType, ApplicationDescription, ConfigurationVersionDataType,
    DataSetMetaDataType, EndpointDescription, EnumDefinition, EnumDescription, EnumField,
    FieldMetaData, PubSubConnectionDataType, StructureDefinition, StructureDescription,
    StructureField,
};
use takt_ua::{
    BuiltInType, DataValue, DateTime, ExtensionObject, ExtensionObjectBody, LocalizedText, NodeId,
    StatusCode, UaString, Variant, ids,
};
use takt_wire::json::{
    JsonAction, JsonActionKind, JsonActionMessage, JsonDataSetMessage, JsonDataSetMessageType,
    JsonDiscoveryContent, JsonDiscoveryMessage, JsonField, JsonFieldContent, JsonFieldEncoding,
    JsonLayout, JsonMessage, JsonMessageErrorKind, JsonNetworkMessage, JsonPayload,
};

fn data(text: &str) -> JsonNetworkMessage {
    match JsonMessage::decode(text.as_bytes()).unwrap() {
        JsonMessage::Data(message) => message,
        other => unreachable!("{other:?}"),
    }
}

fn field(name: &str, built_in_type: BuiltInType, data_type: NodeId) -> FieldMetaData {
    FieldMetaData {
        name: name.into(),
        built_in_type: built_in_type as u8,
        data_type,
        value_rank: -1,
        ..FieldMetaData::default()
    }
}

fn simple(name: &str, built_in_type: BuiltInType) -> FieldMetaData {
    field(
        name,
        built_in_type,
        NodeId::numeric(0, built_in_type as u32),
    )
}

fn meta_data(fields: Vec<FieldMetaData>) -> DataSetMetaDataType {
    DataSetMetaDataType {
        fields,
        ..DataSetMetaDataType::default()
    }
}

/// The values by which a test knows a DataSet.
fn values(fields: &[JsonField]) -> Vec<Variant> {
    let value = |field: &JsonField| field.value.value.clone().unwrap_or_default();
    fields.iter().map(value).collect()
}

/// What node-opcua 2 (`node-opcua-pubsub-dataset-processor` 0.19.2) makes of a Double, an Int64, a LocalizedText and an
/// array of Int32: Variants, DataValues (non-reversible) and RawData.
const NODE_OPCUA: [&str; 3] = [
    r#"{"MessageId":"E80B599D-D1DD-0F7B-6012-000000000001","MessageType":"ua-data","Messages":[{"DataSetWriterId":"62541","Payload":{"Speed":{"Type":11,"Body":21.5},"Counter":{"Type":8,"Body":"7"},"Name":{"Type":21,"Body":{"Text":"Lathe","Locale":"en"}},"State":{"Type":6,"Body":[1,2]}},"Timestamp":"2026-11-22T07:34:31.319Z","SequenceNumber":0,"Status":0,"MetaDataVersion":{"MajorVersion":3,"MinorVersion":4}}],"PublisherId":"urn:publisher"}"#,
    r#"{"MessageId":"E80B599D-D1DD-0F7B-6012-000000000002","MessageType":"ua-data","Messages":[{"DataSetWriterId":"62541","Payload":{"Speed":{"Value":21.5,"SourceTimestamp":"2024-05-06T07:08:09.000Z","StatusCode":{"Code":1083244544,"Symbol":"UncertainSubstituteValue"}},"Counter":{"Value":"7","SourceTimestamp":"2024-05-06T07:08:09.000Z"},"Name":{"Value":"Lathe","SourceTimestamp":"2024-05-06T07:08:09.000Z"},"State":{"Value":[1,2],"SourceTimestamp":"2024-05-06T07:08:09.000Z"}},"Timestamp":"2026-11-22T07:34:31.321Z","SequenceNumber":0,"Status":0,"MetaDataVersion":{"MajorVersion":3,"MinorVersion":4}}],"PublisherId":"urn:publisher"}"#,
    r#"{"MessageId":"E80B599D-D1DD-0F7B-6012-000000000003","MessageType":"ua-data","Messages":[{"DataSetWriterId":"62541","Payload":{"Speed":21.5,"Counter":"7","Name":"Lathe","State":[1,2]},"Timestamp":"2026-11-22T07:34:31.321Z","SequenceNumber":0,"Status":0,"MetaDataVersion":{"MajorVersion":3,"MinorVersion":4}}],"PublisherId":"urn:publisher"}"#,
];

#[test]
fn messages_of_node_opcua_are_read() {
    let meta_data = meta_data(vec![
        simple("Speed", BuiltInType::Double),
        simple("Counter", BuiltInType::Int64),
        simple("Name", BuiltInType::LocalizedText),
        simple("State", BuiltInType::Int32),
    ]);
    for (index, text) in NODE_OPCUA.iter().enumerate() {
        let message = data(text);
        assert_eq!(message.layout, JsonLayout::NETWORK_MESSAGE);
        assert_eq!(message.publisher_id, "urn:publisher");
        let [message] = message.messages.as_slice() else {
            unreachable!()
        };
        assert_eq!(message.data_set_writer_id, Some(62541));
        assert_eq!(message.sequence_number, Some(0));
        assert_eq!(message.status, Some(StatusCode::Good));
        let version = message.meta_data_version.as_ref().unwrap();
        assert_eq!((version.major_version, version.minor_version), (3, 4));
        assert_eq!(message.message_type(), JsonDataSetMessageType::KeyFrame);
        let fields = message
            .payload
            .as_ref()
            .unwrap()
            .fields(Some(&meta_data))
            .unwrap();
        let name = match index {
            0 => LocalizedText::new("en", "Lathe"),
            _ => LocalizedText::from("Lathe"),
        };
        let expected = [21.5.into(), 7_i64.into(), name.into(), vec![1, 2].into()];
        assert_eq!(values(&fields), expected);
        if index == 1 {
            assert_eq!(
                fields[0].value.status,
                Some(StatusCode::UncertainSubstituteValue)
            );
            let time = "2024-05-06T07:08:09Z".parse().unwrap();
            assert_eq!(fields[3].value.source_timestamp, Some(time));
        }
    }
    // Without metadata the value is what it looks like.
    let message = data(NODE_OPCUA[2]);
    let fields = message.messages[0]
        .payload
        .as_ref()
        .unwrap()
        .fields(None)
        .unwrap();
    let expected = [
        21.5.into(),
        "7".into(),
        "Lathe".into(),
        vec![1_i64, 2].into(),
    ];
    assert_eq!(values(&fields), expected);
}

/// Metadata with a structure and an enumeration of a namespace of its own.
fn described() -> DataSetMetaDataType {
    let float = |name: &str| StructureField {
        name: name.into(),
        data_type: NodeId::numeric(0, ids::FLOAT),
        value_rank: -1,
        ..StructureField::default()
    };
    DataSetMetaDataType {
        namespaces: vec!["http://a.org/".into()],
        structure_data_types: vec![StructureDescription {
            data_type_id: NodeId::numeric(1, 1),
            structure_definition: StructureDefinition {
                default_encoding_id: NodeId::numeric(1, 2),
                structure_type: StructureType::Structure,
                fields: vec![float("X"), float("Y")],
                ..StructureDefinition::default()
            },
            ..StructureDescription::default()
        }],
        enum_data_types: vec![EnumDescription {
            data_type_id: NodeId::numeric(1, 3),
            enum_definition: EnumDefinition {
                fields: vec![EnumField {
                    value: 4,
                    name: "Red".into(),
                    ..EnumField::default()
                }],
            },
            built_in_type: BuiltInType::Int32 as u8,
            ..EnumDescription::default()
        }],
        fields: vec![
            simple("LocationName", BuiltInType::String),
            field(
                "Coordinate",
                BuiltInType::ExtensionObject,
                NodeId::numeric(1, 1),
            ),
            simple("Measurements", BuiltInType::Int32),
            field("Color", BuiltInType::Int32, NodeId::numeric(1, 3)),
            simple("Any", BuiltInType::Variant),
            simple("Id", BuiltInType::NodeId),
        ],
        ..DataSetMetaDataType::default()
    }
}

fn described_fields() -> Vec<JsonField> {
    let mut body = 0_f32.to_le_bytes().to_vec();
    body.extend(0.2_f32.to_le_bytes());
    let coordinate = ExtensionObject {
        type_id: NodeId::numeric(1, 2),
        body: ExtensionObjectBody::Binary(body),
    };
    vec![
        JsonField::new("LocationName", "Building A"),
        JsonField::new("Coordinate", coordinate),
        JsonField::new("Measurements", vec![20030, 20020]),
        JsonField::new("Color", 4),
        JsonField::new("Any", 7_u16),
        JsonField::new("Id", NodeId::numeric(1, 9)),
    ]
}

/// The forms of the examples in A.3 of the standard.
#[test]
fn fields_have_the_form_that_is_asked_for() {
    let meta_data = described();
    let fields = described_fields();
    let payload = |encoding, content, meta_data| {
        let encoding = JsonFieldEncoding { encoding, content };
        let payload = JsonPayload::new(&fields, encoding, meta_data);
        serde_json::Value::Object(payload.as_object().clone()).to_string()
    };
    let variant = JsonFieldContent::Variant;
    assert_eq!(
        payload(JsonEncoding::Verbose, variant, Some(&meta_data)),
        r#"{"LocationName":"Building A","Coordinate":{"X":0.0,"Y":0.2},"Measurements":[20030,20020],"Color":"Red_4","Any":{"UaType":5,"Value":7},"Id":"nsu=http://a.org/;i=9"}"#
    );
    assert_eq!(
        payload(JsonEncoding::RawData, variant, Some(&meta_data)),
        r#"{"LocationName":"Building A","Coordinate":{"X":0.0,"Y":0.2},"Measurements":[20030,20020],"Color":"Red_4","Any":7,"Id":"nsu=http://a.org/;i=9"}"#
    );
    assert_eq!(
        payload(JsonEncoding::Compact, variant, Some(&meta_data)),
        r#"{"LocationName":{"UaType":12,"Value":"Building A"},"Coordinate":{"UaType":22,"Value":{"UaTypeId":"nsu=http://a.org/;i=1","Y":0.2}},"Measurements":{"UaType":6,"Value":[20030,20020]},"Color":{"UaType":6,"Value":4},"Any":{"UaType":5,"Value":7},"Id":{"UaType":17,"Value":"nsu=http://a.org/;i=9"}}"#
    );
    for encoding in [JsonEncoding::Compact, JsonEncoding::Verbose] {
        for content in [JsonFieldContent::Variant, JsonFieldContent::DataValue] {
            let encoding = JsonFieldEncoding { encoding, content };
            let payload = JsonPayload::new(&fields, encoding, Some(&meta_data));
            assert_eq!(
                payload.fields(Some(&meta_data)).unwrap(),
                fields,
                "{encoding:?}"
            );
        }
    }
}

#[test]
fn status_and_timestamps_are_said() {
    let meta_data = meta_data(vec![simple("Speed", BuiltInType::Double)]);
    let time: DateTime = "2024-05-06T07:08:09Z".parse().unwrap();
    let good = DataValue::good(0.5).with_source_timestamp(time);
    let cases = [
        (
            JsonEncoding::Verbose,
            JsonFieldContent::DataValue,
            good.clone(),
            r#"{"Value":0.5,"SourceTimestamp":"2024-05-06T07:08:09Z"}"#,
        ),
        (
            JsonEncoding::Compact,
            JsonFieldContent::DataValue,
            good.clone(),
            r#"{"UaType":11,"Value":0.5,"SourceTimestamp":"2024-05-06T07:08:09Z"}"#,
        ),
        (
            JsonEncoding::Verbose,
            JsonFieldContent::Variant,
            DataValue::good(0.5),
            "0.5",
        ),
        (
            JsonEncoding::Compact,
            JsonFieldContent::Variant,
            DataValue::status(StatusCode::BadTimeout),
            r#"{"UaType":19,"Value":{"Code":2148139008}}"#,
        ),
        (
            JsonEncoding::RawData,
            JsonFieldContent::Variant,
            DataValue::status(StatusCode::BadTimeout),
            r#"{"Code":2148139008,"Symbol":"BadTimeout"}"#,
        ),
        (
            JsonEncoding::Verbose,
            JsonFieldContent::Variant,
            DataValue::good(0.5).with_status(StatusCode::UncertainSubstituteValue),
            r#"{"Value":0.5,"Status":{"Code":1083244544,"Symbol":"UncertainSubstituteValue"}}"#,
        ),
    ];
    for (encoding, content, value, expected) in cases {
        let fields = [JsonField {
            name: "Speed".into(),
            value,
        }];
        let encoding = JsonFieldEncoding { encoding, content };
        let payload = JsonPayload::new(&fields, encoding, Some(&meta_data));
        assert_eq!(payload.as_object()["Speed"].to_string(), expected);
        assert_eq!(
            payload.fields(Some(&meta_data)).unwrap(),
            fields,
            "{expected}"
        );
    }
    let encoding = JsonFieldEncoding::from_masks(
        JsonDataSetMessageContentMask::FieldEncoding2,
        DataSetFieldContentMask::RawData | DataSetFieldContentMask::SourceTimestamp,
    );
    let expected = JsonFieldEncoding {
        encoding: JsonEncoding::RawData,
        content: JsonFieldContent::DataValue,
    };
    assert_eq!(encoding, expected);
}

fn network_message(layout: JsonLayout) -> JsonNetworkMessage {
    let message = JsonDataSetMessage {
        data_set_writer_id: Some(101),
        sequence_number: Some(68468),
        minor_version: Some(672_341_762),
        timestamp: Some("2021-09-27T18:45:19.555Z".parse().unwrap()),
        payload: Some(JsonPayload::new(
            &[JsonField::new("Active", true)],
            JsonFieldEncoding::default(),
            None,
        )),
        ..JsonDataSetMessage::default()
    };
    JsonNetworkMessage {
        layout,
        message_id: "1".into(),
        publisher_id: "MyPublisher".into(),
        messages: vec![message],
        ..JsonNetworkMessage::default()
    }
}

#[test]
fn every_layout_is_written_and_recognized() {
    let header =
        r#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"MyPublisher","Messages":"#;
    let message = r#"{"DataSetWriterId":101,"SequenceNumber":68468,"MinorVersion":672341762,"Timestamp":"2021-09-27T18:45:19.555Z","Payload":{"Active":{"UaType":1,"Value":true}}}"#;
    let payload = r#"{"Active":{"UaType":1,"Value":true}}"#;
    let cases = [
        (0b011, format!("{header}[{message}]}}")),
        (0b111, format!("{header}{message}}}")),
        (0b010, format!("[{message}]")),
        (0b110, message.to_owned()),
        (0b001, format!("{header}[{payload}]}}")),
        (0b101, format!("{header}{payload}}}")),
        (0b000, format!("[{payload}]")),
        (0b100, payload.to_owned()),
    ];
    for (mask, expected) in cases {
        let layout = JsonLayout::from_mask(mask);
        let text = JsonMessage::Data(network_message(layout)).encode().unwrap();
        assert_eq!(text, expected);
        let guessed = data(&text);
        assert_eq!(guessed.layout, layout, "{text}");
        let told = JsonMessage::decode_with(text.as_bytes(), Some(layout), 1000).unwrap();
        assert_eq!(told, JsonMessage::Data(guessed.clone()));
        assert_eq!(JsonMessage::Data(guessed).encode().unwrap(), text);
    }
    assert_eq!(
        JsonLayout::from_mask(JsonNetworkMessageContentMask::SingleDataSetMessage),
        JsonLayout::MINIMAL
    );
    // A field that is named like the header is told apart by the layout only.
    let tricky = r#"{"Payload":{"A":1}}"#;
    let guessed = data(tricky);
    assert!(guessed.layout.data_set_message_header);
    let told = JsonMessage::decode_with(tricky.as_bytes(), Some(JsonLayout::MINIMAL), 100).unwrap();
    let JsonMessage::Data(told) = told else {
        unreachable!()
    };
    assert_eq!(
        told.messages[0].payload.as_ref().unwrap().as_object().len(),
        1
    );
    assert!(
        told.messages[0]
            .payload
            .as_ref()
            .unwrap()
            .as_object()
            .contains_key("Payload")
    );

    let mut keep_alive = network_message(JsonLayout::DATA_SET_MESSAGE);
    keep_alive.messages[0].payload = None;
    let text = JsonMessage::Data(keep_alive.clone()).encode().unwrap();
    assert_eq!(
        data(&text).messages[0].message_type(),
        JsonDataSetMessageType::KeepAlive
    );
    keep_alive.layout = JsonLayout::MINIMAL;
    let error = JsonMessage::Data(keep_alive).encode().unwrap_err();
    assert!(matches!(error.kind(), JsonMessageErrorKind::Forbidden(_)));
}

#[test]
fn writers_may_have_names_instead_of_numbers() {
    let message = data(
        r#"{"MessageId":"1","MessageType":"ua-data","PublisherId":7,"Messages":[{"DataSetWriterId":"Speed","Payload":{}}]}"#,
    );
    assert_eq!(message.publisher_id, "7");
    assert_eq!(message.messages[0].data_set_writer_id, None);
    assert_eq!(message.messages[0].data_set_writer_name, "Speed");
    assert!(message.messages[0].payload.as_ref().unwrap().is_empty());
}

#[test]
fn metadata_of_both_versions_is_read() {
    let new = r#"{"MessageId":"66D65CA4","MessageType":"ua-metadata","PublisherId":"MyPublisher","DataSetWriterId":101,"WriterGroupName":"G","DataSetWriterName":"W","Timestamp":"2021-09-27T18:45:19Z","MetaData":{"Namespaces":["http://a.org/"],"Name":"DataSet1","Fields":[{"Name":"Active","BuiltInType":1,"DataType":"i=1","ValueRank":-1,"DataSetFieldId":"f355bfe8-d5c0-4073-aa89-c8d9d9f8c0c4"},{"Name":"At","BuiltInType":22,"DataType":"nsu=http://a.org/;i=5","ValueRank":-1}],"ConfigurationVersion":{"MajorVersion":3,"MinorVersion":4}}}"#;
    let old = r#"{"MessageId":"66D65CA4","MessageType":"ua-metadata","PublisherId":"MyPublisher","DataSetWriterId":101,"MetaData":{"Namespaces":["http://a.org/"],"Name":"DataSet1","Fields":[{"Name":"Active","FieldFlags":0,"BuiltInType":1,"DataType":{"Id":1},"ValueRank":-1,"MaxStringLength":0,"DataSetFieldId":"f355bfe8-d5c0-4073-aa89-c8d9d9f8c0c4"},{"Name":"At","BuiltInType":22,"DataType":{"Id":5,"Namespace":1},"ValueRank":-1}],"ConfigurationVersion":{"MajorVersion":3,"MinorVersion":4}}}"#;
    let read = |text: &str| match JsonMessage::decode(text.as_bytes()).unwrap() {
        JsonMessage::Discovery(message) => *message,
        other => unreachable!("{other:?}"),
    };
    let meta_data = |message: &JsonDiscoveryMessage| match &message.content {
        JsonDiscoveryContent::DataSetMetaData { meta_data, .. } => meta_data.clone(),
        other => unreachable!("{other:?}"),
    };
    let message = read(new);
    assert_eq!(meta_data(&message), meta_data(&read(old)));
    let fields = meta_data(&message).fields;
    assert_eq!(fields[1].data_type, NodeId::numeric(1, 5));
    assert_eq!(
        fields[0].data_set_field_id.to_string(),
        "f355bfe8-d5c0-4073-aa89-c8d9d9f8c0c4"
    );
    let text = JsonMessage::Discovery(Box::new(message.clone()))
        .encode()
        .unwrap();
    assert_eq!(read(&text), message);
}

#[test]
fn an_error_says_what_and_where() {
    let error = |text: &str| JsonMessage::decode(text.as_bytes()).unwrap_err();
    let header = r#"{"MessageId":"1","MessageType":"ua-data","Messages":"#;
    let wrong = error(&format!(
        r#"{header}[{{"DataSetWriterId":70000,"Payload":{{}}}}]}}"#
    ));
    assert_eq!(wrong.path(), "Messages[0].DataSetWriterId");
    let message = data(&format!(
        r#"{header}[{{"DataSetWriterId":1,"Payload":{{"Speed":{{"UaType":11,"Value":"fast"}}}}}}]}}"#
    ));
    let wrong = message.messages[0]
        .payload
        .as_ref()
        .unwrap()
        .fields(None)
        .unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "Speed.Value: expected a number, NaN, Infinity or -Infinity, found \"fast\""
    );
    let wrong = error(r#"{"MessageId":"1","MessageType":"ua-what","Messages":[]}"#);
    assert_eq!(
        wrong.kind(),
        &JsonMessageErrorKind::UnknownMessageType("ua-what".into())
    );
    let wrong = error(r#"{"MessageId":"1","MessageType":"ua-metadata","DataSetWriterId":1}"#);
    assert_eq!(
        wrong.kind(),
        &JsonMessageErrorKind::MissingField("MetaData")
    );
    for text in ["", "7", "[7]", "\"ua-data\"", "{\"a\":1,\"a\":2}"] {
        assert!(JsonMessage::decode(text.as_bytes()).is_err(), "{text}");
    }
    let long = JsonMessage::decode_with(&[b' '; 100], None, 99).unwrap_err();
    assert_eq!(long.status_code(), StatusCode::BadEncodingLimitsExceeded);
}

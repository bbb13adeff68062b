//! JSON messages of other products.

use takt_ua::structures::{DataSetMetaDataType, EUInformation, FieldMetaData};
use takt_ua::{BuiltInType, ExtensionObject, LocalizedText, NodeId, StatusCode, Variant};
use takt_wire::PublisherId;
use takt_wire::json::{
    JsonDataSetMessageType, JsonField, JsonLayout, JsonMessage, JsonNetworkMessage,
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

/// Returns the expected values of a DataSet.
fn values(fields: &[JsonField]) -> Vec<Variant> {
    let value = |field: &JsonField| field.value.value.clone().unwrap_or_default();
    fields.iter().map(value).collect()
}

/// Messages of node-opcua 2 (`node-opcua-pubsub-dataset-processor` 0.19.2) for a Double, an Int64, a
/// LocalizedText and an array of Int32: Variants, DataValues (non-reversible) and RawData.
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
    // Without metadata the type follows from the form of the value.
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

/// Messages of open62541 1.5.10 for a Double, a structure and an Int64: Variants and DataValues.
const OPEN62541: [&str; 2] = [
    r#"{"MessageId":"ABCDEFGH","MessageType":"ua-data","PublisherId":"65535","DataSetClassId":"72962B91-FA75-4AE6-8D28-B404DC7DAF63","Messages":[{"DataSetWriterId":12345,"SequenceNumber":4711,"MetaDataVersion":{"MajorVersion":42,"MinorVersion":7},"Timestamp":"2024-05-06T07:08:09.5Z","Status":{"Code":12345,"Symbol":"Good"},"MessageType":"ua-keyframe","Payload":{"Speed":{"UaType":11,"Value":0.1},"Unit":{"UaType":22,"Value":{"UaTypeId":"i=887","NamespaceUri":null,"UnitId":3,"DisplayName":{"Locale":"","Text":"C"},"Description":{"Locale":null,"Text":null}}},"Counter":{"UaType":8,"Value":"7"}}}]}"#,
    r#"{"MessageId":"ABCDEFGH","MessageType":"ua-data","PublisherId":"65535","DataSetClassId":"72962B91-FA75-4AE6-8D28-B404DC7DAF63","Messages":[{"DataSetWriterId":12345,"SequenceNumber":4711,"MetaDataVersion":{"MajorVersion":42,"MinorVersion":7},"Timestamp":"2024-05-06T07:08:09.5Z","Status":{"Code":12345,"Symbol":"Good"},"MessageType":"ua-keyframe","Payload":{"Speed":{"UaType":11,"Value":0.1,"Status":{"Code":1083244544,"Symbol":"UncertainSubstituteValue"},"SourceTimestamp":"2024-05-06T07:08:09.5Z"},"Unit":{"UaType":22,"Value":{"UaTypeId":"i=887","NamespaceUri":null,"UnitId":3,"DisplayName":{"Locale":"","Text":"C"},"Description":{"Locale":null,"Text":null}},"Status":{"Code":1083244544,"Symbol":"UncertainSubstituteValue"},"SourceTimestamp":"2024-05-06T07:08:09.5Z"},"Counter":{"UaType":8,"Value":"7","Status":{"Code":1083244544,"Symbol":"UncertainSubstituteValue"},"SourceTimestamp":"2024-05-06T07:08:09.5Z"}}}]}"#,
];

#[test]
fn messages_of_open62541_are_read() {
    for (index, text) in OPEN62541.iter().enumerate() {
        let message = data(text);
        assert_eq!(message.layout, JsonLayout::NETWORK_MESSAGE);
        assert_eq!(message.message_id, "ABCDEFGH");
        assert_eq!(
            message.publisher_id,
            PublisherId::UInt16(65535).to_string().as_str()
        );
        let class = "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().unwrap();
        assert_eq!(message.data_set_class_id, Some(class));
        let [message] = message.messages.as_slice() else {
            unreachable!()
        };
        assert_eq!(message.data_set_writer_id, Some(12345));
        assert_eq!(message.sequence_number, Some(4711));
        assert_eq!(message.status, Some(StatusCode(12345)));
        assert_eq!(message.message_type, Some(JsonDataSetMessageType::KeyFrame));
        let fields = message.payload.as_ref().unwrap().fields(None).unwrap();
        let unit = EUInformation {
            unit_id: 3,
            display_name: LocalizedText::new("", "C"),
            ..EUInformation::default()
        };
        let unit = ExtensionObject::from_structure(&unit);
        assert_eq!(values(&fields), [0.1.into(), unit.into(), 7_i64.into()]);
        if index == 1 {
            let time = "2024-05-06T07:08:09.5Z".parse().unwrap();
            assert_eq!(fields[2].value.source_timestamp, Some(time));
            assert_eq!(
                fields[2].value.status,
                Some(StatusCode::UncertainSubstituteValue)
            );
        }
    }
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
fn a_network_message_may_lack_its_message_type_and_id() {
    let text = r#"{"PublisherId":"press","Messages":[{"DataSetWriterId":1,"Payload":{"A":1}}]}"#;
    let message = data(text);
    assert_eq!(message.layout, JsonLayout::NETWORK_MESSAGE);
    assert_eq!(message.publisher_id, "press");
    assert_eq!(message.messages[0].data_set_writer_id, Some(1));
    // These are fields with such names.
    for text in [
        r#"{"PublisherId":"press","Messages":[{"A":1}]}"#,
        r#"{"PublisherId":"press","Messages":[{"DataSetWriterId":1,"Payload":{"A":1}}],"Other":1}"#,
        r#"{"PublisherId":"press","Messages":3}"#,
    ] {
        assert_eq!(data(text).layout, JsonLayout::MINIMAL, "{text}");
    }
}

//! The fields of JSON messages, in every encoding.

use takt_ua::enumerations::{
    DataSetFieldContentMask, JsonDataSetMessageContentMask, StructureType,
};
use takt_ua::json_encoding::JsonEncoding;
use takt_ua::structures::{
    DataSetMetaDataType, EnumDefinition, EnumDescription, EnumField, FieldMetaData,
    StructureDefinition, StructureDescription, StructureField,
};
use takt_ua::{
    BuiltInType, DataValue, DateTime, ExtensionObject, ExtensionObjectBody, NodeId, StatusCode, ids,
};
use takt_wire::json::{JsonField, JsonFieldContent, JsonFieldEncoding, JsonPayload};

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

/// Forms of the examples in OPC 10000-14, A.3.
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
fn status_and_timestamps_are_included() {
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

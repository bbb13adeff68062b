//! The standard's JSON DataEncoding: written values are read again, and foreign values are read.

use serde_json::{Value, json};
use takt_ua::enumerations::{ApplicationType, StructureType};
use takt_ua::json_encoding::{
    DEFAULT_MAX_LENGTH, JsonContext, JsonDecodeErrorKind, JsonDecoder, JsonEncoder, JsonEncoding,
    parse,
};
use takt_ua::structures::{
    ApplicationDescription, Argument, DataSetMetaDataType, EUInformation, EndpointDescription,
    EnumDefinition, EnumDescription, EnumField, FieldMetaData, StructureDefinition,
    StructureDescription, StructureField,
};
use takt_ua::{
    Array, BuiltInType, DataValue, DateTime, ExtensionObject, ExtensionObjectBody, LocalizedText,
    NodeId, QualifiedName, StatusCode, UaString, Variant, ids,
};

fn compact() -> JsonEncoder<'static> {
    JsonEncoder::new(JsonEncoding::Compact, JsonContext::default())
}

fn verbose() -> JsonEncoder<'static> {
    JsonEncoder::new(JsonEncoding::Verbose, JsonContext::default())
}

fn decoder() -> JsonDecoder<'static> {
    JsonDecoder::new(JsonContext::default())
}

/// Converts a value to its text and back, as a receiver does.
fn through_text(value: &Value) -> Value {
    parse(value.to_string().as_bytes(), DEFAULT_MAX_LENGTH).unwrap()
}

fn read(value: &Value) -> Variant {
    decoder().variant(&through_text(value)).unwrap()
}

#[test]
fn every_type_has_the_form_of_the_standard() {
    let cases: Vec<(Variant, Value)> = vec![
        (true.into(), json!({"UaType": 1, "Value": true})),
        ((-5_i8).into(), json!({"UaType": 2, "Value": -5})),
        (7_u64.into(), json!({"UaType": 9, "Value": "7"})),
        (
            i64::MIN.into(),
            json!({"UaType": 8, "Value": "-9223372036854775808"}),
        ),
        (0.1_f32.into(), json!({"UaType": 10, "Value": 0.1})),
        (
            f64::INFINITY.into(),
            json!({"UaType": 11, "Value": "Infinity"}),
        ),
        ("é".into(), json!({"UaType": 12, "Value": "é"})),
        (UaString::null().into(), json!({"UaType": 12})),
        (
            DateTime(133_594_528_895_000_000).into(),
            json!({"UaType": 13, "Value": "2024-05-06T07:08:09.5Z"}),
        ),
        (
            DateTime::MAX.into(),
            json!({"UaType": 13, "Value": "9999-12-31T23:59:59Z"}),
        ),
        (
            takt_ua::ByteString::from(&[1, 2, 3]).into(),
            json!({"UaType": 15, "Value": "AQID"}),
        ),
        (
            NodeId::string(2, "Speed").into(),
            json!({"UaType": 17, "Value": "ns=2;s=Speed"}),
        ),
        (
            StatusCode::BadTimeout.into(),
            json!({"UaType": 19, "Value": {"Code": 0x800A_0000_u32}}),
        ),
        (StatusCode::Good.into(), json!({"UaType": 19, "Value": {}})),
        (
            QualifiedName::new(2, "Speed").into(),
            json!({"UaType": 20, "Value": "2:Speed"}),
        ),
        (
            LocalizedText::new("en", "hi").into(),
            json!({"UaType": 21, "Value": {"Locale": "en", "Text": "hi"}}),
        ),
        (
            vec![1_i64, 2].into(),
            json!({"UaType": 8, "Value": ["1", "2"]}),
        ),
        (
            Array::matrix(vec![1_u8, 2, 3, 4], &[2, 2]).unwrap().into(),
            json!({"UaType": 3, "Value": [1, 2, 3, 4], "Dimensions": [2, 2]}),
        ),
        (
            vec![Variant::from(1_u8), Variant::Empty].into(),
            json!({"UaType": 24, "Value": [{"UaType": 3, "Value": 1}, null]}),
        ),
        (
            vec![UaString::null(), "a".into()].into(),
            json!({"UaType": 12, "Value": [null, "a"]}),
        ),
        (Variant::Empty, Value::Null),
    ];
    for (value, expected) in cases {
        assert_eq!(compact().variant(&value), expected, "{value:?}");
        assert_eq!(read(&expected), value, "{expected}");
    }
    let nan = compact().variant(&f64::NAN.into());
    assert_eq!(nan, json!({"UaType": 11, "Value": "NaN"}));
    assert!(matches!(read(&nan), Variant::Double(value) if value.is_nan()));
    assert_eq!(
        verbose().status_code(StatusCode::BadTimeout),
        json!({"Code": 0x800A_0000_u32, "Symbol": "BadTimeout"})
    );
    let value = DataValue::good(1_u8)
        .with_status(StatusCode::BadTimeout)
        .with_source_timestamp(DateTime(133_594_528_890_000_000));
    let expected = json!({
        "UaType": 3, "Value": 1, "Status": {"Code": 0x800A_0000_u32},
        "SourceTimestamp": "2024-05-06T07:08:09Z",
    });
    assert_eq!(compact().data_value(&value), expected);
    assert_eq!(decoder().data_value(&expected), Ok(value));
}

/// OPC 10000-6, Annex H: the form of version 1.04.
#[test]
fn the_deprecated_form_is_read() {
    let cases: Vec<(Value, Variant)> = vec![
        (json!({"Type": 5, "Body": 42}), 42_u16.into()),
        (json!({"Type": 9, "Body": "42"}), 42_u64.into()),
        (json!({"Type": 0}), Variant::Empty),
        (
            json!({"Type": 11, "Body": [1, 2, 3, 4], "Dimensions": [2, 2]}),
            Array::matrix(vec![1.0, 2.0, 3.0, 4.0], &[2, 2])
                .unwrap()
                .into(),
        ),
        (
            json!({"Type": 17, "Body": {"Id": 85}}),
            NodeId::numeric(0, 85).into(),
        ),
        (
            json!({"Type": 17, "Body": {"IdType": 1, "Id": "Speed", "Namespace": 2}}),
            NodeId::string(2, "Speed").into(),
        ),
        (
            json!({"Type": 18, "Body": {"Id": 7, "Namespace": "http://a.org/", "ServerUri": 3}}),
            "svr=3;nsu=http://a.org/;i=7"
                .parse::<takt_ua::ExpandedNodeId>()
                .unwrap()
                .into(),
        ),
        (
            json!({"Type": 19, "Body": 0x800A_0000_u32}),
            StatusCode::BadTimeout.into(),
        ),
        (
            json!({"Type": 20, "Body": {"Name": "Speed", "Uri": 2}}),
            QualifiedName::new(2, "Speed").into(),
        ),
        (
            json!({"Type": 21, "Body": "hi"}),
            LocalizedText::from("hi").into(),
        ),
        (
            json!({"Type": 22, "Body": {"TypeId": {"Id": 887}, "Body": {"UnitId": 3}}}),
            ExtensionObject::from_structure(&EUInformation {
                unit_id: 3,
                ..EUInformation::default()
            })
            .into(),
        ),
        (
            json!({"Type": 22, "Body": {"TypeId": {"Id": 5, "Namespace": 1}, "Encoding": 2, "Body": "<a/>"}}),
            ExtensionObject {
                type_id: NodeId::numeric(1, 5),
                body: ExtensionObjectBody::Xml("<a/>".into()),
            }
            .into(),
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(read(&json), expected, "{json}");
    }
    let value = json!({
        "Value": {"Type": 3, "Body": 1}, "Status": 0x800A_0000_u32,
        "SourceTimestamp": "2024-05-06T07:08:09Z", "SourcePicoSeconds": 7,
    });
    let expected = DataValue {
        source_picoseconds: Some(7),
        ..DataValue::good(1_u8)
            .with_status(StatusCode::BadTimeout)
            .with_source_timestamp(DateTime(133_594_528_890_000_000))
    };
    assert_eq!(decoder().data_value(&value), Ok(expected));
    // The non-reversible form contains no types.
    let nested = json!([[1, 2], [3, 4], [5, 6]]);
    let expected = Array::matrix(vec![1_u16, 2, 3, 4, 5, 6], &[3, 2]).unwrap();
    assert_eq!(
        decoder().value(&nested, BuiltInType::UInt16),
        Ok(expected.into())
    );
    assert_eq!(
        read(&json!({"Locale": "en", "Text": "a"})),
        LocalizedText::new("en", "a").into()
    );
    assert_eq!(read(&json!([1, 2.5])), vec![1.0, 2.5].into());
}

#[test]
fn structures_leave_out_defaults_or_not() {
    let application = ApplicationDescription {
        application_uri: "urn:a".into(),
        application_type: ApplicationType::Client,
        ..ApplicationDescription::default()
    };
    let json = compact().structure(&application);
    assert_eq!(
        json,
        json!({"ApplicationUri": "urn:a", "ApplicationType": 1})
    );
    assert_eq!(decoder().structure(&json), Ok(application.clone()));
    let json = verbose().structure(&application);
    let expected = json!({
        "ApplicationUri": "urn:a", "ProductUri": null, "ApplicationName": null,
        "ApplicationType": "Client_1", "GatewayServerUri": null, "DiscoveryProfileUri": null,
        "DiscoveryUrls": [],
    });
    assert_eq!(json, expected);
    assert_eq!(decoder().structure(&json), Ok(application));
    let nested = EndpointDescription {
        endpoint_url: "opc.tcp://a".into(),
        security_level: 3,
        ..EndpointDescription::default()
    };
    for encoder in [compact(), verbose()] {
        let json = through_text(&encoder.structure(&nested));
        assert_eq!(decoder().structure(&json), Ok(nested.clone()));
    }
    let argument = ExtensionObject::from_structure(&Argument {
        name: "Speed".into(),
        data_type: NodeId::numeric(0, ids::DOUBLE),
        value_rank: -1,
        ..Argument::default()
    });
    let json = compact().variant(&argument.clone().into());
    assert_eq!(
        json["Value"],
        json!({"UaTypeId": "i=296", "Name": "Speed", "DataType": "i=11", "ValueRank": -1})
    );
    assert_eq!(read(&json), argument.into());
}

/// Metadata of a structure with an optional field, a union, an enumeration, and namespaces.
fn meta_data() -> DataSetMetaDataType {
    let field = |name: &str, data_type: NodeId, is_optional| StructureField {
        name: name.into(),
        data_type,
        value_rank: -1,
        is_optional,
        ..StructureField::default()
    };
    let structure = |id, kind, fields| StructureDescription {
        data_type_id: NodeId::numeric(1, id),
        structure_definition: StructureDefinition {
            default_encoding_id: NodeId::numeric(1, id + 1),
            structure_type: kind,
            fields,
            ..StructureDefinition::default()
        },
        ..StructureDescription::default()
    };
    DataSetMetaDataType {
        namespaces: vec!["http://a.org/".into()],
        structure_data_types: vec![
            structure(
                10,
                StructureType::StructureWithOptionalFields,
                vec![
                    field("X", NodeId::numeric(0, ids::INT32), false),
                    field("O1", NodeId::numeric(0, ids::INT32), true),
                    field("Color", NodeId::numeric(1, 30), false),
                    field("O2", NodeId::numeric(1, 20), true),
                ],
            ),
            structure(
                20,
                StructureType::Union,
                vec![
                    field("Number", NodeId::numeric(0, ids::DOUBLE), false),
                    field("Text", NodeId::numeric(0, ids::STRING), false),
                ],
            ),
        ],
        enum_data_types: vec![EnumDescription {
            data_type_id: NodeId::numeric(1, 30),
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
        fields: vec![FieldMetaData::default()],
        ..DataSetMetaDataType::default()
    }
}

#[test]
fn described_structures_are_read_and_written() {
    let meta_data = meta_data();
    let context = JsonContext::from(&meta_data);
    let decoder = JsonDecoder::new(context);
    let verbose = json!({
        "UaTypeId": "nsu=http://a.org/;i=10",
        "X": 1, "Color": "Red_4", "O2": {"Text": "hi"},
    });
    let compact = json!({
        "UaTypeId": "nsu=http://a.org/;i=10",
        "EncodingMask": 2, "X": 1, "Color": 4, "O2": {"SwitchField": 2, "Text": "hi"},
    });
    // Mask 2; X; Color; O2: field 2, a String.
    let bytes = b"\x02\0\0\0\x01\0\0\0\x04\0\0\0\x02\0\0\0\x02\0\0\0hi".to_vec();
    let expected = Variant::from(ExtensionObject {
        type_id: NodeId::numeric(1, 11),
        body: ExtensionObjectBody::Binary(bytes),
    });
    for (encoding, json) in [
        (JsonEncoding::Verbose, &verbose),
        (JsonEncoding::Compact, &compact),
    ] {
        let variant = json!({"UaType": 22, "Value": json});
        assert_eq!(decoder.variant(&variant).as_ref(), Ok(&expected));
        assert_eq!(
            JsonEncoder::new(encoding, context).variant(&expected),
            variant
        );
    }
    let raw = JsonEncoder::new(JsonEncoding::RawData, context);
    let Variant::ExtensionObject(object) = &expected else {
        unreachable!()
    };
    let json = raw.structure_of_object(object);
    assert_eq!(
        json,
        json!({"X": 1, "Color": "Red_4", "O2": {"Text": "hi"}})
    );
    let data_type = NodeId::numeric(1, 10);
    assert_eq!(
        decoder.structure_of_type(&json, &data_type).as_ref(),
        Ok(&**object)
    );
    // An index becomes a NamespaceUri; an unknown NamespaceUri remains a text.
    let id = Variant::from(NodeId::numeric(1, 7));
    assert_eq!(raw.value(&id), json!("nsu=http://a.org/;i=7"));
    let unknown = decoder.value(&json!("nsu=http://b.org/;i=7"), BuiltInType::NodeId);
    assert_eq!(
        unknown,
        Ok(NodeId::string(0, "nsu=http://b.org/;i=7").into())
    );
}

#[test]
fn a_structure_without_a_description_stays_json() {
    let json = json!({"UaType": 22, "Value": {"UaTypeId": "ns=3;i=4", "A": 1, "B": {"C": [true]}}});
    let value = read(&json);
    let Variant::ExtensionObject(object) = &value else {
        unreachable!()
    };
    assert_eq!(object.type_id, NodeId::numeric(3, 4));
    assert_eq!(
        object.body,
        ExtensionObjectBody::Binary(br#"{"A":1,"B":{"C":[true]}}"#.to_vec())
    );
    assert_eq!(compact().variant(&value), json);
}

#[test]
fn an_error_names_problem_and_position() {
    let error = |value: Value| decoder().variant(&value).unwrap_err().to_string();
    assert_eq!(
        error(json!({"UaType": 3, "Value": [1, 300]})),
        "Value[1]: expected a whole number in the range of Byte, found 300"
    );
    assert_eq!(
        error(json!({"UaType": 26, "Value": 1})),
        "UaType: expected the number of a built-in type, 0 to 25, found 26"
    );
    assert_eq!(
        error(json!({"UaType": 3, "Value": [1, 2, 3], "Dimensions": [2, 2]})),
        "Dimensions: the dimensions [2, 2] do not match 3 elements"
    );
    assert_eq!(
        error(json!({"UaType": 22, "Value": {"UaTypeId": "i=887", "UnitId": "x"}})),
        "Value.UnitId: expected a whole number in the range of Int32, found \"x\""
    );
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!({"UaType": 24, "Value": [deep]});
    }
    let error = decoder().variant(&deep).unwrap_err();
    assert_eq!(error.kind(), &JsonDecodeErrorKind::TooDeep);
    assert_eq!(error.status_code(), StatusCode::BadEncodingLimitsExceeded);
}

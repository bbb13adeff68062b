//! Values in the JSON DataEncoding written by other products.

use takt_ua::enumerations::ApplicationType;
use takt_ua::json_encoding::{DEFAULT_MAX_LENGTH, JsonContext, JsonDecoder, parse};
use takt_ua::structures::{ApplicationDescription, EUInformation};
use takt_ua::{
    Array, ByteString, DateTime, ExpandedNodeId, ExtensionObject, LocalizedText, NodeId,
    QualifiedName, StatusCode, Variant,
};

fn read(text: &str) -> Variant {
    let value = parse(text.as_bytes(), DEFAULT_MAX_LENGTH).unwrap();
    JsonDecoder::new(JsonContext::default())
        .variant(&value)
        .unwrap()
}

fn guid() -> Variant {
    "72962b91-fa75-4ae6-8d28-b404dc7daf63"
        .parse::<takt_ua::Guid>()
        .unwrap()
        .into()
}

/// Output of open62541 1.5.10, `UA_encodeJson` of Variants: version 1.05.
#[test]
fn values_of_open62541_are_read() {
    let unit = EUInformation {
        unit_id: 3,
        display_name: LocalizedText::new("", "C"),
        ..EUInformation::default()
    };
    let application = ApplicationDescription {
        application_uri: "urn:a".into(),
        application_type: ApplicationType::Client,
        ..ApplicationDescription::default()
    };
    let id = "nsu=http://a.org/;i=7".parse::<ExpandedNodeId>().unwrap();
    let cases: [(&str, Variant); 14] = [
        (r#"{"UaType":8,"Value":"7"}"#, 7_i64.into()),
        (r#"{"UaType":11,"Value":0.1}"#, 0.1.into()),
        (
            r#"{"UaType":10,"Value":0.10000000149011612}"#,
            0.1_f32.into(),
        ),
        (
            r#"{"UaType":17,"Value":"ns=2;s=Speed"}"#,
            NodeId::string(2, "Speed").into(),
        ),
        (
            r#"{"UaType":18,"Value":"nsu=http://a.org/;i=7"}"#,
            id.into(),
        ),
        (
            r#"{"UaType":20,"Value":"2:Speed"}"#,
            QualifiedName::new(2, "Speed").into(),
        ),
        (
            r#"{"UaType":21,"Value":{"Locale":"en","Text":"hi"}}"#,
            LocalizedText::new("en", "hi").into(),
        ),
        (
            r#"{"UaType":19,"Value":{"Code":2148139008,"Symbol":"BadTimeout"}}"#,
            StatusCode::BadTimeout.into(),
        ),
        (
            r#"{"UaType":15,"Value":"AQID"}"#,
            ByteString::from(&[1, 2, 3]).into(),
        ),
        (
            r#"{"UaType":13,"Value":"2024-05-06T07:08:09.5Z"}"#,
            DateTime(133_594_528_895_000_000).into(),
        ),
        (
            r#"{"UaType":14,"Value":"72962B91-FA75-4AE6-8D28-B404DC7DAF63"}"#,
            guid(),
        ),
        (
            r#"{"UaType":22,"Value":{"UaTypeId":"i=887","NamespaceUri":null,"UnitId":3,"DisplayName":{"Locale":"","Text":"C"},"Description":{"Locale":null,"Text":null}}}"#,
            ExtensionObject::from_structure(&unit).into(),
        ),
        (
            r#"{"UaType":3,"Value":[1,2,3,4],"Dimensions":[2,2]}"#,
            Array::matrix(vec![1_u8, 2, 3, 4], &[2, 2]).unwrap().into(),
        ),
        (
            r#"{"UaType":24,"Value":[{"UaType":8,"Value":"7"},{}]}"#,
            vec![Variant::Int64(7), Variant::Empty].into(),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
    let text = r#"{"UaType":22,"Value":{"UaTypeId":"i=308","ApplicationUri":"urn:a","ProductUri":null,"ApplicationName":{"Locale":null,"Text":null},"ApplicationType":1,"GatewayServerUri":null,"DiscoveryProfileUri":null,"DiscoveryUrls":[]}}"#;
    assert_eq!(
        read(text),
        ExtensionObject::from_structure(&application).into()
    );
}

/// Output of node-opcua-json 0.19.1, `opcuaJsonEncodeVariant`: the reversible form of version 1.04.
#[test]
fn values_of_node_opcua_are_read() {
    let unit = EUInformation {
        namespace_uri: "http://www.opcfoundation.org/UA/units/un/cefact".into(),
        unit_id: 4_408_652,
        display_name: "°C".into(),
        ..EUInformation::default()
    };
    let cases: Vec<(&str, Variant)> = vec![
        (r#"{"Type":2,"Body":-5}"#, (-5_i8).into()),
        (r#"{"Type":10,"Body":0.1}"#, 0.1_f32.into()),
        (
            r#"{"Type":13,"Body":"2024-05-06T07:08:09.500Z"}"#,
            DateTime(133_594_528_895_000_000).into(),
        ),
        (
            r#"{"Type":14,"Body":"72962B91-FA75-4AE6-8D28-B404DC7DAF63"}"#,
            guid(),
        ),
        (
            r#"{"Type":15,"Body":"AQID"}"#,
            ByteString::from(&[1, 2, 3]).into(),
        ),
        (
            r#"{"Type":17,"Body":{"Id":"Speed","IdType":1,"Namespace":2}}"#,
            NodeId::string(2, "Speed").into(),
        ),
        (
            r#"{"Type":17,"Body":{"Id":85}}"#,
            NodeId::numeric(0, 85).into(),
        ),
        (
            r#"{"Type":19,"Body":2148139008}"#,
            StatusCode::BadTimeout.into(),
        ),
        (
            r#"{"Type":20,"Body":{"Name":"Speed","Uri":2}}"#,
            QualifiedName::new(2, "Speed").into(),
        ),
        (
            r#"{"Type":21,"Body":{"Text":"hi","Locale":"en"}}"#,
            LocalizedText::new("en", "hi").into(),
        ),
        (
            r#"{"Type":22,"Body":{"TypeId":{"Id":887},"Body":{"NamespaceUri":"http://www.opcfoundation.org/UA/units/un/cefact","UnitId":4408652,"DisplayName":{"Text":"°C"},"Description":{"Text":null}}}}"#,
            ExtensionObject::from_structure(&unit).into(),
        ),
        (
            r#"{"Type":11,"Body":[1,2,3,4],"Dimensions":[2,2]}"#,
            Array::matrix(vec![1.0, 2.0, 3.0, 4.0], &[2, 2])
                .unwrap()
                .into(),
        ),
        (r#"{"Type":8,"Body":["7","8"]}"#, vec![7_i64, 8].into()),
        (
            r#"{"Type":24,"Body":[{"Type":6,"Body":1},{"Type":12,"Body":"x"}]}"#,
            vec![Variant::Int32(1), "x".into()].into(),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
    // JavaScript writes NaN as null.
    assert!(matches!(read(r#"{"Type":11,"Body":null}"#), Variant::Double(value) if value.is_nan()));
}

//! The JSON form for people: its texts, reading them back, and the errors of wrong input.

use crate::common::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use takt_ua::enumerations::{ServerState, StructureType};
use takt_ua::json::{from_value, structure_to_value, to_value};
use takt_ua::structures::{
    Argument, BuildInfo, Range, ServerStatusDataType, StructureDefinition, StructureField,
};
use takt_ua::{
    Array, BuiltInType, ByteString, DataValue, DateTime, Elements, ExtensionObject,
    ExtensionObjectBody, Guid, LocalizedText, NodeId, QualifiedName, StatusCode, UaString, Variant,
};

fn read(json: Value, built_in_type: BuiltInType) -> Result<Variant, String> {
    from_value(&json, built_in_type, -2).map_err(|error| error.to_string())
}

#[test]
fn scalars_are_short() {
    let cases: [(Variant, Value); 22] = [
        (true.into(), json!(true)),
        ((-5_i8).into(), json!(-5)),
        (u64::MAX.into(), json!(18_446_744_073_709_551_615_u64)),
        (i64::MIN.into(), json!(-9_223_372_036_854_775_808_i64)),
        (0.1_f32.into(), json!(0.1)),
        (3.0.into(), json!(3.0)),
        (f64::NEG_INFINITY.into(), json!("-Infinity")),
        ("text".into(), json!("text")),
        (UaString::null().into(), json!(null)),
        (DateTime(0).into(), json!("0001-01-01T00:00:00Z")),
        (
            Guid::NULL.into(),
            json!("00000000-0000-0000-0000-000000000000"),
        ),
        (ByteString::from(b"foobar").into(), json!("Zm9vYmFy")),
        (ByteString::null().into(), json!(null)),
        (NodeId::string(2, "Speed").into(), json!("ns=2;s=Speed")),
        (StatusCode::BadTimeout.into(), json!("BadTimeout")),
        (StatusCode(0x800A_0400).into(), json!("0x800A0400")),
        (QualifiedName::new(2, "Speed").into(), json!("2:Speed")),
        (QualifiedName::NULL.into(), json!(null)),
        (LocalizedText::from("Speed").into(), json!("Speed")),
        (
            LocalizedText::new("en", "Speed").into(),
            json!({"locale": "en", "text": "Speed"}),
        ),
        (LocalizedText::NULL.into(), json!(null)),
        (ExtensionObject::NULL.into(), json!(null)),
    ];
    for (value, json) in cases {
        assert_eq!(to_value(&value), json);
        assert_eq!(read(json, value.built_in_type().unwrap()), Ok(value));
    }
    assert_eq!(to_value(&Variant::from(f32::NAN)), json!("NaN"));
    assert!(
        matches!(read(json!("NaN"), BuiltInType::Float), Ok(Variant::Float(value)) if value.is_nan())
    );
    assert_eq!(to_value(&Variant::Empty), json!(null));
    assert_eq!(
        serde_json::to_string(&to_value(&Variant::from(3.0))).unwrap(),
        "3.0"
    );
}

#[test]
fn arrays_and_matrices() {
    let matrix: Variant = Array::matrix(vec![1_u8, 2, 3, 4, 5, 6], &[3, 1, 2])
        .unwrap()
        .into();
    assert_eq!(to_value(&matrix), json!([[[1, 2]], [[3, 4]], [[5, 6]]]));
    assert_eq!(read(to_value(&matrix), BuiltInType::Byte), Ok(matrix));
    assert_eq!(
        read(json!([]), BuiltInType::Byte),
        Ok(Vec::<u8>::new().into())
    );
    assert_eq!(
        read(json!([[], []]), BuiltInType::Byte),
        Ok(Vec::<u8>::new().into())
    );

    let mixed: Variant = Elements::from(vec![
        Variant::Empty,
        7_i64.into(),
        7_u16.into(),
        "a".into(),
        true.into(),
        1.5.into(),
        f64::INFINITY.into(),
        UaString::null().into(),
        vec![1_i32, 2].into(),
    ])
    .into();
    let json = json!([
        null, 7, {"type": "UInt16", "value": 7}, "a", true, 1.5, {"type": "Double", "value": "Infinity"},
        {"type": "String", "value": null}, {"type": "Int32", "value": [1, 2]}
    ]);
    assert_eq!(to_value(&mixed), json);
    assert_eq!(read(json, BuiltInType::Variant), Ok(mixed));
    assert_eq!(
        read(
            json!({"type": "Byte", "value": [[1], [2]]}),
            BuiltInType::Variant
        )
        .unwrap()
        .array_dimensions(),
        Some(vec![2, 1])
    );
}

#[test]
fn data_values() {
    let value = DataValue::good(7_u32)
        .with_status(StatusCode::UncertainInitialValue)
        .with_source_timestamp(DateTime::from_unix_nanos(0));
    let json = json!({
        "value": 7, "type": "UInt32", "status": "UncertainInitialValue", "sourceTimestamp": "1970-01-01T00:00:00Z"
    });
    assert_eq!(to_value(&value), json);
    assert_eq!(read(json, BuiltInType::DataValue), Ok(value.into()));
    assert_eq!(
        read(json!({}), BuiltInType::DataValue),
        Ok(DataValue::default().into())
    );
    let error = read(json!({"vlaue": 1}), BuiltInType::DataValue).unwrap_err();
    assert!(
        error.starts_with("unknown key 'vlaue'; expected value, type, status"),
        "{error}"
    );
}

#[test]
fn structures() {
    let status = ServerStatusDataType {
        state: ServerState::Running,
        build_info: BuildInfo {
            product_name: "Takt".into(),
            ..Default::default()
        },
        ..Default::default()
    };
    let json = structure_to_value(&status);
    assert_eq!(json["State"], json!("Running"));
    assert_eq!(json["BuildInfo"]["ProductName"], json!("Takt"));
    assert_eq!(json["BuildInfo"]["ManufacturerName"], json!(null));

    let object = ExtensionObject::from_structure(&status);
    let mut json = to_value(&object);
    assert_eq!(json["$type"], json!("ServerStatusDataType"));
    assert_eq!(
        read(json.clone(), BuiltInType::ExtensionObject),
        Ok(object.into())
    );
    json["State"] = json!(1);
    assert!(read(json.clone(), BuiltInType::ExtensionObject).is_ok());
    json["State"] = json!("Walking");
    let error = read(json, BuiltInType::ExtensionObject).unwrap_err();
    assert!(
        error.starts_with("State: expected a number or one of Running, Failed"),
        "{error}"
    );

    // Fields that are left out have their defaults.
    let range = read(
        json!({"$type": "Range", "High": 5}),
        BuiltInType::ExtensionObject,
    )
    .unwrap();
    assert_eq!(
        range,
        ExtensionObject::from_structure(&Range {
            low: 0.0,
            high: 5.0
        })
        .into()
    );
    let error = read(
        json!({"$type": "Range", "Hihg": 5}),
        BuiltInType::ExtensionObject,
    )
    .unwrap_err();
    assert_eq!(error, "Range has no field 'Hihg'; it has Low, High");

    let definition = StructureDefinition {
        structure_type: StructureType::StructureWithOptionalFields,
        fields: vec![StructureField {
            name: "a".into(),
            array_dimensions: vec![2, 3],
            ..Default::default()
        }],
        ..Default::default()
    };
    let object = ExtensionObject::from_structure(&definition);
    let mut json = to_value(&object);
    assert_eq!(json["Fields"][0]["ArrayDimensions"], json!([2, 3]));
    assert_eq!(
        read(json.clone(), BuiltInType::ExtensionObject),
        Ok(object.into())
    );
    json["Fields"][0]["ArrayDimensions"][1] = json!(-1);
    let error = read(json, BuiltInType::ExtensionObject).unwrap_err();
    assert!(
        error.starts_with("Fields[0].ArrayDimensions[1]: expected a whole number from 0"),
        "{error}"
    );
}

#[test]
fn structures_of_every_description_start_empty() {
    for description in takt_ua::generated::descriptions::STRUCTURES {
        let json = json!({"$type": description.name});
        let object = read(json, BuiltInType::ExtensionObject).unwrap();
        let shown = to_value(&object);
        assert_eq!(shown["$type"], json!(description.name));
        assert!(
            shown.get("$body").is_none(),
            "{} is not decoded",
            description.name
        );
        assert_eq!(read(shown, BuiltInType::ExtensionObject), Ok(object));
    }
}

#[test]
fn unknown_and_damaged_structures_stay_encoded() {
    let unknown = ExtensionObject {
        type_id: NodeId::numeric(2, 5),
        body: ExtensionObjectBody::Binary(vec![1, 2]),
    };
    assert_eq!(
        to_value(&unknown),
        json!({"$type": "ns=2;i=5", "$body": "AQI="})
    );
    let mut damaged = ExtensionObject::from_structure(&Argument::default());
    if let ExtensionObjectBody::Binary(bytes) = &mut damaged.body {
        bytes.push(0);
    }
    assert!(to_value(&damaged).get("$body").is_some());
    let xml = ExtensionObject {
        type_id: NodeId::numeric(2, 6),
        body: ExtensionObjectBody::Xml("<a/>".into()),
    };
    for object in [unknown, damaged, xml] {
        assert_eq!(
            read(to_value(&object), BuiltInType::ExtensionObject),
            Ok(object.into())
        );
    }
    let error = read(json!({"$type": "Coffee"}), BuiltInType::ExtensionObject).unwrap_err();
    assert_eq!(
        error,
        "$type: 'Coffee' is neither a structure of the standard nor a NodeId"
    );
    assert!(read(json!(5), BuiltInType::ExtensionObject).is_err());
}

#[test]
fn nesting_is_bounded() {
    // An ExtensionObject with a Variant with an ExtensionObject ... is shown; the parts nested too deeply stay
    // undecoded.
    let mut value = Variant::from(1_u8);
    for _ in 0..300 {
        let key = takt_ua::structures::KeyValuePair {
            value,
            ..Default::default()
        };
        value = ExtensionObject::from_structure(&key).into();
    }
    let json = to_value(&value);
    assert!(json.to_string().contains("$body"));

    let mut json = json!(1);
    for _ in 0..300 {
        json = json!({"type": "DataValue", "value": {"value": json}});
    }
    let error = read(json.clone(), BuiltInType::Variant).unwrap_err();
    assert!(error.ends_with("values are nested too deeply"));
    let mut arrays = json!([]);
    for _ in 0..300 {
        arrays = json!([arrays]);
    }
    assert!(
        read(arrays, BuiltInType::Byte)
            .unwrap_err()
            .ends_with("values are nested too deeply")
    );
}

#[test]
fn ranges_and_shapes_are_checked() {
    let cases = [
        (
            json!(300),
            BuiltInType::Byte,
            "expected a whole number from 0 to 255 (Byte), found 300",
        ),
        (
            json!(-1),
            BuiltInType::UInt64,
            "expected a whole number from 0 to 18446744073709551615 (UInt64), found -1",
        ),
        (
            json!(1.5),
            BuiltInType::Int32,
            "expected a whole number from -2147483648 to 2147483647 (Int32), found 1.5",
        ),
        (
            json!([1, [2]]),
            BuiltInType::Byte,
            "[1]: expected a whole number from 0 to 255 (Byte), found [2]",
        ),
        (
            json!([[1, 2], [3]]),
            BuiltInType::Byte,
            "[1]: expected an array of length 2 like its neighbours, found [3]",
        ),
        (
            json!("x"),
            BuiltInType::Boolean,
            "expected true or false, found \"x\"",
        ),
        (
            json!(1e39),
            BuiltInType::Float,
            "expected a number within ±3.4028235e38 (Float), found 1e",
        ),
        (
            json!("BadCoffee"),
            BuiltInType::StatusCode,
            "expected a StatusCode such as BadTimeout or 0x800A0000, found \"BadCoffee\"",
        ),
        (
            json!({"locale": 1}),
            BuiltInType::LocalizedText,
            "locale: expected a text, found 1",
        ),
        (
            json!({"type": "Int", "value": 1}),
            BuiltInType::Variant,
            "type: 'Int' is not a type; expected one of Boolean",
        ),
    ];
    for (json, built_in_type, expected) in cases {
        let error = read(json, built_in_type).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(read(json!(3.0), BuiltInType::Byte), Ok(3_u8.into()));
    assert_eq!(
        read(json!("18446744073709551615"), BuiltInType::UInt64),
        Ok(u64::MAX.into())
    );

    let rank = |json: Value, rank| {
        from_value(&json, BuiltInType::Byte, rank).map_err(|error| error.to_string())
    };
    assert!(
        rank(json!(1), -1).is_ok() && rank(json!(1), -3).is_ok() && rank(json!([1]), -3).is_ok()
    );
    assert!(
        rank(json!([1]), 0).is_ok()
            && rank(json!([[1]]), 0).is_ok()
            && rank(json!([[1]]), 2).is_ok()
    );
    assert_eq!(
        rank(json!([1]), -1),
        Err("expected a single Byte, found [1]".into())
    );
    assert_eq!(
        rank(json!(1), 1),
        Err("expected an array of Byte, such as [...], found 1".into())
    );
    assert_eq!(
        rank(json!([[1]]), 1),
        Err("expected an array of 1 dimensions, found 2".into())
    );
    assert_eq!(
        rank(json!([1]), 2),
        Err("expected an array of 2 dimensions, found 1".into())
    );
    assert!(rank(json!([[1]]), -3).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn written_json_is_read_back(value in variant()) {
        let json = to_value(&value);
        let built_in_type = value.built_in_type().unwrap_or(BuiltInType::Variant);
        let back = from_value(&json, built_in_type, -2).unwrap();
        prop_assert_eq!(to_value(&back), json);
        // Names that are null look like empty ones; bodies of known structures are encoded anew.
        let debug = format!("{value:?}");
        if !debug.contains("QualifiedName") && !debug.contains("ExtensionObject") {
            prop_assert_eq!(back, value);
        }
    }
}

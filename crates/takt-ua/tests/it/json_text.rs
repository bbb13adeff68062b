//! Values as typed on a command line.

use proptest::prelude::*;
use takt_ua::json::{parse_variant, parse_variant_of_rank, to_value};
use takt_ua::structures::EUInformation;
use takt_ua::{BuiltInType, ExtensionObject, LocalizedText, NodeId, StatusCode, UaString, Variant};

#[test]
fn values_from_the_command_line() {
    let cases: [(&str, BuiltInType, Variant); 16] = [
        (" true ", BuiltInType::Boolean, true.into()),
        ("0", BuiltInType::Boolean, false.into()),
        ("-12", BuiltInType::Int16, (-12_i16).into()),
        ("0xFFFF", BuiltInType::UInt16, u16::MAX.into()),
        ("1_000", BuiltInType::UInt16, 1000_u16.into()),
        ("3.5", BuiltInType::Double, 3.5.into()),
        ("1e3", BuiltInType::Float, 1000_f32.into()),
        ("[1,2,3]", BuiltInType::Int32, vec![1, 2, 3].into()),
        (
            "[\"a\", null]",
            BuiltInType::String,
            vec![UaString::from("a"), UaString::null()].into(),
        ),
        ("[not json", BuiltInType::String, "[not json".into()),
        (" \"as it is\"", BuiltInType::String, " \"as it is\"".into()),
        (
            "ns=2;s=Speed",
            BuiltInType::NodeId,
            NodeId::string(2, "Speed").into(),
        ),
        (
            "{\"locale\": \"en\", \"text\": \"a\"}",
            BuiltInType::LocalizedText,
            LocalizedText::new("en", "a").into(),
        ),
        (
            "0x800A0000",
            BuiltInType::StatusCode,
            StatusCode::BadTimeout.into(),
        ),
        ("7", BuiltInType::Variant, 7_i64.into()),
        ("plain", BuiltInType::Variant, "plain".into()),
    ];
    for (text, built_in_type, value) in cases {
        assert_eq!(parse_variant(text, built_in_type), Ok(value), "{text}");
    }
    let unit = EUInformation {
        unit_id: 5,
        display_name: "°C".into(),
        ..Default::default()
    };
    let text = to_value(&ExtensionObject::from_structure(&unit)).to_string();
    let parsed = parse_variant(&text, BuiltInType::ExtensionObject).unwrap();
    assert_eq!(parsed, ExtensionObject::from_structure(&unit).into());
    assert!(
        matches!(parse_variant("now", BuiltInType::DateTime), Ok(Variant::DateTime(time)) if !time.is_null())
    );
    assert_eq!(
        parse_variant_of_rank("[1]", BuiltInType::String, -1),
        Ok("[1]".into())
    );

    for (text, built_in_type, expected) in [
        (
            "yes",
            BuiltInType::Boolean,
            "expected true or false, found \"yes\"",
        ),
        ("", BuiltInType::Int32, "expected a whole number from"),
        ("--1", BuiltInType::Int32, "expected a whole number from"),
        ("1.5", BuiltInType::Int32, "expected a whole number from"),
        (
            "inf",
            BuiltInType::Double,
            "expected a number, NaN, Infinity or -Infinity, found \"inf\"",
        ),
        (
            "[1, 2",
            BuiltInType::Int32,
            "'[1, 2' is not a JSON array: EOF",
        ),
        (
            "{",
            BuiltInType::ExtensionObject,
            "ExtensionObject is written as JSON: EOF",
        ),
        (
            "Speed",
            BuiltInType::NodeId,
            "expected a NodeId such as i=2258 or ns=2;s=Speed, found \"Speed\"",
        ),
    ] {
        let error = parse_variant(text, built_in_type).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = parse_variant_of_rank("5", BuiltInType::Int32, 1)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "expected an array of Int32, such as [...], found \"5\""
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,30}", json in "[\\[\\]{}\":,0-9a-z$ ]{0,30}", id in 1..26_u8, rank in -4..4_i32) {
        let built_in_type = BuiltInType::from_u8(id).unwrap();
        let _ = parse_variant_of_rank(&text, built_in_type, rank);
        let _ = parse_variant_of_rank(&json, built_in_type, rank);
    }
}

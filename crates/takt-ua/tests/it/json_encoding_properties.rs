//! The standard's JSON DataEncoding: written values are read again, and hostile texts do no harm.

use crate::common::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use takt_ua::json_encoding::{
    DEFAULT_MAX_LENGTH, JsonContext, JsonDecodeErrorKind, JsonDecoder, JsonEncoder, JsonEncoding,
    parse,
};
use takt_ua::structures::{StructureDefinition, StructureDescription, StructureField};
use takt_ua::{BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, Variant};

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

/// Returns descriptions of structures `ns=1;i=1` to `last`: each has two of the next one, the last one has no fields.
fn nested_twice(last: u32) -> Vec<StructureDescription> {
    let structure = |id: u32| StructureDescription {
        data_type_id: NodeId::numeric(1, id),
        structure_definition: StructureDefinition {
            fields: ["A", "B"]
                .map(|name| StructureField {
                    name: name.into(),
                    data_type: NodeId::numeric(1, id + 1),
                    value_rank: -1,
                    ..StructureField::default()
                })
                .into(),
            ..StructureDefinition::default()
        },
        ..StructureDescription::default()
    };
    let mut structures: Vec<_> = (1..last).map(structure).collect();
    structures.push(StructureDescription {
        data_type_id: NodeId::numeric(1, last),
        ..StructureDescription::default()
    });
    structures
}

#[test]
fn omitted_structures_are_counted_over_the_whole_text() {
    let objects = |last: u32, count: usize| {
        let structures = nested_twice(last);
        let context = JsonContext {
            structures: &structures,
            ..JsonContext::default()
        };
        let objects = vec![json!({"UaTypeId": "ns=1;i=1"}); count].into();
        let result = JsonDecoder::new(context).value(&objects, BuiltInType::ExtensionObject);
        result.map(drop).map_err(|error| error.kind().clone())
    };
    // Each omits 2046 structures.
    assert_eq!(objects(11, 2), Ok(()));
    let too_many = JsonDecodeErrorKind::TooManyStructures;
    assert_eq!(objects(11, 3), Err(too_many));
    // Those of many objects that omit a few.
    assert_eq!(objects(5, 10_000), Ok(()));
}

/// Descriptions that nest structures without content in each other, twice each, must not take long to process.
#[test]
fn hostile_descriptions_end() {
    let structures = nested_twice(80);
    let context = JsonContext {
        structures: &structures,
        ..JsonContext::default()
    };
    let object = json!({"UaTypeId": "ns=1;i=1", "A": {}});
    let result = JsonDecoder::new(context).value(&object, BuiltInType::ExtensionObject);
    assert_eq!(
        result.unwrap_err().kind(),
        &JsonDecodeErrorKind::TooManyStructures
    );
    let object = ExtensionObject {
        type_id: NodeId::numeric(1, 1),
        body: ExtensionObjectBody::Binary(Vec::new()),
    };
    let json = JsonEncoder::new(JsonEncoding::Verbose, context).value(&object.into());
    assert_eq!(json["UaEncoding"], 1);
}

proptest! {
    #[test]
    fn written_variants_are_read_back(value in variant()) {
        for encoder in [compact(), verbose()] {
            let json = encoder.variant(&value);
            let again = decoder().variant(&through_text(&json)).unwrap();
            prop_assert_eq!(encoder.variant(&again), json);
        }
        // RawData, whose types only metadata has, is at least readable.
        let raw = JsonEncoder::new(JsonEncoding::RawData, JsonContext::default());
        let json = through_text(&raw.variant(&value));
        prop_assert!(decoder().variant(&json).is_ok());
        if let Some(built_in_type) = value.built_in_type() {
            let _ = decoder().value(&json, built_in_type);
        }
    }

    #[test]
    fn written_data_values_are_read_back(value in data_value()) {
        let json = through_text(&compact().data_value(&value));
        let again = decoder().data_value(&json).unwrap();
        prop_assert_eq!(compact().data_value(&again), json);
        prop_assert_eq!(again.status_code(), value.status_code());
    }

    #[test]
    fn numbers_and_ids_are_exact(
        float in any::<f32>(), double in any::<f64>(), int64 in any::<i64>(), uint64 in any::<u64>(),
        node_id in node_id(), expanded in expanded_node_id(), guid in guid(), code in status_code(),
    ) {
        for value in [
            int64.into(), uint64.into(), node_id.into(), expanded.into(), guid.into(), code.into(),
        ] {
            let value: Variant = value;
            prop_assert_eq!(read(&compact().variant(&value)), value);
        }
        let single = read(&compact().variant(&float.into()));
        let same = |read: f32| read.to_bits() == float.to_bits() || read.is_nan() && float.is_nan();
        prop_assert!(matches!(single, Variant::Float(read) if same(read)));
        let read = read(&compact().variant(&double.into()));
        let same = |read: f64| read.to_bits() == double.to_bits() || read.is_nan() && double.is_nan();
        prop_assert!(matches!(read, Variant::Double(read) if same(read)));
    }

    #[test]
    fn any_text_does_no_harm(text in "[\\[\\]{}\",:0-9a-zUTVBody ]{0,80}") {
        if let Ok(value) = parse(text.as_bytes(), 1000) {
            let _ = decoder().variant(&value);
            let _ = decoder().data_value(&value);
            for built_in_type in BuiltInType::all() {
                let _ = decoder().value(&value, built_in_type);
            }
        }
    }
}

//! Structures and enumerations as JSON for people, by the descriptions of their DataTypes.

use proptest::prelude::*;
use serde_json::{Value, json};
use takt_ua::enumerations::StructureType;
use takt_ua::json::{
    DescribedValues, EnumerationForm, UndecodedReason, described_from_value, parse_described,
};
use takt_ua::structures::*;
use takt_ua::{
    BuiltInType, DescribedTypes, ExtensionObject, ExtensionObjectBody, NodeId, QualifiedName,
    Variant,
};

const COLOR: u32 = 1;
const POINT: u32 = 2;
const OPTIONAL: u32 = 3;
const UNION: u32 = 4;
const TREE: u32 = 5;
const MATRIX: u32 = 6;
const SUBTYPED: u32 = 7;
const ACCESS: u32 = 8;

fn own(id: u32) -> NodeId {
    NodeId::numeric(2, id)
}

fn standard(built_in: BuiltInType) -> NodeId {
    NodeId::numeric(0, built_in as u32)
}

fn field(name: &str, data_type: NodeId, value_rank: i32) -> StructureField {
    StructureField {
        name: name.into(),
        data_type,
        value_rank,
        ..StructureField::default()
    }
}

fn optional(field: StructureField) -> StructureField {
    StructureField {
        is_optional: true,
        ..field
    }
}

fn structure(
    id: u32,
    name: &str,
    structure_type: StructureType,
    fields: Vec<StructureField>,
) -> StructureDescription {
    StructureDescription {
        data_type_id: own(id),
        name: QualifiedName::new(2, name),
        structure_definition: StructureDefinition {
            structure_type,
            fields,
            ..StructureDefinition::default()
        },
    }
}

fn enumeration(id: u32, name: &str, built_in_type: BuiltInType, names: &[&str]) -> EnumDescription {
    let fields = (0..).zip(names).map(|(value, name)| EnumField {
        value,
        name: (*name).into(),
        ..EnumField::default()
    });
    EnumDescription {
        data_type_id: own(id),
        name: QualifiedName::new(2, name),
        enum_definition: EnumDefinition {
            fields: fields.collect(),
        },
        built_in_type: built_in_type as u8,
    }
}

/// Encoding of the structure with this DataType.
fn encoding(id: u32) -> NodeId {
    own(id + 1000)
}

fn types() -> DescribedTypes {
    use BuiltInType as B;
    use StructureType as S;
    let structures = [
        structure(
            POINT,
            "Point",
            S::Structure,
            vec![
                field("x", standard(B::Double), -1),
                field("n", standard(B::String), -1),
                field("c", own(COLOR), -1),
            ],
        ),
        structure(
            OPTIONAL,
            "Optional",
            S::StructureWithOptionalFields,
            vec![
                field("a", standard(B::Int32), -1),
                optional(field("b", standard(B::String), -1)),
                optional(field("points", own(POINT), 1)),
            ],
        ),
        structure(
            UNION,
            "Choice",
            S::Union,
            vec![
                field("number", standard(B::UInt64), -1),
                field("point", own(POINT), -1),
            ],
        ),
        structure(
            TREE,
            "Tree",
            S::Structure,
            vec![
                field("name", standard(B::String), -1),
                field("children", own(TREE), 1),
            ],
        ),
        structure(
            MATRIX,
            "Grid",
            S::Structure,
            vec![
                field("cells", standard(B::Int16), 2),
                field("colors", own(COLOR), 1),
            ],
        ),
        structure(
            SUBTYPED,
            "Subtyped",
            S::StructureWithSubtypedValues,
            vec![
                optional(field("any", own(POINT), -1)),
                optional(field("number", NodeId::numeric(0, 26), -1)),
                field("plain", own(POINT), -1),
            ],
        ),
    ];
    let mut types = DescribedTypes::default();
    types.insert_enumeration(&enumeration(COLOR, "Color", B::Int32, &["Red", "Green"]));
    types.insert_enumeration(&enumeration(
        ACCESS,
        "Access",
        B::UInt16,
        &["Read", "Write"],
    ));
    for structure in structures {
        let id = structure.data_type_id.as_numeric().unwrap();
        types.insert_structure(&structure, &[encoding(id)]);
    }
    types
}

trait AsNumeric {
    fn as_numeric(&self) -> Option<u32>;
}

impl AsNumeric for NodeId {
    fn as_numeric(&self) -> Option<u32> {
        match self.identifier {
            takt_ua::Identifier::Numeric(id) => Some(id),
            _ => None,
        }
    }
}

fn shown(types: &DescribedTypes, value: &Variant, data_type: u32) -> Value {
    DescribedValues::new(types, EnumerationForm::NameAndNumber).value(value, Some(&own(data_type)))
}

fn read(
    types: &DescribedTypes,
    json: &Value,
    data_type: u32,
    rank: i32,
) -> Result<Variant, String> {
    described_from_value(json, types, &own(data_type), rank).map_err(|error| error.to_string())
}

/// Checks that the value is written as it was read.
fn round_trip(data_type: u32, json: Value) -> Variant {
    let types = types();
    let value = read(&types, &json, data_type, -2).unwrap();
    assert_eq!(shown(&types, &value, data_type), json);
    value
}

#[test]
fn structures_are_objects_of_their_fields() {
    let point = json!({"$type": "2:Point", "x": 1.5, "n": "größe", "c": "Green_1"});
    let value = round_trip(POINT, point.clone());
    let Variant::ExtensionObject(object) = &value else {
        panic!("{value:?}");
    };
    assert_eq!(object.type_id, encoding(POINT));
    let mut expected = 1.5_f64.to_le_bytes().to_vec();
    expected.extend([7, 0, 0, 0]);
    expected.extend("größe".as_bytes());
    expected.extend(1_i32.to_le_bytes());
    assert_eq!(object.body, ExtensionObjectBody::Binary(expected));
    let text = DescribedValues::new(&types(), EnumerationForm::Text).text(&value, None);
    assert_eq!(
        text,
        r#"{"$type":"2:Point","x":1.5,"n":"größe","c":"Green (1)"}"#
    );

    round_trip(POINT, json!([point, point]));
    let inner = json!({"x": 1.5, "n": null, "c": 7});
    for value in [
        json!({"$type": "2:Optional", "a": 7}),
        json!({"$type": "2:Optional", "a": 7, "b": null}),
        json!({"$type": "2:Optional", "a": 7, "points": [inner, inner]}),
    ] {
        round_trip(OPTIONAL, value);
    }
    for value in [
        json!({"$type": "2:Choice"}),
        json!({"$type": "2:Choice", "number": 18_446_744_073_709_551_615_u64}),
        json!({"$type": "2:Choice", "point": inner}),
    ] {
        round_trip(UNION, value);
    }
    round_trip(
        TREE,
        json!({"$type": "2:Tree", "name": "a", "children": [{"name": "b", "children": []}]}),
    );
    round_trip(
        MATRIX,
        json!({"$type": "2:Grid", "cells": [[1, 2, 3], [4, 5, 6]], "colors": ["Red_0", 9]}),
    );
    round_trip(
        MATRIX,
        json!({"$type": "2:Grid", "cells": [], "colors": []}),
    );
    round_trip(
        SUBTYPED,
        json!({"$type": "2:Subtyped", "any": {"$type": "2:Choice", "number": 1},
            "number": {"type": "Byte", "value": 3}, "plain": inner}),
    );
}

#[test]
fn a_matrix_has_its_dimensions_before_its_elements() {
    let value = round_trip(
        MATRIX,
        json!({"$type": "2:Grid", "cells": [[1, 2]], "colors": []}),
    );
    let Variant::ExtensionObject(object) = value else {
        panic!("no structure");
    };
    // OPC 10000-6, 5.2.5: the dimensions as an array of Int32, and the elements without their number.
    let body = [2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0];
    assert_eq!(object.body, ExtensionObjectBody::Binary(body.to_vec()));
}

#[test]
fn enumerations_have_names() {
    let types = types();
    assert_eq!(shown(&types, &Variant::Int32(1), COLOR), json!("Green_1"));
    assert_eq!(shown(&types, &Variant::Int32(7), COLOR), json!(7));
    assert_eq!(
        shown(&types, &vec![0_i32, 1].into(), COLOR),
        json!(["Red_0", "Green_1"])
    );
    let text = |value: Variant, data_type: u32| {
        DescribedValues::new(&types, EnumerationForm::Text).text(&value, Some(&own(data_type)))
    };
    assert_eq!(text(Variant::Int32(1), COLOR), "Green (1)");
    assert_eq!(text(Variant::Int32(7), COLOR), "7");
    assert_eq!(text(Variant::UInt16(3), ACCESS), "Read | Write (3)");
    assert_eq!(text(Variant::UInt16(6), ACCESS), "Write | bit 2 (6)");
    assert_eq!(text(Variant::UInt16(0), ACCESS), "0");
    // A standard enumeration needs no description.
    let state = NodeId::from(takt_ua::ids::SERVER_STATE);
    let values = DescribedValues::new(&types, EnumerationForm::Text);
    assert_eq!(values.text(&Variant::Int32(0), Some(&state)), "Running (0)");

    let parse = |text: &str, data_type: u32| {
        parse_described(text, &types, &own(data_type), -1).map_err(|error| error.to_string())
    };
    for text in ["1", "Green", "Green_1", "Green (1)", " \"Green\" "] {
        assert_eq!(parse(text, COLOR), Ok(Variant::Int32(1)), "{text}");
    }
    assert_eq!(parse("7", COLOR), Ok(Variant::Int32(7)));
    for text in ["3", "Read | Write", "Read | Write (3)"] {
        assert_eq!(parse(text, ACCESS), Ok(Variant::UInt16(3)), "{text}");
    }
    for text in [
        "Blue",
        "Green_0",
        "Green (0)",
        "Blue_x",
        "1.5",
        "",
        "99999999999",
    ] {
        let error = parse(text, COLOR).unwrap_err();
        assert!(error.contains("Red, Green"), "{text}: {error}");
    }
    // The last of 64 bits.
    let mut wide = enumeration(200, "Wide", BuiltInType::UInt64, &[]);
    wide.enum_definition.fields.push(EnumField {
        value: 63,
        name: "Last".into(),
        ..EnumField::default()
    });
    let mut types_of_bits = DescribedTypes::default();
    types_of_bits.insert_enumeration(&wide);
    let last = Variant::UInt64(1 << 63);
    let shown = DescribedValues::new(&types_of_bits, EnumerationForm::Text);
    let text = shown.text(&last, Some(&own(200)));
    assert_eq!(text, "Last (9223372036854775808)");
    assert_eq!(
        parse_described(&text, &types_of_bits, &own(200), -1),
        Ok(last)
    );
    for text in ["Execute", "65536", "-1", "Read | "] {
        assert!(parse(text, ACCESS).is_err(), "{text}");
    }
}

#[test]
fn errors_name_the_field_and_the_type() {
    let types = types();
    let cases = [
        (
            POINT,
            json!({"x": "fast", "n": "", "c": 0}),
            "x: expected a number",
        ),
        (
            POINT,
            json!({"x": 1, "n": ""}),
            "c: is missing; it is 2:Color",
        ),
        (
            POINT,
            json!({"x": 1, "n": "", "c": "Blue"}),
            "c: expected a number or one of Red, Green (2:Color)",
        ),
        (
            POINT,
            json!({"x": 1, "n": "", "c": 0, "d": 1}),
            "2:Point has no field 'd'; it has x, n, c",
        ),
        (POINT, json!(5), "an object: 2:Point with x, n, c"),
        (
            OPTIONAL,
            json!({"a": 1, "points": {}}),
            "points: expected an array of 2:Point",
        ),
        (
            OPTIONAL,
            json!({"a": 1, "points": [{"x": 1}]}),
            "points[0].n: is missing; it is String",
        ),
        (
            UNION,
            json!({"number": 1, "point": {}}),
            "not both number and point",
        ),
        (
            MATRIX,
            json!({"cells": [[1], [2, 3]], "colors": []}),
            "cells[1]: expected an array of length 1",
        ),
        (
            MATRIX,
            json!({"cells": [1], "colors": []}),
            "cells: expected nested arrays of 2 dimensions",
        ),
        (POINT, json!({"$type": "2:Nothing"}), "$type"),
    ];
    for (data_type, json, expected) in cases {
        let error = read(&types, &json, data_type, -1).unwrap_err();
        assert!(error.contains(expected), "{json}: {error}");
    }
    let error = parse_described("{x}", &types, &own(POINT), -1).unwrap_err();
    assert!(error.to_string().contains("JSON"), "{error}");
}

#[test]
fn bodies_that_do_not_match_are_base64_with_the_reason() {
    let types = types();
    let undecoded = |type_id: NodeId, body: Vec<u8>| {
        let object = ExtensionObject {
            type_id,
            body: ExtensionObjectBody::Binary(body),
        };
        let values = DescribedValues::new(&types, EnumerationForm::NameAndNumber);
        let json = values.value(&object.into(), None);
        assert!(json.get("$body").is_some(), "{json}");
        let mut undecoded = values.take_undecoded();
        assert_eq!(undecoded.len(), 1);
        undecoded.remove(0).reason
    };
    let reason = undecoded(own(77), vec![1]);
    assert_eq!(reason, UndecodedReason::UnknownEncoding);
    // Too short, too long, no such field of a Union.
    for (id, body) in [
        (POINT, vec![0; 15]),
        (POINT, vec![0; 17]),
        (UNION, vec![9, 0, 0, 0]),
    ] {
        let reason = undecoded(encoding(id), body);
        assert!(
            matches!(reason, UndecodedReason::Mismatch { .. }),
            "{reason:?}"
        );
    }
    let mut incomplete = DescribedTypes::default();
    let fields = vec![field("x", own(99), -1)];
    let hole = structure(50, "Hole", StructureType::Structure, fields);
    incomplete.insert_structure(&hole, &[encoding(50)]);
    assert_eq!(incomplete.undescribed_fields(&own(50)), [own(99)]);
    let values = DescribedValues::new(&incomplete, EnumerationForm::Text);
    let object = ExtensionObject {
        type_id: encoding(50),
        body: ExtensionObjectBody::Binary(vec![0]),
    };
    let _ = values.value(&object.into(), None);
    let undecoded = values.take_undecoded();
    assert_eq!(
        undecoded[0].reason,
        UndecodedReason::UnknownDataType(own(99))
    );
}

#[test]
fn a_wrong_default_encoding_takes_no_place() {
    let mut types = DescribedTypes::default();
    let mut point = structure(POINT, "Point", StructureType::Structure, vec![]);
    // The encoding of the other structure.
    point.structure_definition.default_encoding_id = encoding(TREE);
    let tree = structure(TREE, "Tree", StructureType::Structure, vec![]);
    types.insert_structure(&tree, &[encoding(TREE)]);
    types.insert_structure(&point, &[encoding(POINT)]);
    assert_eq!(types.of_encoding(&encoding(TREE)), Some(own(TREE)));
    assert_eq!(types.of_encoding(&encoding(POINT)), Some(own(POINT)));
}

#[test]
fn names_of_several_structures_need_their_namespace() {
    let mut types = types();
    let mut other = structure(500, "Point", StructureType::Structure, vec![]);
    other.name.namespace = 3;
    types.insert_structure(&other, &[encoding(500)]);
    let error = read(&types, &json!({"$type": "Point"}), TREE, -1).unwrap_err();
    assert!(error.contains("2:Point or 3:Point"), "{error}");
    assert!(read(&types, &json!({"$type": "3:Point"}), TREE, -1).is_ok());
    assert!(read(&types, &json!({"$type": "ns=2;i=500"}), TREE, -1).is_ok());
}

#[test]
fn structures_that_were_received_as_json_are_json() {
    let object = ExtensionObject {
        type_id: own(77),
        body: ExtensionObjectBody::Binary(br#"{"a":1,"b":[true]}"#.to_vec()),
    };
    let value = Variant::from(object);
    assert_eq!(
        value.to_string(),
        r#"{"$type":"ns=2;i=77","a":1,"b":[true]}"#
    );
}

/// Descriptions of a hostile server must not take long, or much memory.
#[test]
fn descriptions_cannot_exhaust_the_reader() {
    let mut types = DescribedTypes::default();
    // Each has 20 of the next one, and the last one takes no bytes.
    for id in 1..40 {
        let fields = (0..20).map(|at| field(&format!("f{at}"), own(id + 1), -1));
        let nested = structure(id, "Nested", StructureType::Structure, fields.collect());
        types.insert_structure(&nested, &[encoding(id)]);
    }
    types.insert_structure(
        &structure(40, "Empty", StructureType::Structure, vec![]),
        &[encoding(40)],
    );
    // Names of 10 kB for each byte of a body.
    let name = "x".repeat(10_000);
    let fields = vec![field(&name, standard(BuiltInType::Boolean), -1)];
    let named = structure(50, "Named", StructureType::Structure, fields);
    types.insert_structure(&named, &[encoding(50)]);
    let many = vec![field("all", own(50), 1)];
    types.insert_structure(
        &structure(51, "Many", StructureType::Structure, many),
        &[encoding(51)],
    );
    // A structure that contains itself.
    let itself = vec![field("x", own(60), -1)];
    types.insert_structure(
        &structure(60, "Itself", StructureType::Structure, itself),
        &[encoding(60)],
    );
    let mut million = 1_000_000_u32.to_le_bytes().to_vec();
    million.extend(vec![1; 1_000_000]);
    for (id, body) in [(1, vec![]), (51, million), (60, vec![0; 1000])] {
        let object = ExtensionObject {
            type_id: encoding(id),
            body: ExtensionObjectBody::Binary(body),
        };
        let values = DescribedValues::new(&types, EnumerationForm::Text);
        let json = values.value(&object.into(), None);
        assert!(json.get("$body").is_some(), "{id}");
        assert_eq!(values.take_undecoded().len(), 1);
    }
    // A matrix of very many dimensions.
    let deep = vec![field("m", standard(BuiltInType::Boolean), i32::MAX)];
    types.insert_structure(
        &structure(70, "Deep", StructureType::Structure, deep),
        &[encoding(70)],
    );
    for value in [json!({"m": []}), json!({"m": null}), json!({"m": [[[1]]]})] {
        let error = read(&types, &value, 70, -1).unwrap_err();
        assert!(error.contains("m: values are nested too deeply"), "{error}");
    }
    let error = read(&types, &json!({"x": {}}), 60, -1).unwrap_err();
    assert!(error.contains("is missing"), "{error}");
}

/// Bytes that decide how a random value looks.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }
}

/// Structures `ns=2;i=1` to 4: a field of one of them is an array, or it is one of a later structure.
fn random_types(choices: &mut Choices<'_>) -> Vec<StructureDescription> {
    const BUILT_IN: [BuiltInType; 6] = [
        BuiltInType::Boolean,
        BuiltInType::Int16,
        BuiltInType::UInt64,
        BuiltInType::String,
        BuiltInType::ByteString,
        BuiltInType::LocalizedText,
    ];
    let kinds = [
        StructureType::Structure,
        StructureType::StructureWithOptionalFields,
        StructureType::Union,
    ];
    (1..=4_u32)
        .map(|id| {
            let kind = kinds[usize::from(choices.next()) % 3];
            let fields = (0..1 + choices.next() % 4).map(|at| {
                let choice = choices.next();
                let rank = match choice % 4 {
                    0 => 1,
                    1 => 2,
                    _ => -1,
                };
                let later = id + 1 + u32::from(choice) % 4;
                let data_type = match choices.next() % 4 {
                    0 if rank > 0 => own(1 + u32::from(choice) % 4),
                    1 if later <= 4 => own(later),
                    2 => own(100),
                    other => standard(BUILT_IN[usize::from(other.wrapping_add(choice)) % 6]),
                };
                StructureField {
                    is_optional: choices.next().is_multiple_of(2),
                    ..field(&format!("f{at}"), data_type, rank)
                }
            });
            let fields = fields.collect();
            structure(id, &format!("S{id}"), kind, fields)
        })
        .collect()
}

fn random_value(
    all: &[StructureDescription],
    data_type: &NodeId,
    choices: &mut Choices<'_>,
    depth: u32,
) -> Value {
    let choice = choices.next();
    let id = data_type.as_numeric().unwrap();
    if data_type.namespace == 0 {
        return match id {
            1 => json!(choice.is_multiple_of(2)),
            4 => json!(i16::from(choice) - 128),
            9 => json!(u64::MAX - u64::from(choice)),
            12 if choice.is_multiple_of(2) => Value::Null,
            15 => json!("AQI="),
            _ => json!(format!("text {choice}")),
        };
    }
    if id == 100 {
        return [json!("Red_0"), json!("Green_1"), json!(2)][usize::from(choice % 3)].clone();
    }
    let described = &all[id as usize - 1].structure_definition;
    let mut object = serde_json::Map::new();
    let mut fields: Vec<&StructureField> = described.fields.iter().collect();
    match described.structure_type {
        StructureType::Union => fields = vec![fields[usize::from(choice) % fields.len()]],
        StructureType::StructureWithOptionalFields => {
            fields.retain(|field| !field.is_optional || choices.next().is_multiple_of(2));
        }
        _ => {}
    }
    for field in fields {
        let mut element = || random_value(all, &field.data_type, choices, depth + 1);
        // A structure within itself ends somewhere.
        let count = if depth > 5 {
            0
        } else {
            usize::from(choice % 3)
        };
        let value = match field.value_rank {
            -1 => element(),
            1 => (0..count).map(|_| element()).collect(),
            _ => {
                let rows = (0..count).map(|_| (0..2).map(|_| element()).collect::<Value>());
                rows.collect()
            }
        };
        object.insert(field.name.to_string(), value);
    }
    object.into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A value of any description is read, encoded, decoded and written as it was.
    #[test]
    fn values_of_random_descriptions_survive(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut choices = Choices(bytes.iter());
        let all = random_types(&mut choices);
        let mut types = DescribedTypes::default();
        types.insert_enumeration(&enumeration(100, "Color", BuiltInType::Int32, &["Red", "Green"]));
        for structure in &all {
            let id = structure.data_type_id.as_numeric().unwrap();
            types.insert_structure(structure, &[encoding(id)]);
        }
        let json = random_value(&all, &own(1), &mut choices, 0);
        let value = read(&types, &json, 1, -1).map_err(TestCaseError::fail)?;
        let mut shown = shown(&types, &value, 1);
        prop_assert_eq!(shown.as_object_mut().unwrap().shift_remove("$type"), Some(json!("2:S1")));
        prop_assert_eq!(shown, json);
    }

    /// Any bytes are decoded or refused by any description.
    #[test]
    fn any_body_is_written(
        bytes in prop::collection::vec(any::<u8>(), 0..100),
        body in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut types = DescribedTypes::default();
        for structure in random_types(&mut Choices(bytes.iter())) {
            types.insert_structure(&structure, &[encoding(structure.data_type_id.as_numeric().unwrap())]);
        }
        let object = ExtensionObject {
            type_id: encoding(1),
            body: ExtensionObjectBody::Binary(body),
        };
        let json = DescribedValues::new(&types, EnumerationForm::Text).value(&object.into(), None);
        prop_assert!(json.get("$type").is_some());
    }
}

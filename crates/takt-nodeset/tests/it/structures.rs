//! Conversion of custom structures from XML to binary.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use takt_nodeset::{BodyEncoder, DataTypes, ParseLimits};
use takt_ua::binary::{Decoder, Encode};
use takt_ua::enumerations::StructureType;
use takt_ua::structures::{StructureDefinition, StructureField};
use takt_ua::{BuiltInType, NodeId, Variant};

const DOUBLE: NodeId = NodeId::numeric(0, 11);
const COLOUR: NodeId = NodeId::numeric(1, 1);
const POINT: NodeId = NodeId::numeric(1, 2);
const LINE: NodeId = NodeId::numeric(1, 3);
const EITHER: NodeId = NodeId::numeric(1, 4);
const BOMB: NodeId = NodeId::numeric(1, 5);
const LOOSE: NodeId = NodeId::numeric(1, 6);

struct Types(HashMap<NodeId, StructureDefinition>);

impl DataTypes for Types {
    fn structure(&self, data_type: &NodeId) -> Option<StructureDefinition> {
        self.0.get(data_type).cloned()
    }

    fn built_in_type(&self, data_type: &NodeId) -> Option<BuiltInType> {
        match data_type {
            id if self.0.contains_key(id) => Some(BuiltInType::ExtensionObject),
            id if *id == COLOUR => Some(BuiltInType::Int32),
            id => BuiltInType::from_u8(u8::try_from(id.standard_id()?).ok()?),
        }
    }
}

fn field(name: &str, data_type: NodeId, value_rank: i32, is_optional: bool) -> StructureField {
    StructureField {
        name: name.into(),
        data_type,
        value_rank,
        is_optional,
        ..StructureField::default()
    }
}

fn types() -> Types {
    let mut types = HashMap::new();
    let mut add = |id: NodeId, structure_type, fields: Vec<StructureField>| {
        types.insert(
            id,
            StructureDefinition {
                structure_type,
                fields,
                ..StructureDefinition::default()
            },
        );
    };
    add(
        POINT,
        StructureType::Structure,
        vec![field("X", DOUBLE, -1, false), field("Y", DOUBLE, -1, false)],
    );
    add(
        LINE,
        StructureType::StructureWithOptionalFields,
        vec![
            field("Points", POINT, 1, false),
            field("Colour", COLOUR, -1, true),
            field("Name", NodeId::numeric(0, 12), -1, true),
            field("Unit", NodeId::numeric(0, 17), -1, true),
        ],
    );
    add(
        EITHER,
        StructureType::Union,
        vec![
            field("Point", POINT, -1, false),
            field("Number", DOUBLE, -1, false),
        ],
    );
    add(
        BOMB,
        StructureType::Structure,
        (0..20)
            .map(|i| field(&format!("F{i}"), BOMB, -1, false))
            .collect(),
    );
    add(
        LOOSE,
        StructureType::StructureWithSubtypedValues,
        vec![field("Any", DOUBLE, -1, true)],
    );
    Types(types)
}

fn encode(data_type: &NodeId, xml: &str) -> Option<Vec<u8>> {
    BodyEncoder::new(&types(), &ParseLimits::DEFAULT).encode(data_type, xml)
}

#[test]
fn structures() {
    let bytes = encode(&POINT, "<Point xmlns='urn:x'><Y>2</Y><X>1.5</X></Point>").unwrap();
    assert_eq!(bytes, [1.5f64.to_le_bytes(), 2f64.to_le_bytes()].concat());
    assert_eq!(encode(&POINT, "<Point/>").unwrap(), [0; 16]);
    assert_eq!(encode(&POINT, "<Point><X>one</X></Point>"), None);
    assert_eq!(encode(&NodeId::numeric(9, 9), "<Point/>"), None);
    assert_eq!(encode(&POINT, "<Point>"), None);
}

#[test]
fn optional_fields_arrays_and_enumerations() {
    let bytes = encode(
        &LINE,
        "<Line><Points><Point><X>1</X></Point><Point/></Points><Colour>Red_3</Colour>
         <Unit><Identifier>ns=4;i=7</Identifier></Unit></Line>",
    )
    .unwrap();
    let mut decoder = Decoder::new(&bytes);
    assert_eq!(decoder.u32().unwrap(), 0b101);
    assert_eq!(decoder.i32().unwrap(), 2);
    assert_eq!(
        [(); 4].map(|()| decoder.f64().unwrap()),
        [1.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(decoder.i32().unwrap(), 3);
    // The namespace index is that of the address space.
    assert_eq!(decoder.rest(), NodeId::numeric(4, 7).encode_to_vec());
    assert_eq!(
        encode(&LINE, "<Line/>").unwrap(),
        [0, 0, 0, 0, 255, 255, 255, 255]
    );
}

#[test]
fn unions() {
    let number = [&2u32.to_le_bytes()[..], &4f64.to_le_bytes()].concat();
    assert_eq!(
        encode(
            &EITHER,
            "<Either><SwitchField>2</SwitchField><Number>4</Number></Either>"
        )
        .unwrap(),
        number
    );
    assert_eq!(
        encode(&EITHER, "<Either><Number>4</Number></Either>").unwrap(),
        number
    );
    assert_eq!(encode(&EITHER, "<Either/>").unwrap(), [0; 4]);
    assert_eq!(
        encode(&EITHER, "<Either><SwitchField>3</SwitchField></Either>"),
        None
    );
}

#[test]
fn fields_with_subtypes_carry_their_type() {
    let xml = "<Loose><Any><Value><Double>4</Double></Value></Any></Loose>";
    assert_eq!(
        encode(&LOOSE, xml).unwrap(),
        Variant::from(4.0).encode_to_vec()
    );
}

#[test]
fn definitions_that_contain_themselves_end() {
    let started = Instant::now();
    assert_eq!(encode(&BOMB, "<Bomb/>"), None);

    // Twelve levels of twenty structures each, which encode to no bytes.
    let mut types = types();
    for level in 0..12 {
        let fields =
            (0..20).map(|i| field(&format!("F{i}"), NodeId::numeric(2, level + 1), -1, false));
        let definition = StructureDefinition {
            fields: fields.collect(),
            ..StructureDefinition::default()
        };
        types.0.insert(NodeId::numeric(2, level), definition);
    }
    types
        .0
        .insert(NodeId::numeric(2, 12), StructureDefinition::default());
    let encoder = BodyEncoder::new(
        &types,
        &ParseLimits {
            max_bytes: 1 << 20,
            ..ParseLimits::DEFAULT
        },
    );
    assert_eq!(encoder.encode(&NodeId::numeric(2, 0), "<A/>"), None);
    assert!(started.elapsed() < Duration::from_secs(20));
}

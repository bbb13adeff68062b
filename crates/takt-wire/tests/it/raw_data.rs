//! RawData of every shape is decoded as it was encoded, at the offsets of the layout.

use crate::common::values::{date_time, double, guid, status_code};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use takt_ua::enumerations::StructureType;
use takt_ua::structures::{
    DataSetMetaDataType, FieldMetaData, StructureDefinition, StructureDescription, StructureField,
};
use takt_ua::{
    Array, BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, UaString, Variant,
};
use takt_wire::{
    DataSetContent, DataSetFields, DataSetMessage, Fields, MessageTree, NetworkMessage,
    RawDataLayout, TreeNode, TreeParameters,
};

const LONGEST: usize = 8;

/// A field and a value for it.
type Field = (FieldMetaData, Variant);

fn field(built_in_type: BuiltInType, value_rank: i32) -> FieldMetaData {
    FieldMetaData {
        built_in_type: built_in_type as u8,
        value_rank,
        ..FieldMetaData::default()
    }
}

fn scalar() -> BoxedStrategy<Field> {
    let value = prop_oneof![
        any::<bool>().prop_map(Variant::from),
        any::<i8>().prop_map(Variant::from),
        any::<u16>().prop_map(Variant::from),
        any::<i64>().prop_map(Variant::from),
        double().prop_map(Variant::from),
        date_time().prop_map(Variant::from),
        guid().prop_map(Variant::from),
        status_code().prop_map(Variant::from),
    ];
    value
        .prop_map(|value| (field(value.built_in_type().unwrap(), -1), value))
        .boxed()
}

fn text() -> impl Strategy<Value = UaString> {
    option::of("[a-zäö]{0,4}").prop_map(UaString::from)
}

/// Strings with a longest length, or without one.
fn texts() -> BoxedStrategy<Field> {
    let longest = prop_oneof![Just(0), Just(LONGEST as u32)];
    let scalar = (text(), longest.clone()).prop_map(|(text, longest)| {
        let field = FieldMetaData {
            max_string_length: longest,
            ..field(BuiltInType::String, -1)
        };
        (field, Variant::from(text))
    });
    let bytes = option::of(vec(any::<u8>(), 0..LONGEST));
    let bytes = (bytes, longest.clone()).prop_map(|(bytes, longest)| {
        let field = FieldMetaData {
            max_string_length: longest,
            ..field(BuiltInType::ByteString, -1)
        };
        (field, Variant::ByteString(bytes.as_deref().into()))
    });
    let array = (vec(text(), 0..4), longest, any::<bool>()).prop_map(|(texts, longest, fixed)| {
        let field = FieldMetaData {
            max_string_length: longest,
            array_dimensions: if fixed { vec![4] } else { Vec::new() },
            ..field(BuiltInType::String, 1)
        };
        (field, Variant::from(texts))
    });
    prop_oneof![scalar, bytes, array].boxed()
}

/// Matrices of two dimensions, each at most 3, with and without ArrayDimensions.
fn matrix() -> BoxedStrategy<Field> {
    (1..4_u32, 1..4_u32, vec(any::<u16>(), 9), any::<bool>())
        .prop_map(|(rows, columns, mut elements, fixed)| {
            elements.truncate((rows * columns) as usize);
            let matrix = Array::matrix(elements, &[rows, columns]).unwrap();
            let field = FieldMetaData {
                array_dimensions: if fixed { vec![3, 3] } else { Vec::new() },
                ..field(BuiltInType::UInt16, 2)
            };
            (field, matrix.into())
        })
        .boxed()
}

const OPTIONAL: u32 = 3000;
const UNION: u32 = 3010;

fn member(built_in_type: BuiltInType, max_string_length: u32, is_optional: bool) -> StructureField {
    StructureField {
        data_type: NodeId::from(u32::from(built_in_type as u8)),
        value_rank: -1,
        max_string_length,
        is_optional,
        ..StructureField::default()
    }
}

fn structures() -> Vec<StructureDescription> {
    let describe = |id, structure_type, fields| StructureDescription {
        data_type_id: NodeId::numeric(1, id),
        structure_definition: StructureDefinition {
            default_encoding_id: NodeId::numeric(1, id + 1),
            structure_type,
            fields,
            ..StructureDefinition::default()
        },
        ..StructureDescription::default()
    };
    let optional = vec![
        member(BuiltInType::String, LONGEST as u32, true),
        member(BuiltInType::Byte, 0, false),
        member(BuiltInType::UInt32, 0, true),
    ];
    let union = vec![
        member(BuiltInType::Byte, 0, false),
        member(BuiltInType::String, LONGEST as u32, false),
    ];
    vec![
        describe(
            OPTIONAL,
            StructureType::StructureWithOptionalFields,
            optional,
        ),
        describe(UNION, StructureType::Union, union),
    ]
}

fn structured(id: u32, body: Vec<u8>) -> Field {
    let field = FieldMetaData {
        data_type: NodeId::numeric(1, id),
        ..field(BuiltInType::ExtensionObject, -1)
    };
    let object = ExtensionObject {
        type_id: NodeId::numeric(1, id + 1),
        body: ExtensionObjectBody::Binary(body),
    };
    (field, object.into())
}

fn encoded_text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn structure() -> BoxedStrategy<Field> {
    let optional = (
        option::of("[a-z]{0,8}"),
        any::<u8>(),
        option::of(any::<u32>()),
    );
    let optional = optional.prop_map(|(text, byte, number)| {
        let mask = u32::from(text.is_some()) | u32::from(number.is_some()) << 1;
        let mut body = mask.to_le_bytes().to_vec();
        body.extend(text.iter().flat_map(|text| encoded_text(text)));
        body.push(byte);
        body.extend(number.iter().flat_map(|number| number.to_le_bytes()));
        structured(OPTIONAL, body)
    });
    let union = prop_oneof![
        Just(vec![0, 0, 0, 0]),
        any::<u8>().prop_map(|byte| vec![1, 0, 0, 0, byte]),
        "[a-z]{0,8}".prop_map(|text| [vec![2, 0, 0, 0], encoded_text(&text)].concat()),
    ];
    prop_oneof![optional, union.prop_map(|body| structured(UNION, body))].boxed()
}

/// Returns the fields of a DataSet, in a message that has them behind its headers.
fn fields_of(tree: &MessageTree) -> &[TreeNode] {
    let messages = &tree.nodes.last().unwrap().children;
    &messages[0].children.last().unwrap().children
}

proptest! {
    #[test]
    fn the_tree_shows_every_field_where_it_is(
        fields in vec(prop_oneof![scalar(), texts(), matrix(), structure()], 1..8),
    ) {
        let (mut fields, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        for (index, field) in fields.iter_mut().enumerate() {
            field.name = format!("F{index}").as_str().into();
        }
        let meta_data = DataSetMetaDataType {
            structure_data_types: structures(),
            fields,
            ..DataSetMetaDataType::default()
        };
        let layout = RawDataLayout::new(&meta_data).unwrap();
        let raw = layout.encode_to_vec(&values).unwrap();
        let content = DataSetContent::KeyFrame(Fields::RawData(raw.clone()));
        let bytes = NetworkMessage::data(None, vec![DataSetMessage::new(content)]).encode_to_vec().unwrap();
        let start = bytes.len() - raw.len();
        let known = DataSetFields::new(&meta_data);
        let data_sets = [Some(&known)];
        let parameters = TreeParameters { data_sets: &data_sets, ..TreeParameters::default() };
        let tree = MessageTree::read(&bytes, &parameters);
        prop_assert!(tree.errors.is_empty(), "{:?}", tree.errors);
        let mut at = 0;
        for leaf in tree.leaves() {
            prop_assert_eq!(leaf.offset, at);
            at += leaf.length;
        }
        prop_assert_eq!(at, bytes.len());
        let shown: Vec<&TreeNode> = fields_of(&tree).iter().filter(|node| node.name == "Field").collect();
        prop_assert_eq!(shown.len(), values.len());
        for (index, (node, value)) in shown.into_iter().zip(&values).enumerate() {
            prop_assert_eq!(node.field_name.clone(), Some(format!("F{index}")));
            if let Some(position) = layout.fixed_positions().nth(index) {
                prop_assert_eq!(node.offset, start + position.start);
            }
            if let Some(shown) = &node.value {
                prop_assert_eq!(shown, value);
            }
        }
        // If it is cut off at any byte, every remaining byte is shown, with an error.
        for length in start..bytes.len() {
            let tree = MessageTree::read(&bytes[..length], &parameters);
            prop_assert!(!tree.errors.is_empty());
            prop_assert_eq!(tree.leaves().iter().map(|leaf| leaf.length).sum::<usize>(), length);
        }
    }
}

proptest! {
    #[test]
    fn every_shape_survives(
        fields in vec(prop_oneof![scalar(), texts(), matrix(), structure()], 1..8),
        behind in vec(any::<u8>(), 0..4),
    ) {
        let (fields, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        let layout = RawDataLayout::new(&DataSetMetaDataType {
            structure_data_types: structures(),
            fields: fields.clone(),
            ..DataSetMetaDataType::default()
        }).unwrap();
        let bytes = layout.encode_to_vec(&values).unwrap();
        prop_assert_eq!(&layout.decode(&bytes).unwrap(), &values);
        let followed = [&bytes[..], &behind].concat();
        prop_assert_eq!(layout.decode_start(&followed).unwrap(), (values.clone(), bytes.len()));
        if let Some(size) = layout.fixed_size() {
            prop_assert_eq!(size, bytes.len());
        }
        // Each field alone equals the bytes at its position.
        for (index, (field, value)) in fields.into_iter().zip(&values).enumerate() {
            let alone = RawDataLayout::new(&DataSetMetaDataType {
                structure_data_types: structures(),
                fields: vec![field],
                ..DataSetMetaDataType::default()
            }).unwrap();
            if let Some(position) = layout.fixed_positions().nth(index) {
                prop_assert_eq!(&alone.encode_to_vec(std::slice::from_ref(value)).unwrap(), &bytes[position]);
            }
        }
        // If it is cut off at any byte, it is refused.
        for length in 0..bytes.len() {
            prop_assert!(layout.decode(&bytes[..length]).is_err());
        }
    }
}

//! RawData as bytes.

use takt_ua::enumerations::StructureType;
use takt_ua::structures::{
    DataSetMetaDataType, EnumDescription, FieldMetaData, StructureDefinition, StructureDescription,
    StructureField,
};
use takt_ua::{
    Array, BuiltInType, ExtensionObject, ExtensionObjectBody, NodeId, StatusCode, Variant, ids,
};

use super::*;

fn field(built_in_type: BuiltInType) -> FieldMetaData {
    FieldMetaData {
        built_in_type: built_in_type as u8,
        value_rank: -1,
        ..FieldMetaData::default()
    }
}

fn meta_data(fields: Vec<FieldMetaData>) -> DataSetMetaDataType {
    DataSetMetaDataType {
        fields,
        ..DataSetMetaDataType::default()
    }
}

#[track_caller]
fn check(layout: &RawDataLayout, values: &[Variant], expected: &[u8]) {
    assert_eq!(layout.encode_to_vec(values).unwrap(), expected);
    assert_eq!(layout.decode(expected).unwrap(), values);
    if let Some(size) = layout.fixed_size() {
        assert_eq!(size, expected.len());
    }
}

#[test]
fn scalars_one_behind_the_other() {
    let fields = [
        BuiltInType::Boolean,
        BuiltInType::UInt16,
        BuiltInType::StatusCode,
    ];
    let layout = RawDataLayout::new(&meta_data(fields.map(field).to_vec())).unwrap();
    let values = [
        Variant::Boolean(true),
        Variant::UInt16(0x0201),
        Variant::StatusCode(StatusCode(0x8765_4321)),
    ];
    check(&layout, &values, &[1, 1, 2, 0x21, 0x43, 0x65, 0x87]);
    assert_eq!(layout.fixed_positions().nth(1), Some(1..3));
    assert_eq!(layout.fixed_positions().nth(3), None);
}

#[test]
fn strings_are_padded_to_their_longest() {
    let mut text = field(BuiltInType::String);
    text.max_string_length = 4;
    let mut bytes = field(BuiltInType::ByteString);
    bytes.max_string_length = 2;
    let layout = RawDataLayout::new(&meta_data(vec![text, bytes])).unwrap();
    let values = [
        Variant::String("ab".into()),
        Variant::ByteString(Some(&[7_u8][..]).into()),
    ];
    check(
        &layout,
        &values,
        &[2, 0, 0, 0, b'a', b'b', 0, 0, 1, 0, 0, 0, 7, 0],
    );
    let null = [Variant::String(None::<&str>.into()), values[1].clone()];
    check(
        &layout,
        &null,
        &[255, 255, 255, 255, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0],
    );
    let long = [Variant::String("abcde".into()), values[1].clone()];
    assert!(matches!(
        layout.encode_to_vec(&long),
        Err(RawDataError::Invalid { field: 0, .. })
    ));
    let longer = [5, 0, 0, 0, b'a', b'b', b'c', b'd', b'e', 0, 0, 0, 0];
    assert!(layout.decode(&longer).is_err());
}

#[test]
fn without_a_longest_there_is_no_padding() {
    let layout = RawDataLayout::new(&meta_data(vec![field(BuiltInType::String)])).unwrap();
    assert_eq!(layout.fixed_size(), None);
    check(&layout, &["a".into()], &[1, 0, 0, 0, b'a']);
}

#[test]
fn arrays_are_padded_to_their_longest() {
    let mut array = field(BuiltInType::UInt16);
    array.value_rank = 1;
    array.array_dimensions = vec![3];
    let layout = RawDataLayout::new(&meta_data(vec![array])).unwrap();
    check(
        &layout,
        &[vec![1_u16, 2].into()],
        &[2, 0, 0, 0, 1, 0, 2, 0, 0, 0],
    );
    assert!(layout.encode_to_vec(&[vec![0_u16; 4].into()]).is_err());
    assert!(layout.encode_to_vec(&[vec![0_u32; 2].into()]).is_err());
    assert!(
        layout
            .decode(&[4, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0])
            .is_err()
    );
}

#[test]
fn matrices_are_padded_in_each_dimension() {
    let mut matrix = field(BuiltInType::Byte);
    matrix.value_rank = 2;
    matrix.array_dimensions = vec![3, 2];
    let layout = RawDataLayout::new(&meta_data(vec![matrix])).unwrap();
    let value = Array::matrix(vec![1_u8, 2], &[2, 1]).unwrap();
    check(
        &layout,
        &[value.into()],
        &[2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0],
    );
    let huge = [2, 0, 0, 0, 255, 255, 255, 127, 255, 255, 255, 127, 1];
    assert!(layout.decode(&huge).is_err());
}

const POINT: u32 = 3001;

/// Returns a structure `ns=1;i=3000`, whose encoding is [`POINT`].
fn structured(
    structure_type: StructureType,
    members: &[(BuiltInType, u32, bool)],
) -> DataSetMetaDataType {
    let fields = members
        .iter()
        .map(|(built_in_type, max, is_optional)| StructureField {
            data_type: NodeId::from(u32::from(*built_in_type as u8)),
            value_rank: -1,
            max_string_length: *max,
            is_optional: *is_optional,
            ..StructureField::default()
        });
    let description = StructureDescription {
        data_type_id: NodeId::numeric(1, 3000),
        structure_definition: StructureDefinition {
            default_encoding_id: NodeId::numeric(1, POINT),
            structure_type,
            fields: fields.collect(),
            ..StructureDefinition::default()
        },
        ..StructureDescription::default()
    };
    DataSetMetaDataType {
        structure_data_types: vec![description],
        ..meta_data(vec![FieldMetaData {
            data_type: NodeId::numeric(1, 3000),
            ..field(BuiltInType::ExtensionObject)
        }])
    }
}

fn body(bytes: &[u8]) -> Variant {
    Variant::from(ExtensionObject {
        type_id: NodeId::numeric(1, POINT),
        body: ExtensionObjectBody::Binary(bytes.to_vec()),
    })
}

#[test]
fn a_structure_is_encoded_in_place() {
    let members = [
        (BuiltInType::Byte, 0, false),
        (BuiltInType::String, 3, false),
    ];
    let layout = RawDataLayout::new(&structured(StructureType::Structure, &members)).unwrap();
    check(
        &layout,
        &[body(&[7, 1, 0, 0, 0, b'x'])],
        &[7, 1, 0, 0, 0, b'x', 0, 0],
    );
    assert!(layout.encode_to_vec(&[body(&[7])]).is_err());
    assert!(layout.encode_to_vec(&[body(&[7, 0, 0, 0, 0, 9])]).is_err());
    assert!(
        layout
            .encode_to_vec(&[ExtensionObject::NULL.into()])
            .is_err()
    );
}

#[test]
fn optional_fields_keep_their_place() {
    let members = [
        (BuiltInType::UInt16, 0, true),
        (BuiltInType::Byte, 0, false),
        (BuiltInType::Byte, 0, true),
    ];
    let kind = StructureType::StructureWithOptionalFields;
    let layout = RawDataLayout::new(&structured(kind, &members)).unwrap();
    check(
        &layout,
        &[body(&[2, 0, 0, 0, 7, 8])],
        &[2, 0, 0, 0, 0, 0, 7, 8],
    );
    assert!(layout.decode(&[4, 0, 0, 0, 0, 0, 7, 8]).is_err());
}

#[test]
fn a_union_is_as_long_as_its_longest_field() {
    let members = [
        (BuiltInType::Byte, 0, false),
        (BuiltInType::UInt32, 0, false),
    ];
    let layout = RawDataLayout::new(&structured(StructureType::Union, &members)).unwrap();
    check(
        &layout,
        &[body(&[1, 0, 0, 0, 7])],
        &[1, 0, 0, 0, 7, 0, 0, 0],
    );
    check(&layout, &[body(&[0, 0, 0, 0])], &[0; 8]);
    assert!(layout.decode(&[3, 0, 0, 0, 7, 0, 0, 0]).is_err());
}

#[test]
fn an_array_of_structures() {
    let members = [(BuiltInType::String, 1, false)];
    let mut described = structured(StructureType::Structure, &members);
    described.fields[0].value_rank = 1;
    described.fields[0].array_dimensions = vec![2];
    let layout = RawDataLayout::new(&described).unwrap();
    let Variant::ExtensionObject(object) = body(&[1, 0, 0, 0, b'x']) else {
        panic!()
    };
    check(
        &layout,
        &[vec![*object].into()],
        &[1, 0, 0, 0, 1, 0, 0, 0, b'x', 0, 0, 0, 0, 0],
    );
}

#[test]
fn types_of_namespace_0_need_no_description() {
    let mut range = field(BuiltInType::ExtensionObject);
    range.data_type = NodeId::from(ids::RANGE);
    let layout = RawDataLayout::new(&meta_data(vec![range])).unwrap();
    assert_eq!(layout.fixed_size(), Some(16));
    let object = ExtensionObject::from_structure(&takt_ua::structures::Range {
        low: 1.0,
        high: 2.0,
    });
    let bytes = layout.encode_to_vec(&[object.clone().into()]).unwrap();
    assert_eq!(layout.decode(&bytes).unwrap(), [object.into()]);
}

#[test]
fn forbidden_types_are_refused() {
    for built_in_type in [
        BuiltInType::NodeId,
        BuiltInType::ExpandedNodeId,
        BuiltInType::QualifiedName,
        BuiltInType::LocalizedText,
        BuiltInType::XmlElement,
        BuiltInType::DiagnosticInfo,
        BuiltInType::DataValue,
        BuiltInType::Variant,
    ] {
        let error = RawDataLayout::new(&meta_data(vec![field(built_in_type)])).unwrap_err();
        assert!(
            matches!(error, RawDataError::Forbidden { field: 0, .. }),
            "{error}"
        );
        let members = [(built_in_type, 0, false)];
        let error = RawDataLayout::new(&structured(StructureType::Structure, &members));
        assert!(error.is_err(), "{built_in_type}");
    }
    let mut any_rank = field(BuiltInType::Byte);
    any_rank.value_rank = -2;
    assert!(RawDataLayout::new(&meta_data(vec![any_rank])).is_err());
    let subtyped = structured(StructureType::StructureWithSubtypedValues, &[]);
    assert!(RawDataLayout::new(&subtyped).is_err());
}

#[test]
fn structures_that_could_be_endless_are_refused() {
    let empty = structured(StructureType::Structure, &[]);
    assert!(RawDataLayout::new(&empty).is_err());
    let mut recursive = structured(StructureType::Structure, &[(BuiltInType::Byte, 0, false)]);
    let definition = &mut recursive.structure_data_types[0].structure_definition;
    definition.fields[0].data_type = NodeId::numeric(1, 3000);
    let error = RawDataLayout::new(&recursive).unwrap_err();
    assert!(error.to_string().contains("contains itself"), "{error}");
    let mut unknown = structured(StructureType::Structure, &[(BuiltInType::Byte, 0, false)]);
    unknown.fields[0].data_type = NodeId::numeric(1, 1);
    assert!(matches!(
        RawDataLayout::new(&unknown),
        Err(RawDataError::UnknownDataType { field: 0, .. })
    ));
    let mut huge = field(BuiltInType::Byte);
    huge.value_rank = 2;
    huge.array_dimensions = vec![u32::MAX, u32::MAX];
    assert!(RawDataLayout::new(&meta_data(vec![huge])).is_err());
    let mut long = field(BuiltInType::String);
    long.max_string_length = u32::MAX;
    assert!(RawDataLayout::new(&meta_data(vec![long])).is_err());
}

#[test]
fn structures_whose_smallest_size_exceeds_every_number_have_no_values() {
    // Each has eight fields of the next one; the last one has a text of unknown length.
    let numbers = 3000..3025;
    let mut described = structured(StructureType::Structure, &[(BuiltInType::String, 0, false)]);
    let text = described.structure_data_types.remove(0);
    for number in numbers.clone() {
        let mut structure = text.clone();
        structure.data_type_id = NodeId::numeric(1, number);
        if number + 1 < numbers.end {
            let fields = &mut structure.structure_definition.fields;
            fields[0].data_type = NodeId::numeric(1, number + 1);
            *fields = vec![fields[0].clone(); 8];
        }
        described.structure_data_types.push(structure);
    }
    let layout = RawDataLayout::new(&described).unwrap();
    assert_eq!(layout.fixed_size(), None);
    assert!(layout.decode(&[0; 1000]).is_err());
    // The same in an array, of which only the number of elements counts.
    described.fields[0].value_rank = 1;
    let layout = RawDataLayout::new(&described).unwrap();
    assert!(layout.decode(&[1, 0, 0, 0, 0, 0, 0, 0]).is_err());
    assert!(layout.decode(&[0; 4]).is_ok());
}

#[test]
fn enumerations_are_numbers() {
    let mut described = structured(StructureType::Structure, &[(BuiltInType::Byte, 0, false)]);
    described.enum_data_types = vec![EnumDescription {
        data_type_id: NodeId::numeric(1, 8),
        built_in_type: BuiltInType::Int32 as u8,
        ..EnumDescription::default()
    }];
    let definition = &mut described.structure_data_types[0].structure_definition;
    definition.fields[0].data_type = NodeId::numeric(1, 8);
    let layout = RawDataLayout::new(&described).unwrap();
    check(&layout, &[body(&[1, 0, 0, 0])], &[1, 0, 0, 0]);
}

#[test]
fn wrong_values_and_bytes_are_refused() {
    let layout = RawDataLayout::new(&meta_data(vec![field(BuiltInType::UInt16)])).unwrap();
    assert_eq!(
        layout.encode_to_vec(&[]),
        Err(RawDataError::FieldCount {
            expected: 1,
            found: 0
        })
    );
    assert_eq!(
        layout.encode_to_vec(&[Variant::Byte(1)]),
        Err(RawDataError::TypeMismatch {
            field: 0,
            expected: BuiltInType::UInt16
        })
    );
    assert!(matches!(
        layout.decode(&[1]),
        Err(RawDataError::Decoding { field: 0, .. })
    ));
    assert_eq!(layout.decode(&[1, 0, 0]), Ok(vec![Variant::UInt16(1)]));
    assert_eq!(
        layout.decode(&[1, 0, 1]),
        Err(RawDataError::TrailingBytes { offset: 2 })
    );
}

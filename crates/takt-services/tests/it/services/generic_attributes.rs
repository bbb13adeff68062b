//! AddNodes with GenericAttributes (OPC 10000-4, 7.24.10), and DataTypes with their encodings.

use crate::common::Client;
use crate::services::nodes::*;
use takt_ua::binary::Encode;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{
    ExtensionObject, ExtensionObjectBody, NodeId, QualifiedName, StatusCode, Variant, ids,
};

const DATA_TYPE_DEFINITION: u32 = 23;

/// Returns `item` with attributes as pairs of AttributeId and value, and a Description.
fn with(item: AddNodesItem, attributes: &[(u32, Variant)]) -> AddNodesItem {
    let values = attributes.iter().cloned();
    let values = values.map(|(attribute_id, value)| GenericAttributeValue {
        attribute_id,
        value,
    });
    let generic = GenericAttributes {
        specified_attributes: 1 << 5,
        description: "Described".into(),
        attribute_values: values.collect(),
        ..GenericAttributes::default()
    };
    AddNodesItem {
        node_attributes: ExtensionObject::from_structure(&generic),
        ..item
    }
}

fn data_type(name: &str, supertype: u32) -> AddNodesItem {
    AddNodesItem {
        parent_node_id: supertype.into(),
        reference_type_id: ids::HAS_SUBTYPE.into(),
        ..item(NodeClass::DataType, name)
    }
}

fn definition() -> Variant {
    let definition = EnumDefinition {
        fields: vec![EnumField {
            value: 1,
            name: "On".into(),
            ..EnumField::default()
        }],
    };
    ExtensionObject::from_structure(&definition).into()
}

#[test]
fn attributes_are_pairs_of_id_and_value() {
    let mut client = Client::new(&managed());
    let attributes = [
        (13, 2.5.into()),
        (14, Variant::from(NodeId::from(ids::DOUBLE))),
        (15, (-1_i32).into()),
        (17, 3_u8.into()),
    ];
    let node = with(item(NodeClass::Variable, "Speed"), &attributes);
    let node = add_one(&mut client, node).unwrap();
    for (attribute, mut value) in attributes.into_iter().chain([(5, described())]) {
        if attribute == 17 {
            // The server keeps StatusCode and source timestamp of a value that it stores.
            value = 0x63_u8.into();
        }
        let read = client.read_attribute(node.clone(), attribute);
        assert_eq!(read.value, Some(value), "attribute {attribute}");
    }
    // Executable is not an attribute of a Variable; ValueRank is an Int32.
    for wrong in [(21, true.into()), (15, 1_u32.into())] {
        let node = with(item(NodeClass::Variable, "Wrong"), &[wrong]);
        assert_eq!(
            add_one(&mut client, node),
            Err(StatusCode::BadNodeAttributesInvalid)
        );
    }
}

fn described() -> Variant {
    takt_ua::LocalizedText::from("Described").into()
}

#[test]
fn a_data_type_has_a_definition() {
    let mut client = Client::new(&managed());
    let attributes = [(DATA_TYPE_DEFINITION, definition())];
    let node = with(data_type("State", ids::ENUMERATION), &attributes);
    let node = add_one(&mut client, node).unwrap();
    let read = client.read_attribute(node.clone(), DATA_TYPE_DEFINITION);
    assert_eq!(read.value, Some(definition()));
    assert_eq!(client.read_attribute(node, 5).value, Some(described()));
    let range: Variant = ExtensionObject::from_structure(&Range::default()).into();
    for wrong in [range, 1.0.into()] {
        let wrong = [(DATA_TYPE_DEFINITION, wrong)];
        let node = with(data_type("Wrong", ids::ENUMERATION), &wrong);
        assert_eq!(
            add_one(&mut client, node),
            Err(StatusCode::BadNodeAttributesInvalid)
        );
    }
}

#[test]
fn an_encoding_is_added_below_its_data_type() {
    let mut client = Client::new(&managed());
    let structure = add_one(&mut client, data_type("Recipe", ids::STRUCTURE)).unwrap();
    let encoding = |parent: NodeId, node_class| AddNodesItem {
        parent_node_id: parent.into(),
        reference_type_id: ids::HAS_ENCODING.into(),
        browse_name: QualifiedName::new(0, "Default Binary"),
        ..item(node_class, "")
    };
    let added = add_one(&mut client, encoding(structure.clone(), NodeClass::Object));
    assert!(added.is_ok(), "{added:?}");
    for (parent, node_class) in [
        (structure, NodeClass::Variable),
        (ids::OBJECTS_FOLDER.into(), NodeClass::Object),
    ] {
        assert_eq!(
            add_one(&mut client, encoding(parent, node_class)),
            Err(StatusCode::BadReferenceNotAllowed)
        );
    }
}

/// DataTypeAttributes with a DataTypeDefinition behind the fields of the standard, as asyncua sends them.
fn with_appended(item: AddNodesItem, definition: &ExtensionObject) -> AddNodesItem {
    let attributes = DataTypeAttributes {
        specified_attributes: 1 << 5 | 1 << 22,
        description: "Described".into(),
        ..DataTypeAttributes::default()
    };
    let mut node_attributes = ExtensionObject::from_structure(&attributes);
    let ExtensionObjectBody::Binary(body) = &mut node_attributes.body else {
        panic!("it is encoded");
    };
    body.extend(definition.encode_to_vec());
    AddNodesItem {
        node_attributes,
        ..item
    }
}

#[test]
fn a_definition_may_follow_the_attributes_of_a_data_type() {
    let mut client = Client::new(&managed());
    let Variant::ExtensionObject(object) = definition() else {
        panic!("it is a structure");
    };
    let node = with_appended(data_type("State", ids::ENUMERATION), &object);
    let node = add_one(&mut client, node).unwrap();
    let read = client.read_attribute(node.clone(), DATA_TYPE_DEFINITION);
    assert_eq!(read.value, Some(definition()));
    assert_eq!(client.read_attribute(node, 5).value, Some(described()));
    // A client that writes the definition later sends none here.
    let none = with_appended(data_type("None", ids::ENUMERATION), &ExtensionObject::NULL);
    let none = add_one(&mut client, none).unwrap();
    let read = client.read_attribute(none, DATA_TYPE_DEFINITION);
    assert_eq!(read.status_code(), StatusCode::BadAttributeIdInvalid);
    let range = ExtensionObject::from_structure(&Range::default());
    let wrong = with_appended(data_type("Wrong", ids::ENUMERATION), &range);
    assert_eq!(
        add_one(&mut client, wrong),
        Err(StatusCode::BadNodeAttributesInvalid)
    );
}

#[test]
fn definitions_have_names_and_not_too_many_fields() {
    let mut client = Client::new(&managed());
    let named = |name: &str| StructureField {
        name: name.into(),
        ..StructureField::default()
    };
    let of = |fields: Vec<StructureField>| {
        ExtensionObject::from_structure(&StructureDefinition {
            fields,
            ..StructureDefinition::default()
        })
    };
    let many = |count: usize| {
        (0..count)
            .map(|number| named(&number.to_string()))
            .collect()
    };
    let mut damaged = of(vec![named("a")]);
    let ExtensionObjectBody::Binary(body) = &mut damaged.body else {
        panic!("it is encoded");
    };
    body.truncate(body.len() - 1);
    for (number, (definition, accepted)) in [
        (of(many(10_000)), true),
        (of(many(10_001)), false),
        (of(vec![named("a"), named("b")]), true),
        (of(vec![named("a"), named("a")]), false),
        (of(vec![named("")]), false),
        (damaged, false),
    ]
    .into_iter()
    .enumerate()
    {
        let attributes = [(DATA_TYPE_DEFINITION, definition.into())];
        let name = format!("S{number}");
        let node = with(data_type(&name, ids::STRUCTURE), &attributes);
        let added = add_one(&mut client, node);
        let refused = Err(StatusCode::BadNodeAttributesInvalid);
        assert_eq!(added.is_ok(), accepted, "{number}: {added:?}");
        assert!(accepted || added == refused);
    }
}

#[test]
fn a_namespace_without_an_identifier_asks_for_any_node_id_there() {
    let mut client = Client::new(&managed());
    let in_2 = |name: &str, item: AddNodesItem| AddNodesItem {
        requested_new_node_id: NodeId::numeric(2, 0).into(),
        browse_name: QualifiedName::new(2, name),
        ..item
    };
    let structure = in_2("S", data_type("S", ids::STRUCTURE));
    let first = add_one(&mut client, structure).unwrap();
    let second = add_one(&mut client, in_2("T", data_type("T", ids::STRUCTURE))).unwrap();
    for node in [&first, &second] {
        assert!(node.namespace == 2 && *node != NodeId::numeric(2, 0));
    }
    assert_ne!(first, second);
    // The type of an encoding is known without the client.
    let encoding = AddNodesItem {
        parent_node_id: first.into(),
        reference_type_id: ids::HAS_ENCODING.into(),
        browse_name: QualifiedName::new(0, "Default Binary"),
        type_definition: NodeId::NULL.into(),
        ..in_2("", item(NodeClass::Object, ""))
    };
    let encoding = AddNodesItem {
        browse_name: QualifiedName::new(0, "Default Binary"),
        ..encoding
    };
    assert!(add_one(&mut client, encoding).is_ok());
    let unknown = AddNodesItem {
        requested_new_node_id: NodeId::numeric(99, 0).into(),
        ..data_type("U", ids::STRUCTURE)
    };
    assert_eq!(
        add_one(&mut client, unknown),
        Err(StatusCode::BadNodeIdRejected)
    );
}

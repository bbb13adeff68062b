//! AddNodes with GenericAttributes (OPC 10000-4, 7.24.10), and DataTypes with their encodings.

use crate::common::Client;
use crate::services::nodes::*;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{ExtensionObject, NodeId, QualifiedName, StatusCode, Variant, ids};

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
    for (attribute, value) in attributes.into_iter().chain([(5, described())]) {
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

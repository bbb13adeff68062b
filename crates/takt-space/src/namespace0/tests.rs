//! Tests of the committed table as a whole, of some well-known nodes, and of damaged tables.

use std::collections::HashSet;

use takt_ua::binary::{Decode, Decoder};
use takt_ua::enumerations::{NodeClass, StructureType};
use takt_ua::structures::{Argument, EnumDefinition, StructureDefinition};
use takt_ua::{BuiltInType, Elements, ExtensionObject, NodeId, Variant, ids};

use super::bytes::BYTES;
use super::{Namespace0, StandardNode, StandardReference};

fn node(id: u32) -> StandardNode {
    Namespace0::get(id).unwrap_or_else(|| panic!("no node i={id}"))
}

fn has(id: u32, reference_type: u32, is_forward: bool, target: u32) -> bool {
    node(id).references().any(|reference| {
        reference
            == StandardReference {
                reference_type,
                is_forward,
                target,
            }
    })
}

fn decoded<T: for<'a> Decode<'a>>(bytes: &[u8]) -> T {
    let mut decoder = Decoder::new(bytes);
    let value = T::decode(&mut decoder).unwrap();
    assert_eq!(decoder.remaining(), 0);
    value
}

fn value(id: u32) -> Variant {
    decoded(node(id).value().unwrap())
}

#[test]
fn every_node_is_found_and_complete() {
    let mut last = 0;
    for node in Namespace0::nodes() {
        let id = node.id();
        assert!(id > last, "i={id} after i={last}");
        last = id;
        assert_eq!(Namespace0::get(id), Some(node));
        assert!(
            node.node_class().name().is_some() && node.node_class() != NodeClass::Unspecified,
            "i={id}"
        );
        assert!(
            !node.browse_name().is_empty() && !node.display_name().is_empty(),
            "i={id}"
        );
        if matches!(
            node.node_class(),
            NodeClass::Variable | NodeClass::VariableType
        ) {
            let data_type = super::Namespace0::get(node.data_type()).unwrap();
            assert_eq!(data_type.node_class(), NodeClass::DataType, "i={id}");
            assert!(node.value_rank() >= -3, "i={id}");
            let dimensions = node.array_dimensions();
            assert!(
                dimensions.is_empty() || node.value_rank() == dimensions.len() as i32,
                "i={id}"
            );
        }
        if node.node_class() == NodeClass::Variable {
            assert!(node.access_level() & 1 == 1, "i={id}");
        }
        if node.node_class() == NodeClass::Method {
            assert!(node.executable(), "i={id}");
        }
    }
    assert_eq!(Namespace0::nodes().len(), 5297);
    for unknown in [0, 4_000_000, last + 1, u32::MAX] {
        assert_eq!(Namespace0::get(unknown), None);
    }
}

#[test]
fn every_reference_leads_to_a_node_that_has_its_inverse() {
    let mut all = HashSet::new();
    for node in Namespace0::nodes() {
        for reference in node.references() {
            assert!(
                all.insert((node.id(), reference)),
                "twice at i={}: {reference:?}",
                node.id()
            );
            let reference_type = self::node(reference.reference_type);
            assert_eq!(reference_type.node_class(), NodeClass::ReferenceType);
            assert!(
                !reference_type.is_abstract(),
                "i={}: {reference:?}",
                node.id()
            );
        }
    }
    for (id, reference) in &all {
        let inverse = StandardReference {
            is_forward: !reference.is_forward,
            target: *id,
            ..*reference
        };
        assert!(
            all.contains(&(reference.target, inverse)),
            "i={id}: {reference:?}"
        );
    }
}

#[test]
fn every_value_is_one_of_the_data_type() {
    let mut values = 0;
    for node in Namespace0::nodes() {
        let Some(bytes) = node.value() else { continue };
        values += 1;
        let value: Variant = decoded(bytes);
        let built_in = value
            .built_in_type()
            .unwrap_or_else(|| panic!("i={} is empty", node.id()));
        let is_array = value.is_array();
        assert!(
            node.value_rank() < -1 || is_array == (node.value_rank() >= 0),
            "i={}",
            node.id()
        );
        let expected = match built_in {
            BuiltInType::ExtensionObject => ids::STRUCTURE,
            BuiltInType::Int32 if Namespace0::is_subtype_of(node.data_type(), ids::ENUMERATION) => {
                ids::ENUMERATION
            }
            other => other as u32,
        };
        assert!(
            Namespace0::is_subtype_of(node.data_type(), expected)
                || Namespace0::is_subtype_of(expected, node.data_type()),
            "i={}: {built_in} for a DataType i={}",
            node.id(),
            node.data_type()
        );
    }
    assert!(values > 1200, "{values}");
}

#[test]
fn every_structure_and_enumeration_has_a_definition() {
    for node in Namespace0::nodes().filter(|node| node.node_class() == NodeClass::DataType) {
        let id = node.id();
        let object: Option<ExtensionObject> = node.data_type_definition().map(decoded);
        let is_structure = Namespace0::is_subtype_of(id, ids::STRUCTURE);
        let is_enumeration = Namespace0::is_subtype_of(id, ids::ENUMERATION);
        match object {
            Some(object) if object.is::<StructureDefinition>() => {
                assert!(is_structure, "i={id}");
                let definition: StructureDefinition = object.decode_as().unwrap();
                assert_eq!(
                    definition.base_data_type.standard_id(),
                    node.supertype().map(StandardNode::id)
                );
                if node.is_abstract() {
                    assert!(definition.default_encoding_id.is_null(), "i={id}");
                }
                for field in &definition.fields {
                    let data_type = self::node(field.data_type.standard_id().unwrap());
                    assert_eq!(data_type.node_class(), NodeClass::DataType);
                }
            }
            Some(object) => {
                let definition: EnumDefinition = object.decode_as().unwrap();
                assert!(!definition.fields.is_empty(), "i={id}");
            }
            None => assert!(
                !is_structure && (!is_enumeration || node.id() == ids::ENUMERATION),
                "i={id}"
            ),
        }
    }
}

#[test]
fn well_known_nodes() {
    let root = node(ids::ROOT_FOLDER);
    assert_eq!(
        (root.browse_name(), root.display_name(), root.node_class()),
        ("Root", "Root", NodeClass::Object)
    );
    assert!(has(84, ids::ORGANIZES, true, 85) && has(85, ids::ORGANIZES, false, 84));
    assert!(has(84, ids::ORGANIZES, true, 86) && has(84, ids::ORGANIZES, true, 87));
    assert!(has(85, ids::HAS_TYPE_DEFINITION, true, 61));
    assert!(has(85, ids::ORGANIZES, true, 2253) && has(2253, ids::ORGANIZES, false, 85));

    let server = node(ids::SERVER);
    assert_eq!(
        (
            server.browse_name(),
            server.event_notifier(),
            server.access_level()
        ),
        ("Server", 1, 0)
    );
    assert!(has(2253, ids::HAS_COMPONENT, true, 2256) && has(2253, ids::HAS_PROPERTY, true, 2255));

    let status = node(ids::SERVER_SERVER_STATUS);
    assert_eq!(
        (
            status.browse_name(),
            status.data_type(),
            status.value_rank()
        ),
        ("ServerStatus", 862, -1)
    );
    let time = node(ids::SERVER_SERVER_STATUS_CURRENT_TIME);
    assert_eq!(
        (
            time.id(),
            time.browse_name(),
            time.data_type(),
            time.access_level()
        ),
        (2258, "CurrentTime", 294, 1)
    );
    assert!(has(2258, ids::HAS_COMPONENT, false, 2256));

    let max = node(11705);
    assert_eq!((max.browse_name(), max.data_type()), ("MaxNodesPerRead", 7));
    assert!(has(11704, ids::HAS_PROPERTY, true, 11705));

    let array = node(ids::SERVER_NAMESPACE_ARRAY);
    assert_eq!(
        (
            array.data_type(),
            array.value_rank(),
            array.array_dimensions()
        ),
        (12, 1, &[0][..])
    );
    assert_eq!(node(ids::BASE_OBJECT_TYPE).display_name(), "BaseObjectType");
    assert_eq!(node(23642).browse_name(), "PubSubCapablities");
    assert_eq!(node(23642).display_name(), "PubSubCapabilities");
}

#[test]
fn nodes_that_takt_does_not_offer_are_left_out() {
    // ServerConfiguration: ConfigurationFile and its Size, UserManagement and its AddUser, TransactionDiagnostics and its Result.
    for id in [15892, 15893, 24290, 24304, 32336, 32339] {
        assert_eq!(Namespace0::get(id), None, "i={id}");
    }
    // Their types are not left out, and neither is a node beside them.
    for id in [
        ids::SERVER_CONFIGURATION_TYPE,
        ids::SERVER_CONFIGURATION_APPLY_CHANGES,
    ] {
        assert!(Namespace0::get(id).is_some(), "i={id}");
    }
}

#[test]
fn reference_types_have_their_inverse_names() {
    let organizes = node(ids::ORGANIZES);
    assert_eq!(
        (
            organizes.inverse_name(),
            organizes.symmetric(),
            organizes.is_abstract()
        ),
        (Some("OrganizedBy"), false, false)
    );
    let references = node(ids::REFERENCES);
    assert_eq!(
        (
            references.inverse_name(),
            references.symmetric(),
            references.is_abstract()
        ),
        (None, true, true)
    );
}

#[test]
fn subtypes() {
    for (subtype, supertype) in [
        (ids::ORGANIZES, ids::HIERARCHICAL_REFERENCES),
        (ids::HAS_PROPERTY, ids::AGGREGATES),
        (ids::HAS_PROPERTY, ids::REFERENCES),
        (ids::HAS_TYPE_DEFINITION, ids::NON_HIERARCHICAL_REFERENCES),
        (ids::UTC_TIME, ids::DATE_TIME),
        (ids::ARGUMENT, ids::STRUCTURE),
        (ids::UINT32, ids::NUMBER),
        (ids::SERVER_STATE, ids::ENUMERATION),
        (ids::SERVER_TYPE, ids::BASE_OBJECT_TYPE),
    ] {
        assert!(
            Namespace0::is_subtype_of(subtype, supertype),
            "i={subtype} of i={supertype}"
        );
        assert!(
            !Namespace0::is_subtype_of(supertype, subtype),
            "i={supertype} of i={subtype}"
        );
        assert!(Namespace0::is_subtype_of(subtype, subtype));
    }
    assert!(!Namespace0::is_subtype_of(
        ids::HAS_PROPERTY,
        ids::ORGANIZES
    ));
    assert!(!Namespace0::is_subtype_of(ids::SERVER, ids::SERVER_TYPE));
    assert!(!Namespace0::is_subtype_of(0, 0));
    assert!(!Namespace0::is_subtype_of(4_000_000, ids::STRUCTURE));
}

#[test]
fn arguments_and_enumerations_are_values() {
    // Server.GetMonitoredItems
    let Variant::Array(array) = value(11493) else {
        panic!()
    };
    let Elements::ExtensionObject(arguments) = &array.elements else {
        panic!()
    };
    let argument: Argument = arguments[0].decode_as().unwrap();
    assert_eq!(
        (
            argument.name.as_str(),
            &argument.data_type,
            argument.value_rank
        ),
        ("SubscriptionId", &NodeId::from(7), -1)
    );
    assert!(argument.description.text.is_null());

    let Variant::Array(array) = value(7612) else {
        panic!()
    };
    let Elements::LocalizedText(names) = &array.elements else {
        panic!()
    };
    assert_eq!(names[0].text.as_str(), "Running");
}

#[test]
fn definitions_include_inherited_fields() {
    let definition = |id: u32| decoded::<ExtensionObject>(node(id).data_type_definition().unwrap());
    let argument: StructureDefinition = definition(ids::ARGUMENT).decode_as().unwrap();
    assert_eq!(
        (argument.default_encoding_id, argument.base_data_type),
        (NodeId::from(298), NodeId::from(22))
    );
    assert_eq!(argument.structure_type, StructureType::Structure);
    let names: Vec<_> = argument
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "Name",
            "DataType",
            "ValueRank",
            "ArrayDimensions",
            "Description"
        ]
    );

    let token: StructureDefinition = definition(322).decode_as().unwrap();
    let names: Vec<_> = token
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["PolicyId", "UserName", "Password", "EncryptionAlgorithm"]
    );
    assert_eq!(token.base_data_type, NodeId::from(316));

    let state: EnumDefinition = definition(ids::SERVER_STATE).decode_as().unwrap();
    assert_eq!(
        (state.fields[0].value, state.fields[0].name.as_str()),
        (0, "Running")
    );
}

#[test]
fn the_table_is_small() {
    assert!(BYTES.0.len() < 600_000, "{}", BYTES.0.len());
    assert!(size_of::<StandardNode>() <= 4);
}

#[test]
fn forward_references_equal_the_filtered_references() {
    for node in Namespace0::nodes() {
        let forward = node.references().filter(|reference| reference.is_forward);
        assert!(node.forward_references().eq(forward), "i={}", node.id());
    }
}

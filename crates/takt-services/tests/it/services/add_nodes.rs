//! AddNodes (OPC 10000-4, 5.8.2).

use crate::common::Client;
use crate::services::nodes::*;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, LocalizedText, NodeId, QualifiedName, StatusCode, Variant, ids};

#[test]
fn nodes_are_added_with_the_requested_attributes() {
    let server = managed();
    let mut client = Client::new(&server);
    let machine = add_one(&mut client, object("Machine")).unwrap();
    assert_eq!(machine.namespace, 1);
    let speed = AddNodesItem {
        parent_node_id: machine.clone().into(),
        requested_new_node_id: NodeId::string(2, "Speed").into(),
        ..variable("Speed", ids::DOUBLE, 12.5_f64)
    };
    let speed = add_one(&mut client, speed).unwrap();
    assert_eq!(speed, NodeId::string(2, "Speed"));
    assert_eq!(
        client.read_value(speed.clone()).value,
        Some(Variant::from(12.5_f64))
    );
    assert_eq!(
        client.read_attribute(speed.clone(), 4).value,
        Some(LocalizedText::from("Shown").into())
    );
    assert_eq!(
        client.write_value(speed.clone(), 13.0_f64),
        StatusCode::Good
    );
    assert_eq!(
        client.write_value(speed.clone(), "fast"),
        StatusCode::BadTypeMismatch
    );
    let folder = NodeId::from(ids::OBJECTS_FOLDER);
    assert_eq!(
        references(&server, &machine),
        [
            (
                ids::HAS_TYPE_DEFINITION.into(),
                true,
                ids::BASE_OBJECT_TYPE.into()
            ),
            (ids::HAS_COMPONENT.into(), false, folder.clone()),
            (ids::HAS_COMPONENT.into(), true, speed.clone()),
        ]
    );
    assert!(references(&server, &folder).contains(&(
        ids::HAS_COMPONENT.into(),
        true,
        machine.clone()
    )));

    let start = AddNodesItem {
        parent_node_id: machine.clone().into(),
        ..item(NodeClass::Method, "Start")
    };
    let start = add_one(&mut client, start).unwrap();
    assert_eq!(
        client.read_attribute(start, 21).value,
        Some(false.into()),
        "there is nothing behind it"
    );
}

#[test]
fn types_are_added_like_other_nodes() {
    let mut client = Client::new(&managed());
    let below = |item: AddNodesItem, parent: u32| AddNodesItem {
        parent_node_id: parent.into(),
        reference_type_id: ids::HAS_SUBTYPE.into(),
        ..item
    };
    let object_type = below(
        item(NodeClass::ObjectType, "MachineType"),
        ids::BASE_OBJECT_TYPE,
    );
    let object_type = add_one(&mut client, object_type).unwrap();
    let machine = AddNodesItem {
        type_definition: object_type.into(),
        ..object("Machine")
    };
    add_one(&mut client, machine).unwrap();
    let relation = with_attributes(
        below(
            item(NodeClass::ReferenceType, "Feeds"),
            ids::NON_HIERARCHICAL_REFERENCES,
        ),
        &ReferenceTypeAttributes {
            specified_attributes: 1 << 10,
            inverse_name: LocalizedText::from("FedBy"),
            ..ReferenceTypeAttributes::default()
        },
    );
    let relation = add_one(&mut client, relation).unwrap();
    assert_eq!(
        client.read_attribute(relation, 10).value,
        Some(LocalizedText::from("FedBy").into())
    );
    let data_type = below(item(NodeClass::DataType, "Speed"), ids::DOUBLE);
    let data_type = add_one(&mut client, data_type).unwrap();
    let abstract_type = with_attributes(
        below(
            item(NodeClass::ObjectType, "Abstract"),
            ids::BASE_OBJECT_TYPE,
        ),
        &ObjectTypeAttributes {
            specified_attributes: 1 << 11,
            is_abstract: true,
            ..ObjectTypeAttributes::default()
        },
    );
    let abstract_type = add_one(&mut client, abstract_type).unwrap();
    let instance = AddNodesItem {
        type_definition: abstract_type.into(),
        ..object("Instance")
    };
    assert_eq!(
        add_one(&mut client, instance),
        Err(StatusCode::BadTypeDefinitionInvalid)
    );
    let speed = with_attributes(
        item(NodeClass::Variable, "Speed"),
        &VariableAttributes {
            specified_attributes: VALUE | DATA_TYPE | VALUE_RANK,
            value: 1.0.into(),
            data_type,
            value_rank: -1,
            ..VariableAttributes::default()
        },
    );
    assert!(
        add_one(&mut client, speed).is_ok(),
        "a subtype of Double holds a Double"
    );
}

#[test]
fn invalid_nodes_are_not_added() {
    let mut client = Client::new(&managed());
    add_one(&mut client, object("Taken")).unwrap();
    let taken = AddNodesItem {
        requested_new_node_id: NodeId::string(2, "x").into(),
        ..object("X")
    };
    add_one(&mut client, taken.clone()).unwrap();
    let requested = |node_id: NodeId| AddNodesItem {
        requested_new_node_id: node_id.into(),
        ..object("New")
    };
    let parent = |parent: ExpandedNodeId| AddNodesItem {
        parent_node_id: parent,
        ..object("New")
    };
    let reference = |id: u32| AddNodesItem {
        reference_type_id: id.into(),
        ..object("New")
    };
    let named = |name: QualifiedName| AddNodesItem {
        browse_name: name,
        ..object("New")
    };
    let of_type = |item: AddNodesItem, id: u32| AddNodesItem {
        type_definition: id.into(),
        ..item
    };
    let remote = ExpandedNodeId {
        server_index: 1,
        ..ids::OBJECTS_FOLDER.into()
    };
    let of_unknown_uri = ExpandedNodeId {
        namespace_uri: "urn:unknown".into(),
        ..NodeId::numeric(0, 85).into()
    };
    let long = "x".repeat(513);
    for (number, (item, status)) in [
        (
            parent(NodeId::numeric(1, 99).into()),
            StatusCode::BadParentNodeIdInvalid,
        ),
        (parent(remote), StatusCode::BadParentNodeIdInvalid),
        (parent(of_unknown_uri), StatusCode::BadParentNodeIdInvalid),
        (reference(0), StatusCode::BadReferenceTypeIdInvalid),
        (
            reference(ids::SERVER),
            StatusCode::BadReferenceTypeIdInvalid,
        ),
        (
            reference(ids::HAS_TYPE_DEFINITION),
            StatusCode::BadReferenceNotAllowed,
        ),
        (
            reference(ids::HIERARCHICAL_REFERENCES),
            StatusCode::BadReferenceNotAllowed,
        ),
        (
            reference(ids::HAS_PROPERTY),
            StatusCode::BadReferenceNotAllowed,
        ),
        (
            reference(ids::HAS_SUBTYPE),
            StatusCode::BadReferenceNotAllowed,
        ),
        (
            requested(NodeId::string(2, "x")),
            StatusCode::BadNodeIdExists,
        ),
        (
            requested(NodeId::numeric(0, 60_000)),
            StatusCode::BadNodeIdRejected,
        ),
        (
            requested(NodeId::numeric(77, 1)),
            StatusCode::BadNodeIdRejected,
        ),
        (
            AddNodesItem {
                node_class: NodeClass(0),
                ..object("New")
            },
            StatusCode::BadNodeClassInvalid,
        ),
        (
            AddNodesItem {
                node_class: NodeClass(3),
                ..object("New")
            },
            StatusCode::BadNodeClassInvalid,
        ),
        (named(QualifiedName::NULL), StatusCode::BadBrowseNameInvalid),
        (
            named(QualifiedName::new(1, "")),
            StatusCode::BadBrowseNameInvalid,
        ),
        (
            named(QualifiedName::new(77, "New")),
            StatusCode::BadBrowseNameInvalid,
        ),
        (
            named(QualifiedName::new(1, long.as_str())),
            StatusCode::BadBrowseNameInvalid,
        ),
        (
            named(QualifiedName::new(1, "Taken")),
            StatusCode::BadBrowseNameDuplicated,
        ),
        (
            of_type(object("New"), 0),
            StatusCode::BadTypeDefinitionInvalid,
        ),
        (
            of_type(object("New"), ids::BASE_VARIABLE_TYPE),
            StatusCode::BadTypeDefinitionInvalid,
        ),
        (
            of_type(object("New"), 999_999),
            StatusCode::BadTypeDefinitionInvalid,
        ),
        (
            of_type(variable("New", ids::DOUBLE, 1.0), ids::BASE_VARIABLE_TYPE),
            StatusCode::BadTypeDefinitionInvalid,
        ),
        (
            of_type(item(NodeClass::Method, "New"), ids::BASE_OBJECT_TYPE),
            StatusCode::BadTypeDefinitionInvalid,
        ),
        (
            with_attributes(object("New"), &Range::default()),
            StatusCode::BadNodeAttributesInvalid,
        ),
        (
            with_attributes(object("New"), &MethodAttributes::default()),
            StatusCode::BadNodeAttributesInvalid,
        ),
        (
            variable("New", ids::DOUBLE, "text"),
            StatusCode::BadNodeAttributesInvalid,
        ),
        (
            variable("New", ids::DOUBLE, vec![1.0]),
            StatusCode::BadNodeAttributesInvalid,
        ),
        (
            variable("New", ids::SERVER, 1.0),
            StatusCode::BadNodeAttributesInvalid,
        ),
        (
            of_type(variable("New", ids::STRING, "text"), ids::ANALOG_ITEM_TYPE),
            StatusCode::BadNodeAttributesInvalid,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(
            add_one(&mut client, item.clone()),
            Err(status),
            "case {number}: {item:?}"
        );
    }
}

#[test]
fn a_namespace_uri_in_the_requested_node_id_is_appended() {
    let server = managed();
    let mut client = Client::new(&server);
    let requested = |text: &str| ExpandedNodeId {
        namespace_uri: "urn:provider".into(),
        ..NodeId::string(0, text).into()
    };
    let first = AddNodesItem {
        requested_new_node_id: requested("a"),
        ..object("A")
    };
    assert_eq!(add_one(&mut client, first), Ok(NodeId::string(3, "a")));
    let second = AddNodesItem {
        requested_new_node_id: requested("b"),
        ..object("B")
    };
    assert_eq!(add_one(&mut client, second), Ok(NodeId::string(3, "b")));
    let known = ExpandedNodeId {
        namespace_uri: "urn:extra".into(),
        ..NodeId::string(0, "c").into()
    };
    let third = AddNodesItem {
        requested_new_node_id: known,
        ..object("C")
    };
    assert_eq!(add_one(&mut client, third), Ok(NodeId::string(2, "c")));
    // A refused request does not leave a namespace behind.
    let fourth = AddNodesItem {
        requested_new_node_id: ExpandedNodeId {
            namespace_uri: "urn:refused".into(),
            ..NodeId::string(0, "d").into()
        },
        ..object("A")
    };
    assert_eq!(
        add_one(&mut client, fourth),
        Err(StatusCode::BadBrowseNameDuplicated)
    );
    assert_eq!(server.address_space().namespaces().all().len(), 4);
}

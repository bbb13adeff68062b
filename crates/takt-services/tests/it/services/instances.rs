//! AddNodes: nodes that a type requires of its instances (OPC 10000-3, 6.4).

use crate::common::Client;
use crate::services::nodes::*;
use takt_space::{ClassAttributes, NewReference, NodeDefinition, Value};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, NodeId, QualifiedName, StatusCode, ids};

#[test]
fn mandatory_children_come_with_the_type() {
    let server = managed();
    let mut client = Client::new(&server);
    let analog = AddNodesItem {
        type_definition: ids::ANALOG_ITEM_TYPE.into(),
        ..variable("Temperature", ids::DOUBLE, 20.0)
    };
    let analog = add_one(&mut client, analog).unwrap();
    let view = server.address_space().view();
    let range = view
        .child(
            &analog,
            ids::HAS_PROPERTY,
            QualifiedName::new(0, "EURange").as_ref(),
        )
        .unwrap();
    assert_eq!(
        view.node(&range).unwrap().variable().unwrap().data_type,
        NodeId::from(ids::RANGE).as_ref()
    );
    assert!(
        view.child(
            &analog,
            ids::HAS_PROPERTY,
            QualifiedName::new(0, "EngineeringUnits").as_ref()
        )
        .is_none(),
        "which is optional there"
    );
    // The second time, the name is in use.
    let again = AddNodesItem {
        parent_node_id: analog.clone().into(),
        reference_type_id: ids::HAS_PROPERTY.into(),
        browse_name: QualifiedName::new(0, "EURange"),
        type_definition: ids::PROPERTY_TYPE.into(),
        ..item(NodeClass::Variable, "EURange")
    };
    assert_eq!(
        add_one(&mut client, again),
        Err(StatusCode::BadBrowseNameDuplicated)
    );
    // The children are deleted with the node.
    assert_eq!(delete(&mut client, &analog, true), StatusCode::Good);
    assert!(server.address_space().view().node(&range).is_none());
}

#[test]
fn instances_have_the_children_of_all_supertypes_and_share_methods() {
    let server = managed();
    let mut client = Client::new(&server);
    let space = server.address_space();
    let types = |id: u32, name: &str, parent: u32, namespace: u16| {
        let attributes = ClassAttributes::ObjectType { is_abstract: false };
        let node = NodeDefinition::new((1, id), QualifiedName::new(1, name), attributes);
        let parent = NewReference::inverse(ids::HAS_SUBTYPE, (namespace, parent));
        space.edit().add_node(node, &[parent]).unwrap();
    };
    types(100, "Base", ids::BASE_OBJECT_TYPE, 0);
    types(101, "Derived", 100, 1);
    let mandatory = |node: &NodeId| {
        let rule = ExpandedNodeId::from(ids::MODELLING_RULE_MANDATORY);
        space
            .edit()
            .add_reference(node, &ids::HAS_MODELLING_RULE.into(), true, &rule)
            .unwrap();
    };
    let component = |parent: NodeId, name: &str| space.add_object((1, name)).component_of(parent);
    let inner = component((1, 100).into(), "Inner").add().unwrap();
    mandatory(&inner);
    let depth = space
        .add_variable((1, "Depth"))
        .component_of(inner.clone())
        .value(Value::stored(7_u32));
    let depth = depth.add().unwrap();
    mandatory(&depth);
    let optional = component((1, 100).into(), "Optional").add().unwrap();
    let start = space
        .add_method((1, "Start"))
        .component_of((1, 101))
        .add()
        .unwrap();
    mandatory(&start);

    let instance = AddNodesItem {
        type_definition: NodeId::numeric(1, 101).into(),
        ..object("Instance")
    };
    let instance = add_one(&mut client, instance).unwrap();
    let view = space.view();
    let names: Vec<String> = view
        .children(&instance, ids::HAS_COMPONENT)
        .iter()
        .map(|child| view.node(child).unwrap().browse_name().to_string())
        .collect();
    assert_eq!(names, ["1:Start", "1:Inner"]);
    let copy = view
        .child(
            &instance,
            ids::HAS_COMPONENT,
            QualifiedName::new(1, "Inner").as_ref(),
        )
        .unwrap();
    assert_ne!(copy, inner);
    let copied = view
        .child(
            &copy,
            ids::HAS_COMPONENT,
            QualifiedName::new(1, "Depth").as_ref(),
        )
        .unwrap();
    assert_eq!(client.read_value(copied).value, Some(7_u32.into()));
    let shared = view.child(
        &instance,
        ids::HAS_COMPONENT,
        QualifiedName::new(1, "Start").as_ref(),
    );
    assert_eq!(shared, Some(start.clone()));
    assert_eq!(delete(&mut client, &instance, true), StatusCode::Good);
    assert!(space.view().node(&start).is_some(), "the type still has it");
    assert!(space.view().node(&optional).is_some());
}

#[test]
fn children_of_the_same_request_are_not_created_twice() {
    let server = managed();
    let mut client = Client::new(&server);
    let analog = AddNodesItem {
        requested_new_node_id: NodeId::string(1, "Level").into(),
        type_definition: ids::ANALOG_ITEM_TYPE.into(),
        ..variable("Level", ids::DOUBLE, 20.0)
    };
    let range = AddNodesItem {
        parent_node_id: NodeId::string(1, "Level").into(),
        reference_type_id: ids::HAS_PROPERTY.into(),
        requested_new_node_id: NodeId::string(1, "Level/EURange").into(),
        browse_name: QualifiedName::new(0, "EURange"),
        type_definition: ids::PROPERTY_TYPE.into(),
        node_attributes: takt_ua::ExtensionObject::from_structure(&VariableAttributes {
            specified_attributes: 1 << 4,
            data_type: ids::RANGE.into(),
            ..VariableAttributes::default()
        }),
        ..item(NodeClass::Variable, "EURange")
    };
    let added = add(&mut client, vec![analog, range]);
    assert_eq!(added.len(), 2);
    for result in &added {
        assert_eq!(result.status_code, StatusCode::Good);
    }
    let view = server.address_space().view();
    let name = QualifiedName::new(0, "EURange");
    let level = NodeId::string(1, "Level");
    let children = view.children(&level, ids::HAS_PROPERTY);
    let ranges = children
        .iter()
        .filter(|child| view.node(*child).unwrap().browse_name() == name.as_ref());
    let ranges: Vec<_> = ranges.collect();
    assert_eq!(ranges, [&NodeId::string(1, "Level/EURange")]);
}

#[test]
fn a_client_replaces_a_required_child_by_one_with_a_node_id_of_its_choice() {
    let server = managed();
    let mut client = Client::new(&server);
    let analog = AddNodesItem {
        requested_new_node_id: NodeId::string(1, "Level").into(),
        type_definition: ids::ANALOG_ITEM_TYPE.into(),
        ..variable("Level", ids::DOUBLE, 20.0)
    };
    let level = add_one(&mut client, analog).unwrap();
    let range = |node: &str| AddNodesItem {
        parent_node_id: level.clone().into(),
        reference_type_id: ids::HAS_PROPERTY.into(),
        requested_new_node_id: NodeId::string(1, node).into(),
        browse_name: QualifiedName::new(0, "EURange"),
        type_definition: ids::PROPERTY_TYPE.into(),
        ..item(NodeClass::Variable, "EURange")
    };
    let chosen = add_one(&mut client, range("Chosen")).unwrap();
    let view = server.address_space().view();
    let children = view.children(&level, ids::HAS_PROPERTY);
    let name = QualifiedName::new(0, "EURange");
    let ranges = children
        .iter()
        .filter(|child| view.node(*child).unwrap().browse_name() == name.as_ref());
    assert_eq!(ranges.collect::<Vec<_>>(), [&chosen]);
    // A child that a client has added is not replaced.
    assert_eq!(
        add_one(&mut client, range("Other")),
        Err(StatusCode::BadBrowseNameDuplicated)
    );
}

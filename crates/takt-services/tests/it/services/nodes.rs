//! A client that changes the address space.

use std::sync::Arc;

use crate::common::{Client, builder};
use takt_services::{EverybodyManages, Server};
use takt_space::TargetRef;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{
    ExpandedNodeId, ExtensionObject, LocalizedText, NodeId, QualifiedName, StatusCode, Structure,
    Variant, ids,
};

pub(crate) fn managed() -> Arc<Server> {
    builder()
        .node_management(Arc::new(EverybodyManages))
        .namespace("urn:extra")
        .build()
        .unwrap()
}

pub(crate) fn add(client: &mut Client, nodes_to_add: Vec<AddNodesItem>) -> Vec<AddNodesResult> {
    let request_header = client.header();
    client
        .call::<_, AddNodesResponse>(AddNodesRequest {
            request_header,
            nodes_to_add,
        })
        .unwrap()
        .results
}

pub(crate) fn add_one(client: &mut Client, item: AddNodesItem) -> Result<NodeId, StatusCode> {
    let result = add(client, vec![item]).remove(0);
    match result.status_code {
        StatusCode::Good => Ok(result.added_node_id),
        status => {
            assert!(result.added_node_id.is_null());
            Err(status)
        }
    }
}

pub(crate) fn item(node_class: NodeClass, name: &str) -> AddNodesItem {
    let type_definition = match node_class {
        NodeClass::Object => ids::BASE_OBJECT_TYPE,
        NodeClass::Variable => ids::BASE_DATA_VARIABLE_TYPE,
        _ => 0,
    };
    AddNodesItem {
        parent_node_id: ids::OBJECTS_FOLDER.into(),
        reference_type_id: ids::HAS_COMPONENT.into(),
        browse_name: QualifiedName::new(1, name),
        node_class,
        type_definition: type_definition.into(),
        ..AddNodesItem::default()
    }
}

pub(crate) fn object(name: &str) -> AddNodesItem {
    item(NodeClass::Object, name)
}

pub(crate) fn with_attributes<T: Structure>(item: AddNodesItem, attributes: &T) -> AddNodesItem {
    AddNodesItem {
        node_attributes: ExtensionObject::from_structure(attributes),
        ..item
    }
}

pub(crate) const VALUE: u32 = 1 << 21;
pub(crate) const DATA_TYPE: u32 = 1 << 4;
pub(crate) const VALUE_RANK: u32 = 1 << 19;
pub(crate) const ACCESS_LEVEL: u32 = 1;

pub(crate) fn variable(name: &str, data_type: u32, value: impl Into<Variant>) -> AddNodesItem {
    with_attributes(
        item(NodeClass::Variable, name),
        &VariableAttributes {
            specified_attributes: VALUE | DATA_TYPE | VALUE_RANK | ACCESS_LEVEL | 1 << 6,
            display_name: LocalizedText::from("Shown"),
            value: value.into(),
            data_type: data_type.into(),
            value_rank: -1,
            access_level: 3,
            ..VariableAttributes::default()
        },
    )
}

pub(crate) fn delete(
    client: &mut Client,
    node_id: &NodeId,
    delete_target_references: bool,
) -> StatusCode {
    let request_header = client.header();
    let item = DeleteNodesItem {
        node_id: node_id.clone(),
        delete_target_references,
    };
    let request = DeleteNodesRequest {
        request_header,
        nodes_to_delete: vec![item],
    };
    client
        .call::<_, DeleteNodesResponse>(request)
        .unwrap()
        .results
        .remove(0)
}

pub(crate) fn connect(client: &mut Client, item: AddReferencesItem) -> StatusCode {
    let request_header = client.header();
    let request = AddReferencesRequest {
        request_header,
        references_to_add: vec![item],
    };
    client
        .call::<_, AddReferencesResponse>(request)
        .unwrap()
        .results
        .remove(0)
}

pub(crate) fn disconnect(client: &mut Client, item: DeleteReferencesItem) -> StatusCode {
    let request_header = client.header();
    let request = DeleteReferencesRequest {
        request_header,
        references_to_delete: vec![item],
    };
    client
        .call::<_, DeleteReferencesResponse>(request)
        .unwrap()
        .results
        .remove(0)
}

pub(crate) fn reference(
    source: &NodeId,
    reference_type: impl Into<NodeId>,
    target: &NodeId,
) -> AddReferencesItem {
    AddReferencesItem {
        source_node_id: source.clone(),
        reference_type_id: reference_type.into(),
        is_forward: true,
        target_node_id: ExpandedNodeId::from(target.clone()),
        ..AddReferencesItem::default()
    }
}

/// Returns source, ReferenceType, direction and target of every reference of a node.
pub(crate) fn references(server: &Server, node: &NodeId) -> Vec<(NodeId, bool, NodeId)> {
    let view = server.address_space().view();
    let Some(node) = view.node(node) else {
        return Vec::new();
    };
    let references = node.references();
    let views = references.iter().map(|reference| {
        let target = match reference.target {
            TargetRef::Local(target) => target.to_owned(),
            TargetRef::Remote(target) => target.node_id.clone(),
        };
        (
            reference.reference_type.to_owned(),
            reference.is_forward,
            target,
        )
    });
    views.collect()
}

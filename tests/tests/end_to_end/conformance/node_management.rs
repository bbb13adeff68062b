//! NodeManagement services (OPC 10000-4, 5.8).

use takt_app::Client;
use takt_app::client::Follow;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, ExtensionObject, NodeId, QualifiedName, StatusCode, Variant, ids};

use crate::conformance::plant::{MAX_OPERATIONS, NAMESPACE, fault, node, standard};

/// AccessLevel, DataType, DisplayName, UserAccessLevel, ValueRank and Value (NodeAttributesMask, OPC 10000-4, 7.24.1).
const SPECIFIED: u32 = 1 | 16 | 64 | 0x1_0000 | 0x8_0000 | 0x20_0000;

fn variable(name: &str, value: Variant) -> AddNodesItem {
    AddNodesItem {
        parent_node_id: node("Plant").into(),
        reference_type_id: standard(ids::HAS_COMPONENT),
        requested_new_node_id: node(name).into(),
        browse_name: QualifiedName::new(NAMESPACE, name),
        node_class: NodeClass::Variable,
        node_attributes: ExtensionObject::from_structure(&VariableAttributes {
            specified_attributes: SPECIFIED,
            display_name: name.into(),
            value,
            data_type: standard(ids::UINT32),
            value_rank: -1,
            access_level: 3,
            user_access_level: 3,
            ..VariableAttributes::default()
        }),
        type_definition: standard(ids::BASE_DATA_VARIABLE_TYPE).into(),
    }
}

fn object(name: &str, requested: NodeId) -> AddNodesItem {
    AddNodesItem {
        parent_node_id: node("Plant").into(),
        reference_type_id: standard(ids::HAS_COMPONENT),
        requested_new_node_id: requested.into(),
        browse_name: QualifiedName::new(NAMESPACE, name),
        node_class: NodeClass::Object,
        node_attributes: ExtensionObject::from_structure(&ObjectAttributes::default()),
        type_definition: standard(ids::BASE_OBJECT_TYPE).into(),
    }
}

fn add(client: &mut Client, items: Vec<AddNodesItem>) -> Vec<AddNodesResult> {
    let expected = items.len();
    let response = client.call(AddNodesRequest {
        nodes_to_add: items,
        ..AddNodesRequest::default()
    });
    let results = response.unwrap().results;
    assert_eq!(results.len(), expected);
    results
}

fn delete(client: &mut Client, nodes: &[NodeId]) -> Vec<StatusCode> {
    let nodes_to_delete = nodes.iter().map(|node_id| DeleteNodesItem {
        node_id: node_id.clone(),
        delete_target_references: true,
    });
    let response = client.call(DeleteNodesRequest {
        nodes_to_delete: nodes_to_delete.collect(),
        ..DeleteNodesRequest::default()
    });
    response.unwrap().results
}

fn children(client: &mut Client) -> Vec<NodeId> {
    let children = client.browse(&node("Plant"), &Follow::children()).unwrap();
    children
        .into_iter()
        .map(|reference| reference.node_id.node_id)
        .collect()
}

pub(crate) fn nodes_come_and_go(client: &mut Client) {
    let results = add(
        client,
        vec![
            variable("New", 5_u32.into()),
            object("Any", NodeId::NULL),
            variable("New", 6_u32.into()),
        ],
    );
    assert_eq!(results[0].status_code, StatusCode::Good);
    assert_eq!(results[0].added_node_id, node("New"));
    assert_eq!(results[2].status_code, StatusCode::BadNodeIdExists);
    assert!(results[2].added_node_id.is_null());
    // `Any` is the name of another child already.
    assert_eq!(results[1].status_code, StatusCode::BadBrowseNameDuplicated);
    let chosen = add(client, vec![object("Chosen", NodeId::NULL)]);
    assert_eq!(chosen[0].status_code, StatusCode::Good);
    let chosen = chosen[0].added_node_id.clone();
    assert!(!chosen.is_null());

    assert_eq!(client.read_good(&node("New")).unwrap(), 5_u32.into());
    client.write(&node("New"), 6_u32.into()).unwrap();
    assert_eq!(client.read_good(&node("New")).unwrap(), 6_u32.into());
    assert!(client.write(&node("New"), 6.0.into()).is_err());
    let there = children(client);
    assert!(there.contains(&node("New")) && there.contains(&chosen));

    assert_eq!(
        delete(client, &[node("New"), chosen.clone(), node("Nobody")]),
        [
            StatusCode::Good,
            StatusCode::Good,
            StatusCode::BadNodeIdUnknown
        ]
    );
    let there = children(client);
    assert!(!there.contains(&node("New")) && !there.contains(&chosen));
    let gone = client.read(&node("New")).unwrap();
    assert_eq!(gone.status_code(), StatusCode::BadNodeIdUnknown);
}

fn reference(source: &str, target: NodeId) -> AddReferencesItem {
    AddReferencesItem {
        source_node_id: node(source),
        reference_type_id: standard(ids::ORGANIZES),
        is_forward: true,
        target_node_id: target.into(),
        target_node_class: NodeClass::Object,
        ..AddReferencesItem::default()
    }
}

fn refer(client: &mut Client, items: Vec<AddReferencesItem>) -> Vec<StatusCode> {
    let response = client.call(AddReferencesRequest {
        references_to_add: items,
        ..AddReferencesRequest::default()
    });
    response.unwrap().results
}

fn unrefer(client: &mut Client, item: &AddReferencesItem) -> StatusCode {
    let response = client.call(DeleteReferencesRequest {
        references_to_delete: vec![DeleteReferencesItem {
            source_node_id: item.source_node_id.clone(),
            reference_type_id: item.reference_type_id.clone(),
            is_forward: item.is_forward,
            target_node_id: item.target_node_id.clone(),
            delete_bidirectional: true,
        }],
        ..DeleteReferencesRequest::default()
    });
    response.unwrap().results[0]
}

pub(crate) fn references_come_and_go(client: &mut Client) {
    let new = reference("Plant", node("Many"));
    let statuses = refer(client, vec![new.clone(), new.clone()]);
    assert_eq!(
        statuses,
        [
            StatusCode::Good,
            StatusCode::BadDuplicateReferenceNotAllowed
        ]
    );
    assert!(children(client).contains(&node("Many")));
    let parents = Follow {
        reference_type: standard(ids::ORGANIZES),
        direction: takt_ua::enumerations::BrowseDirection::Inverse,
    };
    assert_eq!(client.browse(&node("Many"), &parents).unwrap().len(), 2);
    assert_eq!(unrefer(client, &new), StatusCode::Good);
    assert!(!children(client).contains(&node("Many")));
    assert_eq!(client.browse(&node("Many"), &parents).unwrap().len(), 1);
    assert!(unrefer(client, &new).is_bad());

    let wrong_type = AddReferencesItem {
        reference_type_id: node("Plant"),
        ..new.clone()
    };
    let statuses = refer(
        client,
        vec![
            wrong_type,
            reference("Nobody", node("Many")),
            reference("Plant", node("Nobody")),
        ],
    );
    assert_eq!(
        statuses,
        [
            StatusCode::BadReferenceTypeIdInvalid,
            StatusCode::BadSourceNodeIdInvalid,
            StatusCode::BadTargetNodeIdInvalid
        ]
    );
}

pub(crate) fn bad_nodes_are_refused(client: &mut Client) {
    let good = || object("Good", node("Good"));
    let elsewhere = ExpandedNodeId {
        server_index: 3,
        ..node("Plant").into()
    };
    let wrong: Vec<(AddNodesItem, StatusCode)> = vec![
        (
            AddNodesItem {
                parent_node_id: node("Nobody").into(),
                ..good()
            },
            StatusCode::BadParentNodeIdInvalid,
        ),
        (
            AddNodesItem {
                parent_node_id: elsewhere,
                ..good()
            },
            StatusCode::BadParentNodeIdInvalid,
        ),
        (
            AddNodesItem {
                reference_type_id: node("Plant"),
                ..good()
            },
            StatusCode::BadReferenceTypeIdInvalid,
        ),
        (
            AddNodesItem {
                requested_new_node_id: NodeId::string(999, "Good").into(),
                ..good()
            },
            StatusCode::BadNodeIdRejected,
        ),
        (
            AddNodesItem {
                browse_name: QualifiedName::new(NAMESPACE, ""),
                ..good()
            },
            StatusCode::BadBrowseNameInvalid,
        ),
        (
            AddNodesItem {
                node_class: NodeClass(77),
                ..good()
            },
            StatusCode::BadNodeClassInvalid,
        ),
        (
            AddNodesItem {
                node_attributes: ExtensionObject::from_structure(&VariableAttributes::default()),
                ..good()
            },
            StatusCode::BadNodeAttributesInvalid,
        ),
        (
            AddNodesItem {
                type_definition: standard(ids::BASE_DATA_VARIABLE_TYPE).into(),
                ..good()
            },
            StatusCode::BadTypeDefinitionInvalid,
        ),
        // A value that its own DataType does not allow.
        (
            variable("Good", "text".into()),
            StatusCode::BadNodeAttributesInvalid,
        ),
    ];
    let (items, expected): (Vec<_>, Vec<_>) = wrong.into_iter().unzip();
    let statuses: Vec<_> = add(client, items)
        .into_iter()
        .map(|result| result.status_code)
        .collect();
    assert_eq!(statuses, expected);
    assert!(!children(client).contains(&node("Good")));
    // The standard's nodes cannot be deleted.
    assert!(delete(client, &[standard(ids::SERVER)])[0].is_bad());
    assert_eq!(
        fault(client.call(AddNodesRequest::default())),
        StatusCode::BadNothingToDo
    );
    let too_many = client.call(AddNodesRequest {
        nodes_to_add: vec![good(); MAX_OPERATIONS as usize + 1],
        ..AddNodesRequest::default()
    });
    assert_eq!(fault(too_many), StatusCode::BadTooManyOperations);
}

//! AddReferences, DeleteReferences and DeleteNodes (OPC 10000-4, 5.8.3 to 5.8.5).

use crate::common::Client;
use crate::services::nodes::*;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, NodeId, StatusCode, ids};

#[test]
fn references_are_added_and_deleted_at_both_ends() {
    let server = managed();
    let mut client = Client::new(&server);
    let a = add_one(&mut client, object("A")).unwrap();
    let b = add_one(&mut client, object("B")).unwrap();
    let organizes = reference(&a, ids::ORGANIZES, &b);
    let count = references(&server, &b).len();
    assert_eq!(connect(&mut client, organizes.clone()), StatusCode::Good);
    assert!(references(&server, &b).contains(&(ids::ORGANIZES.into(), false, a.clone())));
    assert_eq!(
        connect(&mut client, organizes.clone()),
        StatusCode::BadDuplicateReferenceNotAllowed
    );
    let backwards = AddReferencesItem {
        is_forward: false,
        ..reference(&b, ids::ORGANIZES, &a)
    };
    assert_eq!(
        connect(&mut client, backwards),
        StatusCode::BadDuplicateReferenceNotAllowed
    );

    let gone = DeleteReferencesItem {
        source_node_id: a.clone(),
        reference_type_id: ids::ORGANIZES.into(),
        is_forward: true,
        target_node_id: b.clone().into(),
        delete_bidirectional: true,
    };
    assert_eq!(disconnect(&mut client, gone.clone()), StatusCode::Good);
    assert_eq!(references(&server, &b).len(), count);
    assert_eq!(
        disconnect(&mut client, gone.clone()),
        StatusCode::BadNotFound
    );
    // One end may remain; then the other can be added again.
    assert_eq!(connect(&mut client, organizes.clone()), StatusCode::Good);
    let half = DeleteReferencesItem {
        delete_bidirectional: false,
        ..gone
    };
    assert_eq!(disconnect(&mut client, half), StatusCode::Good);
    assert_eq!(references(&server, &b).len(), count + 1);
    assert_eq!(connect(&mut client, organizes), StatusCode::Good);
    assert_eq!(references(&server, &b).len(), count + 1);
}

#[test]
fn references_that_cannot_be_added_or_deleted() {
    let server = managed();
    let mut client = Client::new(&server);
    let a = add_one(&mut client, object("A")).unwrap();
    let b = add_one(&mut client, object("B")).unwrap();
    let nobody = NodeId::numeric(1, 9999);
    let good = reference(&a, ids::ORGANIZES, &b);
    let remote = ExpandedNodeId {
        server_index: 3,
        ..b.clone().into()
    };
    for (item, status) in [
        (
            reference(&nobody, ids::ORGANIZES, &b),
            StatusCode::BadSourceNodeIdInvalid,
        ),
        (
            reference(&a, 0_u32, &b),
            StatusCode::BadReferenceTypeIdInvalid,
        ),
        (
            reference(&a, ids::HIERARCHICAL_REFERENCES, &b),
            StatusCode::BadReferenceNotAllowed,
        ),
        (
            reference(&a, ids::ORGANIZES, &nobody),
            StatusCode::BadTargetNodeIdInvalid,
        ),
        (
            AddReferencesItem {
                target_node_id: remote,
                ..good.clone()
            },
            StatusCode::BadTargetNodeIdInvalid,
        ),
        (
            AddReferencesItem {
                target_server_uri: "urn:far".into(),
                ..good.clone()
            },
            StatusCode::BadServerUriInvalid,
        ),
        (
            AddReferencesItem {
                target_node_class: NodeClass::Variable,
                ..good.clone()
            },
            StatusCode::BadNodeClassInvalid,
        ),
        (
            reference(&a, ids::ORGANIZES, &a),
            StatusCode::BadInvalidSelfReference,
        ),
        (
            reference(&a, ids::HAS_PROPERTY, &b),
            StatusCode::BadReferenceNotAllowed,
        ),
        (
            reference(&a, ids::HAS_SUBTYPE, &b),
            StatusCode::BadReferenceNotAllowed,
        ),
        (
            reference(&a, ids::HAS_TYPE_DEFINITION, &ids::FOLDER_TYPE.into()),
            StatusCode::BadReferenceNotAllowed,
        ),
    ] {
        assert_eq!(connect(&mut client, item.clone()), status, "{item:?}");
    }
    let server_object = NodeId::from(ids::SERVER);
    let standard = DeleteReferencesItem {
        source_node_id: ids::OBJECTS_FOLDER.into(),
        reference_type_id: ids::ORGANIZES.into(),
        is_forward: true,
        target_node_id: server_object.into(),
        delete_bidirectional: true,
    };
    assert_eq!(
        disconnect(&mut client, standard.clone()),
        StatusCode::BadNoDeleteRights
    );
    let own_type = DeleteReferencesItem {
        source_node_id: a.clone(),
        reference_type_id: ids::HAS_TYPE_DEFINITION.into(),
        target_node_id: ids::BASE_OBJECT_TYPE.into(),
        ..standard.clone()
    };
    assert_eq!(
        disconnect(&mut client, own_type),
        StatusCode::BadNoDeleteRights
    );
    let nothing = DeleteReferencesItem {
        source_node_id: nobody,
        ..standard.clone()
    };
    assert_eq!(
        disconnect(&mut client, nothing),
        StatusCode::BadSourceNodeIdInvalid
    );
    let no_target = DeleteReferencesItem {
        target_node_id: ExpandedNodeId::NULL,
        ..standard
    };
    assert_eq!(
        disconnect(&mut client, no_target),
        StatusCode::BadTargetNodeIdInvalid
    );
}

#[test]
fn nodes_are_deleted_with_their_references() {
    let server = managed();
    let mut client = Client::new(&server);
    let before = references(&server, &ids::OBJECTS_FOLDER.into()).len();
    let a = add_one(&mut client, object("A")).unwrap();
    let child = AddNodesItem {
        parent_node_id: a.clone().into(),
        ..object("Child")
    };
    let child = add_one(&mut client, child).unwrap();
    let shared = AddNodesItem {
        parent_node_id: a.clone().into(),
        ..object("Shared")
    };
    let shared = add_one(&mut client, shared).unwrap();
    let b = add_one(&mut client, object("B")).unwrap();
    assert_eq!(
        connect(&mut client, reference(&b, ids::ORGANIZES, &shared)),
        StatusCode::Good
    );

    assert_eq!(delete(&mut client, &a, true), StatusCode::Good);
    assert_eq!(
        client.read_attribute(a.clone(), 1).status,
        Some(StatusCode::BadNodeIdUnknown)
    );
    assert_eq!(
        client.read_attribute(child, 1).status,
        Some(StatusCode::BadNodeIdUnknown)
    );
    assert!(
        client.read_attribute(shared, 1).value.is_some(),
        "somebody else has it as well"
    );
    assert_eq!(
        references(&server, &ids::OBJECTS_FOLDER.into()).len(),
        before + 1
    );
    assert_eq!(delete(&mut client, &b, false), StatusCode::Good);
    assert_eq!(
        references(&server, &ids::OBJECTS_FOLDER.into()).len(),
        before + 1,
        "an end was left"
    );

    assert_eq!(delete(&mut client, &a, true), StatusCode::BadNodeIdUnknown);
    assert_eq!(
        delete(&mut client, &NodeId::NULL, true),
        StatusCode::BadNodeIdInvalid
    );
    assert_eq!(
        delete(&mut client, &ids::SERVER.into(), true),
        StatusCode::BadNoDeleteRights
    );
}

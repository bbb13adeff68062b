//! Browse (OPC 10000-4, 5.9.2).

use std::sync::Arc;

use crate::common::{Client, server};
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, NodeId, QualifiedName, StatusCode, ids};

pub(crate) fn describe(node: impl Into<NodeId>) -> BrowseDescription {
    BrowseDescription {
        node_id: node.into(),
        result_mask: 63,
        ..BrowseDescription::default()
    }
}

pub(crate) fn browse_up_to(
    client: &mut Client,
    limit: u32,
    nodes_to_browse: Vec<BrowseDescription>,
) -> Result<Vec<BrowseResult>, StatusCode> {
    let request_header = client.header();
    let request = BrowseRequest {
        request_header,
        requested_max_references_per_node: limit,
        nodes_to_browse,
        ..BrowseRequest::default()
    };
    client
        .call::<_, BrowseResponse>(request)
        .map(|response| response.results)
}

pub(crate) fn browse(client: &mut Client, description: BrowseDescription) -> BrowseResult {
    browse_up_to(client, 0, vec![description])
        .unwrap()
        .remove(0)
}

pub(crate) fn names(result: &BrowseResult) -> Vec<&str> {
    result
        .references
        .iter()
        .map(|reference| reference.browse_name.name.as_str())
        .collect()
}

#[test]
fn the_objects_folder() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let machine = space.add_object((1, "Machine")).add().unwrap();
    let folder = describe(ids::OBJECTS_FOLDER);
    let result = browse(&mut client, folder.clone());
    assert_eq!(result.status_code, StatusCode::Good);
    assert!(result.continuation_point.is_null());
    let server = result
        .references
        .iter()
        .find(|reference| reference.node_id.node_id == NodeId::from(ids::SERVER));
    let server = server.unwrap();
    assert_eq!(server.reference_type_id, NodeId::from(ids::ORGANIZES));
    assert!(server.is_forward);
    assert_eq!(server.browse_name, QualifiedName::new(0, "Server"));
    assert_eq!(server.display_name.text, "Server");
    assert_eq!(server.node_class, NodeClass::Object);
    assert_eq!(
        server.type_definition.node_id,
        NodeId::from(ids::SERVER_TYPE)
    );
    let added = result.references.last().unwrap();
    assert_eq!(added.node_id, ExpandedNodeId::from(machine));
    assert_eq!(added.browse_name, QualifiedName::new(1, "Machine"));

    let inverse = BrowseDescription {
        browse_direction: BrowseDirection::Inverse,
        ..folder.clone()
    };
    assert_eq!(names(&browse(&mut client, inverse)), ["Root"]);
    let both = BrowseDescription {
        browse_direction: BrowseDirection::Both,
        ..folder
    };
    let both = browse(&mut client, both);
    assert_eq!(both.references.len(), result.references.len() + 1);
}

#[test]
fn filters() {
    let mut client = Client::new(&server());
    let server = describe(ids::SERVER);
    let all = browse(&mut client, server.clone());
    let of_type = |reference_type: u32, include_subtypes| BrowseDescription {
        reference_type_id: reference_type.into(),
        include_subtypes,
        ..server.clone()
    };
    let hierarchical = browse(&mut client, of_type(ids::HIERARCHICAL_REFERENCES, true));
    assert_eq!(
        hierarchical.references.len() + 1,
        all.references.len(),
        "all but HasTypeDefinition"
    );
    assert!(
        browse(&mut client, of_type(ids::HIERARCHICAL_REFERENCES, false))
            .references
            .is_empty()
    );
    let properties = browse(&mut client, of_type(ids::HAS_PROPERTY, false));
    assert!(names(&properties).contains(&"NamespaceArray"));
    assert!(!names(&properties).contains(&"ServerStatus"));
    let methods = BrowseDescription {
        node_class_mask: 4,
        ..server.clone()
    };
    let methods = browse(&mut client, methods);
    assert!(names(&methods).contains(&"GetMonitoredItems"));
    assert!(
        methods
            .references
            .iter()
            .all(|reference| reference.node_class == NodeClass::Method)
    );
}

#[test]
fn the_result_mask_selects_the_returned_fields() {
    let mut client = Client::new(&server());
    for bit in 0..6 {
        let only = BrowseDescription {
            result_mask: 1 << bit,
            ..describe(ids::OBJECTS_FOLDER)
        };
        let result = browse(&mut client, only);
        let reference = result
            .references
            .iter()
            .find(|r| r.node_id.node_id == NodeId::from(ids::SERVER))
            .unwrap();
        assert_eq!(!reference.reference_type_id.is_null(), bit == 0);
        assert_eq!(reference.is_forward, bit == 1);
        assert_eq!(reference.node_class != NodeClass::Unspecified, bit == 2);
        assert_eq!(!reference.browse_name.is_null(), bit == 3);
        assert_eq!(!reference.display_name.text.is_null(), bit == 4);
        assert_eq!(!reference.type_definition.is_null(), bit == 5);
    }
}

#[test]
fn invalid_browse_descriptions_are_refused() {
    let mut client = Client::new(&server());
    let good = describe(ids::SERVER);
    for (description, status) in [
        (describe(NodeId::NULL), StatusCode::BadNodeIdInvalid),
        (describe((1, 99)), StatusCode::BadNodeIdUnknown),
        (
            BrowseDescription {
                browse_direction: BrowseDirection::Invalid,
                ..good.clone()
            },
            StatusCode::BadBrowseDirectionInvalid,
        ),
        (
            BrowseDescription {
                reference_type_id: ids::SERVER.into(),
                ..good.clone()
            },
            StatusCode::BadReferenceTypeIdInvalid,
        ),
        (
            BrowseDescription {
                reference_type_id: (1, 99).into(),
                ..good.clone()
            },
            StatusCode::BadReferenceTypeIdInvalid,
        ),
    ] {
        let result = browse(&mut client, description);
        assert_eq!((result.status_code, result.references.len()), (status, 0));
    }
    let request_header = client.header();
    let view = ViewDescription {
        view_id: (1, 7).into(),
        ..ViewDescription::default()
    };
    let request = BrowseRequest {
        request_header,
        view,
        nodes_to_browse: vec![good],
        ..BrowseRequest::default()
    };
    let refused: Result<BrowseResponse, _> = client.call(request);
    assert_eq!(refused.unwrap_err(), StatusCode::BadViewIdUnknown);
}

//! View services (OPC 10000-4, 5.9).

use std::collections::BTreeSet;

use takt_app::Client;
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::*;
use takt_ua::{ByteString, NodeId, QualifiedName, StatusCode, ids};

use crate::conformance::plant::{self, MANY, MAX_OPERATIONS, fault, node, standard};

fn forward(node_id: NodeId) -> BrowseDescription {
    BrowseDescription {
        node_id,
        browse_direction: BrowseDirection::Forward,
        reference_type_id: standard(ids::HIERARCHICAL_REFERENCES),
        include_subtypes: true,
        result_mask: 63,
        ..BrowseDescription::default()
    }
}

fn browse(client: &mut Client, description: BrowseDescription, at_most: u32) -> BrowseResult {
    let response = client.call(BrowseRequest {
        requested_max_references_per_node: at_most,
        nodes_to_browse: vec![description],
        ..BrowseRequest::default()
    });
    response.unwrap().results.swap_remove(0)
}

fn names(result: &BrowseResult) -> BTreeSet<String> {
    let names = result.references.iter();
    names
        .map(|reference| reference.browse_name.name.as_str().to_owned())
        .collect()
}

pub(crate) fn browse_filters_and_describes(client: &mut Client) {
    let all = browse(client, forward(node("Plant")), 0);
    assert_eq!(all.status_code, StatusCode::Good);
    assert!(names(&all).is_superset(&["UInt32".to_owned(), "Add".to_owned()].into()));
    let number = all
        .references
        .iter()
        .find(|reference| reference.browse_name.name.as_str() == "UInt32")
        .unwrap();
    assert_eq!(number.node_id.node_id, node("UInt32"));
    assert_eq!(number.reference_type_id, standard(ids::HAS_COMPONENT));
    assert!(number.is_forward);
    assert_eq!(number.browse_name.namespace, plant::NAMESPACE);
    assert_eq!(number.display_name.text.as_str(), "A number");
    assert_eq!(number.node_class, NodeClass::Variable);
    assert_eq!(
        number.type_definition.node_id,
        standard(ids::BASE_DATA_VARIABLE_TYPE)
    );

    let methods = BrowseDescription {
        node_class_mask: 4,
        ..forward(node("Plant"))
    };
    assert_eq!(
        names(&browse(client, methods, 0)),
        ["Add".to_owned(), "Refuse".to_owned()].into()
    );

    // Without subtypes there are no references of type HierarchicalReferences itself.
    let exactly = BrowseDescription {
        include_subtypes: false,
        ..forward(node("Plant"))
    };
    assert!(browse(client, exactly, 0).references.is_empty());

    let up = BrowseDescription {
        browse_direction: BrowseDirection::Inverse,
        ..forward(node("Plant"))
    };
    let up = browse(client, up, 0);
    assert_eq!(names(&up), ["Objects".to_owned()].into());
    assert!(!up.references[0].is_forward);

    // A null ReferenceType means all of them; a mask of 0 leaves only the NodeId.
    let everything = BrowseDescription {
        browse_direction: BrowseDirection::Both,
        reference_type_id: NodeId::NULL,
        result_mask: 0,
        ..forward(node("UInt32"))
    };
    let everything = browse(client, everything, 0);
    assert_eq!(everything.references.len(), 2, "{everything:#?}");
    for reference in &everything.references {
        assert!(reference.reference_type_id.is_null());
        assert!(reference.browse_name.name.is_null());
        assert!(!reference.node_id.node_id.is_null());
    }
}

fn next(client: &mut Client, point: &ByteString, release: bool) -> BrowseResult {
    let response = client.call(BrowseNextRequest {
        release_continuation_points: release,
        continuation_points: vec![point.clone()],
        ..BrowseNextRequest::default()
    });
    let mut results = response.unwrap().results;
    if release && results.is_empty() {
        return BrowseResult::default();
    }
    results.swap_remove(0)
}

pub(crate) fn browse_continues_where_it_stopped(client: &mut Client) {
    let mut seen = BTreeSet::new();
    let mut result = browse(client, forward(node("Many")), 10);
    let mut pages = 1;
    loop {
        assert_eq!(result.status_code, StatusCode::Good);
        assert!(result.references.len() <= 10);
        for name in names(&result) {
            assert!(seen.insert(name), "a reference came twice");
        }
        if result.continuation_point.is_null() || result.continuation_point.as_bytes().is_empty() {
            break;
        }
        let point = result.continuation_point.clone();
        result = next(client, &point, false);
        pages += 1;
        if !result.continuation_point.as_bytes().is_empty() {
            continue;
        }
        // The last page uses up the continuation point.
        let again = next(client, &point, false);
        assert_eq!(again.status_code, StatusCode::BadContinuationPointInvalid);
    }
    assert_eq!((seen.len(), pages), (MANY, 3));

    // A released continuation point no longer exists.
    let point = browse(client, forward(node("Many")), 10).continuation_point;
    next(client, &point, true);
    let gone = next(client, &point, false);
    assert_eq!(gone.status_code, StatusCode::BadContinuationPointInvalid);

    // There are as many continuation points as the server publishes, and released ones can be used again.
    let description = forward(node("Many"));
    let response = client
        .call(BrowseRequest {
            requested_max_references_per_node: 1,
            nodes_to_browse: vec![description; 3],
            ..BrowseRequest::default()
        })
        .unwrap();
    let statuses: Vec<_> = response.results.iter().map(|r| r.status_code).collect();
    assert_eq!(
        statuses,
        [
            StatusCode::Good,
            StatusCode::Good,
            StatusCode::BadNoContinuationPoints
        ]
    );
    for result in &response.results[..2] {
        next(client, &result.continuation_point, true);
    }
    let again = browse(client, forward(node("Many")), 10);
    assert_eq!(again.status_code, StatusCode::Good);

    let made_up = ByteString::from(b"made up");
    let invalid = next(client, &made_up, false);
    assert_eq!(invalid.status_code, StatusCode::BadContinuationPointInvalid);
}

pub(crate) fn invalid_browse_requests_are_refused(client: &mut Client) {
    let nobody = browse(client, forward(node("Nobody")), 0);
    assert_eq!(nobody.status_code, StatusCode::BadNodeIdUnknown);
    let direction = BrowseDescription {
        browse_direction: BrowseDirection(7),
        ..forward(node("Plant"))
    };
    assert_eq!(
        browse(client, direction, 0).status_code,
        StatusCode::BadBrowseDirectionInvalid
    );
    let reference_type = BrowseDescription {
        reference_type_id: node("Plant"),
        ..forward(node("Plant"))
    };
    assert_eq!(
        browse(client, reference_type, 0).status_code,
        StatusCode::BadReferenceTypeIdInvalid
    );
    let view = client.call(BrowseRequest {
        view: ViewDescription {
            view_id: node("Plant"),
            ..ViewDescription::default()
        },
        nodes_to_browse: vec![forward(node("Plant"))],
        ..BrowseRequest::default()
    });
    assert_eq!(fault(view), StatusCode::BadViewIdUnknown);
    assert_eq!(
        fault(client.call(BrowseRequest::default())),
        StatusCode::BadNothingToDo
    );
    let too_many = client.call(BrowseRequest {
        nodes_to_browse: vec![forward(node("Plant")); MAX_OPERATIONS as usize + 1],
        ..BrowseRequest::default()
    });
    assert_eq!(fault(too_many), StatusCode::BadTooManyOperations);
}

fn translate(client: &mut Client, start: NodeId, path: &[(u16, &str)]) -> BrowsePathResult {
    let elements = path.iter().map(|(namespace, name)| RelativePathElement {
        reference_type_id: standard(ids::HIERARCHICAL_REFERENCES),
        is_inverse: false,
        include_subtypes: true,
        target_name: QualifiedName::new(*namespace, *name),
    });
    let response = client.call(TranslateBrowsePathsToNodeIdsRequest {
        browse_paths: vec![BrowsePath {
            starting_node: start,
            relative_path: RelativePath {
                elements: elements.collect(),
            },
        }],
        ..TranslateBrowsePathsToNodeIdsRequest::default()
    });
    response.unwrap().results.swap_remove(0)
}

pub(crate) fn paths_are_translated(client: &mut Client) {
    let objects = standard(ids::OBJECTS_FOLDER);
    let found = translate(client, objects.clone(), &[(2, "Plant"), (2, "UInt32")]);
    assert_eq!(found.status_code, StatusCode::Good);
    assert_eq!(found.targets.len(), 1);
    assert_eq!(found.targets[0].target_id.node_id, node("UInt32"));
    assert_eq!(found.targets[0].remaining_path_index, u32::MAX);
    let found = translate(
        client,
        objects.clone(),
        &[(0, "Server"), (0, "ServerStatus")],
    );
    assert_eq!(
        found.targets[0].target_id.node_id,
        standard(ids::SERVER_SERVER_STATUS)
    );

    let mut status =
        |start: NodeId, path: &[(u16, &str)]| translate(client, start, path).status_code;
    // The right name in the wrong namespace is another name.
    assert_eq!(
        status(objects.clone(), &[(1, "Plant")]),
        StatusCode::BadNoMatch
    );
    assert_eq!(status(objects.clone(), &[]), StatusCode::BadNothingToDo);
    assert_eq!(
        status(node("Nobody"), &[(2, "X")]),
        StatusCode::BadNodeIdUnknown
    );
    assert_eq!(
        status(objects, &[(2, "Plant"), (0, "")]),
        StatusCode::BadBrowseNameInvalid
    );
    let nothing = client.call(TranslateBrowsePathsToNodeIdsRequest::default());
    assert_eq!(fault(nothing), StatusCode::BadNothingToDo);
}

pub(crate) fn nodes_are_registered(client: &mut Client) {
    let response = client
        .call(RegisterNodesRequest {
            nodes_to_register: vec![node("UInt32"), node("Double")],
            ..RegisterNodesRequest::default()
        })
        .unwrap();
    assert_eq!(response.registered_node_ids.len(), 2);
    let registered = &response.registered_node_ids;
    assert_eq!(client.read_good(&registered[0]).unwrap(), 42_u32.into());
    assert_eq!(client.read_good(&registered[1]).unwrap(), 1.5_f64.into());
    client
        .call(UnregisterNodesRequest {
            nodes_to_unregister: registered.clone(),
            ..UnregisterNodesRequest::default()
        })
        .unwrap();
    assert_eq!(
        fault(client.call(RegisterNodesRequest::default())),
        StatusCode::BadNothingToDo
    );
    assert_eq!(
        fault(client.call(UnregisterNodesRequest::default())),
        StatusCode::BadNothingToDo
    );
}

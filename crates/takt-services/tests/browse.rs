//! Browse, BrowseNext, TranslateBrowsePathsToNodeIds and RegisterNodes (OPC 10000-4, 5.9).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is a test"
)]

mod common;

use std::sync::Arc;

use common::{Client, builder, decode, message, server};
use takt_services::{NodeDefinition, ServerLimits, Value};
use takt_ua::binary::Encoder;
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::*;
use takt_ua::{ByteString, ExpandedNodeId, NodeId, QualifiedName, StatusCode, ids};

fn describe(node: impl Into<NodeId>) -> BrowseDescription {
    BrowseDescription {
        node_id: node.into(),
        result_mask: 63,
        ..BrowseDescription::default()
    }
}

fn browse_up_to(
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

fn browse(client: &mut Client, description: BrowseDescription) -> BrowseResult {
    browse_up_to(client, 0, vec![description])
        .unwrap()
        .remove(0)
}

fn next(client: &mut Client, point: &ByteString, release: bool) -> BrowseResult {
    let request_header = client.header();
    let request = BrowseNextRequest {
        request_header,
        release_continuation_points: release,
        continuation_points: vec![point.clone()],
    };
    client
        .call::<_, BrowseNextResponse>(request)
        .unwrap()
        .results
        .remove(0)
}

fn names(result: &BrowseResult) -> Vec<&str> {
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
fn the_result_mask_leaves_out_what_nobody_asked_for() {
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
fn what_cannot_be_browsed() {
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

/// A folder with this many Variables.
fn folder(client: &Client, count: u32) -> NodeId {
    let space = client.server.address_space();
    let folder = space
        .add_object((1, "Folder"))
        .type_definition(ids::FOLDER_TYPE)
        .add()
        .unwrap();
    for number in 0..count {
        let name = format!("V{number}");
        space
            .add_variable((1, name.as_str()))
            .node_id(NodeId::string(1, &name))
            .below(folder.clone(), ids::ORGANIZES)
            .add()
            .unwrap();
    }
    folder
}

fn children(folder: &NodeId) -> BrowseDescription {
    BrowseDescription {
        reference_type_id: ids::HIERARCHICAL_REFERENCES.into(),
        include_subtypes: true,
        ..describe(folder.clone())
    }
}

#[test]
fn continuation_points_give_everything_once() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 25);
    for limit in [1, 2, 7, 24, 25, 26] {
        let mut result = browse_up_to(&mut client, limit, vec![children(&folder)])
            .unwrap()
            .remove(0);
        let mut all: Vec<String> = Vec::new();
        loop {
            assert_eq!(result.status_code, StatusCode::Good);
            assert!(result.references.len() <= limit as usize);
            all.extend(names(&result).into_iter().map(str::to_owned));
            if result.continuation_point.is_null() {
                break;
            }
            let point = result.continuation_point.clone();
            result = next(&mut client, &point, false);
            let again = next(&mut client, &point, false);
            assert_eq!(
                again.status_code,
                StatusCode::BadContinuationPointInvalid,
                "it serves once"
            );
        }
        let expected: Vec<String> = (0..25).map(|number| format!("V{number}")).collect();
        assert_eq!(all, expected, "with {limit} at a time");
    }
}

#[test]
fn continuation_points_survive_changes() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 10);
    let space = Arc::clone(client.server.address_space());
    let first = browse_up_to(&mut client, 5, vec![children(&folder)])
        .unwrap()
        .remove(0);
    assert_eq!(names(&first), ["V0", "V1", "V2", "V3", "V4"]);
    for gone in ["V0", "V2", "V7"] {
        space
            .edit()
            .delete_node(&NodeId::string(1, gone), true)
            .unwrap();
    }
    space
        .add_variable((1, "New"))
        .below(folder.clone(), ids::ORGANIZES)
        .add()
        .unwrap();
    let rest = next(&mut client, &first.continuation_point, false);
    assert_eq!(names(&rest), ["V5", "V6", "V8", "V9", "New"]);

    let first = browse_up_to(&mut client, 2, vec![children(&folder)])
        .unwrap()
        .remove(0);
    space
        .edit()
        .delete_node(&NodeId::string(1, "V3"), true)
        .unwrap();
    let lost = next(&mut client, &first.continuation_point, false);
    assert_eq!(
        lost.status_code,
        StatusCode::BadContinuationPointInvalid,
        "nobody knows where it was"
    );
    let first = browse_up_to(&mut client, 2, vec![children(&folder)])
        .unwrap()
        .remove(0);
    space.edit().delete_node(&folder, true).unwrap();
    let gone = next(&mut client, &first.continuation_point, false);
    assert_eq!(gone.status_code, StatusCode::BadNodeIdUnknown);
}

#[test]
fn there_are_only_so_many_continuation_points() {
    let limits = ServerLimits {
        max_browse_continuation_points: 2,
        ..ServerLimits::default()
    };
    let mut client = Client::new(&builder().limits(limits).build().unwrap());
    let folder = folder(&client, 5);
    let mut results = browse_up_to(&mut client, 2, vec![children(&folder); 3]).unwrap();
    assert_eq!(results[2].status_code, StatusCode::BadNoContinuationPoints);
    assert!(results[2].references.is_empty());
    let released = next(&mut client, &results[0].continuation_point, true);
    assert_eq!(
        (released.status_code, released.references.len()),
        (StatusCode::Good, 0)
    );
    results = browse_up_to(&mut client, 2, vec![children(&folder)]).unwrap();
    assert_eq!(results[0].status_code, StatusCode::Good);
    // Another Session cannot use them.
    let mut other = Client::new(&Arc::clone(&client.server));
    let stolen = next(&mut other, &results[0].continuation_point, false);
    assert_eq!(stolen.status_code, StatusCode::BadContinuationPointInvalid);
    for nonsense in [
        ByteString::null(),
        ByteString::from(&[1, 2, 3]),
        ByteString::from(&[0xFF; 8]),
    ] {
        let result = next(&mut client, &nonsense, false);
        assert_eq!(result.status_code, StatusCode::BadContinuationPointInvalid);
    }
}

#[test]
fn what_does_not_fit_the_response_comes_with_browse_next() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 100);
    let server = Arc::clone(&client.server);
    let handle = |client: &mut Client, request: &[u8], size: usize| {
        let mut buffer = vec![0; size];
        let mut response = Encoder::fixed(&mut buffer);
        server.handle(&mut client.connection, 1, request, &mut response);
        response.written().to_vec()
    };
    for size in [128, 200, 256, 1000, 4096] {
        for operations in [1, 3] {
            let request = BrowseRequest {
                request_header: client.header(),
                nodes_to_browse: vec![children(&folder); operations],
                ..BrowseRequest::default()
            };
            let response = handle(&mut client, &message(&request), size);
            let results = match decode::<BrowseResponse>(&response) {
                Ok(response) => response.results,
                Err(status) => {
                    assert_eq!(status, StatusCode::BadResponseTooLarge);
                    assert!(size < 200, "{size} bytes are enough for something");
                    continue;
                }
            };
            for mut result in results {
                let mut count = result.references.len();
                while !result.continuation_point.is_null() {
                    let request = BrowseNextRequest {
                        request_header: client.header(),
                        continuation_points: vec![result.continuation_point.clone()],
                        ..BrowseNextRequest::default()
                    };
                    let response = handle(&mut client, &message(&request), size);
                    result = decode::<BrowseNextResponse>(&response)
                        .unwrap()
                        .results
                        .remove(0);
                    assert_eq!(result.status_code, StatusCode::Good);
                    assert!(!result.references.is_empty());
                    count += result.references.len();
                }
                assert_eq!(count, 100, "{size} bytes, {operations} operations");
            }
        }
    }
}

#[test]
fn references_to_nowhere_are_left_out() {
    let mut client = Client::new(&server());
    let folder = folder(&client, 2);
    let space = Arc::clone(client.server.address_space());
    space
        .edit()
        .delete_node(&NodeId::string(1, "V0"), false)
        .unwrap();
    assert_eq!(names(&browse(&mut client, children(&folder))), ["V1"]);
    // When the node appears again, so does the reference, and only once.
    let attributes = takt_services::ClassAttributes::Object { event_notifier: 0 };
    let node = NodeDefinition::new(
        NodeId::string(1, "V0"),
        QualifiedName::new(1, "V0"),
        attributes,
    );
    let parent = takt_services::NewReference::inverse(ids::ORGANIZES, folder.clone());
    space.edit().add_node(node, &[parent]).unwrap();
    assert_eq!(names(&browse(&mut client, children(&folder))), ["V0", "V1"]);
}

fn element(name: &str) -> RelativePathElement {
    RelativePathElement {
        reference_type_id: ids::HIERARCHICAL_REFERENCES.into(),
        include_subtypes: true,
        target_name: QualifiedName::new(0, name),
        ..RelativePathElement::default()
    }
}

fn translate(
    client: &mut Client,
    start: impl Into<NodeId>,
    elements: Vec<RelativePathElement>,
) -> BrowsePathResult {
    let request_header = client.header();
    let path = BrowsePath {
        starting_node: start.into(),
        relative_path: RelativePath { elements },
    };
    let request = TranslateBrowsePathsToNodeIdsRequest {
        request_header,
        browse_paths: vec![path],
    };
    client
        .call::<_, TranslateBrowsePathsToNodeIdsResponse>(request)
        .unwrap()
        .results
        .remove(0)
}

#[test]
fn browse_paths_lead_to_nodes() {
    let mut client = Client::new(&server());
    let path = vec![
        element("Server"),
        element("ServerStatus"),
        element("BuildInfo"),
        element("ProductName"),
    ];
    let result = translate(&mut client, ids::OBJECTS_FOLDER, path);
    assert_eq!(result.status_code, StatusCode::Good);
    let product_name = NodeId::from(ids::SERVER_SERVER_STATUS_BUILD_INFO_PRODUCT_NAME);
    let [target] = result.targets.as_slice() else {
        panic!("{result:?}")
    };
    assert_eq!(target.target_id, ExpandedNodeId::from(product_name));
    assert_eq!(target.remaining_path_index, u32::MAX);

    let up = RelativePathElement {
        is_inverse: true,
        ..element("Objects")
    };
    let result = translate(&mut client, ids::SERVER, vec![up]);
    assert_eq!(
        result.targets[0].target_id,
        ExpandedNodeId::from(ids::OBJECTS_FOLDER)
    );
    let any_type = RelativePathElement {
        reference_type_id: NodeId::NULL,
        ..element("ServerStatus")
    };
    assert_eq!(
        translate(&mut client, ids::SERVER, vec![any_type])
            .targets
            .len(),
        1
    );
    let exactly = RelativePathElement {
        include_subtypes: false,
        ..element("Server")
    };
    let result = translate(&mut client, ids::OBJECTS_FOLDER, vec![exactly]);
    assert_eq!(result.status_code, StatusCode::BadNoMatch);
}

#[test]
fn browse_paths_that_lead_nowhere() {
    let mut client = Client::new(&server());
    let unknown_type = RelativePathElement {
        reference_type_id: (1, 5).into(),
        ..element("Server")
    };
    for (start, path, status) in [
        (
            NodeId::NULL,
            vec![element("A")],
            StatusCode::BadNodeIdInvalid,
        ),
        (
            (1, 5).into(),
            vec![element("A")],
            StatusCode::BadNodeIdUnknown,
        ),
        (ids::SERVER.into(), vec![], StatusCode::BadNothingToDo),
        (
            ids::SERVER.into(),
            vec![element("A")],
            StatusCode::BadNoMatch,
        ),
        (
            ids::SERVER.into(),
            vec![RelativePathElement::default()],
            StatusCode::BadBrowseNameInvalid,
        ),
        (
            ids::SERVER.into(),
            vec![unknown_type],
            StatusCode::BadReferenceTypeIdInvalid,
        ),
    ] {
        let result = translate(&mut client, start, path);
        assert_eq!((result.status_code, result.targets.len()), (status, 0));
    }
}

#[test]
fn several_nodes_may_have_the_name() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let add = |name: &str| space.add_object((1, name)).add().unwrap();
    let (first, second) = (add("Same"), add("Same"));
    let value = Value::stored(1_u32);
    let speed = space
        .add_variable((1, "Speed"))
        .component_of(second.clone())
        .value(value)
        .add()
        .unwrap();
    let same = RelativePathElement {
        target_name: QualifiedName::new(1, "Same"),
        ..element("")
    };
    let result = translate(&mut client, ids::OBJECTS_FOLDER, vec![same.clone()]);
    let targets: Vec<_> = result
        .targets
        .iter()
        .map(|target| target.target_id.node_id.clone())
        .collect();
    assert_eq!(targets, [first, second]);
    let deeper = RelativePathElement {
        target_name: QualifiedName::new(1, "Speed"),
        ..element("")
    };
    let result = translate(&mut client, ids::OBJECTS_FOLDER, vec![same, deeper]);
    assert_eq!(result.targets[0].target_id.node_id, speed);
}

#[test]
fn registered_nodes_are_the_nodes_themselves() {
    let mut client = Client::new(&server());
    let request_header = client.header();
    let nodes: Vec<NodeId> = vec![ids::SERVER.into(), NodeId::string(1, "x")];
    let register = RegisterNodesRequest {
        request_header,
        nodes_to_register: nodes.clone(),
    };
    let registered: RegisterNodesResponse = client.call(register).unwrap();
    assert_eq!(registered.registered_node_ids, nodes);
    let request_header = client.header();
    let unregister = UnregisterNodesRequest {
        request_header,
        nodes_to_unregister: nodes,
    };
    client
        .call::<_, UnregisterNodesResponse>(unregister)
        .unwrap();
}

#[test]
fn discovery_needs_no_session() {
    let server = server();
    let endpoint = takt_services::EndpointConfig::without_security;
    server.add_endpoint(endpoint(
        "opc.tcp://127.0.0.1:4840",
        takt_services::TCP_PROFILE,
    ));
    server.add_endpoint(endpoint(
        "opc.iox2://Test",
        takt_services::SHARED_MEMORY_PROFILE,
    ));
    let mut client = Client::connect(&server);
    let mut get = |url: &str, profiles: &[&str]| {
        let get = GetEndpointsRequest {
            endpoint_url: url.into(),
            profile_uris: profiles.iter().map(|profile| (*profile).into()).collect(),
            ..GetEndpointsRequest::default()
        };
        client
            .call::<_, GetEndpointsResponse>(get)
            .unwrap()
            .endpoints
    };
    let all = get("opc.tcp://localhost:4840", &[]);
    assert_eq!(all.len(), 2);
    assert_eq!(
        all[0].endpoint_url, "opc.tcp://localhost:4840",
        "the name that the client came by"
    );
    assert_eq!(all[0].server.application_uri, "urn:test:server");
    assert_eq!(all[0].server.discovery_urls.len(), 2);
    assert_eq!(
        all[0].security_policy_uri,
        takt_services::SECURITY_POLICY_NONE
    );
    assert_eq!(all[0].user_identity_tokens.len(), 1);
    assert_eq!(all[1].endpoint_url, "opc.iox2://Test");
    let tcp = get("", &[takt_services::TCP_PROFILE]);
    assert_eq!(tcp.len(), 1);
    assert!(get("", &["urn:unknown"]).is_empty());

    let mut find = |uris: &[&str]| {
        let find = FindServersRequest {
            server_uris: uris.iter().map(|uri| (*uri).into()).collect(),
            ..FindServersRequest::default()
        };
        client
            .call::<_, FindServersResponse>(find)
            .unwrap()
            .servers
            .len()
    };
    assert_eq!(
        (find(&[]), find(&["urn:test:server"]), find(&["urn:other"])),
        (1, 1, 0)
    );
    let created = client.create().unwrap();
    assert_eq!(created.server_endpoints.len(), 2);
}

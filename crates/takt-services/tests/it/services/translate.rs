//! TranslateBrowsePathsToNodeIds and RegisterNodes (OPC 10000-4, 5.9.4 to 5.9.6).

use std::sync::Arc;

use crate::common::{Client, server};
use takt_space::Value;
use takt_ua::structures::*;
use takt_ua::{ExpandedNodeId, NodeId, QualifiedName, StatusCode, ids};

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
fn browse_paths_without_target() {
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

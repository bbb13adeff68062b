//! TranslateBrowsePathsToNodeIds (OPC 10000-4, 5.9.4).

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{
    BrowsePath, BrowsePathResult, BrowsePathTarget, RelativePathElement,
    TranslateBrowsePathsToNodeIdsRequest, TranslateBrowsePathsToNodeIdsResponse,
};
use takt_ua::{ExpandedNodeId, NodeId, StatusCode};

use super::{Handled, Request, check_count, decode, encode};
use crate::address_space::{TargetRef, TypeFilter, View};
use crate::session::Session;

/// More targets of one path are `BadTooManyMatches`; the standard asks for at least 10.
const MAX_TARGETS: usize = 1000;

/// Handles a TranslateBrowsePathsToNodeIds request.
pub(crate) fn handle(
    request: &Request<'_>,
    _: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let translate: TranslateBrowsePathsToNodeIdsRequest = decode(structure)?;
    let limit = request
        .server
        .limits
        .operations
        .max_nodes_per_translate_browse_paths_to_node_ids;
    check_count(translate.browse_paths.len(), limit)?;
    let view = request.server.space.view();
    let results = translate
        .browse_paths
        .iter()
        .map(|path| match follow(&view, path) {
            Ok(targets) => BrowsePathResult {
                status_code: StatusCode::Good,
                targets,
            },
            Err(status_code) => BrowsePathResult {
                status_code,
                targets: Vec::new(),
            },
        })
        .collect();
    let translated = TranslateBrowsePathsToNodeIdsResponse {
        response_header: request.response_header(),
        results,
        diagnostic_infos: Vec::new(),
    };
    encode(&translated, response)
}

fn follow(view: &View<'_>, path: &BrowsePath) -> Result<Vec<BrowsePathTarget>, StatusCode> {
    if path.starting_node.is_null() {
        return Err(StatusCode::BadNodeIdInvalid);
    }
    if view.node(&path.starting_node).is_none() {
        return Err(StatusCode::BadNodeIdUnknown);
    }
    let elements = &path.relative_path.elements;
    if elements.is_empty() {
        return Err(StatusCode::BadNothingToDo);
    }
    // Only a name makes an element mean one thing; the standard demands it of the last one, and lets us of the others.
    if elements.iter().any(|element| element.target_name.is_null()) {
        return Err(StatusCode::BadBrowseNameInvalid);
    }

    let mut targets = Vec::new();
    let mut nodes = vec![path.starting_node.clone()];
    for (index, element) in elements.iter().enumerate() {
        let mut next = Vec::new();
        let remaining = match index + 1 {
            all if all == elements.len() => u32::MAX,
            next => u32::try_from(next).unwrap_or(u32::MAX),
        };
        for node_id in &nodes {
            step(view, node_id, element, &mut next, |remote| {
                targets.push(BrowsePathTarget {
                    target_id: remote,
                    remaining_path_index: remaining,
                });
            })?;
        }
        nodes = next;
        if nodes.len() + targets.len() > MAX_TARGETS {
            return Err(StatusCode::BadTooManyMatches);
        }
    }
    targets.extend(nodes.into_iter().map(|node_id| BrowsePathTarget {
        target_id: ExpandedNodeId::from(node_id),
        remaining_path_index: u32::MAX,
    }));
    if targets.is_empty() {
        Err(StatusCode::BadNoMatch)
    } else {
        Ok(targets)
    }
}

/// Follows one element of a path from one node.
fn step(
    view: &View<'_>,
    node_id: &NodeId,
    element: &RelativePathElement,
    found: &mut Vec<NodeId>,
    mut remote: impl FnMut(ExpandedNodeId),
) -> Result<(), StatusCode> {
    let reference_type = &element.reference_type_id;
    let is_reference_type = || {
        view.node(reference_type)
            .is_some_and(|node| node.node_class() == NodeClass::ReferenceType)
    };
    if !reference_type.is_null() && !is_reference_type() {
        return Err(StatusCode::BadReferenceTypeIdInvalid);
    }
    let Some(node) = view.node(node_id) else {
        return Ok(());
    };
    let mut types = TypeFilter::new(reference_type.as_ref(), element.include_subtypes);
    for reference in node.references().iter() {
        if reference.is_forward == element.is_inverse
            || !types.matches(view, reference.reference_type)
        {
            continue;
        }
        match reference.target {
            // Its BrowseName is not known here: the client has to ask the other server.
            TargetRef::Remote(target) => remote(target.clone()),
            TargetRef::Local(target) => {
                let matches = view
                    .node(target)
                    .is_some_and(|node| node.browse_name() == element.target_name.as_ref());
                if matches && !found.iter().any(|known| target == *known) {
                    found.push(target.to_owned());
                }
            }
        }
    }
    Ok(())
}

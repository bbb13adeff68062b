//! Requests that change the nodes of a Provider at the registry.

use takt_client::model::{self, provider};
use takt_client::{Client, ClientError, Follow};
use takt_ua::enumerations::BrowseDirection;
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, Variant};

use super::plan::ServerNamespaces;

/// Number of operations of one NodeManagement request, small enough that the registry serves others in between when
/// many Providers register at once.
const BATCH: usize = 100;

/// Returns the revision at the registry, if any.
pub(super) fn registered_revision(
    client: &mut Client,
    own: u16,
) -> Result<Option<u64>, ClientError> {
    let value = client.read(&NodeId::numeric(own, provider::REVISION))?;
    Ok(match value.value {
        Some(Variant::UInt64(revision)) => Some(revision),
        _ => None,
    })
}

/// Deletes the registration of an earlier version of this Provider, except for its Object.
pub(super) fn remove_previous(
    client: &mut Client,
    namespaces: ServerNamespaces,
) -> Result<(), ClientError> {
    let object = NodeId::numeric(namespaces.own, provider::OBJECT);
    let available = NodeId::numeric(namespaces.own, provider::AVAILABLE);
    let created = Follow {
        reference_type: NodeId::numeric(namespaces.model, model::CREATED_BY),
        direction: BrowseDirection::Inverse,
    };
    let mut nodes: Vec<NodeId> = client
        .browse(&object, &created)?
        .into_iter()
        .map(|reference| reference.node_id.node_id)
        .filter(|node| *node != object && *node != available)
        .collect();
    // Nodes were added after their parents, and a node is deleted with its components: a request to delete these later would
    // fail, which an audit log of the registry shows as a failure.
    nodes.reverse();
    // The Revision comes first, because it marks the rest as complete.
    let revision = NodeId::numeric(namespaces.own, provider::REVISION);
    nodes.sort_by_key(|node| *node != revision);
    delete_nodes(client, &nodes)
}

pub(super) fn delete_nodes(client: &mut Client, nodes: &[NodeId]) -> Result<(), ClientError> {
    for batch in nodes.chunks(BATCH) {
        let response = client.call(DeleteNodesRequest {
            nodes_to_delete: batch
                .iter()
                .map(|node| DeleteNodesItem {
                    node_id: node.clone(),
                    delete_target_references: true,
                })
                .collect(),
            ..DeleteNodesRequest::default()
        })?;
        for (node, status) in batch.iter().zip(response.results) {
            // A child may have been deleted with its parent.
            if status.is_bad() && status != StatusCode::BadNodeIdUnknown {
                return Err(ClientError::operation(node, status));
            }
        }
    }
    Ok(())
}

pub(super) fn add_nodes(client: &mut Client, nodes: &[AddNodesItem]) -> Result<(), ClientError> {
    nodes
        .chunks(BATCH)
        .try_for_each(|batch| add_in_one_request(client, batch))
}

pub(super) fn add_in_one_request(
    client: &mut Client,
    nodes: &[AddNodesItem],
) -> Result<(), ClientError> {
    let response = client.call(AddNodesRequest {
        nodes_to_add: nodes.to_vec(),
        ..AddNodesRequest::default()
    })?;
    client.expect_count("AddNodesResponse", nodes.len(), response.results.len())?;
    for (item, result) in nodes.iter().zip(response.results) {
        if result.status_code.is_bad() {
            return Err(ClientError::operation(
                &item.browse_name,
                result.status_code,
            ));
        }
    }
    Ok(())
}

pub(super) fn add_references(
    client: &mut Client,
    references: &[AddReferencesItem],
) -> Result<(), ClientError> {
    for batch in references.chunks(BATCH) {
        let response = client.call(AddReferencesRequest {
            references_to_add: batch.to_vec(),
            ..AddReferencesRequest::default()
        })?;
        client.expect_count("AddReferencesResponse", batch.len(), response.results.len())?;
        for (item, status) in batch.iter().zip(response.results) {
            // An earlier attempt that was interrupted may have added the reference.
            if status.is_bad() && status != StatusCode::BadDuplicateReferenceNotAllowed {
                return Err(ClientError::operation(&item.source_node_id, status));
            }
        }
    }
    Ok(())
}

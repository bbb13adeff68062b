//! Browsing (OPC 10000-4, 5.9); continuation points are handled internally.

use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::*;
use takt_ua::{ByteString, NodeId, QualifiedName, ids};

use super::Client;
use super::answer_budget::AnswerBudget;
use super::attributes::good;
use super::batches::Batched;
use super::browse_path;
use super::requests::{Requests, ready};
use crate::error::ClientError;

/// References to follow from a node.
#[derive(Debug, Clone)]
pub struct Follow {
    /// The ReferenceType, its subtypes included.
    pub reference_type: NodeId,
    /// Direction of the references.
    pub direction: BrowseDirection,
}

impl Follow {
    /// Returns the hierarchical references from parent to child.
    pub fn children() -> Self {
        Self::forward(ids::HIERARCHICAL_REFERENCES)
    }

    /// Returns the forward references of a type of namespace 0 and its subtypes.
    pub fn forward(reference_type: u32) -> Self {
        Self {
            reference_type: NodeId::numeric(0, reference_type),
            direction: BrowseDirection::Forward,
        }
    }

    /// Returns all references in both directions.
    pub fn all() -> Self {
        Self {
            reference_type: NodeId::numeric(0, ids::REFERENCES),
            direction: BrowseDirection::Both,
        }
    }
}

/// BrowseResultMask: all fields of a ReferenceDescription (OPC 10000-4, Table 31).
const ALL_FIELDS: u32 = 0x3F;

/// Name of what a Browse collects.
const REFERENCES: &str = "references";

/// Largest number of consecutive responses with a continuation point and no reference: a server may need more time,
/// but not without limit.
const MAX_EMPTY: usize = 1_000;

impl Client {
    /// Returns the references of `node`.
    pub fn browse(
        &mut self,
        node: &NodeId,
        follow: &Follow,
    ) -> Result<Vec<ReferenceDescription>, ClientError> {
        ready(ViewServices::browse(self, node, follow))
    }

    /// Returns the references of many nodes in the order of the nodes, in one request if the server takes it.
    #[allow(
        clippy::type_complexity,
        reason = "one outcome a node, in one outcome of the request"
    )]
    pub fn browse_many(
        &mut self,
        nodes: &[NodeId],
        follow: &Follow,
    ) -> Result<Vec<Result<Vec<ReferenceDescription>, ClientError>>, ClientError> {
        ready(ViewServices::browse_many(self, nodes, follow))
    }

    /// Returns the references of many nodes as [`browse_many`](Self::browse_many) does, within a budget for the answers to several
    /// calls together.
    ///
    /// # Errors
    /// [`ClientError::TooMuch`], or the server refuses the request.
    #[allow(
        clippy::type_complexity,
        reason = "one outcome a node, in one outcome of the request"
    )]
    pub fn browse_many_within(
        &mut self,
        nodes: &[NodeId],
        follow: &Follow,
        budget: &mut AnswerBudget,
    ) -> Result<Vec<Result<Vec<ReferenceDescription>, ClientError>>, ClientError> {
        ready(ViewServices::browse_many_within(
            self, nodes, follow, budget,
        ))
    }

    /// Returns the node that `path` leads to from `start` along hierarchical references.
    pub fn translate(
        &mut self,
        start: &NodeId,
        path: &[QualifiedName],
    ) -> Result<NodeId, ClientError> {
        ready(ViewServices::translate(self, start, path))
    }

    /// Returns the node that `path` names: segments divided by `/`, each a BrowseName whose namespace may be left
    /// out. The path begins at the Objects folder. `&/` is a slash in a name (OPC 10000-4, A.2).
    pub fn find(&mut self, path: &str) -> Result<ReferenceDescription, ClientError> {
        ready(ViewServices::find(self, path))
    }
}

/// Browse and TranslateBrowsePathsToNodeIds of any client.
pub(crate) trait ViewServices: Requests {
    /// Does the work of [`Client::browse`].
    async fn browse(
        &mut self,
        node: &NodeId,
        follow: &Follow,
    ) -> Result<Vec<ReferenceDescription>, ClientError> {
        let mut results = self.browse_many(std::slice::from_ref(node), follow).await?;
        results.swap_remove(0)
    }

    /// Does the work of [`Client::browse_many`].
    #[allow(
        clippy::type_complexity,
        reason = "one outcome a node, in one outcome of the request"
    )]
    async fn browse_many(
        &mut self,
        nodes: &[NodeId],
        follow: &Follow,
    ) -> Result<Vec<Result<Vec<ReferenceDescription>, ClientError>>, ClientError> {
        let mut budget = self.answer_budget();
        self.browse_many_within(nodes, follow, &mut budget).await
    }

    /// Does the work of [`Client::browse_many_within`].
    #[allow(
        clippy::type_complexity,
        reason = "one outcome a node, in one outcome of the request"
    )]
    async fn browse_many_within(
        &mut self,
        nodes: &[NodeId],
        follow: &Follow,
        budget: &mut AnswerBudget,
    ) -> Result<Vec<Result<Vec<ReferenceDescription>, ClientError>>, ClientError> {
        let mut found = Vec::with_capacity(nodes.len());
        while let Some(left) = nodes.get(found.len()..)
            && !left.is_empty()
        {
            let batch = self.batches().next(Batched::Browse, left);
            let nodes_to_browse = batch.iter().map(|node| BrowseDescription {
                node_id: node.clone(),
                browse_direction: follow.direction,
                reference_type_id: follow.reference_type.clone(),
                include_subtypes: true,
                node_class_mask: 0,
                result_mask: ALL_FIELDS,
            });
            let request = BrowseRequest {
                nodes_to_browse: nodes_to_browse.collect(),
                ..BrowseRequest::default()
            };
            let response = match self.call(request).await {
                Ok(response) => response,
                Err(error) if self.batches().shrink(Batched::Browse, batch.len(), &error) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.expect_count("BrowseResponse", batch.len(), response.results.len())?;
            for (node, result) in batch.iter().zip(response.results) {
                found.push(match good(node, result.status_code) {
                    Ok(()) => Ok(self.browse_rest(result, budget).await?),
                    Err(error) => Err(error),
                });
            }
        }
        Ok(found)
    }

    /// Returns the references in `result` and those behind its continuation points.
    async fn browse_rest(
        &mut self,
        mut result: BrowseResult,
        budget: &mut AnswerBudget,
    ) -> Result<Vec<ReferenceDescription>, ClientError> {
        let mut references = std::mem::take(&mut result.references);
        let mut continuation_point: ByteString = result.continuation_point;
        let mut empty = 0;
        let mut fits = budget.take(self.endpoint(), REFERENCES, &references);
        while !continuation_point.is_empty() {
            if fits.is_err() {
                // A server that does not release the point forgets it with the Session.
                let _ = self.browse_next(continuation_point, true).await;
                break;
            }
            let mut next = self.browse_next(continuation_point, false).await?;
            self.expect_count("BrowseNextResponse", 1, next.results.len())?;
            let mut result = next.results.swap_remove(0);
            good("BrowseNext", result.status_code)?;
            empty = match result.references.is_empty() {
                true => empty + 1,
                false => 0,
            };
            if empty > MAX_EMPTY {
                return Err(self.protocol("BrowseNext returns continuation points without end"));
            }
            fits = budget.take(self.endpoint(), REFERENCES, &result.references);
            references.append(&mut result.references);
            continuation_point = result.continuation_point;
        }
        fits.map(|()| references)
    }

    async fn browse_next(
        &mut self,
        continuation_point: ByteString,
        release_continuation_points: bool,
    ) -> Result<BrowseNextResponse, ClientError> {
        self.call(BrowseNextRequest {
            release_continuation_points,
            continuation_points: vec![continuation_point],
            ..BrowseNextRequest::default()
        })
        .await
    }

    /// Does the work of [`Client::translate`].
    async fn translate(
        &mut self,
        start: &NodeId,
        path: &[QualifiedName],
    ) -> Result<NodeId, ClientError> {
        let mut response = self
            .call(TranslateBrowsePathsToNodeIdsRequest {
                browse_paths: vec![BrowsePath {
                    starting_node: start.clone(),
                    relative_path: RelativePath {
                        elements: path
                            .iter()
                            .map(|name| RelativePathElement {
                                reference_type_id: NodeId::numeric(0, ids::HIERARCHICAL_REFERENCES),
                                is_inverse: false,
                                include_subtypes: true,
                                target_name: name.clone(),
                            })
                            .collect(),
                    },
                }],
                ..TranslateBrowsePathsToNodeIdsRequest::default()
            })
            .await?;
        self.expect_count(
            "TranslateBrowsePathsToNodeIdsResponse",
            1,
            response.results.len(),
        )?;
        let result = response.results.swap_remove(0);
        good(path_text(path), result.status_code)?;
        result
            .targets
            .first()
            .map(|target| target.target_id.node_id.clone())
            .ok_or_else(|| self.protocol("a good TranslateBrowsePaths result without a target"))
    }

    /// Does the work of [`Client::find`].
    async fn find(&mut self, path: &str) -> Result<ReferenceDescription, ClientError> {
        let objects = NodeId::numeric(0, ids::OBJECTS_FOLDER);
        let mut found = ReferenceDescription {
            node_id: objects.into(),
            node_class: NodeClass::Object,
            ..ReferenceDescription::default()
        };
        let mut segments = browse_path::parse(path)?.into_iter().peekable();
        segments.next_if(|segment| segment.any_namespace && segment.name.name == "Objects");
        for segment in segments {
            found = self
                .browse(&found.node_id.node_id, &Follow::children())
                .await?
                .into_iter()
                .find(|child| {
                    child.browse_name.name == segment.name.name
                        && (segment.any_namespace
                            || child.browse_name.namespace == segment.name.namespace)
                })
                .ok_or_else(|| {
                    ClientError::operation(
                        format!("`{segment}` in `{path}`"),
                        takt_ua::StatusCode::BadNoMatch,
                    )
                })?;
        }
        Ok(found)
    }
}

impl<C: Requests> ViewServices for C {}

fn path_text(path: &[QualifiedName]) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

//! Browsing (OPC 10000-4, 5.9); continuation points are handled internally.

use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::*;
use takt_ua::{ByteString, NodeId, QualifiedName, ids};

use super::Client;
use super::answer_budget::AnswerBudget;
use super::attributes::good;
use super::batches::Batched;
use super::browse_path::{self, Segment};
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
        // There is one result for each node.
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
            let mut results = batch.iter().zip(response.results);
            while let Some((node, result)) = results.next() {
                let references = match good(node, result.status_code) {
                    Ok(()) => self.browse_rest(result, budget).await.map(Ok),
                    Err(error) => Ok(Err(error)),
                };
                match references {
                    Ok(references) => found.push(references),
                    Err(error) => {
                        // A server has room for few continuation points: those of the other nodes would stay.
                        let points = results.map(|(_, result)| result.continuation_point);
                        self.release(points.collect(), &error).await;
                        return Err(error);
                    }
                }
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
            if empty > MAX_EMPTY {
                fits = Err(self.protocol("BrowseNext returns continuation points without end"));
            }
            if let Err(error) = fits {
                self.release(vec![continuation_point], &error).await;
                return Err(error);
            }
            let mut next = self.browse_next(vec![continuation_point], false).await?;
            self.expect_count("BrowseNextResponse", 1, next.results.len())?;
            let mut result = next.results.swap_remove(0);
            good("BrowseNext", result.status_code)?;
            empty = match result.references.is_empty() {
                true => empty + 1,
                false => 0,
            };
            fits = budget.take(self.endpoint(), REFERENCES, &result.references);
            references.append(&mut result.references);
            continuation_point = result.continuation_point;
        }
        fits.map(|()| references)
    }

    /// Releases those continuation points that are not null, after an error. A server that does not release them forgets them with
    /// the Session.
    async fn release(&mut self, mut points: Vec<ByteString>, error: &ClientError) {
        points.retain(|point| !point.is_empty());
        if !points.is_empty() && !error.is_connection() {
            let _ = self.browse_next(points, true).await;
        }
    }

    async fn browse_next(
        &mut self,
        continuation_points: Vec<ByteString>,
        release_continuation_points: bool,
    ) -> Result<BrowseNextResponse, ClientError> {
        self.call(BrowseNextRequest {
            release_continuation_points,
            continuation_points,
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
        // A path may name its beginning.
        segments.next_if(|segment| segment.any_namespace && segment.name.name == "Objects");
        for segment in segments {
            let children = self
                .browse(&found.node_id.node_id, &Follow::children())
                .await?;
            let child = children.iter().find(|child| {
                child.browse_name.name == segment.name.name
                    && (segment.any_namespace
                        || child.browse_name.namespace == segment.name.namespace)
            });
            found = match child {
                Some(child) => child.clone(),
                None => {
                    let nearest = nearest(&children, &segment);
                    let hint = nearest.map(|name| format!(" (did you mean `{name}`?)"));
                    let hint = hint.unwrap_or_default();
                    let what = format!("`{segment}` in `{path}`{hint}");
                    return Err(ClientError::operation(
                        what,
                        takt_ua::StatusCode::BadNoMatch,
                    ));
                }
            };
        }
        Ok(found)
    }
}

impl<C: Requests> ViewServices for C {}

/// Least likeness of a name that is suggested, from 0 to 1.
const ALIKE: f64 = 0.8;

/// Returns the name of a child that is most like a segment of a path; `None` if none is.
fn nearest(children: &[ReferenceDescription], segment: &Segment) -> Option<Segment> {
    let written = segment.name.name.as_str().to_lowercase();
    let likeness = |name: &QualifiedName| {
        let known = name.name.as_str().to_lowercase();
        match known == written {
            // Another case, or another namespace.
            true => 1.0,
            false => strsim::jaro_winkler(&known, &written),
        }
    };
    let names = children.iter().map(|child| &child.browse_name);
    let nearest = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(nearest) >= ALIKE).then(|| Segment {
        name: nearest.clone(),
        any_namespace: segment.any_namespace,
    })
}

fn path_text(path: &[QualifiedName]) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

#[cfg(test)]
mod tests;

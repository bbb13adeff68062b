//! Fields of Events that an EventType declares (OPC 10000-3, 4.6).

use std::collections::HashSet;

use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::{NodeId, QualifiedName, ids};

use super::Client;
use super::answer_budget::AnswerBudget;
use super::views::Follow;
use crate::error::ClientError;

/// Number of fields after which no further supertype is browsed.
const MOST_FIELDS: usize = 256;

/// Largest number of supertypes.
const MAX_SUPERTYPES: usize = 32;

/// Largest number of names in a BrowsePath.
const MAX_PATH: usize = 4;

/// A field that an EventType or one of its supertypes declares, for [`EventQuery::declared_field`](crate::EventQuery::declared_field).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredField {
    /// Names of the path, with slashes between them.
    pub name: String,
    /// EventType that declares it.
    pub event_type: NodeId,
    /// Path from the EventType.
    pub path: Vec<QualifiedName>,
}

impl Client {
    /// Returns the fields that an EventType and its supertypes declare, those of the type itself first: the Variables below each.
    /// Types that the server does not show have none.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn declared_fields(
        &mut self,
        event_type: &NodeId,
    ) -> Result<Vec<DeclaredField>, ClientError> {
        let mut known = HashSet::new();
        let mut fields = Vec::new();
        let mut current = event_type.clone();
        let mut budget = self.answer_budget();
        for _ in 0..MAX_SUPERTYPES {
            match self.add_fields(&current, &mut known, &mut fields, &mut budget) {
                Ok(()) => {}
                Err(error @ ClientError::TooMuch { .. }) => return Err(error),
                Err(error) if error.is_connection() => return Err(error),
                // A server may keep the nodes of its types to itself.
                Err(error) => tracing::debug!("fields of {current}: {error}"),
            }
            if current == NodeId::from(ids::BASE_EVENT_TYPE) || fields.len() >= MOST_FIELDS {
                break;
            }
            let above = Follow {
                direction: BrowseDirection::Inverse,
                ..Follow::forward(ids::HAS_SUBTYPE)
            };
            let above = match self.browse(&current, &above) {
                Err(error) if error.is_connection() => return Err(error),
                above => above.unwrap_or_default(),
            };
            let Some(supertype) = above.into_iter().next() else {
                break;
            };
            current = supertype.node_id.node_id;
        }
        Ok(fields)
    }

    /// Adds the fields that one EventType declares, level by level.
    fn add_fields(
        &mut self,
        event_type: &NodeId,
        known: &mut HashSet<String>,
        fields: &mut Vec<DeclaredField>,
        budget: &mut AnswerBudget,
    ) -> Result<(), ClientError> {
        let mut level: Vec<(NodeId, Vec<QualifiedName>)> = vec![(event_type.clone(), Vec::new())];
        for _ in 0..MAX_PATH {
            let nodes: Vec<NodeId> = level.iter().map(|(node, _)| node.clone()).collect();
            if nodes.is_empty() {
                break;
            }
            let follow = Follow::forward(ids::AGGREGATES);
            let children = self.browse_many_within(&nodes, &follow, budget)?;
            let mut next = Vec::new();
            for ((_, above), children) in level.iter().zip(children) {
                for child in children? {
                    if !matches!(child.node_class, NodeClass::Object | NodeClass::Variable) {
                        continue;
                    }
                    let mut path = above.clone();
                    path.push(child.browse_name);
                    let names: Vec<String> = path.iter().map(ToString::to_string).collect();
                    let name = names.join("/");
                    // The path contains the names above it, and is kept twice.
                    let kept = 3 * name.len();
                    budget.take_bytes(self.endpoint(), "fields of Events", kept)?;
                    if child.node_class == NodeClass::Variable && known.insert(name.clone()) {
                        fields.push(DeclaredField {
                            name,
                            event_type: event_type.clone(),
                            path: path.clone(),
                        });
                    }
                    next.push((child.node_id.node_id, path));
                }
            }
            level = next;
        }
        Ok(())
    }
}

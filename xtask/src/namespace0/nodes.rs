//! The nodes by identifier, with each reference at both of its nodes.

use std::collections::HashSet;

use takt_nodeset::{NodeSet, UaNode};
use takt_ua::NodeId;

use super::error::invalid;
use crate::error::Error;

const HAS_SUBTYPE: u32 = 45;
const HAS_ENCODING: u32 = 38;
/// Organizes, HasProperty and HasComponent: references from a node to those below it.
const TO_BELOW: [u32; 3] = [35, 46, 47];

/// Optional nodes below the Server Object that Takt does not offer. They are left out with everything below them: a
/// client would take them for working ones.
const NOT_OFFERED: [u32; 13] = [
    // ServerConfiguration: DefaultHttpsGroup, DefaultUserTokenGroup, ConfigurationFile, AuthorizationServices,
    // KeyCredentialConfiguration, UserManagement, ResetToServerDefaults, TransactionDiagnostics
    14088, 14122, 15892, 17732, 18155, 24290, 25709, 32336,
    // Server: EstimatedReturnTime, ServerLog, Resources, DefaultHAConfiguration, DefaultHEConfiguration
    12885, 19372, 24226, 32637, 32754,
];

/// All nodes, ascending by identifier.
pub(super) struct Nodes<'a> {
    nodes: Vec<(u32, &'a UaNode)>,
    references: Vec<Vec<Reference>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Reference {
    pub(super) reference_type: u32,
    pub(super) is_forward: bool,
    /// Position of the node at the other end.
    pub(super) other: usize,
}

impl<'a> Nodes<'a> {
    pub(super) fn new(nodeset: &'a NodeSet) -> Result<Self, Error> {
        let nodes = nodeset
            .nodes
            .iter()
            .map(|node| Ok((standard_id(&node.node_id)?, node)));
        let mut nodes = nodes.collect::<Result<Vec<_>, Error>>()?;
        nodes.sort_by_key(|(id, _)| *id);
        let not_offered = not_offered(&nodes)?;
        nodes.retain(|(id, _)| !not_offered.contains(id));
        let mut all = Self {
            references: Vec::new(),
            nodes,
        };
        all.references = all.references_of_all(&not_offered)?;
        Ok(all)
    }

    /// Returns the references that each node lists itself, in their order; then those that only the other node lists.
    fn references_of_all(&self, not_offered: &HashSet<u32>) -> Result<Vec<Vec<Reference>>, Error> {
        let mut references = vec![Vec::new(); self.nodes.len()];
        let mut known = HashSet::new();
        for (position, (id, node)) in self.nodes.iter().enumerate() {
            for reference in &node.references {
                let reference_type = standard_id(&reference.reference_type)?;
                self.position(reference_type)?;
                let target = standard_id(&reference.target)?;
                if not_offered.contains(&target) {
                    continue;
                }
                let other = self.position(target)?;
                if other == position {
                    return Err(invalid(format!("i={id} refers to itself")));
                }
                let reference = Reference {
                    reference_type,
                    is_forward: reference.is_forward,
                    other,
                };
                if known.insert((position, reference)) {
                    references[position].push(reference);
                }
            }
        }
        for position in 0..self.nodes.len() {
            for reference in references[position].clone() {
                let other = reference.other;
                let inverse = Reference {
                    is_forward: !reference.is_forward,
                    other: position,
                    ..reference
                };
                if known.insert((other, inverse)) {
                    references[other].push(inverse);
                }
            }
        }
        Ok(references)
    }

    /// Returns all nodes with identifier and references.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &'a UaNode, &[Reference])> {
        self.nodes
            .iter()
            .zip(&self.references)
            .map(|((id, node), references)| (*id, *node, references.as_slice()))
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the position of the node with this identifier.
    pub(super) fn position(&self, id: u32) -> Result<usize, Error> {
        self.nodes
            .binary_search_by_key(&id, |(id, _)| *id)
            .map_err(|_| invalid(format!("there is no node i={id}, but a reference to it")))
    }

    /// Returns identifier and node at a position.
    pub(super) fn at(&self, position: usize) -> (u32, &'a UaNode) {
        self.nodes[position]
    }

    /// Returns the position of the supertype of a type.
    pub(super) fn supertype(&self, position: usize) -> Option<usize> {
        self.target(position, |reference| {
            reference.reference_type == HAS_SUBTYPE && !reference.is_forward
        })
    }

    /// Returns the position of the Default Binary encoding of a DataType.
    pub(super) fn binary_encoding(&self, position: usize) -> Option<usize> {
        self.target(position, |reference| {
            let name = || self.nodes[reference.other].1.browse_name.name.as_str();
            reference.reference_type == HAS_ENCODING
                && reference.is_forward
                && name() == "Default Binary"
        })
    }

    fn target(&self, position: usize, matches: impl Fn(&Reference) -> bool) -> Option<usize> {
        self.references[position]
            .iter()
            .find(|reference| matches(reference))
            .map(|reference| reference.other)
    }
}

/// Returns the identifiers of the nodes that are left out.
fn not_offered(nodes: &[(u32, &UaNode)]) -> Result<HashSet<u32>, Error> {
    let mut found = HashSet::from(NOT_OFFERED);
    // A node may come before its parent.
    loop {
        let before = found.len();
        for (id, node) in nodes {
            for reference in &node.references {
                let reference_type = standard_id(&reference.reference_type)?;
                let target = standard_id(&reference.target)?;
                let (parent, child) = match reference.is_forward {
                    true => (*id, target),
                    false => (target, *id),
                };
                if TO_BELOW.contains(&reference_type) && found.contains(&parent) {
                    found.insert(child);
                }
            }
        }
        if found.len() == before {
            return Ok(found);
        }
    }
}

/// Returns the identifier of a NodeId, all of which are numeric and in namespace 0.
pub(super) fn standard_id(node_id: &NodeId) -> Result<u32, Error> {
    node_id
        .standard_id()
        .ok_or_else(|| invalid(format!("{node_id} is not a numeric NodeId of namespace 0")))
}

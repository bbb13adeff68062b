//! Checks of a document before the first change.

use std::collections::{HashMap, HashSet};

use takt_nodeset::{Attributes, NodeSet, UaNode};
use takt_ua::enumerations::NodeClass;
use takt_ua::{ExtensionObject, NodeId, ids};

use super::definitions;
use super::error::{ImportError, ImportReason};
use super::imported::DanglingReference;
use super::nodes::Nodes;
use crate::address_space::View;

/// Verified changes of a document that fits the address space.
pub(super) struct Plan<'a> {
    /// Each reference once, from a node that exists or will exist.
    pub(super) references: Vec<PlannedReference>,
    pub(super) dangling: Vec<DanglingReference>,
    definitions: HashMap<&'a NodeId, ExtensionObject>,
}

pub(super) struct PlannedReference {
    pub(super) source: NodeId,
    pub(super) reference_type: NodeId,
    pub(super) is_forward: bool,
    pub(super) target: NodeId,
    pub(super) line: u32,
}

impl<'a> Plan<'a> {
    pub(super) fn new(view: &View<'_>, nodeset: &'a NodeSet) -> Result<Self, ImportError> {
        let document = nodeset
            .nodes
            .iter()
            .map(|node| (&node.node_id, node))
            .collect();
        let nodes = Nodes {
            document,
            view,
            file: &nodeset.name,
        };
        for node in &nodeset.nodes {
            check_node(&nodes, node)?;
        }
        let mut plan = Self {
            references: Vec::new(),
            dangling: Vec::new(),
            definitions: definitions::of(&nodes, nodeset)?,
        };
        plan.add_references(&nodes, nodeset)?;
        Ok(plan)
    }

    /// Returns the DataTypeDefinition of a DataType of the document.
    pub(super) fn definition(&self, node_id: &NodeId) -> Option<&ExtensionObject> {
        self.definitions.get(node_id)
    }

    fn add_references(
        &mut self,
        nodes: &Nodes<'_, '_, '_>,
        nodeset: &'a NodeSet,
    ) -> Result<(), ImportError> {
        let mut known = HashSet::new();
        for node in &nodeset.nodes {
            for reference in &node.references {
                let line = reference.line;
                let (reference_type, target) = (&reference.reference_type, &reference.target);
                if nodes.class(reference_type) != Some(NodeClass::ReferenceType) {
                    return Err(nodes.error(
                        line,
                        ImportReason::ReferenceTypeUnknown(reference_type.clone()),
                    ));
                }
                check_type_reference(nodes, node, reference)?;
                let exists = nodes.class(target).is_some();
                if !exists {
                    let (node_id, target) = (node.node_id.clone(), target.clone());
                    self.dangling.push(DanglingReference {
                        line,
                        node_id,
                        target,
                    });
                }
                // A reference that both of its nodes list is added once.
                let (from, to) = if reference.is_forward {
                    (&node.node_id, target)
                } else {
                    (target, &node.node_id)
                };
                if !known.insert((from, reference_type, to)) {
                    continue;
                }
                let (source, is_forward, target) = if exists {
                    (from, true, to)
                } else {
                    // Only the node of the document can hold the reference.
                    (&node.node_id, reference.is_forward, target)
                };
                self.references.push(PlannedReference {
                    source: source.clone(),
                    reference_type: reference_type.clone(),
                    is_forward,
                    target: target.clone(),
                    line,
                });
            }
        }
        Ok(())
    }
}

fn check_node(nodes: &Nodes<'_, '_, '_>, node: &UaNode) -> Result<(), ImportError> {
    if node.node_id.namespace == 0 {
        return Err(nodes.error(node.line, ImportReason::StandardNode(node.node_id.clone())));
    }
    if nodes.view.node(&node.node_id).is_some() {
        return Err(nodes.error(node.line, ImportReason::NodeExists(node.node_id.clone())));
    }
    if let Some(value) = node.value_attributes() {
        nodes.require(
            node.line,
            &value.data_type,
            "DataType",
            &[NodeClass::DataType],
        )?;
    }
    if let Attributes::DataType {
        definition: Some(definition),
        ..
    } = &node.attributes
    {
        for field in &definition.fields {
            nodes.require(
                node.line,
                &field.data_type,
                "DataType of a field",
                &[NodeClass::DataType],
            )?;
        }
    }
    Ok(())
}

/// Checks references to types. A missing type makes its instances and subtypes useless; other nodes may be missing.
fn check_type_reference(
    nodes: &Nodes<'_, '_, '_>,
    node: &UaNode,
    reference: &takt_nodeset::Reference,
) -> Result<(), ImportError> {
    match (reference.reference_type.standard_id(), reference.is_forward) {
        // The other direction is not checked: a type works without one of its subtypes.
        (Some(ids::HAS_SUBTYPE), false) => nodes.require(
            reference.line,
            &reference.target,
            "supertype",
            &[node.class()],
        ),
        (Some(ids::HAS_TYPE_DEFINITION), true) => {
            let classes = [NodeClass::ObjectType, NodeClass::VariableType];
            nodes.require(
                reference.line,
                &reference.target,
                "TypeDefinition",
                &classes,
            )
        }
        _ => Ok(()),
    }
}

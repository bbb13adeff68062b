//! DataTypeDefinitions of the DataTypes of a document (OPC 10000-3, 8.48 to 8.52).

use std::collections::HashMap;

use takt_nodeset::{Attributes, DataTypeDefinition, NodeSet, UaNode};
use takt_ua::structures::StructureDefinition;
use takt_ua::{ExtensionObject, NodeId, ids};

use super::error::{ImportError, ImportReason};
use super::nodes::Nodes;

/// Limit for the number of supertypes, higher than that of any type.
const MAX_SUPERTYPES: usize = 100;

/// Type information from the references of a document.
struct Types<'a, 'n, 'v> {
    nodes: &'n Nodes<'a, 'n, 'v>,
    supertypes: HashMap<&'a NodeId, &'a NodeId>,
    binary_encodings: HashMap<&'a NodeId, &'a NodeId>,
}

/// Returns the definitions of all DataTypes of a document that have one.
pub(super) fn of<'a>(
    nodes: &Nodes<'a, '_, '_>,
    nodeset: &'a NodeSet,
) -> Result<HashMap<&'a NodeId, ExtensionObject>, ImportError> {
    let mut types = Types {
        nodes,
        supertypes: HashMap::new(),
        binary_encodings: HashMap::new(),
    };
    for node in &nodeset.nodes {
        for reference in &node.references {
            let (source, target) = match reference.is_forward {
                true => (&node.node_id, &reference.target),
                false => (&reference.target, &node.node_id),
            };
            match reference.reference_type.standard_id() {
                Some(ids::HAS_SUBTYPE) => {
                    types.supertypes.insert(target, source);
                }
                Some(ids::HAS_ENCODING) if types.is_binary(target) => {
                    types.binary_encodings.insert(source, target);
                }
                _ => {}
            }
        }
    }
    let mut definitions = HashMap::new();
    for node in &nodeset.nodes {
        if let Attributes::DataType {
            definition,
            is_abstract,
        } = &node.attributes
            && let Some(object) = types.definition(node, definition.as_deref(), *is_abstract)?
        {
            definitions.insert(&node.node_id, object);
        }
    }
    Ok(definitions)
}

impl<'a> Types<'a, '_, '_> {
    fn is_binary(&self, encoding: &NodeId) -> bool {
        self.nodes
            .document
            .get(encoding)
            // There are encodings in XML and JSON as well.
            .is_some_and(|node| node.browse_name.name == "Default Binary")
    }

    fn definition(
        &self,
        node: &'a UaNode,
        definition: Option<&DataTypeDefinition>,
        is_abstract: bool,
    ) -> Result<Option<ExtensionObject>, ImportError> {
        if let Some(definition) = definition.filter(|definition| definition.is_enumeration()) {
            return Ok(Some(ExtensionObject::from_structure(
                &definition.to_enumeration(),
            )));
        }
        let ancestors = self.ancestors(node)?;
        if !self.is_structure(&ancestors) {
            return Ok(None);
        }
        let inherited = self.inherited(&ancestors);
        let base = ancestors
            .first()
            .map(|base| (*base).clone())
            .unwrap_or_default();
        let encoding = self
            .binary_encodings
            .get(&node.node_id)
            // An abstract structure has no values, so it needs no encoding, even if the document lists one.
            .filter(|_| !is_abstract);
        let encoding = encoding
            .map(|encoding| (*encoding).clone())
            .unwrap_or_default();
        let structure = definition
            .cloned()
            .unwrap_or_default()
            .to_structure(base, encoding, &inherited);
        Ok(Some(ExtensionObject::from_structure(&structure)))
    }

    /// Returns the supertypes of a node that the document names, nearest first. Only the last one may be outside the document.
    fn ancestors(&self, node: &'a UaNode) -> Result<Vec<&'a NodeId>, ImportError> {
        let mut ancestors = Vec::new();
        let mut current = &node.node_id;
        while let Some(supertype) = self.supertypes.get(current) {
            if ancestors.len() >= MAX_SUPERTYPES {
                return Err(self.nodes.error(
                    node.line,
                    ImportReason::SupertypeCircle(node.node_id.clone()),
                ));
            }
            ancestors.push(*supertype);
            current = supertype;
        }
        Ok(ancestors)
    }

    fn is_structure(&self, ancestors: &[&NodeId]) -> bool {
        ancestors
            .last()
            .is_some_and(|root| self.nodes.view.is_subtype_of(*root, ids::STRUCTURE))
    }

    /// Returns the definition of the nearest supertype, with the fields of all of them, those of the most general one first.
    fn inherited(&self, ancestors: &[&NodeId]) -> StructureDefinition {
        let mut inherited = StructureDefinition::default();
        for ancestor in ancestors.iter().rev() {
            inherited = match self.nodes.document.get(*ancestor) {
                Some(node) => {
                    let definition = node.definition().cloned().unwrap_or_default();
                    definition.to_structure(NodeId::NULL, NodeId::NULL, &inherited)
                }
                // Only the first one is outside the document; its definition has the inherited fields.
                None => self
                    .nodes
                    .view
                    .structure_definition(ancestor)
                    .unwrap_or_default(),
            };
        }
        inherited
    }
}

//! Children that a type requires of its instances (OPC 10000-3, 6.4; OPC 10000-4, 5.8.2.1).

use takt_ua::binary::{Decode, Decoder};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddReferencesItem, Argument};
use takt_ua::{ExpandedNodeId, NodeId, NodeIdRef, QualifiedName, QualifiedNameRef, Variant, ids};

use super::error::AddressSpaceError;
use super::hierarchy::{MAX_TYPE_DEPTH, TypeFilter};
use super::items::copy_of;
use super::view::View;
use crate::change::Change;
use crate::value::Value;

/// Maximum depth of instance declarations; deeper ones are not followed.
const MAX_DEPTH: usize = 16;

/// Maximum number of nodes that one AddNodes operation creates.
const MAX_CHILDREN: usize = 10_000;

/// A child that a type requires.
struct Declaration {
    reference_type: NodeId,
    node_id: NodeId,
    browse_name: QualifiedName,
    node_class: NodeClass,
}

impl View<'_> {
    /// Returns the changes that add the mandatory children of an instance. `new_node_id` chooses the NodeId of each node.
    pub(crate) fn mandatory_children(
        &self,
        instance: &NodeId,
        type_definition: &NodeId,
        new_node_id: &mut dyn FnMut(&AddNodesItem) -> NodeId,
        changes: &mut Vec<Change>,
    ) -> Result<(), AddressSpaceError> {
        self.add_children(instance, None, type_definition, new_node_id, changes, 0)
    }

    /// Adds the changes for the children. `declaration` is the instance declaration that the instance is a copy of; its own
    /// children are required as well.
    fn add_children(
        &self,
        instance: &NodeId,
        declaration: Option<&NodeId>,
        type_definition: &NodeId,
        new_node_id: &mut dyn FnMut(&AddNodesItem) -> NodeId,
        changes: &mut Vec<Change>,
        depth: usize,
    ) -> Result<(), AddressSpaceError> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        for child in self.declarations(declaration, type_definition) {
            if changes.len() >= MAX_CHILDREN {
                return Err(AddressSpaceError::TooManyNodes {
                    limit: MAX_CHILDREN,
                });
            }
            if child.node_class == NodeClass::Method {
                // Instances share the Method with their type (OPC 10000-3, 6.4.2).
                changes.push(Change::AddReference(AddReferencesItem {
                    source_node_id: instance.clone(),
                    reference_type_id: child.reference_type,
                    is_forward: true,
                    target_node_id: ExpandedNodeId::from(child.node_id),
                    target_node_class: NodeClass::Method,
                    ..AddReferencesItem::default()
                }));
                continue;
            }
            let copy = copy_of(
                self,
                &child.node_id,
                instance,
                &child.reference_type,
                NodeId::NULL,
            );
            let Some(mut item) = copy else { continue };
            let node_id = new_node_id(&item);
            item.requested_new_node_id = ExpandedNodeId::from(node_id.clone());
            let type_of_child = item.type_definition.node_id.clone();
            changes.push(Change::AddNode(Box::new(item)));
            self.add_children(
                &node_id,
                Some(&child.node_id),
                &type_of_child,
                new_node_id,
                changes,
                depth + 1,
            )?;
        }
        Ok(())
    }

    /// Returns the mandatory children, first those of a declaration and then those of a type and its supertypes. The first
    /// child with a BrowseName overrides later ones.
    fn declarations(
        &self,
        declaration: Option<&NodeId>,
        type_definition: &NodeId,
    ) -> Vec<Declaration> {
        let mut found: Vec<Declaration> = Vec::new();
        let mut add = |owner: &NodeId| {
            for child in self.mandatory_children_of(owner) {
                if !found
                    .iter()
                    .any(|known| known.browse_name == child.browse_name)
                {
                    found.push(child);
                }
            }
        };
        if let Some(declaration) = declaration {
            add(declaration);
        }
        let mut current = Some(type_definition.clone());
        for _ in 0..MAX_TYPE_DEPTH {
            let Some(type_id) = current else { break };
            add(&type_id);
            current = self.supertype(&type_id);
        }
        found
    }

    fn mandatory_children_of(&self, owner: &NodeId) -> Vec<Declaration> {
        let Some(node) = self.node(owner) else {
            return Vec::new();
        };
        let mut aggregates = TypeFilter::with_subtypes(NodeIdRef::from(ids::AGGREGATES));
        let mut children = Vec::new();
        for reference in node.references().forward() {
            let Some(target) = reference.local_target() else {
                continue;
            };
            if !aggregates.matches(self, reference.reference_type) || !self.is_mandatory(target) {
                continue;
            }
            let Some(child) = self.node(target) else {
                continue;
            };
            let node_class = child.node_class();
            if matches!(
                node_class,
                NodeClass::Object | NodeClass::Variable | NodeClass::Method
            ) {
                children.push(Declaration {
                    reference_type: reference.reference_type.to_owned(),
                    node_id: target.to_owned(),
                    browse_name: child.browse_name().to_owned(),
                    node_class,
                });
            }
        }
        children
    }

    fn is_mandatory(&self, node_id: NodeIdRef<'_>) -> bool {
        let mandatory = NodeIdRef::from(ids::MODELLING_RULE_MANDATORY);
        self.node(node_id).is_some_and(|node| {
            node.references()
                .targets(ids::HAS_MODELLING_RULE, true)
                .any(|rule| rule == mandatory)
        })
    }

    /// Returns true if a node is part of a type, and so only a template for instances.
    pub fn is_instance_declaration(&self, node_id: NodeIdRef<'_>) -> bool {
        let mut current = node_id.to_owned();
        for _ in 0..MAX_DEPTH {
            let Some(parent) = self.aggregating_parent(&current) else {
                return false;
            };
            match self.node(&parent).map(|node| node.node_class()) {
                Some(NodeClass::ObjectType | NodeClass::VariableType) => return true,
                Some(_) => current = parent,
                None => return false,
            }
        }
        false
    }

    fn aggregating_parent(&self, node_id: &NodeId) -> Option<NodeId> {
        let node = self.node(node_id)?;
        let mut aggregates = TypeFilter::with_subtypes(NodeIdRef::from(ids::AGGREGATES));
        let references = node.references();
        let mut inverse = references.iter().filter(|reference| !reference.is_forward);
        let parent =
            inverse.find(|reference| aggregates.matches(self, reference.reference_type))?;
        parent.local_target().map(|parent| parent.to_owned())
    }

    /// Returns the initial value of copies of a declaration.
    pub(crate) fn declared_value(&self, node_id: &NodeId) -> Option<Variant> {
        let node = self.node(node_id)?;
        match node.value() {
            Some(Value::Stored(stored)) => stored.get().value.filter(|value| !value.is_empty()),
            Some(_) => None,
            None => decode(node.standard()?.value()?),
        }
    }

    /// Returns the InputArguments of a Method (OPC 10000-3, 5.7); empty if it has none.
    pub(crate) fn input_arguments(&self, method: &NodeId) -> Vec<Argument> {
        let name = QualifiedNameRef {
            namespace: 0,
            name: Some("InputArguments"),
        };
        let Some(property) = self.child(method, ids::HAS_PROPERTY, name) else {
            return Vec::new();
        };
        let Some(Variant::Array(array)) = self.declared_value(&property) else {
            return Vec::new();
        };
        let objects = array.elements.iter().filter_map(|element| match element {
            Variant::ExtensionObject(object) => object.decode_as().ok(),
            _ => None,
        });
        objects.collect()
    }
}

fn decode(encoded: &[u8]) -> Option<Variant> {
    Variant::decode(&mut Decoder::new(encoded)).ok()
}

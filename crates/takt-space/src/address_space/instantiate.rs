//! Children that a type requires of its instances (OPC 10000-3, 6.4; OPC 10000-4, 5.8.2.1).

use takt_ua::binary::{Decode, Decoder};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddReferencesItem, Argument};
use takt_ua::{ExpandedNodeId, NodeId, NodeIdRef, QualifiedName, QualifiedNameRef, Variant, ids};

use super::error::AddressSpaceError;
use super::hierarchy::TypeFilter;
use super::items::copy_of;
use super::members::ModellingRule;
use super::view::View;
use crate::change::Change;
use crate::value::Value;

/// Maximum depth of instance declarations; deeper ones are not followed.
const MAX_DEPTH: usize = 16;

/// Maximum number of nodes that one AddNodes operation creates.
const MAX_CHILDREN: usize = 10_000;

/// Choices that a client makes for the instance that it adds.
pub(super) struct Choices<'a> {
    /// Chooses the NodeId of each node.
    pub(super) new_node_id: &'a mut dyn FnMut(&AddNodesItem) -> NodeId,
    /// Returns true for a child that the client itself adds, with all nodes below it.
    pub(super) is_announced: &'a dyn Fn(&NodeId, &QualifiedName) -> bool,
}

impl View<'_> {
    /// Adds the changes that add the mandatory children of an instance.
    pub(super) fn mandatory_children(
        &self,
        instance: &NodeId,
        type_definition: &NodeId,
        choices: &mut Choices<'_>,
        changes: &mut Vec<Change>,
    ) -> Result<(), AddressSpaceError> {
        self.add_children(instance, &[], type_definition, choices, changes, 0)
    }

    /// Adds the changes for the children. `declarations` are the InstanceDeclarations that the instance is a copy of; their own
    /// children are required as well.
    fn add_children(
        &self,
        instance: &NodeId,
        declarations: &[NodeId],
        type_definition: &NodeId,
        choices: &mut Choices<'_>,
        changes: &mut Vec<Change>,
        depth: usize,
    ) -> Result<(), AddressSpaceError> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let members = self.members(declarations, type_definition);
        let mandatory = members
            .into_iter()
            .filter(|member| member.rule == ModellingRule::Mandatory);
        for child in mandatory {
            if changes.len() >= MAX_CHILDREN {
                return Err(AddressSpaceError::TooManyNodes {
                    limit: MAX_CHILDREN,
                });
            }
            if (choices.is_announced)(instance, &child.browse_name) {
                continue;
            }
            let Some(declaration) = child.declaration() else {
                continue;
            };
            if child.node_class == NodeClass::Method {
                // Instances share the Method with their type (OPC 10000-3, 6.4.2).
                changes.push(Change::AddReference(AddReferencesItem {
                    source_node_id: instance.clone(),
                    is_forward: true,
                    target_node_id: ExpandedNodeId::from(declaration.clone()),
                    target_node_class: NodeClass::Method,
                    reference_type_id: child.reference_type,
                    ..AddReferencesItem::default()
                }));
                continue;
            }
            let copy = copy_of(
                self,
                declaration,
                instance,
                &child.reference_type,
                NodeId::NULL,
            );
            let Some(mut item) = copy else { continue };
            let node_id = (choices.new_node_id)(&item);
            item.requested_new_node_id = ExpandedNodeId::from(node_id.clone());
            let type_of_child = item.type_definition.node_id.clone();
            changes.push(Change::AddNode(Box::new(item)));
            self.add_children(
                &node_id,
                &child.declarations,
                &type_of_child,
                choices,
                changes,
                depth + 1,
            )?;
        }
        Ok(())
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
    pub fn declared_value(&self, node_id: &NodeId) -> Option<Variant> {
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

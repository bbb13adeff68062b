//! Application of changes (OPC 10000-4, 5.8).

use std::sync::atomic::Ordering;

use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode, ids};

use super::edit::{Edit, NewReference};
use super::items::{Described, describe};
use super::node::{Binding, MethodBinding};
use super::{AddressSpace, AddressSpaceError, ClassAttributes, data_type_definition, memory};
use crate::change::Change;
use crate::method::MethodHandler;
use crate::value::Value;

/// Value source or Method handler of a node that a [`Change`] adds.
#[derive(Debug, Default)]
pub struct NewBinding {
    /// Value source of a Variable; `None`: the value in the [`Change`] is stored.
    pub value: Option<Value>,
    /// Handler of a Method; `None`: the Method is not executable.
    pub method: Option<MethodHandler>,
}

impl AddressSpace {
    /// Applies a change that was made before, for example one that an application has stored.
    ///
    /// # Errors
    /// A node or reference of the change exists already, or does not exist.
    pub fn apply(&self, change: &Change) -> Result<(), AddressSpaceError> {
        self.edit().apply(change, NewBinding::default())
    }
}

impl Edit<'_> {
    /// Makes one change visible.
    ///
    /// # Errors
    /// A node or reference of the change exists already, or does not exist.
    pub fn apply(&mut self, change: &Change, new: NewBinding) -> Result<(), AddressSpaceError> {
        match change {
            Change::AddNamespace { index, uri } => {
                let given = self.space().namespaces().register(uri)?;
                // The plan has announced this index; another namespace may have been registered since.
                if given == *index {
                    self.count(memory::of_change(change));
                    Ok(())
                } else {
                    Err(AddressSpaceError::Refused(StatusCode::BadInternalError))
                }
            }
            Change::AddNode(item) => {
                let described = describe(&self.view(), item)?;
                self.add_described(item, described, new, Some(memory::of_change(change)))
            }
            Change::AddReference(item) => {
                let (source, target) = (&item.source_node_id, &item.target_node_id);
                self.add_reference(source, &item.reference_type_id, item.is_forward, target)?;
                self.count_reference(source, &target.node_id);
                Ok(())
            }
            Change::DeleteNode(item) => {
                self.delete_node(&item.node_id, item.delete_target_references)
            }
            Change::DeleteReference(item) => {
                let (source, target) = (&item.source_node_id, &item.target_node_id);
                self.delete_reference(
                    source,
                    &item.reference_type_id,
                    item.is_forward,
                    target,
                    item.delete_bidirectional,
                )?;
                self.forget_reference(source, &target.node_id);
                Ok(())
            }
            Change::SetAttribute(change) => self.set_attribute(change),
        }
    }

    /// Adds a new URI at the end of the NamespaceArray, where it gets `index`, also if an index before the end is free.
    ///
    /// # Errors
    /// The URI is empty or known, the end is at another index, or there is no room for it.
    pub fn append_namespace(&mut self, index: u16, uri: &str) -> Result<(), AddressSpaceError> {
        let change = Change::AddNamespace {
            index,
            uri: uri.to_owned(),
        };
        let memory = self.reserve_memory(std::slice::from_ref(&change));
        memory.map_err(|_| AddressSpaceError::Refused(StatusCode::BadOutOfMemory))?;
        self.space().namespaces().append(index, uri)?;
        self.count(memory::of_change(&change));
        Ok(())
    }

    /// Notes that a node was added only because the type of its parent requires it: a client may add such a node itself afterwards,
    /// which takes its place.
    pub fn mark_instantiated(&self, node_id: &NodeId) {
        if let Some(node) = self.space().nodes.pin().get(node_id) {
            node.is_instantiated.store(true, Ordering::Relaxed);
        }
    }

    /// Adds a node of the application itself, which does not count in the memory budget. `item` holds its NodeId; a null parent
    /// means that it has none.
    ///
    /// # Errors
    /// The node exists already, or its attributes are not valid.
    pub fn add_item(&mut self, item: &AddNodesItem) -> Result<(), AddressSpaceError> {
        let described = describe(&self.view(), item)?;
        // The items of an application may come from another server.
        data_type_definition::check_node(&described.definition)?;
        self.add_described(item, described, NewBinding::default(), None)
    }

    /// Adds a node with the bytes that it counts in the memory budget.
    fn add_described(
        &mut self,
        item: &AddNodesItem,
        described: Described,
        new: NewBinding,
        memory: Option<usize>,
    ) -> Result<(), AddressSpaceError> {
        let Described { definition, value } = described;
        let mut references = Vec::with_capacity(2);
        if !item.type_definition.is_null() {
            let type_definition = item.type_definition.node_id.clone();
            references.push(NewReference::forward(
                ids::HAS_TYPE_DEFINITION,
                type_definition,
            ));
        }
        if !item.parent_node_id.is_null() {
            references.push(NewReference::inverse(
                item.reference_type_id.clone(),
                item.parent_node_id.node_id.clone(),
            ));
        }
        let binding = match definition.attributes {
            ClassAttributes::Variable(_) => {
                Some(Binding::Value(new.value.unwrap_or_else(|| match value {
                    Some(value) => Value::stored(value),
                    None => Value::not_set(),
                })))
            }
            // The arguments of the Method are added later, as Properties of their own.
            ClassAttributes::Method { .. } => new.method.map(|handler| {
                Binding::Method(MethodBinding {
                    handler,
                    inputs: Vec::new(),
                })
            }),
            _ => None,
        };
        self.add_node_with(definition, &references, binding, memory)
    }
}

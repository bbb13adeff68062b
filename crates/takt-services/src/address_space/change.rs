//! Changes by the rules of the standard (OPC 10000-4, 5.8): checked, turned into a list of [`Change`]s, and applied.

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddReferencesItem, DeleteNodesItem, DeleteReferencesItem};
use takt_ua::{ExpandedNodeId, NodeId, StatusCode, VariantRef, ids};

use super::edit::{Edit, NewReference};
use super::hierarchy::TypeFilter;
use super::items::{Described, describe};
use super::node::{Binding, MethodBinding};
use super::rules::{self, End};
use super::{AddressSpace, AddressSpaceError, ClassAttributes, VariableRef, View};
use crate::method::MethodHandler;
use crate::node_management::Change;
use crate::value::Value;

/// Longest BrowseName, in characters (OPC 10000-3, 8.3).
const MAX_BROWSE_NAME: usize = 512;

/// What gives a node that is added by a [`Change`] its life.
#[derive(Debug, Default)]
pub(crate) struct Life {
    pub(crate) value: Option<Value>,
    pub(crate) method: Option<MethodHandler>,
}

impl AddressSpace {
    /// Applies a change that was made before, for example one that an application has stored.
    ///
    /// # Errors
    /// What the change names exists already, or does not exist.
    pub fn apply(&self, change: &Change) -> Result<(), AddressSpaceError> {
        self.edit().apply(change, Life::default())
    }
}

impl Edit<'_> {
    /// Makes one change visible.
    pub(crate) fn apply(&mut self, change: &Change, life: Life) -> Result<(), AddressSpaceError> {
        match change {
            Change::AddNamespace { index, uri } => {
                let given = self.space().namespaces().register(uri)?;
                if given == *index {
                    Ok(())
                } else {
                    Err(AddressSpaceError::Refused(StatusCode::BadInternalError))
                }
            }
            Change::AddNode(item) => self.apply_node(item, life),
            Change::AddReference(item) => self.add_reference(
                &item.source_node_id,
                &item.reference_type_id,
                item.is_forward,
                &item.target_node_id,
            ),
            Change::DeleteNode(item) => {
                self.delete_node(&item.node_id, item.delete_target_references)
            }
            Change::DeleteReference(item) => self.delete_reference(
                &item.source_node_id,
                &item.reference_type_id,
                item.is_forward,
                &item.target_node_id,
                item.delete_bidirectional,
            ),
        }
    }

    fn apply_node(&mut self, item: &AddNodesItem, life: Life) -> Result<(), AddressSpaceError> {
        let Described { definition, value } = describe(&self.view(), item)?;
        let mut references = Vec::with_capacity(2);
        if !item.type_definition.is_null() {
            let type_definition = item.type_definition.node_id.clone();
            references.push(NewReference::forward(
                ids::HAS_TYPE_DEFINITION,
                type_definition,
            ));
        }
        let parent = item.parent_node_id.node_id.clone();
        references.push(NewReference::inverse(
            item.reference_type_id.clone(),
            parent,
        ));
        let binding = match definition.attributes {
            ClassAttributes::Variable(_) => {
                Some(Binding::Value(life.value.unwrap_or_else(|| match value {
                    Some(value) => Value::stored(value),
                    None => Value::not_set(),
                })))
            }
            // Its arguments come as Properties of their own, later.
            ClassAttributes::Method { .. } => life.method.map(|handler| {
                Binding::Method(MethodBinding {
                    handler,
                    inputs: Vec::new(),
                })
            }),
            _ => None,
        };
        self.add_node_with(definition, &references, binding)
    }

    /// Checks an AddNodesItem. The result is what it comes to: the NodeId, and the changes, the node itself first (after
    /// its namespace) and then what its type demands.
    pub(crate) fn plan_add_node(
        &mut self,
        item: AddNodesItem,
        choose: &dyn Fn(&AddNodesItem) -> Option<NodeId>,
    ) -> Result<(NodeId, Vec<Change>), AddressSpaceError> {
        let view = self.view();
        let mut item = self.localize(item)?;
        let parent = &item.parent_node_id.node_id;
        let Some(parent_node) = view.node(parent) else {
            return Err(AddressSpaceError::ParentNodeIdInvalid(parent.clone()));
        };
        rules::check_hierarchical(&view, &item.reference_type_id)?;
        if !rules::is_node_class(item.node_class) {
            return Err(AddressSpaceError::NodeClassInvalid);
        }
        let name = item.browse_name.name.as_str();
        if name.is_empty()
            || name.chars().count() > MAX_BROWSE_NAME
            || !self
                .space()
                .namespaces()
                .contains(item.browse_name.namespace)
        {
            return Err(AddressSpaceError::BrowseNameInvalid);
        }
        rules::check_type_definition(&view, &item)?;

        let mut changes = Vec::new();
        let node_id = self.node_id_for(&item, choose, &mut changes)?;
        item.requested_new_node_id = ExpandedNodeId::from(node_id.clone());
        check_attributes(&view, &item)?;
        let is_property = view.is_subtype_of(
            &item.type_definition.node_id,
            &NodeId::from(ids::PROPERTY_TYPE),
        );
        let child = End {
            node_class: item.node_class,
            is_property,
        };
        rules::check_reference(
            &view,
            &item.reference_type_id,
            End::of(&view, &parent_node),
            child,
        )?;
        check_browse_name(&view, &item)?;

        let type_definition = item.type_definition.node_id.clone();
        changes.push(Change::AddNode(Box::new(item)));
        if !type_definition.is_null() {
            let namespace = node_id.namespace;
            let mut new_node_id =
                |item: &AddNodesItem| choose(item).unwrap_or_else(|| self.free_node_id(namespace));
            view.mandatory_children(&node_id, &type_definition, &mut new_node_id, &mut changes)?;
        }
        Ok((node_id, changes))
    }

    /// Replaces namespace URIs by indices, except that of the requested NodeId.
    fn localize(&self, mut item: AddNodesItem) -> Result<AddNodesItem, AddressSpaceError> {
        let parent = self.local(&item.parent_node_id);
        let parent = parent.ok_or_else(|| {
            AddressSpaceError::ParentNodeIdInvalid(item.parent_node_id.node_id.clone())
        })?;
        let type_definition = self.local(&item.type_definition).ok_or_else(|| {
            AddressSpaceError::TypeDefinitionInvalid(item.type_definition.node_id.clone())
        })?;
        item.parent_node_id = ExpandedNodeId::from(parent);
        item.type_definition = ExpandedNodeId::from(type_definition);
        Ok(item)
    }

    /// The NodeId of a node of this server.
    fn local(&self, node_id: &ExpandedNodeId) -> Option<NodeId> {
        if node_id.server_index != 0 {
            return None;
        }
        if node_id.namespace_uri.is_null() {
            return Some(node_id.node_id.clone());
        }
        let namespace = self
            .space()
            .namespaces()
            .index_of(node_id.namespace_uri.as_str())?;
        Some(NodeId {
            namespace,
            identifier: node_id.node_id.identifier.clone(),
        })
    }

    /// The NodeId that a new node gets. A namespace URI that nobody used before is a change of its own.
    fn node_id_for(
        &mut self,
        item: &AddNodesItem,
        choose: &dyn Fn(&AddNodesItem) -> Option<NodeId>,
        changes: &mut Vec<Change>,
    ) -> Result<NodeId, AddressSpaceError> {
        let requested = &item.requested_new_node_id;
        let namespaces = self.space().namespaces();
        let node_id = if requested.is_null() && requested.namespace_uri.is_empty() {
            choose(item).unwrap_or_else(|| self.free_node_id(1))
        } else if requested.namespace_uri.is_null() {
            requested.node_id.clone()
        } else {
            let uri = requested.namespace_uri.as_str();
            let namespace = namespaces.index_or_next(uri)?;
            if !namespaces.contains(namespace) {
                changes.push(Change::AddNamespace {
                    index: namespace,
                    uri: uri.to_owned(),
                });
            }
            NodeId {
                namespace,
                identifier: requested.node_id.identifier.clone(),
            }
        };
        let has_namespace = !changes.is_empty() || namespaces.contains(node_id.namespace);
        // Namespace 0 belongs to the standard.
        if requested.server_index != 0
            || node_id.is_null()
            || node_id.namespace == 0
            || !has_namespace
        {
            return Err(AddressSpaceError::NodeIdRejected(node_id));
        }
        if self.view().node(&node_id).is_some() {
            return Err(AddressSpaceError::NodeIdExists(node_id));
        }
        Ok(node_id)
    }

    /// Checks an AddReferencesItem.
    pub(crate) fn plan_add_reference(
        &self,
        mut item: AddReferencesItem,
    ) -> Result<Change, AddressSpaceError> {
        let view = self.view();
        let source = view.node(&item.source_node_id);
        let source = source
            .ok_or_else(|| AddressSpaceError::SourceNodeIdInvalid(item.source_node_id.clone()))?;
        rules::check_reference_type(&view, &item.reference_type_id)?;
        // Of other servers none is in the ServerArray.
        if !item.target_server_uri.is_empty() {
            return Err(AddressSpaceError::Refused(StatusCode::BadServerUriInvalid));
        }
        let target_id = self.local(&item.target_node_id);
        let target = target_id.as_ref().and_then(|target| view.node(target));
        let (Some(target_id), Some(target)) = (&target_id, target) else {
            return Err(AddressSpaceError::TargetNodeIdInvalid(
                item.target_node_id.node_id,
            ));
        };
        if item.target_node_class != NodeClass::Unspecified
            && item.target_node_class != target.node_class()
        {
            return Err(AddressSpaceError::NodeClassInvalid);
        }
        if *target_id == item.source_node_id {
            return Err(AddressSpaceError::InvalidSelfReference(
                item.reference_type_id,
            ));
        }
        let (from, to) = (End::of(&view, &source), End::of(&view, &target));
        let (from, to) = if item.is_forward {
            (from, to)
        } else {
            (to, from)
        };
        rules::check_reference(&view, &item.reference_type_id, from, to)?;
        rules::check_added_reference(&view, &item.reference_type_id)?;
        item.target_node_id = ExpandedNodeId::from(target_id.clone());
        item.target_node_class = target.node_class();
        if self.has_reference(
            &item.source_node_id,
            &item.reference_type_id,
            item.is_forward,
            target_id,
        ) {
            return Err(AddressSpaceError::DuplicateReference {
                reference_type: item.reference_type_id,
                target: target_id.clone(),
            });
        }
        Ok(Change::AddReference(item))
    }

    /// Checks a DeleteNodesItem. With the node go the children that nobody else has.
    pub(crate) fn plan_delete_node(
        &self,
        item: &DeleteNodesItem,
    ) -> Result<Vec<Change>, AddressSpaceError> {
        let view = self.view();
        if item.node_id.is_null() {
            return Err(AddressSpaceError::Refused(StatusCode::BadNodeIdInvalid));
        }
        let node = view.node(&item.node_id);
        let node = node.ok_or_else(|| AddressSpaceError::NodeIdUnknown(item.node_id.clone()))?;
        if node.standard().is_some() {
            return Err(AddressSpaceError::NoDeleteRights(item.node_id.clone()));
        }
        let mut doomed = vec![item.node_id.clone()];
        let mut next = 0;
        while let Some(parent) = doomed.get(next).cloned() {
            next += 1;
            for child in view.children(&parent, ids::AGGREGATES) {
                if !doomed.contains(&child) && is_orphan(&view, &child, &doomed) {
                    doomed.push(child);
                }
            }
        }
        // Children first, so that what remains is connected at every moment.
        let changes = doomed.into_iter().rev().map(|node_id| {
            let is_child = node_id != item.node_id;
            Change::DeleteNode(DeleteNodesItem {
                node_id,
                delete_target_references: is_child || item.delete_target_references,
            })
        });
        Ok(changes.collect())
    }

    /// Checks a DeleteReferencesItem.
    pub(crate) fn plan_delete_reference(
        &self,
        mut item: DeleteReferencesItem,
    ) -> Result<Change, AddressSpaceError> {
        let view = self.view();
        if view.node(&item.source_node_id).is_none() {
            return Err(AddressSpaceError::SourceNodeIdInvalid(item.source_node_id));
        }
        rules::check_reference_type(&view, &item.reference_type_id)?;
        let Some(target) = self
            .local(&item.target_node_id)
            .filter(|target| !target.is_null())
        else {
            return Err(AddressSpaceError::TargetNodeIdInvalid(
                item.target_node_id.node_id,
            ));
        };
        if item.reference_type_id.standard_id() == Some(ids::HAS_TYPE_DEFINITION) {
            return Err(AddressSpaceError::NoDeleteRights(item.source_node_id));
        }
        if !self.has_reference(
            &item.source_node_id,
            &item.reference_type_id,
            item.is_forward,
            &target,
        ) {
            return Err(AddressSpaceError::NoSuchReference {
                reference_type: item.reference_type_id,
                target,
            });
        }
        item.target_node_id = ExpandedNodeId::from(target);
        Ok(Change::DeleteReference(item))
    }
}

/// A child without a parent outside of what is deleted.
fn is_orphan(view: &View<'_>, child: &NodeId, doomed: &[NodeId]) -> bool {
    let Some(node) = view.node(child).filter(|node| node.standard().is_none()) else {
        return false;
    };
    let mut hierarchical = TypeFilter::with_subtypes(ids::HIERARCHICAL_REFERENCES.into());
    let references = node.references();
    let mut parents = references.iter().filter(|reference| {
        !reference.is_forward && hierarchical.matches(view, reference.reference_type)
    });
    parents.all(|parent| match parent.local_target() {
        Some(parent) => doomed.iter().any(|node_id| parent == *node_id),
        None => false,
    })
}

/// The attributes of a new node: those of its NodeClass, and a value that fits.
fn check_attributes(view: &View<'_>, item: &AddNodesItem) -> Result<(), AddressSpaceError> {
    let Described { definition, value } = describe(view, item)?;
    let ClassAttributes::Variable(variable) = &definition.attributes else {
        return Ok(());
    };
    let is_data_type = view
        .node(&variable.data_type)
        .is_some_and(|node| node.node_class() == NodeClass::DataType);
    if !is_data_type {
        return Err(AddressSpaceError::NodeAttributesInvalid(
            "DataType is no DataType of this server",
        ));
    }
    let of_type = view
        .node(&item.type_definition.node_id)
        .and_then(|node| node.typed());
    if of_type.is_some_and(|of_type| !view.is_subtype_of(&variable.data_type, of_type.data_type)) {
        return Err(AddressSpaceError::NodeAttributesInvalid(
            "DataType is no subtype of that of the TypeDefinition",
        ));
    }
    let Some(value) = value else { return Ok(()) };
    let encoded = value.encode_to_vec();
    let fits = VariantRef::decode(&mut Decoder::new(&encoded))
        .map_err(|error| error.status_code())
        .and_then(|value| view.check_value_of(&VariableRef::from(variable), &value));
    match fits {
        Ok(_) => Ok(()),
        Err(_) => Err(AddressSpaceError::NodeAttributesInvalid(
            "Value does not fit DataType and ValueRank",
        )),
    }
}

/// The BrowseName is unique among the nodes that the parent references in the same way.
fn check_browse_name(view: &View<'_>, item: &AddNodesItem) -> Result<(), AddressSpaceError> {
    let Some(parent) = view.node(&item.parent_node_id.node_id) else {
        return Ok(());
    };
    let references = parent.references();
    let mut siblings = references.targets(&item.reference_type_id, true);
    let name = item.browse_name.as_ref();
    if siblings.any(|sibling| {
        view.node(sibling)
            .is_some_and(|sibling| sibling.browse_name() == name)
    }) {
        return Err(AddressSpaceError::BrowseNameDuplicated(
            item.browse_name.to_string(),
        ));
    }
    Ok(())
}

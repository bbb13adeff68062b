//! Check of an AddNodesItem, and the changes that it requires (OPC 10000-4, 5.8.2).

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, DeleteNodesItem};
use takt_ua::{ExpandedNodeId, NodeId, NodeIdRef, QualifiedName, VariantRef, ids};

use super::edit::Edit;
use super::instantiate::Choices;
use super::items::{Described, describe};
use super::rules::{self, End};
use super::{AddressSpaceError, ClassAttributes, VariableRef, View, data_type_definition};
use crate::change::Change;

/// Maximum length of a BrowseName in characters (OPC 10000-3, 8.3).
const MAX_BROWSE_NAME: usize = 512;

impl Edit<'_> {
    /// Checks an AddNodesItem and returns the NodeId and the required changes: the node itself first (after its namespace) and
    /// then the nodes that its type requires. `choose` chooses NodeIds for nodes without a requested one; `None` leaves the
    /// choice to the server.
    ///
    /// # Errors
    /// The item violates OPC 10000-4, 5.8.2, or the node exists already.
    pub fn plan_add_node(
        &mut self,
        item: AddNodesItem,
        choose: &dyn Fn(&AddNodesItem) -> Option<NodeId>,
    ) -> Result<(NodeId, Vec<Change>), AddressSpaceError> {
        self.plan_add_instance(item, choose, &|_, _| false)
    }

    /// Checks an AddNodesItem as [`plan_add_node`](Self::plan_add_node) does. `is_announced` returns true for a child, by its
    /// parent and its BrowseName, that the client adds later itself: the type then requires no other one.
    ///
    /// # Errors
    /// Those of [`plan_add_node`](Self::plan_add_node).
    pub fn plan_add_instance(
        &mut self,
        item: AddNodesItem,
        choose: &dyn Fn(&AddNodesItem) -> Option<NodeId>,
        is_announced: &dyn Fn(&NodeId, &QualifiedName) -> bool,
    ) -> Result<(NodeId, Vec<Change>), AddressSpaceError> {
        let view = self.view();
        let mut item = self.localize(item)?;
        let parent = &item.parent_node_id.node_id;
        let Some(parent_node) = view.node(parent) else {
            return Err(AddressSpaceError::ParentNodeIdInvalid(parent.clone()));
        };
        rules::check_parent(&view, &item.reference_type_id)?;
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
        // An encoding of a DataType can be of this type only (OPC 10000-3, 5.8.3), and some clients leave it out.
        let is_encoding =
            view.is_subtype_of(&item.reference_type_id, NodeIdRef::from(ids::HAS_ENCODING));
        if is_encoding && item.type_definition.is_null() {
            item.type_definition = NodeId::from(ids::DATA_TYPE_ENCODING_TYPE).into();
        }
        rules::check_type_definition(&view, &item)?;

        let mut changes = Vec::new();
        let is_requested = !is_without_identifier(&item.requested_new_node_id.node_id);
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
        let parent = &item.parent_node_id.node_id;
        let name_of = |child: NodeIdRef<'_>| Some(view.node(child)?.browse_name());
        if self.counters.names.contains(
            parent,
            &parent_node.references(),
            &item.reference_type_id,
            item.browse_name.as_ref(),
            name_of,
        ) {
            // A client may choose the NodeId of a child that its parent had to get at once.
            let replaced = self.instantiated_child(&item).filter(|_| is_requested);
            let replaced = replaced.ok_or_else(|| {
                AddressSpaceError::BrowseNameDuplicated(item.browse_name.to_string())
            })?;
            changes.extend(self.plan_delete_node(&DeleteNodesItem {
                node_id: replaced,
                delete_target_references: true,
            })?);
        }

        let type_definition = item.type_definition.node_id.clone();
        changes.push(Change::AddNode(Box::new(item)));
        if !type_definition.is_null() {
            // Required children are in the namespace of their instance.
            let namespace = node_id.namespace;
            let mut new_node_id =
                |item: &AddNodesItem| choose(item).unwrap_or_else(|| self.free_node_id(namespace));
            let mut choices = Choices {
                new_node_id: &mut new_node_id,
                is_announced,
            };
            view.mandatory_children(&node_id, &type_definition, &mut choices, &mut changes)?;
        }
        Ok((node_id, changes))
    }

    /// Returns the child with the name and the NodeClass of `item` that was added only because the type of its parent requires it.
    fn instantiated_child(&self, item: &AddNodesItem) -> Option<NodeId> {
        let view = self.view();
        let parent = view.node(&item.parent_node_id.node_id)?;
        let references = parent.references();
        let children = references.iter().filter(|reference| {
            reference.is_forward && reference.reference_type == item.reference_type_id
        });
        let mut targets = children.filter_map(|child| Some(child.local_target()?.to_owned()));
        targets.find(|target| {
            view.node(target).is_some_and(|child| {
                child.is_instantiated()
                    && child.browse_name() == item.browse_name.as_ref()
                    && child.node_class() == item.node_class
            })
        })
    }

    /// Replaces namespace URIs by indices, except in the requested NodeId.
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

    /// Returns the NodeId of a node of this server.
    pub(super) fn local(&self, node_id: &ExpandedNodeId) -> Option<NodeId> {
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

    /// Returns the NodeId of a new node. A namespace URI that is not registered yet is a change of its own.
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
        } else if requested.namespace_uri.is_null() && is_without_identifier(&requested.node_id) {
            let namespace = requested.node_id.namespace;
            let chosen = choose(item).filter(|node_id| node_id.namespace == namespace);
            chosen.unwrap_or_else(|| self.free_node_id(namespace))
        } else if requested.namespace_uri.is_null() {
            requested.node_id.clone()
        } else {
            let uri = requested.namespace_uri.as_str();
            let namespace = namespaces.index_or_next(uri)?;
            if namespaces.index_of(uri).is_none() {
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
        // The only change so far is the namespace of this NodeId.
        let namespace = node_id.namespace;
        let has_namespace =
            !changes.is_empty() || namespaces.contains(namespace) && !namespaces.is_free(namespace);
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
}

/// Returns true for a NodeId that names a namespace and no identifier, such as `ns=2;i=0`: the client wants any NodeId there. That is
/// a convention of several SDKs.
fn is_without_identifier(node_id: &NodeId) -> bool {
    let identifier = NodeIdRef {
        namespace: 0,
        ..node_id.as_ref()
    };
    identifier.is_null()
}

/// Checks the attributes of a new node: they must match its NodeClass, and its value must match them.
fn check_attributes(view: &View<'_>, item: &AddNodesItem) -> Result<(), AddressSpaceError> {
    let Described { definition, value } = describe(view, item)?;
    data_type_definition::check_node(&definition)?;
    let ClassAttributes::Variable(variable) = &definition.attributes else {
        return Ok(());
    };
    let is_data_type = view
        .node(&variable.data_type)
        .is_some_and(|node| node.node_class() == NodeClass::DataType);
    if !is_data_type {
        return Err(AddressSpaceError::NodeAttributesInvalid(
            "DataType is not a DataType of this server",
        ));
    }
    let of_type = view
        .node(&item.type_definition.node_id)
        .and_then(|node| node.typed());
    if of_type.is_some_and(|of_type| !view.is_subtype_of(&variable.data_type, of_type.data_type)) {
        return Err(AddressSpaceError::NodeAttributesInvalid(
            "DataType is not a subtype of that of the TypeDefinition",
        ));
    }
    let Some(value) = value else { return Ok(()) };
    // The check is that of a Write, whose value is encoded.
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

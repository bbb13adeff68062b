//! Consequences of changes: forwarding of values and Methods, states of Providers, and undone changes.

use std::sync::{Arc, MutexGuard, PoisonError};

use takt_app::Endpoint;
use takt_app::model::{self, provider};
use takt_space::{
    AddressSpace, AddressSpaceError, Change, Edit, MethodHandler, NewBinding, RemoteMethod,
    RemoteValue, Value, access_level,
};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::{AddNodesItem, AddReferencesItem, DeleteNodesItem, VariableAttributes};
use takt_ua::{NodeId, Variant, ids};

use super::Rules;
use super::attributes::ACCESS_LEVEL;
use super::changes::delete_node;
use crate::providers::ProviderState;

impl Rules {
    /// Locks the consequences of changes. The address space may be changed meanwhile, but not the other way round.
    pub(super) fn following(&self) -> MutexGuard<'_, ()> {
        self.following
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the consequences of a change after it is visible.
    pub(super) fn follow(&self, space: &AddressSpace, change: &Change) {
        match change {
            Change::AddNode(item) => self.node_added(space, item),
            Change::AddReference(item) => self.reference_added(space, item),
            Change::DeleteNode(item) => self.node_deleted(&item.node_id),
            Change::AddNamespace { .. } | Change::DeleteReference(_) | Change::SetAttribute(_) => {}
        }
    }

    // The data of a Provider is copied first: its lock is never held while the address space is changed, because
    // `authorize` locks Providers while the address space is locked.

    fn node_added(&self, space: &AddressSpace, item: &AddNodesItem) {
        let node = &item.requested_new_node_id.node_id;
        if space.view().node(node).is_none() {
            // The change is lost, and was taken back meanwhile.
            return;
        }
        let parts = |state: &ProviderState| {
            // `opc.iox2` names an application of the Provider's host, which is only known to be this host over shared
            // memory.
            let is_local = state.record.user.is_some();
            let (available, gateway) = (Arc::clone(&state.available), Arc::clone(&state.gateway));
            (available, gateway, is_local, state.namespace)
        };
        let Some((available, gateway, is_local, own)) =
            self.with_provider_of(node.namespace, parts)
        else {
            return;
        };
        if *node == NodeId::numeric(own, provider::AVAILABLE) {
            let mut edit = space.edit();
            // Before the registry's own value is bound: clients never write it, whatever the Provider has asked for.
            let bound = make_read_only(&mut edit, node)
                .and_then(|()| edit.set_value(node, Value::Cell(available)));
            warn_on_error(node, bound);
        }
        if *node == NodeId::numeric(own, provider::REVISION) {
            self.providers.set_complete(own, true);
        }
        if let Some(endpoint) = server_endpoint(item) {
            // The registry forwards over shared memory if possible.
            let is_better = match endpoint.is_shared_memory() {
                true => is_local,
                false => !gateway.has_shared_memory(),
            };
            if is_better {
                gateway.set_endpoint(endpoint);
            }
        }
        let object = NodeId::numeric(own, provider::OBJECT);
        if *node == object {
            self.provider_added(node);
        } else {
            let created_by = self.model(model::CREATED_BY);
            let added = space
                .edit()
                .add_reference(node, &created_by, true, &object.into());
            warn_on_error(node, added);
        }
    }

    /// Handles `InteractionVia`: from now on the registry forwards requests for this node.
    fn reference_added(&self, space: &AddressSpace, item: &AddReferencesItem) {
        if item.reference_type_id != self.model(model::INTERACTION_VIA) || !item.is_forward {
            return;
        }
        let node = &item.source_node_id;
        let gateway = |state: &ProviderState| Arc::clone(&state.gateway);
        let Some(source) = self.with_provider_of(node.namespace, gateway) else {
            return;
        };
        let class = space.view().node(node).map(|node| node.node_class());
        let remote = |node: &NodeId| {
            Value::Remote(RemoteValue {
                source: Arc::clone(&source) as _,
                node_id: node.clone(),
                callback: None,
            })
        };
        let bound = match class {
            Some(NodeClass::Variable) => space.set_value(node, remote(node)),
            // The components of a Condition have their values at the Provider.
            Some(NodeClass::Object) => components(space, node)
                .iter()
                .try_for_each(|component| space.set_value(component, remote(component))),
            Some(NodeClass::Method) => space.set_method(
                node,
                MethodHandler::Remote(RemoteMethod {
                    source,
                    object_id: NodeId::NULL,
                    method_id: node.clone(),
                    checks_arguments: true,
                    takes_unknown_objects: false,
                }),
            ),
            _ => Ok(()),
        };
        warn_on_error(node, bound);
        if class == Some(NodeClass::Variable) {
            self.variable_bound(node);
        }
    }

    /// Removes a Provider whose Object was deleted, with its record and all its nodes.
    fn node_deleted(&self, node: &NodeId) {
        if *node == NodeId::numeric(node.namespace, provider::REVISION) {
            self.providers.set_complete(node.namespace, false);
        }
        if *node != NodeId::numeric(node.namespace, provider::OBJECT) {
            return;
        }
        let name = |state: &ProviderState| state.record.name.clone();
        if let Some(name) = self.providers.with_namespace(node.namespace, name)
            && let Err(error) = self.remove(&name, node.namespace, false)
        {
            tracing::warn!(provider = %name, %error, "cannot be removed from the database");
        }
    }

    /// Takes back additions that are lost. Deleted nodes are missing until a restart, or until they are
    /// added again.
    pub(super) fn take_back(&self, changes: &[Change]) {
        let Some(space) = self.space() else {
            return;
        };
        let _following = self.following();
        // The last addition first: it may be below, or refer to, what was added before.
        for change in changes.iter().rev() {
            match change {
                Change::AddNode(item) => {
                    let node = &item.requested_new_node_id.node_id;
                    warn_on_error(node, space.apply(&delete_node(node)));
                    self.addition_lost(node);
                }
                Change::AddReference(item) => {
                    let taken = space.edit().delete_reference(
                        &item.source_node_id,
                        &item.reference_type_id,
                        item.is_forward,
                        &item.target_node_id,
                        true,
                    );
                    warn_on_error(&item.source_node_id, taken);
                }
                // The namespace keeps its index, and no owner is charged with it.
                Change::AddNamespace { index, .. } => {
                    self.names.free(*index);
                }
                Change::SetAttribute(change) => {
                    let before = Change::SetAttribute(Box::new(change.opposite()));
                    warn_on_error(&change.node_id, space.apply(&before));
                }
                Change::DeleteNode(_) | Change::DeleteReference(_) => {}
            }
        }
    }

    /// Deletes the nodes whose places others have taken, with all nodes below them. Returns the changes, for the database.
    pub(super) fn delete_superseded(
        &self,
        space: &AddressSpace,
        nodes: Vec<NodeId>,
    ) -> Vec<Change> {
        let mut deleted = Vec::new();
        for node_id in nodes {
            let item = DeleteNodesItem {
                node_id,
                delete_target_references: true,
            };
            // It may have been below another one.
            let Ok(changes) = space.edit().plan_delete_node(&item) else {
                continue;
            };
            tracing::warn!(node = %item.node_id, "its deletion was lost: another node has its place");
            for change in changes {
                if space.apply(&change).is_ok() {
                    self.follow(space, &change);
                    deleted.push(change);
                }
            }
        }
        deleted
    }

    /// Takes back the consequences of a node that was taken back. The database knows nothing of it.
    fn addition_lost(&self, node: &NodeId) {
        if *node == NodeId::numeric(node.namespace, provider::REVISION) {
            self.providers.set_complete(node.namespace, false);
        }
        if *node == NodeId::numeric(node.namespace, provider::OBJECT) {
            let name = |state: &ProviderState| state.record.name.clone();
            if let Some(name) = self.providers.with_namespace(node.namespace, name) {
                self.providers.forget(&name);
            }
        }
    }
}

/// Maximum number of components of one Object.
const MAX_COMPONENTS: usize = 200;

/// Returns the Variables below an Object of a Provider, along Aggregates references.
fn components(space: &AddressSpace, object: &NodeId) -> Vec<NodeId> {
    let view = space.view();
    let mut nodes = vec![object.clone()];
    let mut next = 0;
    while let Some(parent) = nodes.get(next) {
        let children = view.children(parent, ids::AGGREGATES);
        let own = children
            .into_iter()
            // References may form a cycle: each node is taken once.
            .filter(|child| child.namespace == object.namespace && !nodes.contains(child));
        let own: Vec<NodeId> = own
            .take(MAX_COMPONENTS.saturating_sub(nodes.len()))
            .collect();
        nodes.extend(own);
        next += 1;
    }
    nodes.retain(|node| {
        let class = view.node(node).map(|node| node.node_class());
        class == Some(NodeClass::Variable)
    });
    nodes
}

/// Removes the bits for Writes from the AccessLevel of a Variable.
fn make_read_only(edit: &mut Edit<'_>, node: &NodeId) -> Result<(), AddressSpaceError> {
    let view = edit.view();
    let variable = view.node(node).and_then(|node| node.variable());
    let level = variable.map_or(0, |variable| variable.access_level);
    if level & access_level::WRITE == 0 {
        return Ok(());
    }
    let [level, ..] = (level & !access_level::WRITE).to_le_bytes();
    let change = edit
        .plan_set_attribute(node, ACCESS_LEVEL, level.into(), None)
        .map_err(AddressSpaceError::Refused)?;
    edit.apply(&change, NewBinding::default())
}

/// Returns the endpoint in a ServerEndpoint Property.
fn server_endpoint(item: &AddNodesItem) -> Option<Endpoint> {
    if !item.browse_name.name.as_str().starts_with("ServerEndpoint") {
        return None;
    }
    let attributes: VariableAttributes = item.node_attributes.decode_as().ok()?;
    match attributes.value {
        Variant::String(text) => text.as_str().parse().ok(),
        _ => None,
    }
}

fn warn_on_error(node: &NodeId, result: Result<(), AddressSpaceError>) {
    if let Err(error) = result {
        tracing::warn!(%node, %error, "the registry could not follow a change");
    }
}

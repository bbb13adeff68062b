//! Ownership of nodes and namespaces. A namespace belongs to a Provider if its URI is that of the Provider, or if the Provider has added
//! it. A node belongs to the Provider of its namespace, if it was added by NodeManagement: nodes of NodeSets and mirrors belong to no
//! Provider, whatever their namespace is.

use std::fmt::Display;

use takt_app::Endpoint;
use takt_app::model;
use takt_app::refusals::shown;
use takt_space::{AddressSpace, Caller, Change};
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

use super::Rules;
use super::belonging::{is_common, is_namespace_of};
use crate::providers::{ProviderState, claimed_name};

/// Index of the namespace of the registry itself. It and the one of the standard belong to no Provider.
const SERVER_NAMESPACE: u16 = 1;

impl Rules {
    /// Returns the name of the Provider to which a namespace belongs.
    pub(super) fn provider_of_namespace(&self, namespace: u16) -> Option<String> {
        self.with_provider_of(namespace, |state| state.record.name.clone())
    }

    /// Runs `look` with the Provider to which a namespace belongs, its own one or one that it has added.
    pub(super) fn with_provider_of<R>(
        &self,
        namespace: u16,
        look: impl FnOnce(&ProviderState) -> R,
    ) -> Option<R> {
        match self.names.provider_of_additional(namespace) {
            Some(name) => self.providers.with(&name, look),
            None => self.providers.with_namespace(namespace, look),
        }
    }

    /// Refuses a change of nodes, and says why.
    pub(super) fn refuse_change(&self, caller: &Caller, reason: &dyn Display) -> StatusCode {
        let name = claimed_name(caller).unwrap_or(caller.application_uri.as_str());
        self.names.refuse_change(name, reason)
    }

    /// Returns the name of the Provider if `item` is the Object of one.
    pub(super) fn provider_of(&self, item: &AddNodesItem) -> Option<String> {
        (item.type_definition.node_id == self.model(model::PROVIDER_TYPE))
            .then(|| item.browse_name.name.as_str().to_owned())
    }

    /// Checks whether the caller may register this name. [`commit`](Self::commit) checks the limits.
    pub(super) fn may_register(&self, caller: &Caller, name: &str) -> Result<(), StatusCode> {
        if claimed_name(caller) != Some(name) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        // A name that is not an ApplicationName would not be reachable over shared memory.
        let endpoint: Result<Endpoint, _> = format!("opc.iox2://{name}").parse();
        endpoint.map_err(|_| StatusCode::BadBrowseNameInvalid)?;
        self.check_removed(name)?;
        let known = self.providers.with(name, |_| ()).is_some();
        match known && self.providers.speaker(caller).is_none() {
            true => Err(self.refuse_change(
                caller,
                &"another client has registered this name, and has its secret or its Unix user",
            )),
            false => Ok(()),
        }
    }

    /// Checks that the parent is not a node of another Provider. Below common nodes, such as the Objects folder, all
    /// Providers may add nodes, but no Objects that look like Providers.
    pub(super) fn may_add_below(
        &self,
        caller: &Caller,
        item: &AddNodesItem,
    ) -> Result<(), StatusCode> {
        let parent = &item.parent_node_id.node_id;
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let namespaces = space.namespaces();
        let added_by = self.names.provider_of_additional(parent.namespace);
        if added_by.is_some() && !is_common(&space, parent) {
            return self.owns(caller, parent);
        }
        match namespaces.uri(parent.namespace) {
            Some(uri) if uri.starts_with(&model::provider_uri("")) => {
                return self.owns(caller, parent);
            }
            Some(_) if !namespaces.is_free(parent.namespace) => {}
            // The namespace has no URI yet: the parent is added by the same operation.
            _ => return Ok(()),
        }
        let name = &item.browse_name;
        let is_providers = self.providers.with(name.name.as_str(), |_| ()).is_some();
        match name.namespace == self.model(0).namespace || is_providers {
            true => Err(StatusCode::BadBrowseNameDuplicated),
            false => Ok(()),
        }
    }

    /// Returns false for a change of a node that has come to belong to somebody else since it was recorded.
    pub(super) fn is_restorable(&self, space: &AddressSpace, owner: &str, change: &Change) -> bool {
        let node = match change {
            Change::AddNode(item) => &item.requested_new_node_id.node_id,
            Change::AddReference(item) => &item.source_node_id,
            Change::DeleteReference(item) => &item.source_node_id,
            Change::SetAttribute(change) => &change.node_id,
            Change::DeleteNode(item) => &item.node_id,
            Change::AddNamespace { .. } => return true,
        };
        let provider = self.provider_of_namespace(node.namespace);
        provider.is_some_and(|provider| provider == owner) && !is_common(space, node)
    }

    /// Checks that the caller owns `node`, which may be missing.
    pub(super) fn owns(&self, caller: &Caller, node: &NodeId) -> Result<(), StatusCode> {
        let name = self.in_own_namespace(caller, node)?;
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        if is_common(&space, node) {
            return Err(self.refuse_change(
                caller,
                &format_args!(
                    "{node} is a node of a NodeSet or a mirror, which belongs to no Provider"
                ),
            ));
        }
        self.may_register(caller, name)
    }

    /// Checks that the caller may add `node`. A namespace that belongs to nobody is the caller's from then on.
    pub(super) fn may_add(&self, caller: &Caller, node: &NodeId) -> Result<(), StatusCode> {
        if self.names.is_vacant(node.namespace)
            && let Some((name, _)) = self.providers.speaker(caller)
        {
            self.take_namespace(caller, &name, node.namespace)?;
            // Not looked up again: if it is lost at once, the node is too, for the reason of the database.
            return self.may_register(caller, &name);
        }
        let name = self.in_own_namespace(caller, node)?;
        self.may_register(caller, name)
    }

    /// Checks that the namespace of `node` belongs to the Provider that the caller claims to be. Returns the name of that one.
    fn in_own_namespace<'c>(
        &self,
        caller: &'c Caller,
        node: &NodeId,
    ) -> Result<&'c str, StatusCode> {
        let Some(name) = claimed_name(caller) else {
            return Err(self.names.refuse_nameless(caller));
        };
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let namespace = node.namespace;
        let added_by = self.names.provider_of_additional(namespace);
        let is_own = added_by.is_some_and(|provider| provider == name)
            || is_namespace_of(&space, name, namespace);
        if namespace > SERVER_NAMESPACE && is_own {
            return Ok(name);
        }
        let uri = space.namespaces().uri(namespace).unwrap_or_default();
        Err(self.refuse_change(
            caller,
            &format_args!(
                "{node} is in the namespace {}, which is not its own",
                shown(&uri)
            ),
        ))
    }
}

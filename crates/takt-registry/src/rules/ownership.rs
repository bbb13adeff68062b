//! Ownership of nodes and namespaces: each belongs to a Provider, which follows from the NamespaceIndex of its NodeId.

use std::fmt::Display;

use takt_app::Endpoint;
use takt_app::model;
use takt_app::refusals::shown;
use takt_space::Caller;
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

use super::Rules;
use crate::providers::{ProviderState, claimed_name};

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
        if self
            .names
            .provider_of_additional(parent.namespace)
            .is_some()
        {
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

    /// Checks that the caller owns `node`, whose namespace must be that of the caller.
    pub(super) fn owns(&self, caller: &Caller, node: &NodeId) -> Result<(), StatusCode> {
        let Some(name) = claimed_name(caller) else {
            return Err(self.names.refuse_nameless(caller));
        };
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        if self.names.is_vacant(node.namespace) && self.providers.speaker(caller).is_some() {
            self.take_namespace(caller, name, node.namespace)?;
        }
        let added_by = self.names.provider_of_additional(node.namespace);
        match space.namespaces().uri(node.namespace) {
            _ if added_by.is_some_and(|provider| provider == name) => {
                self.may_register(caller, name)
            }
            Some(uri)
                if *uri != *model::provider_uri(name)
                    && !space.namespaces().is_free(node.namespace) =>
            {
                Err(self.refuse_change(
                    caller,
                    &format_args!(
                        "{node} is in the namespace {}, which is not its own",
                        shown(&uri)
                    ),
                ))
            }
            // The namespace has no URI yet: it is added by the same operation, and was authorized as a separate
            // change.
            _ => self.may_register(caller, name),
        }
    }
}

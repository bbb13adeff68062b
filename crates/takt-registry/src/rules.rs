//! Rules for changes of the registry's address space, and the consequences of changes.
//!
//! A Provider owns its namespace: it may add, change and delete nodes with NodeIds there, and no others. Ownership
//! follows from the NodeId, so that no separate state has to be kept consistent.

mod following;
mod removal;

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use takt_app::Endpoint;
use takt_app::model::{self, provider};
use takt_services::{Authenticator, NodeManagement, Server, SessionObserver};
use takt_space::{AddressSpace, Caller, Change, Channel, UserIdentity};
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

use crate::database::{Database, DatabaseError, NewProvider};
use crate::names::{Application, Names, Owner};
use crate::providers::{Newcomer, Providers, claimed_name};

/// The registry's rules, with the state that they need.
pub(crate) struct Rules {
    pub(crate) database: Database,
    pub(crate) providers: Providers,
    names: Names,
    /// Address space; set once the server is built, which needs the rules first.
    bound: OnceLock<Bound>,
    /// Changes of the current request, which are undone if they cannot be made durable.
    unsettled: Mutex<Unsettled>,
    removals: Mutex<removal::Removals>,
}

#[derive(Default)]
struct Unsettled {
    changes: Vec<Change>,
    /// True if the database failed meanwhile and has lost the changes.
    lost: bool,
}

/// The server that the rules are for.
struct Bound {
    server: Weak<Server>,
    /// The rules themselves, for work that outlasts a request.
    rules: Weak<Rules>,
    /// The index of the registry's model.
    model: u16,
}

impl Rules {
    /// Creates the rules of a registry.
    pub(crate) fn new(database: Database, providers: Providers, names: Names) -> Self {
        Self {
            database,
            providers,
            names,
            bound: OnceLock::new(),
            unsettled: Mutex::default(),
            removals: Mutex::default(),
        }
    }

    /// Binds the rules to `server`, where the registry's model has this index.
    pub(crate) fn bind(self: &Arc<Self>, server: &Arc<Server>, model: u16) {
        let (server, rules) = (Arc::downgrade(server), Arc::downgrade(self));
        // A second time would be for the same server.
        let _ = self.bound.set(Bound {
            server,
            rules,
            model,
        });
    }

    fn space(&self) -> Option<Arc<AddressSpace>> {
        let server = self.bound.get()?.server.upgrade()?;
        Some(Arc::clone(server.address_space()))
    }

    /// Returns the server, and the rules for work that it is given.
    fn server(&self) -> Option<(Arc<Server>, Weak<Self>)> {
        let bound = self.bound.get()?;
        Some((bound.server.upgrade()?, Weak::clone(&bound.rules)))
    }

    /// Returns a node of the registry's model.
    fn model(&self, identifier: u32) -> NodeId {
        let namespace = self.bound.get().map_or(u16::MAX, |bound| bound.model);
        NodeId::numeric(namespace, identifier)
    }

    /// Restores the contents of the database. Records that contradict others are reported and skipped, for example a
    /// node whose type belonged to a forgotten Provider.
    pub(crate) fn restore(
        &self,
        space: &AddressSpace,
        contents: crate::database::Contents,
    ) -> Result<(), DatabaseError> {
        for (namespace, owner) in contents.owners {
            self.names.set(namespace, owner);
        }
        for record in contents.providers {
            let uri = model::provider_uri(&record.name);
            let namespace = space.namespaces().index_of(&uri);
            let namespace = namespace.ok_or_else(|| DatabaseError::Record {
                table: "providers",
                record: format!("Provider {}", record.name),
                reason: "its namespace is missing in the table `namespaces`".to_owned(),
            })?;
            // This Provider was registered by a version without owners.
            if let Some(user) = record.user
                && !self.names.is_taken(namespace)
            {
                self.names.set(namespace, Owner::User(user));
            }
            self.providers.restore(record, namespace);
        }
        let mut left_behind = Vec::new();
        for (owner, change) in contents.changes {
            if self.providers.with(&owner, |_| ()).is_none() {
                // Its removal was interrupted.
                if let Change::AddNode(item) = change {
                    let node = &item.requested_new_node_id.node_id;
                    left_behind.push(following::delete_node(node));
                }
                continue;
            }
            match space.apply(&change) {
                Ok(()) => self.follow(space, &change),
                Err(error) => {
                    let node = node_of(&change);
                    tracing::error!(%owner, %node, %error, "a registration cannot be restored");
                }
            }
        }
        self.database.record("", None, &left_behind)?;
        self.database.settle()
    }

    /// Removes a Provider and all its nodes, and frees its namespace when they are gone; only while it is not connected.
    pub(crate) fn forget(&self, name: &str) -> Result<(), StatusCode> {
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let known = self
            .providers
            .with(name, |state| (state.namespace, state.is_connected()));
        let namespace = match known {
            Some((_, true)) => return Err(StatusCode::BadInvalidState),
            Some((namespace, false)) => namespace,
            // The Provider has unregistered, but its namespace is still counted.
            None => space
                .namespaces()
                .index_of(&model::provider_uri(name))
                .filter(|namespace| self.names.is_taken(*namespace))
                .ok_or(StatusCode::BadNotFound)?,
        };
        let removed = match self.free_after_removal(name) {
            true => self.database.set_owner(namespace, None),
            false => self.remove(&space, name, namespace, true),
        };
        removed
            .and_then(|()| self.database.settle())
            .map_err(|error| refuse(&error))
    }

    fn unsettled(&self) -> std::sync::MutexGuard<'_, Unsettled> {
        self.unsettled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name of the Provider if `item` is the Object of one.
    fn provider_of(&self, item: &AddNodesItem) -> Option<String> {
        (item.type_definition.node_id == self.model(model::PROVIDER_TYPE))
            .then(|| item.browse_name.name.as_str().to_owned())
    }

    /// Checks whether the caller may register this name. [`commit`](Self::commit) checks the limits.
    fn may_register(&self, caller: &Caller, name: &str) -> Result<(), StatusCode> {
        if claimed_name(caller) != Some(name) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        // A name that is not an ApplicationName would not be reachable over shared memory.
        let endpoint: Result<Endpoint, _> = format!("opc.iox2://{name}").parse();
        endpoint.map_err(|_| StatusCode::BadBrowseNameInvalid)?;
        if self.is_removing(name) {
            return Err(StatusCode::BadInvalidState);
        }
        let known = self.providers.with(name, |_| ()).is_some();
        match known && self.providers.speaker(caller).is_none() {
            true => Err(StatusCode::BadUserAccessDenied),
            false => Ok(()),
        }
    }

    /// Checks that the parent is not a node of another Provider. Below common nodes, such as the Objects folder, all
    /// Providers may add nodes, but no Objects that look like Providers.
    fn may_add_below(&self, caller: &Caller, item: &AddNodesItem) -> Result<(), StatusCode> {
        let parent = &item.parent_node_id.node_id;
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let namespaces = space.namespaces();
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
    fn owns(&self, caller: &Caller, node: &NodeId) -> Result<(), StatusCode> {
        let name = claimed_name(caller).ok_or(StatusCode::BadUserAccessDenied)?;
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        match space.namespaces().uri(node.namespace) {
            Some(uri)
                if *uri != *model::provider_uri(name)
                    && !space.namespaces().is_free(node.namespace) =>
            {
                Err(StatusCode::BadUserAccessDenied)
            }
            // The namespace has no URI yet: it is added by the same operation, and was authorized as a separate
            // change.
            _ => self.may_register(caller, name),
        }
    }

    /// Returns the Provider that these changes register, with its namespace; `None` if it is known, or there is none.
    fn newcomer(&self, changes: &[Change]) -> Option<(String, u16)> {
        let registered = changes.iter().find_map(|change| match change {
            Change::AddNode(item) => self
                .provider_of(item)
                .map(|name| (name, item.requested_new_node_id.node_id.namespace)),
            _ => None,
        });
        registered.filter(|(name, _)| self.providers.with(name, |_| ()).is_none())
    }

    /// Records changes, and the Provider if it is new.
    fn keep(
        &self,
        owner: &str,
        new: Option<&NewProvider<'_>>,
        changes: &[Change],
    ) -> Result<(), StatusCode> {
        self.database.record(owner, new, changes).map_err(|error| {
            self.unsettled().lost = true;
            refuse(&error)
        })
    }
}

impl NodeManagement for Rules {
    fn new_node_id(&self, caller: &Caller, item: &AddNodesItem) -> Option<NodeId> {
        if let Some(node_id) = model::required_node_id(item) {
            return Some(node_id);
        }
        let (_, namespace) = self.providers.speaker(caller)?;
        let space = self.space()?;
        // The address space is locked here: a free NodeId is found by trying random identifiers of the upper half.
        (0..16).find_map(|_| {
            let node = NodeId::numeric(namespace, getrandom::u32().ok()? | 0x8000_0000);
            space.view().node(&node).is_none().then_some(node)
        })
    }

    fn authorize(&self, caller: &Caller, change: &Change) -> Result<(), StatusCode> {
        if !self.providers.admit(caller.peer()) {
            return Err(self.names.refuse_tcp(caller.peer()));
        }
        match change {
            Change::AddNamespace { uri, .. } => {
                let name = claimed_name(caller).ok_or(StatusCode::BadUserAccessDenied)?;
                if *uri != model::provider_uri(name) {
                    return Err(StatusCode::BadUserAccessDenied);
                }
                self.may_register(caller, name)
            }
            Change::AddNode(item) => match self.provider_of(item) {
                Some(name) => {
                    let node = &item.requested_new_node_id.node_id;
                    if *node != NodeId::numeric(node.namespace, provider::OBJECT) {
                        return Err(StatusCode::BadNodeIdRejected);
                    }
                    self.may_register(caller, &name)?;
                    self.owns(caller, node)
                }
                None => {
                    self.owns(caller, &item.requested_new_node_id.node_id)?;
                    self.may_add_below(caller, item)
                }
            },
            Change::AddReference(item) => self.owns(caller, &item.source_node_id),
            Change::DeleteNode(item) => self.owns(caller, &item.node_id),
            Change::DeleteReference(item) => self.owns(caller, &item.source_node_id),
        }
    }

    fn commit(&self, caller: &Caller, changes: &[Change]) -> Result<(), StatusCode> {
        let owner = claimed_name(caller).ok_or(StatusCode::BadUserAccessDenied)?;
        let Some((name, namespace)) = self.newcomer(changes) else {
            // Nodes belong to a Provider, which is added before them.
            self.providers
                .speaker(caller)
                .ok_or(StatusCode::BadUserAccessDenied)?;
            return self.keep(owner, None, changes);
        };
        let application = Application {
            name: &name,
            namespace,
        };
        let charged = self
            .names
            .admit(caller, application, &self.providers.namespaces())?;
        let newcomer = Newcomer::new(&name, caller)?;
        let new = NewProvider {
            record: &newcomer.record,
            namespace,
            uri: &model::provider_uri(&name),
            charged: &charged,
        };
        self.keep(owner, Some(&new), changes)?;
        self.names.set(namespace, charged);
        self.providers.welcome(newcomer, namespace);
        Ok(())
    }

    fn applied(&self, _: &Caller, changes: &[Change]) {
        if let Some(space) = self.space() {
            for change in changes {
                self.follow(&space, change);
            }
        }
        self.unsettled().changes.extend_from_slice(changes);
    }

    fn settle(&self, _: &Caller) -> Result<(), StatusCode> {
        let Unsettled { changes, lost } = std::mem::take(&mut *self.unsettled());
        if changes.is_empty() {
            return Ok(());
        }
        let settled = match lost {
            true => Err(StatusCode::BadResourceUnavailable),
            false => self.database.settle().map_err(|error| refuse(&error)),
        };
        if settled.is_err() {
            self.take_back(&changes);
        }
        settled
    }
}

impl SessionObserver for Rules {
    fn activated(&self, caller: &Caller) {
        self.providers.session_activated(caller);
    }

    fn gone(&self, session_id: &NodeId) {
        self.providers.session_gone(session_id);
    }
}

impl Authenticator for Rules {
    fn allows_user_names(&self) -> bool {
        true
    }

    fn user_name(
        &self,
        channel: &Channel,
        name: &str,
        password: &[u8],
    ) -> Result<UserIdentity, StatusCode> {
        // Otherwise a Provider that registered while this was allowed would assume that it is still registered.
        if !self.providers.admit(&channel.peer) {
            return Err(self.names.refuse_tcp(&channel.peer));
        }
        if self.providers.knows_secret(name, password) {
            Ok(UserIdentity::UserName {
                name: name.to_owned(),
            })
        } else {
            Err(StatusCode::BadUserAccessDenied)
        }
    }
}

/// Logs an error of the database, such as a full disk, and returns the StatusCode for the client.
fn refuse(error: &DatabaseError) -> StatusCode {
    tracing::error!(%error, "a registration could not be stored");
    StatusCode::BadResourceUnavailable
}

/// Returns the node of a change in readable form.
fn node_of(change: &Change) -> String {
    let node = match change {
        Change::AddNode(item) => &item.requested_new_node_id.node_id,
        Change::AddReference(item) => &item.source_node_id,
        Change::DeleteReference(item) => &item.source_node_id,
        Change::DeleteNode(item) => &item.node_id,
        Change::AddNamespace { uri, .. } => return uri.clone(),
    };
    node.to_string()
}

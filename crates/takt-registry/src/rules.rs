//! Rules for changes of the registry's address space, and the consequences of changes.
//!
//! A Provider owns the namespace that is named after it, and those that it has added to the NamespaceArray. It may add nodes with
//! NodeIds there, and change and delete these nodes, but no nodes of NodeSets and mirrors: see `ownership` and `added_namespaces`.

mod added_namespaces;
mod attributes;
mod belonging;
mod changes;
mod following;
mod model_changes;
mod ownership;
mod recording;
mod removal;
mod removed;
mod superseded;

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use takt_app::model::{self, provider};
use takt_app::refusals::shown;
use takt_rt::memory_budget::MemoryBudget;
use takt_services::{Authenticator, NodeManagement, Server, SessionObserver, Settled};
use takt_space::{AddressSpace, AddressSpaceError, Caller, Change, Channel, UserIdentity};
use takt_ua::structures::AddNodesItem;
use takt_ua::{Identifier, NodeId, StatusCode};

use crate::database::{Database, DatabaseError, NewProvider};
use crate::history::RegistryHistory;
use crate::names::{Application, Names, Owner};
use crate::providers::{Newcomer, ProviderState, Providers, claimed_name};
pub(crate) use attributes::OwnAttributes;
use belonging::is_namespace_of;
use changes::{delete_node, node_of};
use model_changes::ModelChanges;
use removed::Removals;
use superseded::Places;

/// Largest memory in bytes of changes that wait for the disk; more are refused with `BadTooManyOperations`.
pub(crate) const MAX_WAITING: usize = 32 << 20;

/// Memory in bytes of changes that wait for the disk, above which an operation of NodeManagement waits for the end of a commit.
const DELAYED: usize = MAX_WAITING / 2;

/// The registry's rules, with the state that they need.
pub(crate) struct Rules {
    pub(crate) database: Database,
    pub(crate) providers: Providers,
    names: Names,
    /// Address space; set once the server is built, which needs the rules first.
    bound: OnceLock<Bound>,
    /// Held while the consequences of changes are applied, or taken back by the thread of the database.
    following: Mutex<()>,
    removals: Mutex<Removals>,
    /// History of chosen Variables, until the registry ends.
    history: Mutex<Option<RegistryHistory>>,
    /// Changes of nodes, for clients that monitor Events.
    pub(crate) model_changes: ModelChanges,
}

/// The server that the rules are for.
struct Bound {
    server: Weak<Server>,
    /// The rules themselves, for the thread of the database.
    rules: Weak<Rules>,
    /// The index of the registry's model.
    model: u16,
    /// Memory of changes that wait for the disk.
    waiting: MemoryBudget,
}

impl Rules {
    /// Creates the rules of a registry.
    pub(crate) fn new(database: Database, providers: Providers, names: Names) -> Self {
        Self {
            database,
            providers,
            names,
            bound: OnceLock::new(),
            following: Mutex::default(),
            removals: Mutex::default(),
            history: Mutex::default(),
            model_changes: ModelChanges::default(),
        }
    }

    /// Binds the rules to `server`, where the registry's model has this index.
    pub(crate) fn bind(self: &Arc<Self>, server: &Arc<Server>, model: u16) {
        self.providers.bind(server.address_space());
        // A second time would be for the same server.
        let _ = self.bound.set(Bound {
            server: Arc::downgrade(server),
            rules: Arc::downgrade(self),
            model,
            waiting: server.memory().part(MAX_WAITING),
        });
    }

    /// Keeps the history of chosen Variables, before any of them is bound.
    pub(crate) fn keep_history(&self, history: Option<RegistryHistory>) {
        *self.history.lock().unwrap_or_else(PoisonError::into_inner) = history;
    }

    /// Ends the recording of history: what was recorded is durable then.
    pub(crate) fn end_history(&self) {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = history.take();
        // Ending history waits for the disk, and others must not wait for the lock meanwhile.
        drop(history);
        drop(ended);
    }

    /// Records the Events of a Provider if it is chosen.
    fn provider_added(&self, object: &NodeId) {
        let name = |state: &ProviderState| state.record.name.clone();
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(history) = &*history
            && let Some(provider) = self.providers.with_namespace(object.namespace, name)
        {
            history.provider_added(&provider, object);
        }
    }

    /// Records the history of a Variable if it is chosen.
    fn variable_bound(&self, node: &NodeId) {
        let name = |state: &ProviderState| state.record.name.clone();
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(history) = &*history
            && let Some(provider) = self.with_provider_of(node.namespace, name)
        {
            history.variable_bound(&provider, node);
        }
    }

    /// Returns the address space, until the server has ended.
    pub(crate) fn space(&self) -> Option<Arc<AddressSpace>> {
        let server = self.bound.get()?.server.upgrade()?;
        Some(Arc::clone(server.address_space()))
    }

    /// Returns a reference to itself for the thread of the database, which must not keep the rules alive.
    fn weak(&self) -> Weak<Self> {
        self.bound
            .get()
            .map_or_else(Weak::new, |bound| Weak::clone(&bound.rules))
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
        let used = space.namespaces_with_nodes();
        for (namespace, provider) in contents.additional {
            // A NodeSet may have the namespace of a Provider that was forgotten.
            if !provider.is_empty() || !used.contains(&namespace) {
                self.names.set_additional(namespace, &provider);
            }
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
        let (mut left_behind, mut places) = (Vec::new(), Places::default());
        for (owner, change) in contents.changes {
            if self.providers.with(&owner, |_| ()).is_none() {
                // Its removal was interrupted.
                if let Change::AddNode(item) = change {
                    let node = &item.requested_new_node_id.node_id;
                    left_behind.push(delete_node(node));
                }
                continue;
            }
            if !self.is_restorable(space, &owner, &change) {
                let node = node_of(&change);
                tracing::error!(%owner, %node, "a registration is not restored: the node is that of a NodeSet, or of another Provider");
                continue;
            }
            match space.apply(&change) {
                Ok(()) => {
                    self.follow(space, &change);
                    if let Change::AddNode(item) = &change {
                        places.take(space, item);
                    }
                }
                Err(error) => {
                    let node = node_of(&change);
                    tracing::error!(%owner, %node, %error, "a registration cannot be restored");
                }
            }
        }
        for node in &contents.instantiated {
            space.edit().mark_instantiated(node);
        }
        left_behind.extend(self.delete_superseded(space, places.superseded()));
        self.record_own(left_behind)?;
        self.database.settle_now()
    }

    /// Removes a Provider and all its nodes, and frees its namespace when they are gone; only while it is not connected. The
    /// database gets to know, and is not waited for.
    pub(crate) fn forget(&self, name: &str) -> Result<(), StatusCode> {
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        if let Some(removed) = self.free_after_removal(name) {
            return removed.map_err(|error| refuse(&error));
        }
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
                .filter(|namespace| {
                    self.names.is_taken(*namespace) || !self.names.additional_of(name).is_empty()
                })
                .ok_or(StatusCode::BadNotFound)?,
        };
        let removed = self.remove(name, namespace, true);
        removed.map_err(|error| refuse(&error))
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
}

impl NodeManagement for Rules {
    fn refused(&self, caller: &Caller, reason: &AddressSpaceError) {
        use AddressSpaceError as E;
        match reason {
            // A Provider that registers again asks for what exists, and removes what may be missing.
            E::NodeIdExists(_)
            | E::BrowseNameDuplicated(_)
            | E::DuplicateReference { .. }
            | E::NodeIdUnknown(_)
            | E::NoSuchReference { .. } => {}
            reason => {
                let _ = self.refuse_change(caller, reason);
            }
        }
    }

    fn new_node_id(&self, caller: &Caller, item: &AddNodesItem) -> Option<NodeId> {
        let (space, required) = (self.space()?, model::required_node_id(item));
        let is_free = |node: &NodeId| match node.identifier {
            // Other clients may have chosen the same text.
            Identifier::String(_) => space.view().node(node).is_none(),
            _ => true,
        };
        if let Some(node_id) = required.filter(is_free) {
            return Some(node_id);
        }
        let (name, own) = self.providers.speaker(caller)?;
        // The client may want any NodeId of a namespace.
        let parent = item.parent_node_id.node_id.namespace;
        let namespace = match item.requested_new_node_id.node_id.namespace {
            // A child that a type requires is in the namespace of its parent.
            0 if self.names.provider_of_additional(parent).as_ref() == Some(&name) => parent,
            0 => own,
            requested => requested,
        };
        // The address space is locked here: a free NodeId is found by trying random identifiers of the upper half.
        (0..16).find_map(|_| {
            let node = NodeId::numeric(namespace, getrandom::u32().ok()? | 0x8000_0000);
            space.view().node(&node).is_none().then_some(node)
        })
    }

    fn authorize(&self, caller: &Caller, change: &Change) -> Result<(), StatusCode> {
        if !self.providers.admit(caller) {
            return Err(self.names.refuse(caller.peer()));
        }
        match change {
            Change::AddNamespace { uri, .. } => {
                let Some(name) = claimed_name(caller) else {
                    return Err(self.names.refuse_nameless(caller));
                };
                if *uri != model::provider_uri(name) {
                    return Err(self.refuse_change(
                        caller,
                        &format_args!("the namespace {} is not its own", shown(uri)),
                    ));
                }
                self.may_register(caller, name)
            }
            Change::AddNode(item) => match self.provider_of(item) {
                Some(name) => {
                    let node = &item.requested_new_node_id.node_id;
                    let space = self.space().ok_or(StatusCode::BadShutdown)?;
                    // The registry finds the Object of each Provider by this NodeId, in the namespace that is named after it.
                    if *node != NodeId::numeric(node.namespace, provider::OBJECT)
                        || claimed_name(caller) == Some(name.as_str())
                            && !is_namespace_of(&space, &name, node.namespace)
                    {
                        return Err(StatusCode::BadNodeIdRejected);
                    }
                    self.may_register(caller, &name)?;
                    self.may_add(caller, node)
                }
                None => {
                    self.may_add(caller, &item.requested_new_node_id.node_id)?;
                    self.may_add_below(caller, item)
                }
            },
            Change::AddReference(item) => self.owns(caller, &item.source_node_id),
            Change::DeleteNode(item) => self.owns(caller, &item.node_id),
            // Only the owner of a node writes its attributes: see `attributes`.
            Change::SetAttribute(change) => self.owns(caller, &change.node_id),
            Change::DeleteReference(item) => self.owns(caller, &item.source_node_id),
        }
    }

    fn losses(&self) -> u64 {
        self.database.losses()
    }

    fn has_room(&self) -> bool {
        let bound = self.bound.get();
        bound.is_none_or(|bound| bound.waiting.used() <= DELAYED)
    }

    fn wait_for_room(&self, room: Settled) {
        // After the next commit no change waits that was handed over before.
        let then = |_| room.done(Ok(()));
        self.database.settle(None, Box::new(then));
    }

    fn commit(&self, caller: &Caller, changes: &[Change], losses: u64) -> Result<(), StatusCode> {
        let owner = claimed_name(caller).ok_or(StatusCode::BadUserAccessDenied)?;
        let Some((name, namespace)) = self.newcomer(changes) else {
            // Nodes belong to a Provider, which is added before them.
            self.providers
                .speaker(caller)
                .ok_or(StatusCode::BadUserAccessDenied)?;
            return self.keep(owner, None, changes, losses);
        };
        // A restart finds the Provider by the URI of its namespace, which is recorded for this index.
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        if !is_namespace_of(&space, &name, namespace) {
            return Err(StatusCode::BadNodeIdRejected);
        }
        let application = Application {
            name: &name,
            namespace,
        };
        let charged = self
            .names
            .admit(caller, application, &self.providers.namespaces())?;
        let newcomer = Newcomer::new(&name, caller)?;
        let new = NewProvider {
            record: newcomer.record.clone(),
            namespace,
            uri: model::provider_uri(&name),
            charged,
        };
        self.keep(owner, Some(new), changes, losses)?;
        // If the changes are lost already, the address space is locked until this is done, so it is taken back as well.
        self.names.set(namespace, charged);
        self.providers.welcome(newcomer, namespace);
        Ok(())
    }

    fn applied(&self, _: &Caller, changes: &[Change]) {
        if let Some(space) = self.space() {
            let _following = self.following();
            for change in changes {
                self.model_changes.keep(change, |node| {
                    space.view().type_definition(node).unwrap_or_default()
                });
                self.follow(&space, change);
            }
        }
    }

    fn settle(&self, _: &Caller, losses: u64, settled: Settled) {
        let then = |result: Result<(), Arc<DatabaseError>>| {
            settled.done(result.map_err(|_| StatusCode::BadResourceUnavailable));
        };
        self.database.settle(Some(losses), Box::new(then));
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

    /// Providers in other languages may be unable to encrypt their secrets. Registration over `opc.tcp` is an option.
    fn allows_clear_text(&self) -> bool {
        self.providers.allows_tcp()
    }

    fn user_name(
        &self,
        channel: &Channel,
        name: &str,
        password: &[u8],
    ) -> Result<UserIdentity, StatusCode> {
        if !self.providers.knows_secret(name, password) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        // Otherwise a Provider that registered while this was allowed would assume that it is still registered.
        if !self.providers.allows_tcp() && !channel.peer.is_local() {
            return Err(self.names.refuse(&channel.peer));
        }
        Ok(UserIdentity::Application {
            name: name.to_owned(),
        })
    }

    fn refused(&self, channel: &Channel, name: &str) {
        self.names.refuse_login(name, &channel.peer);
    }
}

/// Logs an error of the database, such as a full disk, and returns the StatusCode for the client.
fn refuse(error: &DatabaseError) -> StatusCode {
    tracing::error!(%error, "a registration could not be stored");
    StatusCode::BadResourceUnavailable
}

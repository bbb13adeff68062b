//! Who may change what in the registry's address space, and what follows from a change.
//!
//! A Provider owns its namespace: whatever has a NodeId there it may add, change and delete, and nothing else. That makes
//! ownership a matter of the NodeId, and leaves nothing to keep in step.

mod following;

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use takt_app::model::{self, provider};
use takt_app::{ClientOptions, Endpoint};
use takt_services::{
    AddressSpace, Authenticator, Caller, Change, NodeManagement, Peer, SessionObserver,
    UserIdentity,
};
use takt_ua::structures::AddNodesItem;
use takt_ua::{NodeId, StatusCode};

use crate::database::{Database, DatabaseError};
use crate::providers::{Newcomer, Providers, claimed_name};

/// The registry's rules and what it keeps.
pub(crate) struct Rules {
    pub(crate) database: Database,
    pub(crate) providers: Providers,
    /// Set once the server is built, which needs the rules first.
    bound: OnceLock<Bound>,
    /// What the request under way has changed, to be taken back if it cannot be made durable.
    unsettled: Mutex<Unsettled>,
}

#[derive(Default)]
struct Unsettled {
    changes: Vec<Change>,
    /// The database failed meanwhile: it has lost the changes.
    lost: bool,
}

/// The address space that the rules are for.
struct Bound {
    space: Weak<AddressSpace>,
    /// The index of the registry's model.
    model: u16,
}

impl Rules {
    /// The rules of a registry that connects to Providers with `options`.
    pub(crate) fn new(database: Database, options: ClientOptions) -> Self {
        Self {
            database,
            providers: Providers::new(options),
            bound: OnceLock::new(),
            unsettled: Mutex::default(),
        }
    }

    /// From now on the rules are for `space`, where the registry's model has this index.
    pub(crate) fn bind(&self, space: &Arc<AddressSpace>, model: u16) {
        let space = Arc::downgrade(space);
        // A second time would be for the same server.
        let _ = self.bound.set(Bound { space, model });
    }

    fn space(&self) -> Option<Arc<AddressSpace>> {
        self.bound.get()?.space.upgrade()
    }

    /// A node of the registry's model.
    fn model(&self, identifier: u32) -> NodeId {
        let namespace = self.bound.get().map_or(u16::MAX, |bound| bound.model);
        NodeId::numeric(namespace, identifier)
    }

    /// Puts back what the database holds; what cannot be put back is reported and left out.
    pub(crate) fn restore(&self, space: &AddressSpace, contents: crate::database::Contents) {
        for record in contents.providers {
            let uri = model::provider_uri(&record.name);
            match space.namespaces().index_of(&uri) {
                Some(namespace) => self.providers.restore(record, namespace),
                None => tracing::warn!(provider = %record.name, "has no namespace and is left out"),
            }
        }
        for (owner, change) in contents.changes {
            match space.apply(&change) {
                Ok(()) => self.follow(space, &change),
                Err(error) => tracing::warn!(%owner, %error, "a registration cannot be restored"),
            }
        }
    }

    /// Removes a Provider and all its nodes; only while it is not connected.
    pub(crate) fn forget(&self, name: &str) -> Result<(), StatusCode> {
        let (namespace, connected) = self
            .providers
            .with(name, |state| (state.namespace, state.is_connected()))
            .ok_or(StatusCode::BadNotFound)?;
        if connected {
            return Err(StatusCode::BadInvalidState);
        }
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        self.remove(&space, name, namespace)
            .and_then(|()| self.database.settle())
            .map_err(|error| refuse(&error))
    }

    fn unsettled(&self) -> std::sync::MutexGuard<'_, Unsettled> {
        self.unsettled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `item` is the Object of a Provider, and of which.
    fn provider_of(&self, item: &AddNodesItem) -> Option<String> {
        (item.type_definition.node_id == self.model(model::PROVIDER_TYPE))
            .then(|| item.browse_name.name.as_str().to_owned())
    }

    /// Whether the caller may register as `name`, whether anybody did before or not.
    fn may_register(&self, caller: &Caller, name: &str) -> Result<(), StatusCode> {
        if claimed_name(caller) != Some(name) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        // A name that is no ApplicationName could not be reached over shared memory.
        let endpoint: Result<Endpoint, _> = format!("opc.iox2://{name}").parse();
        endpoint.map_err(|_| StatusCode::BadBrowseNameInvalid)?;
        let known = self.providers.with(name, |_| ()).is_some();
        match known && self.providers.speaker(caller).is_none() {
            true => Err(StatusCode::BadUserAccessDenied),
            false => Ok(()),
        }
    }

    /// Below another Provider's nodes nobody adds any; below everybody's, such as the Objects folder, all may.
    fn may_add_below(&self, caller: &Caller, parent: &NodeId) -> Result<(), StatusCode> {
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        let uri = space.namespaces().uri(parent.namespace);
        match uri.is_some_and(|uri| uri.starts_with(&model::provider_uri(""))) {
            true => self.owns(caller, parent),
            false => Ok(()),
        }
    }

    /// The caller must own `node`, which is so if its namespace is the caller's.
    fn owns(&self, caller: &Caller, node: &NodeId) -> Result<(), StatusCode> {
        let name = claimed_name(caller).ok_or(StatusCode::BadUserAccessDenied)?;
        let space = self.space().ok_or(StatusCode::BadShutdown)?;
        match space.namespaces().uri(node.namespace) {
            Some(uri) if *uri != *model::provider_uri(name) => Err(StatusCode::BadUserAccessDenied),
            // No URI yet: it comes with the same operation, and has been authorized as a change of its own.
            _ => self.may_register(caller, name),
        }
    }
}

impl NodeManagement for Rules {
    fn new_node_id(&self, caller: &Caller, item: &AddNodesItem) -> Option<NodeId> {
        let parent = &item.parent_node_id.node_id;
        let is_available = *parent == NodeId::numeric(parent.namespace, provider::OBJECT)
            && item.browse_name.name.as_str() == "Available";
        if is_available {
            return Some(NodeId::numeric(parent.namespace, provider::AVAILABLE));
        }
        let (_, namespace) = self.providers.speaker(caller)?;
        let space = self.space()?;
        // The address space is locked here: a free NodeId is found by chance, from the upper half of the identifiers.
        (0..16).find_map(|_| {
            let node = NodeId::numeric(namespace, getrandom::u32().ok()? | 0x8000_0000);
            space.view().node(&node).is_none().then_some(node)
        })
    }

    fn authorize(&self, caller: &Caller, change: &Change) -> Result<(), StatusCode> {
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
                    self.may_add_below(caller, &item.parent_node_id.node_id)
                }
            },
            Change::AddReference(item) => self.owns(caller, &item.source_node_id),
            Change::DeleteNode(item) => self.owns(caller, &item.node_id),
            Change::DeleteReference(item) => self.owns(caller, &item.source_node_id),
        }
    }

    fn commit(&self, caller: &Caller, changes: &[Change]) -> Result<(), StatusCode> {
        let owner = claimed_name(caller).ok_or(StatusCode::BadUserAccessDenied)?;
        let newcomer = changes.iter().find_map(|change| match change {
            Change::AddNode(item) => self
                .provider_of(item)
                .map(|name| (name, item.requested_new_node_id.node_id.namespace)),
            _ => None,
        });
        let newcomer = match newcomer {
            Some((name, namespace)) if self.providers.with(&name, |_| ()).is_none() => {
                Some((Newcomer::new(&name, caller)?, namespace))
            }
            _ => None,
        };
        let record = newcomer.as_ref().map(|(newcomer, _)| &newcomer.record);
        self.database
            .record(owner, record, changes)
            .map_err(|error| {
                self.unsettled().lost = true;
                refuse(&error)
            })?;
        if let Some((newcomer, namespace)) = newcomer {
            self.providers.welcome(newcomer, namespace);
        }
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

    fn user_name(&self, _: &Peer, name: &str, password: &[u8]) -> Result<UserIdentity, StatusCode> {
        if self.providers.knows_secret(name, password) {
            Ok(UserIdentity::UserName {
                name: name.to_owned(),
            })
        } else {
            Err(StatusCode::BadUserAccessDenied)
        }
    }
}

/// What a client hears when the database refuses: a full disk, for example.
fn refuse(error: &DatabaseError) -> StatusCode {
    tracing::error!(%error, "a registration could not be kept");
    StatusCode::BadResourceUnavailable
}

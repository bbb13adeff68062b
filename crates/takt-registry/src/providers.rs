//! Providers of the registry: the authorized sessions of each, and whether it is connected.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use takt_app::{ClientOptions, model};
use takt_cell::Cell;
use takt_space::{AddressSpace, Caller, Peer, UserIdentity};
use takt_ua::enumerations::PermissionType;
use takt_ua::{DateTime, NodeId, StatusCode, Variant};

use crate::database::ProviderRecord;
use crate::forwarding::Upstream;
use crate::forwarding::{Gateway, Naming, RegistrySpace};

/// A Provider, connected or not.
pub(crate) struct ProviderState {
    pub(crate) record: ProviderRecord,
    /// The index of its namespace.
    pub(crate) namespace: u16,
    pub(crate) gateway: Arc<Gateway>,
    /// Value of its Property `Available`.
    pub(crate) available: Arc<Cell>,
    /// True if its registration is complete, which its Property `Revision` marks.
    complete: bool,
    /// Sessions that act for it.
    sessions: HashSet<NodeId>,
    /// Session of its first registration over `opc.tcp`: it may fetch the secret once, and act without it.
    first_session: Option<NodeId>,
    secret: Option<String>,
}

/// All Providers, by ApplicationName.
pub(crate) struct Providers {
    states: Mutex<HashMap<String, ProviderState>>,
    /// Options of connections to Providers.
    options: ClientOptions,
    space: RegistrySpace,
    /// True if sessions over `opc.tcp` may act for a Provider.
    allow_tcp: bool,
}

impl ProviderState {
    fn new(
        record: ProviderRecord,
        namespace: u16,
        options: &ClientOptions,
        space: &RegistrySpace,
    ) -> Self {
        let options = ClientOptions {
            // An application of another user with its name is not this Provider.
            server_user: record.user,
            ..options.clone()
        };
        Self {
            gateway: Arc::new(Gateway::new(Naming::same(space.clone()), options)),
            available: Arc::new(Cell::of(&Variant::Boolean(false))),
            record,
            namespace,
            complete: false,
            sessions: HashSet::new(),
            first_session: None,
            secret: None,
        }
    }

    /// Returns whether it is connected.
    pub(crate) fn is_connected(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Returns whether it is connected and its registration is complete.
    fn is_available(&self) -> bool {
        self.complete && self.is_connected()
    }

    /// Returns whether `caller` may act for this Provider.
    fn is_spoken_for_by(&self, caller: &Caller) -> bool {
        match caller.peer() {
            // Two unknown users are not the same one.
            Peer::SharedMemory { user, .. } => user.is_some() && *user == self.record.user,
            Peer::Tcp { .. } => {
                self.first_session.as_ref() == Some(&caller.session_id)
                    // No engineer over `opc.tcp` acts for a Provider that a Unix user has registered.
                    || self.record.user.is_none() && is_engineer(caller)
                    || matches!(&caller.user, UserIdentity::Application { name } if *name == self.record.name)
            }
        }
    }

    fn show_available(&self) {
        let available = self.is_available();
        self.gateway.set_available(available);
        // Setting cannot fail, because the cell was created for a Boolean.
        let _ = self
            .available
            .set_bool(available, StatusCode::Good, DateTime::now());
    }
}

/// A Provider that registers for the first time.
pub(crate) struct Newcomer {
    pub(crate) record: ProviderRecord,
    session: NodeId,
    secret: Option<String>,
}

impl Newcomer {
    /// Creates a record for the Provider that `caller` registers: with its Unix user, or with a secret if the user is
    /// unknown.
    pub(crate) fn new(name: &str, caller: &Caller) -> Result<Self, StatusCode> {
        let (user, secret) = match caller.peer() {
            Peer::SharedMemory { user, .. } => (*user, None),
            Peer::Tcp { .. } => (None, Some(new_secret()?)),
        };
        // The database has only the digest: a copy of the file does not give the secret away.
        let secret_digest = secret.as_deref().map(digest).unwrap_or_default();
        Ok(Self {
            record: ProviderRecord {
                name: name.to_owned(),
                user,
                secret_digest,
            },
            session: caller.session_id.clone(),
            secret,
        })
    }
}

impl Providers {
    /// Creates an empty list; Providers are connected to with these options.
    pub(crate) fn new(options: ClientOptions, allow_tcp: bool) -> Self {
        Self {
            states: Mutex::default(),
            options,
            space: RegistrySpace::default(),
            allow_tcp,
        }
    }

    /// Sets the address space whose NamespaceArray counts for forwarded requests.
    pub(crate) fn bind(&self, space: &Arc<AddressSpace>) {
        self.space.bind(space);
    }

    /// Returns the address space of the registry, for other gateways.
    pub(crate) fn space(&self) -> RegistrySpace {
        self.space.clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ProviderState>> {
        // Every change below is complete when the lock is released.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether `caller` may register: with the permission to add nodes, or over `opc.tcp` if everybody may.
    pub(crate) fn admit(&self, caller: &Caller) -> bool {
        is_engineer(caller) || self.allow_tcp && !caller.peer().is_local()
    }

    /// Returns whether Providers may register over `opc.tcp`.
    pub(crate) fn allows_tcp(&self) -> bool {
        self.allow_tcp
    }

    /// Returns the namespaces of all Providers.
    pub(crate) fn namespaces(&self) -> Vec<u16> {
        self.lock().values().map(|state| state.namespace).collect()
    }

    /// Returns the names and namespaces of the Providers that are connected and completely registered.
    pub(crate) fn available(&self) -> Vec<(String, u16)> {
        let states = self.lock();
        let available = states.values().filter(|state| state.is_available());
        available
            .map(|state| (state.record.name.clone(), state.namespace))
            .collect()
    }

    /// Returns all Providers, with the endpoints of those that are available.
    pub(crate) fn upstreams(&self) -> Vec<Upstream> {
        let states = self.lock();
        let upstream = |state: &ProviderState| Upstream {
            name: state.record.name.clone(),
            object: NodeId::numeric(state.namespace, model::provider::OBJECT),
            namespaces: vec![state.namespace],
            naming: Naming::same(self.space.clone()),
            fields: Vec::new(),
            endpoint: state
                .gateway
                .endpoint()
                .filter(|_| state.is_available())
                .map(|endpoint| (endpoint, state.gateway.options().clone())),
        };
        states.values().map(upstream).collect()
    }

    /// Runs `look` with the Provider of this name.
    pub(crate) fn with<R>(&self, name: &str, look: impl FnOnce(&ProviderState) -> R) -> Option<R> {
        self.lock().get(name).map(look)
    }

    /// Runs `look` with the Provider whose namespace has this index.
    pub(crate) fn with_namespace<R>(
        &self,
        namespace: u16,
        look: impl FnOnce(&ProviderState) -> R,
    ) -> Option<R> {
        self.lock()
            .values()
            .find(|state| state.namespace == namespace)
            .map(look)
    }

    /// Adds a Provider of the database.
    pub(crate) fn restore(&self, record: ProviderRecord, namespace: u16) {
        self.insert(ProviderState::new(
            record,
            namespace,
            &self.options,
            &self.space,
        ));
    }

    fn insert(&self, state: ProviderState) {
        self.lock().insert(state.record.name.clone(), state);
    }

    /// Adds a Provider that has just registered, and is connected.
    pub(crate) fn welcome(&self, newcomer: Newcomer, namespace: u16) {
        let mut state = ProviderState::new(newcomer.record, namespace, &self.options, &self.space);
        state.sessions.insert(newcomer.session.clone());
        if newcomer.secret.is_some() {
            state.first_session = Some(newcomer.session);
            state.secret = newcomer.secret;
        }
        state.show_available();
        self.insert(state);
    }

    /// Removes a Provider.
    pub(crate) fn forget(&self, name: &str) -> Option<ProviderState> {
        self.lock().remove(name)
    }

    /// Returns the name and the namespace of the Provider for which `caller` may act.
    pub(crate) fn speaker(&self, caller: &Caller) -> Option<(String, u16)> {
        let name = claimed_name(caller).filter(|_| self.admit(caller))?;
        let providers = self.lock();
        let state = providers.get(name)?;
        state
            .is_spoken_for_by(caller)
            .then(|| (name.to_owned(), state.namespace))
    }

    /// Notes an activated session: a known Provider is connected again.
    pub(crate) fn session_activated(&self, caller: &Caller) {
        let Some(name) = claimed_name(caller).filter(|_| self.admit(caller)) else {
            return;
        };
        if let Some(state) = self.lock().get_mut(name)
            && state.is_spoken_for_by(caller)
            && state.sessions.insert(caller.session_id.clone())
        {
            tracing::info!(provider = name, "connected");
            state.show_available();
        }
    }

    /// Sets whether the registration of the Provider with this namespace index is complete, or is being changed.
    pub(crate) fn set_complete(&self, namespace: u16, complete: bool) {
        let mut providers = self.lock();
        let state = providers
            .values_mut()
            .find(|state| state.namespace == namespace);
        if let Some(state) = state {
            state.complete = complete;
            state.show_available();
        }
    }

    /// Notes the end of a session or of its connection.
    pub(crate) fn session_gone(&self, session: &NodeId) {
        for state in self.lock().values_mut() {
            if state.sessions.remove(session) {
                if state.first_session.as_ref() == Some(session) {
                    // The secret is for this session only: nobody can fetch it later.
                    state.first_session = None;
                    state.secret = None;
                }
                if !state.is_connected() {
                    tracing::info!(provider = %state.record.name, "not connected");
                }
                state.show_available();
            }
        }
    }

    /// Returns the secret of the Provider that this session registered, once.
    pub(crate) fn issue_secret(&self, session: &NodeId) -> Result<String, StatusCode> {
        self.lock()
            .values_mut()
            .find(|state| state.first_session.as_ref() == Some(session))
            .and_then(|state| state.secret.take())
            .ok_or(StatusCode::BadUserAccessDenied)
    }

    /// Returns whether `password` is the secret of the Provider `name`.
    pub(crate) fn knows_secret(&self, name: &str, password: &[u8]) -> bool {
        let given = Sha256::digest(password);
        self.lock().get(name).is_some_and(|state| {
            let known = &state.record.secret_digest;
            // The position of the first difference in a digest reveals nothing about the secret.
            known.len() == given.len() && known.as_slice() == given.as_slice()
        })
    }
}

/// Returns the Provider name that `caller` claims: the user of its session, or the application that opened it.
pub(crate) fn claimed_name(caller: &Caller) -> Option<&str> {
    match &caller.user {
        UserIdentity::Application { name } => Some(name),
        // A user may act for any application that is not authenticated otherwise.
        _ => caller
            .application_uri
            .as_str()
            .strip_prefix(model::provider_uri("").as_str()),
    }
}

/// Returns whether `caller` may add the nodes of any Provider: its Roles permit it, and its identity is one by which a Provider is
/// known. Over `opc.tcp` that is a user or a secret, not the Unix user of a socket, which may be that of a relay.
pub(crate) fn is_engineer(caller: &Caller) -> bool {
    let is_known = match &caller.user {
        UserIdentity::Anonymous | UserIdentity::Application { .. } => caller.peer().is_local(),
        _ => true,
    };
    is_known && caller.roles.permissions() & PermissionType::AddNode != 0
}

fn digest(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

/// Returns 256 random bits as hexadecimal digits.
fn new_secret() -> Result<String, StatusCode> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|_| StatusCode::BadInternalError)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

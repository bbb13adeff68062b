//! A mirrored server as the Events and Methods of its Conditions need it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_ua::NodeId;

use crate::forwarding::{DeclaredField, Upstream};
use crate::forwarding::{Gateway, Naming};

/// A mirrored server, known to the thread of its mirror and to those that forward Events and Calls.
pub(super) struct Mirrored {
    name: String,
    folder: NodeId,
    naming: Naming,
    gateway: Arc<Gateway>,
    state: Mutex<State>,
}

/// Result of the last scan.
#[derive(Default)]
struct State {
    /// Indexes of the namespaces of instances at the registry.
    namespaces: Vec<u16>,
    fields: Vec<DeclaredField>,
}

impl Mirrored {
    pub(super) fn new(name: &str, folder: NodeId, naming: Naming, gateway: Arc<Gateway>) -> Self {
        Self {
            name: name.to_owned(),
            folder,
            naming,
            gateway,
            state: Mutex::default(),
        }
    }

    /// Sets the namespaces of its instances, and the fields that its EventTypes declare, with the NamespaceIndexes of the registry.
    pub(super) fn set(&self, namespaces: Vec<u16>, fields: Vec<DeclaredField>) {
        *self.state() = State { namespaces, fields };
    }

    /// Returns true if the last scan found the same namespaces.
    pub(super) fn has_namespaces(&self, namespaces: &[u16]) -> bool {
        self.state().namespaces == namespaces
    }

    /// Returns the server as the forwarder of Events needs it.
    pub(super) fn upstream(&self) -> Upstream {
        let state = self.state();
        let endpoint = self.gateway.endpoint();
        let endpoint = endpoint.filter(|_| self.gateway.is_available());
        Upstream {
            name: self.name.clone(),
            object: self.folder.clone(),
            namespaces: state.namespaces.clone(),
            naming: self.naming.clone(),
            fields: state.fields.clone(),
            endpoint: endpoint.map(|endpoint| (endpoint, self.gateway.options().clone())),
        }
    }

    /// Returns the gateway to the server if it has the instances of this namespace.
    pub(super) fn gateway_of(&self, namespace: u16) -> Option<Arc<Gateway>> {
        let is_own = self.state().namespaces.contains(&namespace);
        is_own.then(|| Arc::clone(&self.gateway))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete when the lock is released.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

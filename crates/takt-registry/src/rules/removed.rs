//! Providers whose nodes are being removed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::database::DatabaseError;

/// The Providers whose nodes are being removed. Nobody can register under their names.
pub(super) type Removals = HashMap<String, Arc<Removal>>;

/// The removal of one Provider's nodes.
pub(super) struct Removal {
    pub(super) name: String,
    /// Its own namespace, and those that it has added.
    pub(super) namespaces: Vec<u16>,
    /// True if the namespaces become free with the last node.
    pub(super) frees: AtomicBool,
    /// True if a step was lost or refused: the removal has to begin again.
    pub(super) has_failed: AtomicBool,
    /// Number of nodes removed since the last commit. Only the thread of the database uses it.
    pub(super) unsettled: AtomicUsize,
}

impl Removal {
    /// Notes that a step was lost or refused. The name stays taken, because nodes are left.
    pub(super) fn fail(&self, error: &DatabaseError) {
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            tracing::error!(
                provider = self.name,
                %error,
                "not all nodes could be removed; the others go when the Provider is forgotten or registered again, or with the \
                 next start of the registry"
            );
        }
    }
}

//! State of the administration of certificates: open files and the transaction.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use takt_crypto::{ApplicationSecurity, StoreError};
use takt_rt::memory_budget::MemoryBudget;
use takt_services::{AuditedAction, Server};
use takt_space::{Caller, Peer, UserRole};
use takt_ua::{DateTime, NodeId, StatusCode};

use super::state::State;

/// Memory in bytes for open trust lists and changes that wait.
const MEMORY: usize = 8 << 20;

/// The administration of the certificates of a server. One thread changes it.
pub(super) struct Administration {
    pub(super) security: Arc<ApplicationSecurity>,
    pub(super) application_uri: String,
    pub(super) memory: MemoryBudget,
    server: Weak<Server>,
    state: Mutex<State>,
}

/// The call of a Method.
pub(super) struct Call<'a> {
    pub(super) caller: &'a Caller,
    pub(super) object_id: &'a NodeId,
    pub(super) method_id: &'a NodeId,
}

/// Checks that the caller administers security (OPC 10000-12, 7.2), on a channel that nobody else reads.
pub(super) fn check(caller: &Caller) -> Result<(), StatusCode> {
    let is_readable = !caller.channel.security.is_encrypted();
    match caller.peer() {
        Peer::Tcp { .. } if is_readable => Err(StatusCode::BadSecurityModeInsufficient),
        _ if caller.roles.contains(UserRole::SecurityAdmin) => Ok(()),
        _ => Err(StatusCode::BadUserAccessDenied),
    }
}

impl Administration {
    pub(super) fn new(server: &Arc<Server>, security: &Arc<ApplicationSecurity>) -> Self {
        Self {
            security: Arc::clone(security),
            application_uri: server.application_uri().to_owned(),
            memory: server.memory_of_sessions().part(MEMORY),
            // The server owns the Methods that use this: a strong reference would keep it for ever.
            server: Arc::downgrade(server),
            state: Mutex::default(),
        }
    }

    /// Returns the state. The lock is not held while files are read or written.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the files and discards the transaction of Sessions that have ended, or that nobody uses. Returns true if others are
    /// left.
    pub(super) fn forget_unused(&self) -> bool {
        let Some(server) = self.server.upgrade() else {
            return false;
        };
        let mut state = self.state();
        state.forget(Instant::now(), |session| server.session_requests(session));
        state.is_in_use()
    }

    pub(super) fn open_count(&self) -> u16 {
        self.forget_unused();
        self.state().files.count()
    }

    /// Returns the time of the last change of the folders, by whatever means.
    pub(super) fn last_update_time(&self) -> DateTime {
        self.security.store().last_change().into()
    }

    /// Records an update.
    pub(super) fn audit(&self, call: &Call<'_>, action: AuditedAction<'_>, status: StatusCode) {
        if let Some(server) = self.server.upgrade() {
            server.audit_of(call.caller, action, status);
        }
    }
}

/// Logs a mistake of the client, or an error of the folders, such as a full disk, and returns the StatusCode for the client.
pub(super) fn refuse(error: &StoreError) -> StatusCode {
    match error {
        StoreError::Creation(error) if error.is_of_client() => {
            tracing::warn!(%error, "a request of an administrator is refused");
            StatusCode::BadInvalidArgument
        }
        StoreError::OlderList { .. } => {
            tracing::warn!(%error, "a revocation list of an administrator is refused");
            StatusCode::BadResourceUnavailable
        }
        error => {
            tracing::error!(%error, "the folders of certificates could not be changed");
            StatusCode::BadResourceUnavailable
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_crypto::CreationError;

    use super::*;

    #[test]
    fn mistakes_of_clients_are_no_errors_of_the_folders() {
        for (error, status) in [
            (CreationError::Subject, StatusCode::BadInvalidArgument),
            (CreationError::Random, StatusCode::BadResourceUnavailable),
        ] {
            assert_eq!(refuse(&StoreError::from(error)), status);
        }
    }
}

//! Counters for the ServerDiagnosticsSummary (OPC 10000-5, 12.9).
//!
//! They are read without a lock: a client may monitor them, and MonitoredItems are sampled under the lock of all Subscriptions.

use std::sync::atomic::{AtomicU32, Ordering};

use takt_ua::StatusCode;

use crate::responses::fault::Fault;

/// Counts of events since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    pub(crate) sessions: Counter,
    pub(crate) sessions_rejected: Counter,
    pub(crate) sessions_rejected_for_security: Counter,
    pub(crate) sessions_timed_out: Counter,
    /// Sessions that were closed to make room for others.
    pub(crate) sessions_aborted: Counter,
    pub(crate) requests_rejected: Counter,
    pub(crate) requests_rejected_for_security: Counter,
}

/// A number of events.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU32);

impl Counter {
    pub(crate) fn add(&self, events: usize) {
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        // Only the number itself is shared between threads, so no other memory has to be ordered with it.
        self.0.fetch_add(events, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Diagnostics {
    /// Counts a request that is refused as a whole.
    #[cold]
    pub(crate) fn rejected(&self, Fault(status): Fault) {
        self.requests_rejected.add(1);
        if is_for_security(status) {
            self.requests_rejected_for_security.add(1);
        }
    }

    /// Counts a Session that could not be created or activated.
    #[cold]
    pub(crate) fn session_rejected(&self, status: StatusCode) {
        self.sessions_rejected.add(1);
        if is_for_security(status) {
            self.sessions_rejected_for_security.add(1);
        }
    }
}

/// Returns true if a status says that the identity or the security of a client is not sufficient.
fn is_for_security(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BadUserAccessDenied
            | StatusCode::BadIdentityTokenInvalid
            | StatusCode::BadIdentityTokenRejected
            | StatusCode::BadSecureChannelIdInvalid
            | StatusCode::BadSessionIdInvalid
    )
}

//! Audit records of actions that are not part of a request.

use takt_space::Caller;
use takt_ua::{DateTime, StatusCode};

use crate::audit::{AuditRecord, AuditedAction};
use crate::server::Server;

impl Server {
    /// Records an action of `caller` that is not part of a request, if there is an [`AuditSink`](crate::AuditSink).
    pub fn audit_of(&self, caller: &Caller, action: AuditedAction<'_>, status: StatusCode) {
        if let Some(sink) = self.audit() {
            sink.record(&AuditRecord {
                action,
                time: DateTime::now(),
                status,
                caller,
                claimed_user: None,
                client_audit_entry_id: None,
                server_id: self.application_uri(),
            });
        }
    }
}

//! Receivers of audit records, and records of actions that are not part of a request.

use takt_space::Caller;
use takt_ua::{DateTime, StatusCode};

use crate::audit::{AuditRecord, AuditSink, AuditedAction};
use crate::events::audit::event_of;
use crate::events::queue::EventQueue;
use crate::server::Server;

/// The receivers of audit records: the sink of the application, and clients that monitor Events.
#[derive(Clone, Copy)]
pub(crate) struct Auditor<'a> {
    pub(crate) sink: Option<&'a dyn AuditSink>,
    pub(crate) events: Option<&'a EventQueue>,
}

impl Auditor<'_> {
    /// Takes a record.
    #[cold]
    pub(crate) fn record(&self, record: &AuditRecord<'_>) {
        if let Some(sink) = self.sink {
            sink.record(record);
        }
        if let Some(events) = self.events {
            events.report(event_of(record));
        }
    }
}

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

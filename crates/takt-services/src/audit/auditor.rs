//! Receivers of audit records.

use super::event::event_of;
use super::record::{AuditRecord, AuditSink};
use crate::events::queue::EventQueue;

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

//! Events of a server on their way to the recorder.

use std::sync::Arc;

use takt_services::EventRecorder;
use takt_space::Event;
use takt_ua::{DateTime, NodeId};

use super::event_times::{id_of, time_of};
use super::inbox::{ArrivedEvent, Inbox};
use super::recorded::RecordedVariables;

/// Takes the Events of the server, on its serving thread: it only encodes them.
pub(super) struct EventTap {
    pub(super) inbox: Arc<Inbox>,
    pub(super) notifiers: Arc<RecordedVariables>,
}

impl EventRecorder for EventTap {
    fn record(&self, event: &Event, notifiers: &[NodeId]) {
        let recorded = notifiers
            .iter()
            .filter(|node| self.notifiers.is_wanted(node));
        let mut recorded = recorded.peekable();
        if recorded.peek().is_none() {
            return;
        }
        let time = time_of(event).unwrap_or_else(DateTime::now);
        match event.to_record(takt_history::MAX_VALUE) {
            Some(record) => recorded.for_each(|notifier| {
                self.inbox.event_arrives(ArrivedEvent {
                    notifier: notifier.clone(),
                    time,
                    id: id_of(event),
                    record: record.clone(),
                });
            }),
            None => self.inbox.lose(1),
        }
    }
}

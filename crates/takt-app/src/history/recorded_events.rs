//! Events of notifiers on the thread that records.

use takt_history::{HistoryRecord, MAX_VALUE};
use takt_space::{AddressSpaceError, Event};
use takt_ua::{DateTime, NodeId, StatusCode, ids};

use super::event_times::{Place, id_of};
use super::inbox::ArrivedEvent;
use super::recorded::Recorded;
use super::worker::Worker;

impl Worker {
    /// Begins to record the Events of a notifier.
    pub(super) fn begin_notifier(&mut self, node: NodeId, name: &str) {
        let Some(space) = self.space.upgrade() else {
            return;
        };
        // No path of a Variable begins with a slash.
        let key = match self.store.variable(&format!("/events/{name}"), None) {
            Ok(key) => key,
            Err(error) => {
                self.notifiers.refuse(&node);
                tracing::warn!(%node, %error, "history: Events are not recorded");
                return;
            }
        };
        self.times.begin(key, &self.store.reader());
        let is_shown = space.set_historized(&node, true).and_then(|()| {
            // All notifiers have the same fields.
            let added = space.edit().add_reference(
                &node,
                &NodeId::from(ids::HAS_PROPERTY),
                true,
                &NodeId::from(ids::HISTORICAL_EVENT_FILTER).into(),
            );
            match added {
                Err(AddressSpaceError::DuplicateReference { .. }) => Ok(()),
                added => added,
            }
        });
        if let Err(error) = is_shown {
            self.notifiers.refuse(&node);
            tracing::warn!(%node, %error, "history: Events are not recorded");
            return;
        }
        let stepped = true;
        self.notifiers.set(node, Recorded { key, stepped });
    }

    pub(super) fn take_event(&mut self, event: ArrivedEvent) {
        let Some(recorded) = self.notifiers.get(&event.notifier) else {
            return;
        };
        let key = recorded.key;
        let ArrivedEvent {
            time,
            mut id,
            mut record,
            ..
        } = event;
        if let Some(map) = self.map_to_file()
            && let Ok(mut event) = Event::of_record(&record)
        {
            event.renumber(map);
            id = id_of(&event);
            let Some(renumbered) = event.to_record(MAX_VALUE) else {
                return self.inbox.lose(1);
            };
            record = renumbered;
        }
        let time = match self.times.place(key, (time, id), &self.store.reader()) {
            Place::Free(time) => time,
            Place::Recorded => return,
            Place::Full => return self.inbox.lose(1),
        };
        let record = HistoryRecord {
            source_timestamp: time,
            server_timestamp: DateTime::now(),
            status: StatusCode::Good,
            value: record,
        };
        self.push(key, record);
    }
}

//! Times of Events and of their records.

use std::collections::{BTreeMap, HashMap, HashSet};

use takt_history::{Records, StoreReader, VariableKey};
use takt_space::Event;
use takt_ua::binary::Encode;
use takt_ua::{DateTime, Variant};

/// Longest time in ticks of 100 ns by which a record is later than its Event: 1 ms.
pub(super) const SPREAD: i64 = 10_000;

/// Returns the Time of an Event; `None`: it has no valid one.
pub(super) fn time_of(event: &Event) -> Option<DateTime> {
    match event.named("Time") {
        Some(Variant::DateTime(time)) if time.0 > 0 => Some(*time),
        _ => None,
    }
}

/// Returns what tells an Event from all others with its Time: EventId, source and Condition; empty if it has no EventId.
///
/// Two mirrors of one server have the same Events, with the same EventIds and with sources of their own.
pub(super) fn id_of(event: &Event) -> Vec<u8> {
    let Some(Variant::ByteString(id)) = event.named("EventId") else {
        return Vec::new();
    };
    if id.as_ref().is_empty() {
        return Vec::new();
    }
    let parts = [
        id.encode_to_vec(),
        event.source().encode_to_vec(),
        event.condition().encode_to_vec(),
    ];
    parts.concat()
}

/// The place of an Event in the history of a notifier.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its record gets this time.
    Free(DateTime),
    /// The Event is recorded already: a server repeats the last Events of its Conditions for each new Subscription.
    Recorded,
    /// No time is free within [`SPREAD`].
    Full,
}

/// Times of the records of Events. The store has one record of a notifier at a time, and several Events may have the same Time: a
/// later one gets the next free tick of 100 ns, at most [`SPREAD`] later.
#[derive(Default)]
pub(super) struct EventTimes {
    notifiers: HashMap<VariableKey, Times>,
}

#[derive(Default)]
struct Times {
    /// Latest time of all records.
    last: i64,
    /// Times of records that wait for a commit, with the [ids](id_of) of the Events.
    waiting: BTreeMap<i64, Vec<u8>>,
    /// A Time, and the ids of the Events that are recorded at it; they are read once for many Events with the same Time.
    known: Option<(i64, HashSet<Vec<u8>>)>,
    /// Time of the last Event, and the time that its record got.
    given: (i64, i64),
}

impl EventTimes {
    /// Begins with a notifier, whose records are in the store.
    pub(super) fn begin(&mut self, key: VariableKey, store: &StoreReader) {
        let last = store.records(key).ok().and_then(|mut records| {
            let last = records.at_or_before(DateTime(i64::MAX)).ok()??;
            Some(last.source_timestamp.0)
        });
        let times = self.notifiers.entry(key).or_default();
        times.last = last.unwrap_or(i64::MIN);
    }

    /// Returns the place of an Event with this Time and [id](id_of).
    pub(super) fn place(
        &mut self,
        key: VariableKey,
        (time, id): (DateTime, Vec<u8>),
        store: &StoreReader,
    ) -> Place {
        let times = self.notifiers.entry(key).or_default();
        if times.is_recorded(key, time.0, &id, store) {
            return Place::Recorded;
        }
        // Many Events with one Time come together: the search goes on behind the last of them.
        let mut free = match times.given.0 == time.0 {
            true => times.given.1.saturating_add(1),
            false => time.0,
        };
        // Behind the latest record every time is free.
        if free <= times.last {
            let mut stored = store.records(key).ok();
            let mut is_stored = |at: i64| {
                let found = stored
                    .as_mut()
                    .and_then(|records| records.at_or_after(DateTime(at)).ok().flatten());
                found.is_some_and(|record| record.source_timestamp.0 == at)
            };
            let last = time.0.saturating_add(SPREAD);
            while free <= last && (times.waiting.contains_key(&free) || is_stored(free)) {
                free = free.saturating_add(1);
            }
        }
        if free > time.0.saturating_add(SPREAD) {
            return Place::Full;
        }
        times.given = (time.0, free);
        times.last = times.last.max(free);
        if let Some((at, known)) = &mut times.known
            && *at == time.0
        {
            known.insert(id.clone());
        }
        times.waiting.insert(free, id);
        Place::Free(DateTime(free))
    }

    /// Forgets the records that wait: they are in the store now, or lost.
    pub(super) fn committed(&mut self) {
        for times in self.notifiers.values_mut() {
            times.waiting.clear();
            // These ids may be those of lost records: the store has the others.
            times.known = None;
        }
    }
}

impl Times {
    /// Returns true if an Event with this Time and id is recorded.
    fn is_recorded(&mut self, key: VariableKey, time: i64, id: &[u8], store: &StoreReader) -> bool {
        // Nothing is recorded behind the latest record, and nothing can be found without an id.
        if time > self.last || id.is_empty() {
            return false;
        }
        let known = match self.known.take_if(|(known, _)| *known == time) {
            Some((_, known)) => known,
            None => self.ids_at(key, time, store),
        };
        let is_recorded = known.contains(id);
        self.known = Some((time, known));
        is_recorded
    }

    /// Returns the ids of the Events that are recorded at this Time.
    fn ids_at(&self, key: VariableKey, time: i64, store: &StoreReader) -> HashSet<Vec<u8>> {
        let last = time.saturating_add(SPREAD);
        let waiting = self.waiting.range(time..=last);
        let mut ids: HashSet<_> = waiting.map(|(_, id)| id.clone()).collect();
        let Ok(mut records) = store.records(key) else {
            return ids;
        };
        let mut from = time;
        while let Ok(Some(record)) = records.at_or_after(DateTime(from)) {
            let at = record.source_timestamp.0;
            if at > last {
                break;
            }
            if let Ok(event) = Event::of_record(record.value) {
                ids.insert(id_of(&event));
            }
            from = at.saturating_add(1);
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use takt_history::{HistoryRecord, HistoryStoreOptions, Store, StoreTime};
    use takt_ua::{ByteString, NodeId, StatusCode, ids};

    use super::*;

    fn event(time: i64, id: &[u8]) -> Event {
        let event = Event::new(ids::SYSTEM_EVENT_TYPE, ids::SERVER);
        event
            .field("Time", DateTime(time))
            .field("EventId", ByteString::from(id))
    }

    #[test]
    fn events_of_two_mirrors_of_one_server_differ() {
        let of = |namespace| {
            let source = NodeId::numeric(namespace, 7);
            let event = Event::new(ids::SYSTEM_EVENT_TYPE, source.clone());
            let id = ByteString::from(b"a");
            (
                source,
                event.field("Time", DateTime(100)).field("EventId", id),
            )
        };
        let ((_, left), (source, right)) = (of(2), of(3));
        assert_eq!(id_of(&left), id_of(&of(2).1));
        assert_ne!(id_of(&left), id_of(&right));
        assert_ne!(id_of(&right), id_of(&right.clone().of_condition(source)));
        let without = Event::new(ids::SYSTEM_EVENT_TYPE, NodeId::numeric(2, 7));
        assert!(id_of(&without).is_empty());
    }

    #[test]
    fn an_event_is_recorded_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.redb");
        let mut store = Store::open(&path, HistoryStoreOptions::default()).unwrap();
        let key = store.variable("/events/Server", None).unwrap();
        let mut times = EventTimes::default();
        let place = |times: &mut EventTimes, store: &Store, at, id: &[u8]| {
            let event = event(at, id);
            let at = (time_of(&event).unwrap(), id_of(&event));
            times.place(key, at, &store.reader())
        };
        let free = |at| Place::Free(DateTime(at));
        times.begin(key, &store.reader());
        assert_eq!(place(&mut times, &store, 100, b"a"), free(100));
        assert_eq!(place(&mut times, &store, 100, b"b"), free(101));
        assert_eq!(place(&mut times, &store, 100, b"a"), Place::Recorded);
        let records = [(100, b"a"), (101, b"b")].map(|(at, id)| {
            let record = HistoryRecord {
                source_timestamp: DateTime(at),
                server_timestamp: DateTime(at),
                status: StatusCode::Good,
                value: event(100, id).to_record(1 << 10).unwrap(),
            };
            (key, record)
        });
        store.append(records.into(), StoreTime::now()).unwrap();
        times.committed();
        assert_eq!(place(&mut times, &store, 100, b"b"), Place::Recorded);
        // After a restart.
        let mut times = EventTimes::default();
        times.begin(key, &store.reader());
        assert_eq!(place(&mut times, &store, 100, b"a"), Place::Recorded);
        assert_eq!(place(&mut times, &store, 100, b"c"), free(102));
        assert_eq!(place(&mut times, &store, 100, b"c"), Place::Recorded);
        assert_eq!(place(&mut times, &store, 300, b"d"), free(300));
        // Events without an EventId are all recorded.
        assert_eq!(place(&mut times, &store, 300, b""), free(301));
        assert_eq!(place(&mut times, &store, 300, b""), free(302));
    }
}

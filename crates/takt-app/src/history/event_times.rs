//! Times of Events and of their records.

use std::collections::{BTreeSet, HashMap};

use takt_history::{Records, StoreReader, VariableKey};
use takt_space::Event;
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
    /// Times of records that wait for a commit.
    waiting: BTreeSet<i64>,
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

    /// Returns a free time for a record, `time` or later; `None`: there is none within [`SPREAD`].
    pub(super) fn free(
        &mut self,
        key: VariableKey,
        time: DateTime,
        store: &StoreReader,
    ) -> Option<DateTime> {
        let times = self.notifiers.entry(key).or_default();
        let mut free = match times.given.0 == time.0 {
            true => times.given.1.saturating_add(1),
            false => time.0,
        };
        if free <= times.last {
            let mut stored = store.records(key).ok();
            let mut is_stored = |at: i64| {
                let found = stored
                    .as_mut()
                    .and_then(|records| records.at_or_after(DateTime(at)).ok().flatten());
                found.is_some_and(|record| record.source_timestamp.0 == at)
            };
            let last = time.0.saturating_add(SPREAD);
            while free <= last && (times.waiting.contains(&free) || is_stored(free)) {
                free = free.saturating_add(1);
            }
        }
        if free > time.0.saturating_add(SPREAD) {
            return None;
        }
        times.given = (time.0, free);
        times.last = times.last.max(free);
        times.waiting.insert(free);
        Some(DateTime(free))
    }

    /// Forgets the records that wait: they are in the store now, or lost.
    pub(super) fn committed(&mut self) {
        for times in self.notifiers.values_mut() {
            times.waiting.clear();
        }
    }
}

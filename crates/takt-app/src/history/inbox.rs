//! Work that other threads leave for the thread of the recorder.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use takt_history::{HistoryRecord, VariableKey};
use takt_ua::binary::Encode;
use takt_ua::{DataValue, DateTime, NodeId, StatusCode};

use super::recorded::HistoryCounts;
use super::recording::Recording;

/// Bytes of values that wait for a commit; more are lost.
pub(super) const MAX_WAITING: usize = 32 << 20;

/// Bytes of a waiting record beside its value.
pub(super) const RECORD: usize = size_of::<(VariableKey, HistoryRecord)>();

/// The work, and the numbers of records.
#[derive(Default)]
pub(super) struct Inbox {
    state: Mutex<State>,
    /// Notified of work that does not wait for the next commit.
    changed: Condvar,
    recorded: AtomicU64,
    lost: AtomicU64,
}

#[derive(Default)]
struct State {
    work: Work,
    /// Bytes of samples and Events.
    bytes: usize,
    /// True while the thread waits for the first sample or Event after a commit.
    is_asleep: bool,
    /// True if nothing is recorded.
    is_closed: bool,
}

/// The work since the last time.
#[derive(Default)]
pub(super) struct Work {
    /// Variables that the thread has not begun with.
    pub(super) added: Vec<(NodeId, String, Recording)>,
    /// Samples that came from other threads.
    pub(super) arrived: Vec<(usize, Sample)>,
    /// Variables with samples for which there was no room, and the time of the first one.
    pub(super) lost: HashMap<usize, DateTime>,
    /// Notifiers that the thread has not begun with.
    pub(super) notifiers: Vec<(NodeId, String)>,
    /// Events that arrived.
    pub(super) events: Vec<ArrivedEvent>,
    pub(super) is_ending: bool,
}

impl Work {
    /// Returns true if there are samples or Events.
    pub(super) fn has_records(&self) -> bool {
        !self.arrived.is_empty() || !self.events.is_empty()
    }
}

/// An Event at a notifier.
pub(super) struct ArrivedEvent {
    pub(super) notifier: NodeId,
    pub(super) time: DateTime,
    /// EventId, source and Condition; empty if there is no EventId.
    pub(super) id: Vec<u8>,
    pub(super) record: Vec<u8>,
}

/// A value at the time of its arrival.
pub(super) struct Sample {
    /// Encoded Variant; empty without a value.
    pub(super) value: Vec<u8>,
    pub(super) status: StatusCode,
    pub(super) source_timestamp: Option<DateTime>,
    pub(super) arrived: DateTime,
    /// The time of arrival on the monotonic clock.
    pub(super) at: Instant,
}

/// Greatest time of a record: that of the store.
const LATEST: i64 = i64::MAX / 4;

impl Sample {
    pub(super) fn of(value: &DataValue) -> Self {
        Self {
            value: value
                .value
                .as_ref()
                .map(Encode::encode_to_vec)
                .unwrap_or_default(),
            status: value.status_code(),
            source_timestamp: value.source_timestamp,
            arrived: DateTime::now(),
            at: Instant::now(),
        }
    }

    /// Returns the time of its record: its source timestamp if that is later than the last record, and otherwise the time of its
    /// arrival. An old source timestamp belongs to an unchanged value, also if there was no answer in between.
    ///
    /// `before` is the source timestamp of the sample before, `last` the time of the last record.
    pub(super) fn time(&self, before: Option<DateTime>, last: Option<DateTime>) -> DateTime {
        let is_possible = |time: &DateTime| (0..LATEST).contains(&time.0);
        let Some(time) = self.source_timestamp.filter(is_possible) else {
            return self.arrived;
        };
        // After the clock of this host was set back, new records are older than the last one, too.
        let is_behind = last.is_some_and(|last| time <= last && self.arrived > last);
        match is_behind || before == Some(time) {
            true => self.arrived,
            false => time,
        }
    }
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a Variable.
    pub(super) fn add(&self, node: NodeId, name: String, recording: Recording) {
        let mut state = self.state();
        if !state.is_closed {
            state.work.added.push((node, name, recording));
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Adds a notifier.
    pub(super) fn add_notifier(&self, node: NodeId, name: String) {
        let mut state = self.state();
        if !state.is_closed {
            state.work.notifiers.push((node, name));
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Asks the thread to end.
    pub(super) fn end(&self) {
        self.state().work.is_ending = true;
        self.changed.notify_one();
    }

    /// Takes no more work: nothing can be recorded.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        self.lose(state.work.events.len() as u64);
        state.work = Work::default();
    }

    /// Takes a sample from another thread.
    pub(super) fn arrive(&self, index: usize, sample: Sample) {
        let (bytes, arrived) = (sample.value.len(), sample.arrived);
        let is_lost = !self.put(bytes, |work| work.arrived.push((index, sample)));
        if is_lost {
            self.state().work.lost.entry(index).or_insert(arrived);
        }
    }

    /// Takes an Event from another thread.
    pub(super) fn event_arrives(&self, event: ArrivedEvent) {
        self.put(event.record.len(), |work| work.events.push(event));
    }

    /// Adds a record of `bytes`, if there is room for it, and returns true then. Later ones do not wake the thread before the commit.
    fn put(&self, bytes: usize, put: impl FnOnce(&mut Work)) -> bool {
        let mut state = self.state();
        if state.is_closed || state.bytes + bytes + RECORD > MAX_WAITING {
            self.lose(1);
            return false;
        }
        state.bytes += bytes + RECORD;
        put(&mut state.work);
        if std::mem::take(&mut state.is_asleep) {
            drop(state);
            self.changed.notify_one();
        }
        true
    }

    /// Waits until this time, until there is work that does not wait for a commit, or, without a commit ahead, until there is any work;
    /// takes all work.
    pub(super) fn wait(&self, until: Option<Instant>, has_commit: bool) -> Work {
        let mut state = self.state();
        loop {
            let work = &state.work;
            let is_urgent = !work.added.is_empty() || !work.notifiers.is_empty() || work.is_ending;
            if is_urgent || work.has_records() && !has_commit {
                break;
            }
            state.is_asleep = !has_commit;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            state = match left {
                Some(left) if left.is_zero() => break,
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.is_asleep = false;
        state.bytes = 0;
        // The end holds for later calls, too.
        let is_ending = state.work.is_ending;
        std::mem::replace(
            &mut state.work,
            Work {
                is_ending,
                ..Work::default()
            },
        )
    }

    /// Counts records that are durable.
    pub(super) fn recorded(&self, count: u64) {
        self.recorded.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts lost records.
    pub(super) fn lose(&self, count: u64) {
        self.lost.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the numbers of records.
    pub(super) fn counts(&self) -> HistoryCounts {
        HistoryCounts {
            recorded: self.recorded.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_source_timestamp_is_not_the_time_of_a_record() {
        let at = |number| Some(DateTime(number));
        for (source, before, last, expected) in [
            (None, None, None, 100),
            (at(50), None, None, 50),
            (at(99), at(50), at(50), 99),
            // An unchanged value is sampled again.
            (at(50), at(50), at(50), 100),
            // The value was written before an earlier sample had no answer.
            (at(50), None, at(80), 100),
            // The last record says that the registry was stopped.
            (at(50), None, at(51), 100),
            // The clock of the host was set back.
            (at(99), at(500), at(500), 99),
            (at(50), at(50), at(500), 100),
            // The store has no such times.
            (at(-1), None, None, 100),
            (at(i64::MAX), None, None, 100),
        ] {
            let sample = Sample {
                value: Vec::new(),
                status: StatusCode::Good,
                source_timestamp: source,
                arrived: DateTime(100),
                at: Instant::now(),
            };
            let found = sample.time(before, last);
            assert_eq!(found, DateTime(expected), "{source:?} {before:?} {last:?}");
        }
    }
}

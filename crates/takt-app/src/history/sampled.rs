//! A Variable that is recorded, and the ways in which its values come from other threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use takt_history::VariableKey;
use takt_space::{
    ChangeObserver, RemoteOperations, RemoteRead, RemoteReply, RemoteRequest, RemoteResults,
    StoredValue,
};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode};

use super::inbox::{Inbox, Sample};
use super::recording::Recording;

/// Longest time that a value of another server or a worker is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Delay of a sample beside two intervals, above which the value before it was not known.
const LATE: Duration = Duration::from_secs(2);

/// Step of the real-time clock forward in ticks, above which the skipped time is a gap: 1 s.
const STEP: i64 = 10_000_000;

/// A Variable that is recorded.
pub(super) struct Sampled {
    pub(super) node: NodeId,
    pub(super) key: VariableKey,
    pub(super) recording: Recording,
    pub(super) due: Instant,
    /// The last recorded sample: value, StatusCode and source timestamp of its source.
    pub(super) last: Option<(Vec<u8>, StatusCode, Option<DateTime>)>,
    /// True if the last change was lost: the present value is recorded.
    pub(super) is_missing: bool,
    /// Arrival of the last sample on both clocks, recorded or not.
    pub(super) seen: Option<(DateTime, Instant)>,
    /// Time of the last record.
    pub(super) last_time: Option<DateTime>,
    /// True while another thread is asked for a value.
    pub(super) is_asked: Arc<AtomicBool>,
    /// Observer of a stored value whose changes are recorded, and that value.
    pub(super) observer: Option<(Arc<Observer>, Weak<StoredValue>)>,
}

impl Sampled {
    pub(super) fn new(
        node: NodeId,
        (key, recording): (VariableKey, Recording),
        last_time: Option<DateTime>,
    ) -> Self {
        Self {
            node,
            key,
            recording,
            due: Instant::now(),
            last: None,
            is_missing: false,
            seen: None,
            last_time,
            is_asked: Arc::default(),
            observer: None,
        }
    }

    /// Takes note of a sample. Returns the time since when the value was not known before it: the thread did not sample, or the clock
    /// was set forward, or the machine slept.
    pub(super) fn see(&mut self, sample: &Sample) -> Option<DateTime> {
        let (arrived, at) = self.seen.replace((sample.arrived, sample.at))?;
        let passed = sample.at.saturating_duration_since(at);
        // An observed value reports all its changes.
        let is_late = self.observer.is_none() && passed > LATE + 2 * self.recording.interval;
        if is_late {
            return Some(DateTime(arrived.0.saturating_add(1)));
        }
        let passed = i64::try_from(passed.as_nanos() / 100).unwrap_or(i64::MAX);
        let expected = arrived.0.saturating_add(passed);
        (sample.arrived.0.saturating_sub(expected) > STEP).then_some(DateTime(expected))
    }

    /// Observes a stored value, unless it is observed already.
    pub(super) fn observe(&mut self, index: usize, stored: &Arc<StoredValue>, inbox: &Arc<Inbox>) {
        let known = self.observer.as_ref();
        // The Weak keeps the address from being used for another value.
        if known.is_some_and(|(_, known)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(stored))) {
            return;
        }
        let observer = Arc::new(Observer {
            index,
            inbox: Arc::clone(inbox),
        });
        stored.observe(&observer);
        self.observer = Some((observer, Arc::downgrade(stored)));
    }

    /// Asks another server or a worker for the value.
    pub(super) fn ask(
        &mut self,
        index: usize,
        remote: &takt_space::RemoteValue,
        inbox: &Arc<Inbox>,
    ) {
        // One question at a time, however slow the source is.
        if self.is_asked.swap(true, Ordering::AcqRel) {
            return;
        }
        remote.source.forward(RemoteRequest {
            operations: RemoteOperations::Read(vec![RemoteRead {
                node_id: remote.node_id.clone(),
                index_range: String::new(),
                max_age: 0.0,
            }]),
            client: 0,
            caller: None,
            size: size_of::<RemoteRead>(),
            deadline: Instant::now() + PATIENCE,
            hint: None,
            reply: Box::new(Asked {
                index,
                inbox: Arc::clone(inbox),
                is_asked: Arc::clone(&self.is_asked),
                answer: None,
            }),
        });
    }
}

/// Observer of a stored value.
pub(super) struct Observer {
    index: usize,
    inbox: Arc<Inbox>,
}

impl ChangeObserver for Observer {
    fn changed(
        self: Arc<Self>,
        _: &StoredValue,
        encoded: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> bool {
        let sample = Sample {
            value: encoded.to_vec(),
            status,
            source_timestamp: Some(source_timestamp),
            arrived: DateTime::now(),
            at: Instant::now(),
        };
        self.inbox.arrive(self.index, sample);
        true
    }
}

/// A value that another thread is asked for. It becomes a sample at the latest when this is dropped.
struct Asked {
    index: usize,
    inbox: Arc<Inbox>,
    is_asked: Arc<AtomicBool>,
    answer: Option<DataValue>,
}

impl RemoteReply for Asked {
    fn is_awaited(&self) -> bool {
        true
    }

    fn answer(mut self: Box<Self>, results: RemoteResults) {
        if let RemoteResults::Read(values) = results {
            self.answer = values.into_iter().next();
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let no_answer = || DataValue::status(StatusCode::BadNoCommunication);
        let value = self.answer.take().unwrap_or_else(no_answer);
        self.inbox.arrive(self.index, Sample::of(&value));
        // After the sample, so that the one of the next question cannot come before it.
        self.is_asked.store(false, Ordering::Release);
    }
}

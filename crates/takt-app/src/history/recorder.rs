//! Thread that samples values and commits them to the store.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_history::{HistoryRecord, Records, Store, VariableKey};
use takt_space::{
    AddressSpace, ChangeObserver, RemoteOperations, RemoteRead, RemoteReply, RemoteRequest,
    RemoteResults, StoredValue, Value,
};
use takt_ua::binary::Encode;
use takt_ua::{DataValue, DateTime, NodeId, StatusCode};

use super::event_tap::{EventTap, EventTimes};
use super::limits::{COMMIT_INTERVAL, MAX_RECORDED};
use super::recorded::{HistoryCounts, Recorded, RecordedVariables};
use super::recording::Recording;

/// Bytes of values that wait for a commit; more are lost.
const MAX_WAITING: usize = 32 << 20;

/// The same after a failed commit: the next attempt shall fit a disk with little space.
const MAX_ATTEMPT: usize = 1 << 20;

/// Bytes of a waiting record beside its value.
const RECORD: usize = size_of::<(VariableKey, HistoryRecord)>();

/// Time after a failed commit until the next attempt.
const PAUSE: Duration = Duration::from_secs(2);

/// Longest time that a value of another server or a worker is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The thread. Dropping this commits what was recorded, and ends it.
pub(super) struct Recorder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Notified of new Variables, and of the end.
    changed: Condvar,
    recorded: AtomicU64,
    lost: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Variables that the thread has not begun with.
    added: Vec<(NodeId, String, Recording)>,
    /// Samples that came from other threads.
    arrived: Vec<(usize, Sample)>,
    /// Notifiers that the thread has not begun with.
    notifiers: Vec<(NodeId, String)>,
    /// Events that arrived.
    events: Vec<ArrivedEvent>,
    /// Bytes of `arrived` and `events`.
    bytes: usize,
    is_ending: bool,
}

/// The notifier, the time and the record of an Event.
pub(super) type ArrivedEvent = (VariableKey, DateTime, Vec<u8>);

/// Work that other threads have left for the thread.
struct Left {
    added: Vec<(NodeId, String, Recording)>,
    arrived: Vec<(usize, Sample)>,
    notifiers: Vec<(NodeId, String)>,
    events: Vec<ArrivedEvent>,
    is_ending: bool,
}

/// A value at the time of its arrival.
struct Sample {
    /// Encoded Variant; empty without a value.
    value: Vec<u8>,
    status: StatusCode,
    source_timestamp: Option<DateTime>,
    arrived: DateTime,
}

impl Sample {
    fn of(value: &DataValue) -> Self {
        Self {
            value: value
                .value
                .as_ref()
                .map(Encode::encode_to_vec)
                .unwrap_or_default(),
            status: value.status_code(),
            source_timestamp: value.source_timestamp,
            arrived: DateTime::now(),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a sample from another thread.
    fn arrive(&self, index: usize, sample: Sample) {
        let mut state = self.state();
        let bytes = sample.value.len() + RECORD;
        if state.bytes + bytes > MAX_WAITING {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.bytes += bytes;
        state.arrived.push((index, sample));
    }

    /// Takes an Event from another thread.
    pub(super) fn event_arrives(&self, event: ArrivedEvent) {
        let mut state = self.state();
        let bytes = event.2.len() + RECORD;
        if state.bytes + bytes > MAX_WAITING {
            return self.lose();
        }
        state.bytes += bytes;
        state.events.push(event);
    }

    /// Counts a lost record.
    pub(super) fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
}

impl Recorder {
    pub(super) fn start(
        space: &Arc<AddressSpace>,
        store: Store,
        variables: Arc<RecordedVariables>,
        notifiers: Arc<RecordedVariables>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let worker = Worker {
            shared: Arc::clone(&shared),
            space: Arc::downgrade(space),
            store,
            variables,
            notifiers,
            times: EventTimes::default(),
            sampled: Vec::new(),
            by_node: HashMap::new(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            failing: false,
        };
        let thread = std::thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn(move || worker.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Adds a Variable.
    pub(super) fn add(&self, node: NodeId, name: String, recording: Recording) {
        self.shared.state().added.push((node, name, recording));
        self.shared.changed.notify_one();
    }

    /// Adds a notifier.
    pub(super) fn add_notifier(&self, node: NodeId, name: String) {
        self.shared.state().notifiers.push((node, name));
        self.shared.changed.notify_one();
    }

    /// Returns the recorder of the Events of the server.
    pub(super) fn event_tap(&self, notifiers: &Arc<RecordedVariables>) -> EventTap {
        EventTap {
            shared: Arc::clone(&self.shared),
            notifiers: Arc::clone(notifiers),
        }
    }

    pub(super) fn counts(&self) -> HistoryCounts {
        HistoryCounts {
            recorded: self.shared.recorded.load(Ordering::Relaxed),
            lost: self.shared.lost.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.state().is_ending = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to commit.
            let _ = thread.join();
        }
    }
}

/// A Variable that is recorded.
struct Sampled {
    node: NodeId,
    key: VariableKey,
    recording: Recording,
    due: Instant,
    /// The last recorded sample: value, StatusCode and source timestamp of its source.
    last: Option<(Vec<u8>, StatusCode, Option<DateTime>)>,
    /// Time of the last record.
    last_time: Option<DateTime>,
    /// True while another thread is asked for a value.
    is_asked: Arc<AtomicBool>,
    /// Observer of a stored value whose changes are recorded, and that value.
    observer: Option<(Arc<Observer>, Weak<StoredValue>)>,
}

/// State of the thread.
struct Worker {
    shared: Arc<Shared>,
    space: Weak<AddressSpace>,
    store: Store,
    variables: Arc<RecordedVariables>,
    notifiers: Arc<RecordedVariables>,
    /// Times of the records of Events.
    times: EventTimes,
    sampled: Vec<Sampled>,
    by_node: HashMap<NodeId, usize>,
    /// Records that wait for a commit.
    waiting: Vec<(VariableKey, HistoryRecord)>,
    waiting_bytes: usize,
    /// True if the last commit failed.
    failing: bool,
}

impl Worker {
    fn run(mut self) {
        let mut commit = Instant::now() + COMMIT_INTERVAL;
        loop {
            let due = self.sampled.iter().map(|sampled| sampled.due).min();
            let until = due.map_or(commit, |due| due.min(commit));
            let Left {
                added,
                arrived,
                notifiers,
                events,
                is_ending,
            } = self.wait(until);
            for (node, name, recording) in added {
                self.begin(node, &name, recording);
            }
            for (node, name) in notifiers {
                self.begin_notifier(node, &name);
            }
            for event in events {
                self.take_event(event);
            }
            for (index, sample) in arrived {
                self.take(index, sample);
            }
            self.sample(Instant::now());
            let now = Instant::now();
            if now >= commit || is_ending {
                self.commit();
                commit = now + if self.failing { PAUSE } else { COMMIT_INTERVAL };
            }
            if is_ending {
                return;
            }
        }
    }

    fn wait(&self, until: Instant) -> Left {
        let mut state = self.shared.state();
        while state.added.is_empty() && state.notifiers.is_empty() && !state.is_ending {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.bytes = 0;
        Left {
            added: std::mem::take(&mut state.added),
            arrived: std::mem::take(&mut state.arrived),
            notifiers: std::mem::take(&mut state.notifiers),
            events: std::mem::take(&mut state.events),
            is_ending: state.is_ending,
        }
    }

    /// Begins to record the Events of a notifier.
    fn begin_notifier(&mut self, node: NodeId, name: &str) {
        let Some(space) = self.space.upgrade() else {
            return;
        };
        // No path of a Variable begins with a slash.
        let key = match self.store.variable(&format!("/events/{name}"), None) {
            Ok(key) => key,
            Err(error) => {
                tracing::warn!(%node, %error, "history: Events are not recorded");
                return;
            }
        };
        self.times.begin(key, &self.store.reader());
        if let Err(error) = space.set_historized(&node, true) {
            tracing::warn!(%node, %error, "history: Events are not recorded");
            return;
        }
        let stepped = true;
        self.notifiers.set(node, Recorded { key, stepped });
    }

    fn take_event(&mut self, (key, time, value): ArrivedEvent) {
        let time = self.times.free(key, time, &self.store.reader());
        let record = HistoryRecord {
            source_timestamp: time,
            server_timestamp: DateTime::now(),
            status: StatusCode::Good,
            value,
        };
        self.push(key, record);
    }

    /// Begins to record a Variable.
    fn begin(&mut self, node: NodeId, name: &str, recording: Recording) {
        if self.by_node.contains_key(&node) {
            return;
        }
        if self.sampled.len() >= MAX_RECORDED {
            tracing::warn!(%node, limit = MAX_RECORDED, "history: too many Variables, this one is not recorded");
            return;
        }
        let key = match self.store.variable(name, recording.max_age) {
            Ok(key) => key,
            Err(error) => {
                tracing::warn!(%node, %error, "history: a Variable is not recorded");
                return;
            }
        };
        let Some(space) = self.space.upgrade() else {
            return;
        };
        if let Err(error) = space.set_historized(&node, true) {
            tracing::warn!(%node, %error, "history: a Variable is not recorded");
            return;
        }
        self.mark_gap(key);
        let stepped = recording.is_stepped();
        self.variables.set(node.clone(), Recorded { key, stepped });
        self.by_node.insert(node.clone(), self.sampled.len());
        self.sampled.push(Sampled {
            node,
            key,
            recording,
            due: Instant::now(),
            last: None,
            last_time: None,
            is_asked: Arc::default(),
            observer: None,
        });
    }

    /// Marks the time since the last record of an earlier run as unknown (OPC 10000-11, 4.3): nothing was recorded then.
    fn mark_gap(&mut self, key: VariableKey) {
        let reader = self.store.reader();
        let Ok(mut records) = reader.records(key) else {
            return;
        };
        let Ok(Some(last)) = records.at_or_before(DateTime::now()) else {
            return;
        };
        if last.status != StatusCode::BadNoData {
            let time = DateTime(last.source_timestamp.0 + 1);
            let gap = HistoryRecord {
                source_timestamp: time,
                server_timestamp: time,
                status: StatusCode::BadNoData,
                value: Vec::new(),
            };
            self.push(key, gap);
        }
    }

    /// Samples the Variables that are due.
    fn sample(&mut self, now: Instant) {
        let Some(space) = self.space.upgrade() else {
            return;
        };
        for index in 0..self.sampled.len() {
            let Some(sampled) = self.sampled.get_mut(index) else {
                return;
            };
            if sampled.due > now {
                continue;
            }
            // After a delay, samples are not made up for.
            sampled.due += sampled.recording.interval;
            if sampled.due <= now {
                sampled.due = now + sampled.recording.interval;
            }
            let view = space.view();
            let value = view.node(&sampled.node).and_then(|node| node.value());
            let sample = match value {
                Some(Value::Cell(cell)) => match cell.get() {
                    Ok(value) => Sample::of(&value),
                    Err(error) => Sample::of(&DataValue::status(error.status_code())),
                },
                Some(Value::Stored(stored)) if sampled.recording.changes_only => {
                    sampled.observe(index, &stored, &self.shared);
                    continue;
                }
                Some(Value::Stored(stored)) => Sample::of(&stored.get()),
                Some(Value::Callback(source)) => Sample::of(&source.read()),
                Some(Value::Remote(remote)) => {
                    sampled.ask(index, &remote, &self.shared);
                    continue;
                }
                // The node is gone, perhaps for a while.
                None => continue,
            };
            self.take(index, sample);
        }
    }

    /// Records a sample, if it is to be recorded.
    fn take(&mut self, index: usize, sample: Sample) {
        let Some(sampled) = self.sampled.get_mut(index) else {
            return;
        };
        let is_same_value = sampled
            .last
            .as_ref()
            .is_some_and(|(value, status, _)| *value == sample.value && *status == sample.status);
        if sampled.recording.changes_only && is_same_value {
            return;
        }
        // An unchanged value is recorded with the time of its sample. The clock of a source may be set back.
        let is_old = sampled
            .last
            .as_ref()
            .is_some_and(|(.., time)| *time == sample.source_timestamp);
        let time = match sample.source_timestamp {
            Some(time) if !is_old => time,
            _ => sample.arrived,
        };
        sampled.last = Some((sample.value.clone(), sample.status, sample.source_timestamp));
        sampled.last_time = Some(time);
        let key = sampled.key;
        let record = HistoryRecord {
            source_timestamp: time,
            server_timestamp: sample.arrived,
            status: sample.status,
            value: sample.value,
        };
        self.push(key, record);
    }

    fn push(&mut self, key: VariableKey, record: HistoryRecord) {
        let bytes = record.value.len() + RECORD;
        let most = if self.failing {
            MAX_ATTEMPT
        } else {
            MAX_WAITING
        };
        if self.waiting_bytes + bytes > most {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.waiting_bytes += bytes;
        self.waiting.push((key, record));
    }

    /// Waits until all records are durable, or lost.
    fn commit(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let count = waiting.len() as u64;
        let committed = self.store.append(waiting, DateTime::now());
        self.times.committed();
        match committed {
            Ok(appended) => {
                self.shared
                    .recorded
                    .fetch_add(appended.recorded, Ordering::Relaxed);
                self.shared
                    .lost
                    .fetch_add(appended.refused, Ordering::Relaxed);
                if self.failing && count > 0 {
                    self.failing = false;
                    let lost = self.shared.lost.load(Ordering::Relaxed);
                    tracing::warn!(lost, "history: values are recorded again");
                }
            }
            Err(error) => {
                self.shared.lost.fetch_add(count, Ordering::Relaxed);
                if !self.failing {
                    self.failing = true;
                    tracing::warn!(%error, "history: values are not recorded; serving goes on");
                }
            }
        }
    }
}

impl Sampled {
    /// Observes a stored value, unless it is observed already.
    fn observe(&mut self, index: usize, stored: &Arc<StoredValue>, shared: &Arc<Shared>) {
        let known = self.observer.as_ref();
        if known.is_some_and(|(_, known)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(stored))) {
            return;
        }
        let observer = Arc::new(Observer {
            index,
            shared: Arc::clone(shared),
        });
        stored.observe(&observer);
        self.observer = Some((observer, Arc::downgrade(stored)));
    }

    /// Asks another server or a worker for the value.
    fn ask(&mut self, index: usize, remote: &takt_space::RemoteValue, shared: &Arc<Shared>) {
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
                shared: Arc::clone(shared),
                is_asked: Arc::clone(&self.is_asked),
                answer: None,
            }),
        });
    }
}

/// Observer of a stored value.
struct Observer {
    index: usize,
    shared: Arc<Shared>,
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
        };
        self.shared.arrive(self.index, sample);
        true
    }
}

/// A value that another thread is asked for. It becomes a sample at the latest when this is dropped.
struct Asked {
    index: usize,
    shared: Arc<Shared>,
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
        self.shared.arrive(self.index, Sample::of(&value));
        self.is_asked.store(false, Ordering::Release);
    }
}

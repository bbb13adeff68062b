//! Thread that samples values and commits them to the store.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_history::{HistoryRecord, Records, Store, StoreTime, VariableKey};
use takt_space::{AddressSpace, AddressSpaceError, Value};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, ids};

use super::event_times::{EventTimes, Place};
use super::excess::Excess;
use super::gaps::{Gaps, no_data};
use super::inbox::{ArrivedEvent, Inbox, MAX_WAITING, RECORD, Sample};
use super::limits::{COMMIT_INTERVAL, MAX_RECORDED};
use super::recorded::{Recorded, RecordedVariables};
use super::recording::Recording;
use super::sampled::Sampled;

/// Bytes of values that wait for a commit after a failed one: the next attempt shall fit a disk with little space.
const MAX_ATTEMPT: usize = 1 << 20;

/// Time after a failed commit until the next attempt.
const PAUSE: Duration = Duration::from_secs(2);

/// Time between two commits without new records, if there are old ones to remove.
const EXPIRY: Duration = Duration::from_secs(60);

/// The thread. Dropping this commits what was recorded, and ends it.
pub(super) struct Recorder {
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    pub(super) fn start(
        space: &Arc<AddressSpace>,
        store: Store,
        variables: Arc<RecordedVariables>,
        notifiers: Arc<RecordedVariables>,
    ) -> io::Result<Self> {
        let worker = Worker::new(Arc::downgrade(space), store, (variables, notifiers));
        let inbox = Arc::clone(&worker.inbox);
        let thread = std::thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn(move || worker.run())?;
        Ok(Self {
            inbox,
            thread: Some(thread),
        })
    }

    /// Adds a Variable.
    pub(super) fn add(&self, node: NodeId, name: String, recording: Recording) {
        self.inbox.add(node, name, recording);
    }

    /// Adds a notifier.
    pub(super) fn add_notifier(&self, node: NodeId, name: String) {
        self.inbox.add_notifier(node, name);
    }

    /// Returns the place for Events of the server.
    pub(super) fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.inbox.end();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to commit.
            let _ = thread.join();
        }
    }
}

/// State of the thread.
struct Worker {
    inbox: Arc<Inbox>,
    space: Weak<AddressSpace>,
    store: Store,
    variables: Arc<RecordedVariables>,
    notifiers: Arc<RecordedVariables>,
    /// Times of the records of Events.
    times: EventTimes,
    sampled: Vec<Sampled>,
    by_node: HashMap<NodeId, usize>,
    by_key: HashMap<VariableKey, usize>,
    /// Variables beyond the limit.
    excess: Excess,
    gaps: Gaps,
    /// Records that wait for a commit.
    waiting: Vec<(VariableKey, HistoryRecord)>,
    waiting_bytes: usize,
    /// True if the last commit failed.
    failing: bool,
}

impl Worker {
    fn new(
        space: Weak<AddressSpace>,
        store: Store,
        (variables, notifiers): (Arc<RecordedVariables>, Arc<RecordedVariables>),
    ) -> Self {
        Self {
            inbox: Arc::default(),
            space,
            store,
            variables,
            notifiers,
            times: EventTimes::default(),
            sampled: Vec::new(),
            by_node: HashMap::new(),
            by_key: HashMap::new(),
            excess: Excess::default(),
            gaps: Gaps::default(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            failing: false,
        }
    }

    fn run(mut self) {
        // Without new samples or Events there is no commit ahead, and the thread sleeps.
        let mut commit: Option<Instant> = None;
        let mut last = Instant::now();
        loop {
            let sample = self.sampled.iter().map(|sampled| sampled.due).min();
            let expiry = self.store.has_ages().then(|| last + EXPIRY);
            let until = [sample, commit, expiry, self.excess.due()];
            let until = until.into_iter().flatten().min();
            let work = self.inbox.wait(until, commit.is_some());
            let has_records = work.has_records();
            for (node, name, recording) in work.added {
                self.begin(node, &name, recording);
            }
            for (node, name) in work.notifiers {
                self.begin_notifier(node, &name);
            }
            for event in work.events {
                self.take_event(event);
            }
            for (index, sample) in work.arrived {
                self.take(index, sample);
            }
            for (index, time) in work.lost {
                if let Some(sampled) = self.sampled.get(index) {
                    self.gaps.note(sampled.key, time);
                }
            }
            self.sample(Instant::now());
            let now = Instant::now();
            if let Some(count) = self.excess.report(now) {
                tracing::warn!(
                    count,
                    limit = MAX_RECORDED,
                    "history: too many Variables, so many are not recorded"
                );
            }
            let is_over = commit.is_some_and(|commit| now >= commit);
            let is_expiry = expiry.is_some_and(|expiry| now >= expiry);
            if is_over && !self.waiting.is_empty() || is_expiry || work.is_ending {
                self.commit();
                last = now;
            }
            if work.is_ending {
                return;
            }
            if is_over {
                commit = None;
            } else if has_records || !self.waiting.is_empty() {
                let pause = if self.failing { PAUSE } else { COMMIT_INTERVAL };
                commit.get_or_insert(now + pause);
            }
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
            tracing::warn!(%node, %error, "history: Events are not recorded");
            return;
        }
        let stepped = true;
        self.notifiers.set(node, Recorded { key, stepped });
    }

    fn take_event(&mut self, event: ArrivedEvent) {
        let ArrivedEvent {
            key,
            time,
            id,
            record,
        } = event;
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

    /// Begins to record a Variable.
    fn begin(&mut self, node: NodeId, name: &str, recording: Recording) {
        if self.by_node.contains_key(&node) {
            // A Provider with another model adds its nodes again.
            self.show(&node);
            return;
        }
        if self.sampled.len() >= MAX_RECORDED {
            return self.excess.add(node, Instant::now());
        }
        let key = match self.store.variable(name, recording.max_age) {
            Ok(key) => key,
            Err(error) => {
                tracing::warn!(%node, %error, "history: a Variable is not recorded");
                return;
            }
        };
        if !self.show(&node) {
            return;
        }
        let last_time = self.mark_gap(key);
        let stepped = recording.is_stepped();
        self.variables.set(node.clone(), Recorded { key, stepped });
        self.by_node.insert(node.clone(), self.sampled.len());
        self.by_key.insert(key, self.sampled.len());
        self.sampled
            .push(Sampled::new(node, (key, recording), last_time));
    }

    /// Shows in the attributes of a Variable that it is recorded. Returns false if there is no such Variable.
    fn show(&self, node: &NodeId) -> bool {
        let Some(space) = self.space.upgrade() else {
            return false;
        };
        let shown = space.set_historized(node, true);
        if let Err(error) = &shown {
            tracing::warn!(%node, %error, "history: a Variable is not recorded");
        }
        shown.is_ok()
    }

    /// Marks the time since the last record of an earlier run as unknown (OPC 10000-11, 4.3): nothing was recorded then. Returns the
    /// time of the last record before now.
    fn mark_gap(&mut self, key: VariableKey) -> Option<DateTime> {
        let reader = self.store.reader();
        let mut records = reader.records(key).ok()?;
        let mut last = |until: DateTime| {
            let last = records.at_or_before(until).ok()??;
            let is_marked = last.status == StatusCode::BadNoData;
            Some((last.source_timestamp, is_marked))
        };
        // The clock may be behind now, and right again later.
        let (latest, before) = (last(DateTime(i64::MAX))?, last(DateTime::now()));
        let mut mark = |(time, is_marked): (DateTime, bool)| match is_marked {
            true => time,
            false => {
                let time = DateTime(time.0.saturating_add(1));
                self.push(key, no_data(time));
                time
            }
        };
        let marked = mark(latest);
        match before {
            Some(before) if before.0 < latest.0 => Some(mark(before)),
            before => before.map(|_| marked),
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
            let is_missing = std::mem::take(&mut sampled.is_missing);
            let value = view.node(&sampled.node).and_then(|node| node.value());
            let sample = match value {
                Some(Value::Cell(cell)) => match cell.get() {
                    Ok(value) => Sample::of(&value),
                    Err(error) => Sample::of(&DataValue::status(error.status_code())),
                },
                Some(Value::Stored(stored)) if sampled.recording.changes_only => {
                    sampled.observe(index, &stored, &self.inbox);
                    if !is_missing {
                        continue;
                    }
                    Sample::of(&stored.get())
                }
                Some(Value::Stored(stored)) => Sample::of(&stored.get()),
                Some(Value::Callback(source)) => Sample::of(&source.read()),
                Some(Value::Remote(remote)) => {
                    sampled.ask(index, &remote, &self.inbox);
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
        let unknown = sampled.see(&sample);
        if let Some(since) = unknown {
            let after = sampled
                .last_time
                .map_or(since.0, |last| last.0.saturating_add(1));
            let time = DateTime(since.0.max(after));
            sampled.last = None;
            sampled.last_time = Some(time);
            let key = sampled.key;
            self.push(key, no_data(time));
        }
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
        let before = sampled.last.as_ref().and_then(|(.., time)| *time);
        let time = sample.time(before, sampled.last_time);
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
            if self.by_key.contains_key(&key) {
                self.gaps.note(key, record.source_timestamp);
            }
            return self.inbox.lose(1);
        }
        self.waiting_bytes += bytes;
        self.waiting.push((key, record));
    }

    /// Waits until all records are durable, or lost.
    fn commit(&mut self) {
        let mut records = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let count = records.len() as u64;
        let gaps: Vec<_> = self.gaps.records().collect();
        let ends: Vec<_> = gaps.iter().map(|(key, _)| *key).collect();
        // Should this fail, these records are lost. Events have no gaps.
        let mut lost = std::mem::take(&mut self.gaps);
        let variables = records
            .iter()
            .filter(|(key, _)| self.by_key.contains_key(key));
        lost.note_all(variables);
        // Of two records with the same time, the later one in the list counts.
        records.splice(..0, gaps);
        let committed = self.store.append(records, StoreTime::now());
        self.times.committed();
        match committed {
            Ok(appended) => {
                self.inbox.recorded(appended.recorded);
                self.inbox.lose(appended.refused);
                for key in ends {
                    self.sample_again(key);
                }
                if self.failing && count > 0 {
                    self.failing = false;
                    let lost = self.inbox.counts().lost;
                    tracing::warn!(lost, "history: values are recorded again");
                }
            }
            Err(error) => {
                self.inbox.lose(count);
                self.gaps = lost;
                if !self.failing {
                    self.failing = true;
                    tracing::warn!(%error, "history: values are not recorded; serving goes on");
                }
            }
        }
    }

    /// Lets the present value be recorded, also if it does not change: the last change is lost.
    fn sample_again(&mut self, key: VariableKey) {
        let index = self.by_key.get(&key);
        if let Some(sampled) = index.and_then(|index| self.sampled.get_mut(*index)) {
            sampled.last = None;
            sampled.is_missing = true;
            sampled.due = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests;

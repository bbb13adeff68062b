//! Values of Variables on the thread that records: which ones begin, when they are sampled, and what is recorded of them.

use std::time::Instant;

use takt_history::{HistoryRecord, Records, VariableKey};
use takt_rt::clock::after;
use takt_space::Value;
use takt_ua::{DataValue, DateTime, NodeId, StatusCode};

use super::gaps::no_data;
use super::inbox::Sample;
use super::limits::MAX_RECORDED;
use super::recorded::Recorded;
use super::recording::Recording;
use super::sampled::Sampled;
use super::worker::Worker;

impl Worker {
    /// Begins to record a Variable.
    pub(super) fn begin(&mut self, node: NodeId, name: &str, recording: Recording) {
        if self.by_node.contains_key(&node) {
            // A Provider with another model adds its nodes again.
            self.show(&node);
            return;
        }
        if self.sampled.len() >= MAX_RECORDED {
            self.variables.refuse(&node);
            return self.excess.add(node, Instant::now());
        }
        let key = match self.store.variable(name, recording.max_age) {
            Ok(key) => key,
            Err(error) => {
                self.variables.refuse(&node);
                tracing::warn!(%node, %error, "history: a Variable is not recorded");
                return;
            }
        };
        if !self.show(&node) {
            self.variables.refuse(&node);
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
    pub(super) fn mark_gap(&mut self, key: VariableKey) -> Option<DateTime> {
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
    pub(super) fn sample(&mut self, now: Instant) {
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
            sampled.due = after(sampled.due, sampled.recording.interval);
            if sampled.due <= now {
                sampled.due = after(now, sampled.recording.interval);
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
    pub(super) fn take(&mut self, index: usize, sample: Sample) {
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
            value: self.value_of_file(sample.value),
        };
        self.push(key, record);
    }

    /// Lets the present value be recorded, also if it does not change: the last change is lost.
    pub(super) fn sample_again(&mut self, key: VariableKey) {
        let index = self.by_key.get(&key);
        if let Some(sampled) = index.and_then(|index| self.sampled.get_mut(*index)) {
            sampled.last = None;
            sampled.is_missing = true;
            sampled.due = Instant::now();
        }
    }
}

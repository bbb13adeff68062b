//! Sampling of the attributes that MonitoredItems monitor.
//!
//! Cells and stored values have generations that show changes without a read. Values of other servers are requested for all
//! items of one server together, and callbacks on worker threads each for itself, so that none waits for a slow one. An item is
//! not requested again before its answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_space::{
    AddressSpace, Binding, Caller, RemoteOperations, RemoteRead, RemoteReply, RemoteRequest,
    RemoteResults, RemoteSource, RemoteValue, SourceKey, StoredValue, Value, View,
};
use takt_ua::binary::Encoder;
use takt_ua::{DataValue, DateTime, StatusCode};

use super::item::{MonitoredItem, Seen};
use super::load;
use super::sample::Sample;
use super::snapshots::{Snapshot, Snapshots};
use crate::identity::access;
use crate::reading::{attributes, check_encoding, value_of};

/// Sources of sampled values.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'s> {
    pub(crate) space: &'s AddressSpace,
    /// Longest time that another server may take for an answer.
    pub(crate) max_remote_timeout: Duration,
    /// Largest value in bytes.
    pub(crate) max_size: usize,
    /// Snapshots of the engine, for MonitoredItems of diagnostics.
    pub(crate) snapshots: &'s Snapshots,
}

/// One round of sampling: all due items, at one time.
pub(crate) struct Sampler<'s> {
    sources: Sources<'s>,
    view: View<'s>,
    now: DateTime,
    /// Key: (server, client's channel).
    remotes: HashMap<(SourceKey, u64), Batch>,
    /// Items of the diagnostics: they are sampled last, when no Subscription is being changed.
    late: Vec<(Arc<MonitoredItem>, Arc<Caller>)>,
}

/// Items of one client to request from one other server.
struct Batch {
    source: Arc<dyn RemoteSource>,
    caller: Arc<Caller>,
    items: Vec<Asked>,
    reads: Vec<RemoteRead>,
}

impl<'s> Sampler<'s> {
    pub(crate) fn new(sources: Sources<'s>, now: DateTime) -> Self {
        Self {
            sources,
            view: sources.space.view(),
            now,
            remotes: HashMap::new(),
            late: Vec::new(),
        }
    }

    /// Samples an item on behalf of the owner of its Subscription. Returns the units of work.
    pub(crate) fn sample(&mut self, item: &Arc<MonitoredItem>, caller: &Arc<Caller>) -> u32 {
        let watched = &item.item_to_monitor;
        let is_plain = watched.data_encoding.is_null();
        if watched.attribute_id == attributes::VALUE
            && let Some(node) = self.view.in_memory(&watched.node_id.as_ref())
            && access::may_read(caller, &node)
            && let Some(Binding::Value(value)) = node.binding().get()
            && (is_plain || matches!(value, Value::Remote(_)))
        {
            let cost = load::cost(Some(value));
            match value {
                Value::Cell(cell) => return if self.cell(item, cell) { cost } else { 1 },
                Value::Stored(stored) => return if self.stored(item, stored) { cost } else { 1 },
                Value::Callback(source) => {
                    let mut value = source.read();
                    if self.is_late(item, caller) {
                        return cost;
                    }
                    value.source_timestamp = value.source_timestamp.or(Some(self.now));
                    let sample = Sample::of(&value, self.now);
                    item.offer(sample.part(item.range.as_ref()));
                }
                Value::Remote(remote) => self.remote(item, remote, caller),
            }
            return cost;
        }
        // The general path knows no generations, so a later sample must not rely on an older one.
        item.set_seen(Seen::Nothing);
        let value = value_of(&self.view, caller, watched, self.now, self.sources.max_size);
        if !self.is_late(item, caller) {
            item.offer(Sample::of(&value, self.now));
        }
        load::cost(None)
    }

    /// Returns true if the last value was that of diagnostics, which cannot be read yet. The item is sampled last.
    fn is_late(&mut self, item: &Arc<MonitoredItem>, caller: &Arc<Caller>) -> bool {
        let is_late = self.sources.snapshots.was_wanted();
        if is_late {
            self.late.push((Arc::clone(item), Arc::clone(caller)));
        }
        is_late
    }

    /// Samples a cell. Returns true if the value had to be read.
    fn cell(&self, item: &Arc<MonitoredItem>, cell: &Arc<Cell>) -> bool {
        // The generation is read before the value: a value that is set between the two reads is sampled again.
        let generation = cell.generation();
        if let Seen::Cell(seen, at) = item.seen()
            && Arc::ptr_eq(&seen, cell)
            && at == generation
        {
            return false;
        }
        let mut value = Vec::new();
        let mut encoder = Encoder::growing(&mut value, cell.capacity().max(1));
        let Ok(reading) = cell.encode_value(&mut encoder) else {
            // The cell is being set repeatedly; the next round samples it.
            return true;
        };
        if reading.length == 0 || reading.status.is_bad() {
            value.clear();
        }
        item.set_seen(Seen::Cell(Arc::clone(cell), generation));
        let sample = Sample {
            value,
            status: reading.status,
            source_timestamp: reading.source_timestamp,
            server_timestamp: self.now,
        };
        item.offer(sample.part(item.range.as_ref()));
        true
    }

    /// Samples a stored value. Returns true if the value had to be read.
    fn stored(&self, item: &Arc<MonitoredItem>, stored: &Arc<StoredValue>) -> bool {
        let seen = item.seen();
        if item.sampling().interval.is_zero() {
            if !matches!(&seen, Seen::Observed(seen) if Arc::ptr_eq(seen, stored)) {
                item.set_seen(Seen::Observed(Arc::clone(stored)));
                stored.observe(item);
                return true;
            }
            return false;
        }
        // As for a cell, the generation is read before the value.
        let generation = stored.generation();
        if let Seen::Stored(seen, at) = seen
            && Arc::ptr_eq(&seen, stored)
            && at == generation
        {
            return false;
        }
        item.set_seen(Seen::Stored(Arc::clone(stored), generation));
        let sample = stored.read_encoded(|encoded, status, source_timestamp| Sample {
            value: if status.is_bad() {
                Vec::new()
            } else {
                encoded.to_vec()
            },
            status,
            source_timestamp,
            server_timestamp: self.now,
        });
        item.offer(sample.part(item.range.as_ref()));
        true
    }

    fn remote(&mut self, item: &Arc<MonitoredItem>, remote: &RemoteValue, caller: &Arc<Caller>) {
        item.set_seen(Seen::Nothing);
        if item.is_asked.swap(true, Ordering::AcqRel) {
            return;
        }
        if remote.callback.is_some() {
            let mut alone = Batch::new(&remote.source, caller);
            alone.push(item, remote);
            return alone.submit(self.sources.max_remote_timeout);
        }
        self.remotes
            .entry((remote.source.key(), caller.channel.id))
            .or_insert_with(|| Batch::new(&remote.source, caller))
            .push(item, remote);
    }

    /// Samples the items of diagnostics, and submits the requests to the other servers. Returns the units of work for the former.
    pub(crate) fn finish(self, snapshot: impl FnOnce() -> Snapshot) -> u64 {
        let mut units = 0;
        if !self.late.is_empty() {
            let snapshot = snapshot();
            units = (self.late.len() + snapshot.subscriptions.len()) as u64;
            self.sources.snapshots.with_snapshot(snapshot, || {
                for (item, caller) in &self.late {
                    let watched = &item.item_to_monitor;
                    let value =
                        value_of(&self.view, caller, watched, self.now, self.sources.max_size);
                    item.offer(Sample::of(&value, self.now));
                }
            });
        }
        let timeout = self.sources.max_remote_timeout;
        for batch in self.remotes.into_values() {
            batch.submit(timeout);
        }
        units
    }
}

impl Batch {
    fn new(source: &Arc<dyn RemoteSource>, caller: &Arc<Caller>) -> Self {
        Self {
            source: Arc::clone(source),
            caller: Arc::clone(caller),
            items: Vec::new(),
            reads: Vec::new(),
        }
    }

    fn push(&mut self, item: &Arc<MonitoredItem>, remote: &RemoteValue) {
        self.items.push(Asked {
            item: Arc::clone(item),
            answer: None,
        });
        self.reads.push(RemoteRead {
            node_id: remote.node_id.clone(),
            index_range: item.item_to_monitor.index_range.as_str().to_owned(),
            max_age: 0.0,
        });
    }

    fn submit(self, timeout: Duration) {
        self.source.forward(RemoteRequest {
            client: 0,
            caller: Some(self.caller),
            size: self.reads.len() * size_of::<RemoteRead>(),
            operations: RemoteOperations::Read(self.reads),
            deadline: Instant::now() + timeout,
            hint: None,
            reply: Box::new(Awaited(self.items)),
        });
    }
}

/// Items that wait for one answer.
struct Awaited(Vec<Asked>);

impl RemoteReply for Awaited {
    fn is_awaited(&self) -> bool {
        true
    }

    fn answer(mut self: Box<Self>, results: RemoteResults) {
        if let RemoteResults::Read(values) = results {
            for (asked, value) in self.0.iter_mut().zip(values) {
                asked.answer = Some(value);
            }
        }
    }
}

/// An item that is requested from another server. It gets a sample at the latest when this is dropped.
struct Asked {
    item: Arc<MonitoredItem>,
    answer: Option<DataValue>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let no_answer = || DataValue::status(StatusCode::BadNoCommunication);
        let mut value = self.answer.take().unwrap_or_else(no_answer);
        let encoding = self.item.item_to_monitor.data_encoding.as_ref();
        if !value.status_code().is_bad()
            && let Err(status) = check_encoding(&encoding, value.value.as_ref())
        {
            value = DataValue::status(status);
        }
        // Before the item may be asked again: a later answer must not overtake this one.
        self.item.offer(Sample::of(&value, DateTime::now()));
        self.item.is_asked.store(false, Ordering::Release);
    }
}

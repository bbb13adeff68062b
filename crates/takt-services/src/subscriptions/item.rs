//! A MonitoredItem (OPC 10000-4, 5.13.1): its parameters, its queue, and its last sample.

mod saved;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use takt_cell::Cell;
use takt_rt::memory_budget::Charge;
use takt_space::{ChangeObserver, StoredValue};
use takt_ua::binary::{Encode, Encoder};
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::{MonitoringParameters, ReadValueId};
use takt_ua::{DateTime, NumericRange, StatusCode};

use super::event_items::EventPlace;
use super::filter::Filter;
use super::list::Place;
use super::load::Load;
use super::queue::{Discarded, Queue};
use super::ready::Ready;
use super::room::Room;
use super::sample::Sample;
use crate::events::filter::CheckedFilter;

pub(crate) use saved::SavedItem;

/// The parameters of a MonitoredItem that a client may change, revised and checked.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    pub(crate) client_handle: u32,
    pub(crate) sampling: Sampling,
    pub(crate) filter: Filter,
    /// Filter of Events, if the item monitors Events.
    pub(crate) events: Option<Arc<CheckedFilter>>,
    pub(crate) queue_size: u32,
    pub(crate) discard_oldest: bool,
    pub(crate) timestamps: TimestampsToReturn,
    /// Parameters as requested, of an item that outlives the server.
    pub(crate) requested: Option<Box<MonitoringParameters>>,
}

impl Parameters {
    /// Returns the approximate bytes of memory of filter and request.
    pub(crate) fn memory(&self) -> usize {
        let events = self.events.as_ref().map_or(0, |filter| filter.memory());
        let requested = self.requested.as_ref().map_or(0, |requested| {
            size_of::<MonitoringParameters>() + requested.filter.encode_to_vec().len()
        });
        events + requested
    }
}

/// Sampling parameters of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sampling {
    /// RevisedSamplingInterval; zero: by exception.
    pub(crate) interval: Duration,
    /// Time between two samples of the item. An item that reports by exception is sampled as well, in case its source is
    /// replaced.
    pub(crate) period: Duration,
    /// Part of the sampling budget that the item uses.
    pub(crate) load: Load,
}

/// A MonitoredItem of a Subscription.
pub(crate) struct MonitoredItem {
    pub(crate) id: u32,
    pub(crate) item_to_monitor: ReadValueId,
    pub(crate) range: Option<NumericRange>,
    /// True while another server is asked.
    pub(crate) is_asked: AtomicBool,
    state: Mutex<State>,
    /// The items of the Subscription that have values to publish.
    ready: Arc<Ready<Self>>,
    /// Place among the items that monitor Events, if it is one of them.
    event_place: Option<EventPlace<Self>>,
}

struct State {
    parameters: Parameters,
    mode: MonitoringMode,
    queue: Queue,
    /// Bytes of the item at its creation.
    fixed: usize,
    /// Last queued sample, for the filter.
    last: Option<Sample>,
    /// True if there was no memory for the value of the last sample.
    has_forgotten: bool,
    /// Place of the item in `ready`.
    listed: Option<Place>,
    /// True if the item only samples, and another one has triggered it.
    is_triggered: bool,
    is_deleted: bool,
    /// Items that this item triggers.
    links: Vec<Weak<MonitoredItem>>,
    seen: Seen,
}

/// Source and generation of the last sample: if both are the same, the value is not read again.
#[derive(Clone, Default)]
pub(crate) enum Seen {
    #[default]
    Nothing,
    /// A cell, and its generation.
    Cell(Arc<Cell>, u64),
    /// A stored value, and its generation.
    Stored(Arc<StoredValue>, u64),
    /// A stored value that notifies of its changes itself.
    Observed(Arc<StoredValue>),
}

impl MonitoredItem {
    /// Returns the approximate bytes of memory of an item without values: the item, and its places in maps and lists.
    pub(crate) fn memory(watched: &ReadValueId) -> usize {
        size_of::<Self>()
            + 128
            + watched.node_id.encode_to_vec().len()
            + watched.index_range.as_str().len()
    }

    pub(crate) fn new(
        id: u32,
        item_to_monitor: ReadValueId,
        range: Option<NumericRange>,
        mode: MonitoringMode,
        parameters: Parameters,
        (ready, event_place): (Arc<Ready<Self>>, Option<EventPlace<Self>>),
        charge: Charge,
    ) -> Self {
        let fixed = charge.bytes();
        Self {
            event_place,
            id,
            item_to_monitor,
            range,
            is_asked: AtomicBool::new(false),
            ready,
            state: Mutex::new(State {
                queue: Queue::new(parameters.queue_size, parameters.discard_oldest, charge),
                fixed,
                parameters,
                mode,
                last: None,
                has_forgotten: false,
                listed: None,
                is_triggered: false,
                is_deleted: false,
                links: Vec::new(),
                seen: Seen::Nothing,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a sample: queues it if the filter passes it.
    pub(crate) fn offer(self: &Arc<Self>, sample: Sample) {
        let links = {
            let mut state = self.state();
            if !self.takes(&state) {
                return;
            }
            let passes = match &state.last {
                Some(last) => state.parameters.filter.passes(last, &sample),
                None => true,
            };
            if !passes {
                return;
            }
            state.queue.push(sample.clone());
            state.remember(sample);
            self.list(&mut state);
            state.links.clone()
        };
        // Their locks are taken after this item's lock is released: links may be circular.
        for linked in links.iter().filter_map(Weak::upgrade) {
            linked.trigger();
        }
    }

    /// Queues the encoded fields of an Event. If others are lost, the fields of `overflow` are queued, too
    /// (EventQueueOverflowEventType, OPC 10000-5, 6.4.2).
    pub(crate) fn offer_event(
        self: &Arc<Self>,
        fields: Vec<u8>,
        overflow: impl FnOnce() -> Vec<u8>,
    ) {
        let links = {
            let mut state = self.state();
            if !self.takes(&state) {
                return;
            }
            state.queue.push_event(Sample::event(fields), overflow);
            self.list(&mut state);
            state.links.clone()
        };
        for linked in links.iter().filter_map(Weak::upgrade) {
            linked.trigger();
        }
    }

    /// Queues the fields of `overflow`, unless the queue tells already that Events were lost.
    pub(crate) fn lose_event(self: &Arc<Self>, overflow: impl FnOnce() -> Vec<u8>) {
        let mut state = self.state();
        if self.takes(&state) {
            state.queue.push_overflow(overflow);
            self.list(&mut state);
        }
    }

    /// Returns true if the item takes values or Events.
    fn takes(&self, state: &State) -> bool {
        state.is_sampled() && !self.ready.is_suspended()
    }

    /// Handles the return of a client after a time without values and Events. The current value is sampled anew. If the queue
    /// keeps several values, the client gets it in any case, and the Overflow bit tells that others may be missing
    /// (OPC 10000-4, 7.22.1). The next Event follows an EventQueueOverflowEvent.
    pub(crate) fn resume(&self) {
        let mut state = self.state();
        state.seen = Seen::Nothing;
        if self.is_for_events() {
            state.queue.note_gap();
        } else if state.is_sampled() && state.queue.keeps_several() {
            state.queue.note_gap();
            state.last = None;
            state.count_memory(0);
        }
    }

    /// Returns true if the item monitors Events instead of an attribute.
    pub(crate) fn is_for_events(&self) -> bool {
        self.event_place.is_some()
    }

    /// Returns the filter of Events, if Events are to be queued.
    pub(crate) fn event_filter(&self) -> Option<Arc<CheckedFilter>> {
        let state = self.state();
        let filter = state.parameters.events.as_ref();
        filter.filter(|_| self.takes(&state)).cloned()
    }

    /// Triggers the item: an item that links to this one has a Notification (OPC 10000-4, 5.13.1.6).
    fn trigger(self: &Arc<Self>) {
        let mut state = self.state();
        if state.mode == MonitoringMode::Sampling && !state.queue.is_empty() {
            state.is_triggered = true;
            self.list(&mut state);
        }
    }

    /// Adds the item to the list of the Subscription, if it has values to publish.
    fn list(self: &Arc<Self>, state: &mut State) {
        if state.listed.is_none() && state.has_notifications() {
            // Locks are always taken in this order: that of the item, then that of the list.
            state.listed = Some(self.ready.push_back(Arc::clone(self)));
        }
    }

    /// Removes the item from the list of the Subscription, if it has no more values to publish.
    fn unlist(&self, state: &mut State) {
        if !state.has_notifications()
            && let Some(place) = state.listed.take()
        {
            self.ready.remove(self, place);
        }
    }

    /// Appends MonitoredItemNotifications (OPC 10000-4, 7.25.2.1) to a message, as long as there is room. Returns their number.
    /// The item stays listed while it has more. A value that does not fit into a message of its own becomes
    /// `BadEncodingLimitsExceeded`.
    pub(crate) fn drain(
        self: &Arc<Self>,
        room: Room,
        is_first: bool,
        encoder: &mut Encoder<'_>,
    ) -> usize {
        let mut state = self.state();
        let mut count = 0;
        let State {
            parameters, queue, ..
        } = &mut *state;
        while count < room.notifications
            && encoder.position() < room.full
            && let Some(sample) = queue.front()
        {
            let start = encoder.position();
            let written = encoder.u32(parameters.client_handle);
            let written = written.and_then(|()| match parameters.events {
                // EventFieldList (OPC 10000-4, 7.25.3).
                Some(_) => encoder.bytes(&sample.value),
                None => sample.encode(parameters.timestamps, encoder),
            });
            // The encoder has a few bytes more than `room.max`, for the end of the message.
            if written.is_err() || encoder.position() > room.max {
                encoder.truncate(start);
                if is_first && count == 0 && parameters.events.is_some() {
                    // Not even a message of its own has room for the Event.
                    queue.pop();
                    continue;
                }
                if is_first && count == 0 && !sample.value.is_empty() {
                    queue.give_up_value();
                    continue;
                }
                break;
            }
            queue.pop();
            count += 1;
        }
        // The caller has taken it out of the list.
        state.listed = None;
        if state.queue.is_empty() {
            state.is_triggered = false;
        } else {
            // In front: its other values come before those of the items behind it.
            state.listed = Some(self.ready.push_front(Arc::clone(self)));
        }
        count
    }

    /// Returns the source and generation of the last sample.
    pub(crate) fn seen(&self) -> Seen {
        self.state().seen.clone()
    }

    pub(crate) fn set_seen(&self, seen: Seen) {
        self.state().seen = seen;
    }

    /// Returns true if values are to be sampled.
    pub(crate) fn is_sampled(&self) -> bool {
        !self.is_for_events() && self.state().is_sampled()
    }

    /// Returns true if the MonitoringMode is Disabled.
    pub(crate) fn is_disabled(&self) -> bool {
        self.state().mode == MonitoringMode::Disabled
    }

    /// Returns the number of samples for which the queue had no room.
    pub(crate) fn overflows(&self) -> u32 {
        self.state().queue.overflows()
    }

    /// Returns true if several values are kept for a client that cannot receive them.
    pub(crate) fn keeps_several(&self) -> bool {
        let state = self.state();
        state.is_sampled() && state.queue.keeps_several()
    }

    /// Returns the sampling parameters.
    pub(crate) fn sampling(&self) -> Sampling {
        self.state().parameters.sampling
    }

    /// Sets the mode (SetMonitoringMode, OPC 10000-4, 5.13.4). Disabling clears the queue, so re-enabling starts with an empty
    /// one. Returns samples that are still to be freed.
    pub(crate) fn set_mode(self: &Arc<Self>, mode: MonitoringMode) -> Option<Discarded> {
        let mut state = self.state();
        let mut discarded = None;
        if mode == MonitoringMode::Disabled {
            discarded = state.queue.clear();
            state.last = None;
            state.count_memory(0);
            // When it is enabled again, even an unchanged value is reported.
            state.seen = Seen::Nothing;
        }
        state.mode = mode;
        state.is_triggered = false;
        self.list(&mut state);
        self.unlist(&mut state);
        discarded
    }

    /// Changes the parameters (ModifyMonitoredItems, OPC 10000-4, 5.13.3). Returns samples that are still to be freed.
    ///
    /// # Errors
    /// `BadOutOfMemory` if there is no memory for a longer filter.
    pub(crate) fn modify(&self, parameters: Parameters) -> Result<Option<Discarded>, StatusCode> {
        let mut state = self.state();
        let (before, after) = (state.parameters.memory(), parameters.memory());
        if before != after {
            let fixed = state.fixed;
            state.fixed = fixed.saturating_sub(before) + after;
            if !state.count_memory(0) {
                state.fixed = fixed;
                return Err(StatusCode::BadOutOfMemory);
            }
        }
        let (size, discard_oldest) = (parameters.queue_size, parameters.discard_oldest);
        let discarded = state.queue.resize(size, discard_oldest);
        // The item may change from samples to reports by exception, or back.
        if state.parameters.sampling.interval != parameters.sampling.interval {
            state.seen = Seen::Nothing;
        }
        state.parameters = parameters;
        Ok(discarded)
    }

    /// Returns the ClientHandle, which the client chose.
    pub(crate) fn client_handle(&self) -> u32 {
        self.state().parameters.client_handle
    }

    /// Queues the last sample once more if the item reports and its queue is empty, for a client that may not have received it.
    pub(crate) fn send_initial_value(self: &Arc<Self>) {
        let mut state = self.state();
        if state.mode != MonitoringMode::Reporting || !state.queue.is_empty() {
            return;
        }
        let Some(mut last) = state.last.clone() else {
            return;
        };
        if state.has_forgotten {
            // There was no memory to keep the value. The next sample has it.
            last.status = StatusCode::BadOutOfMemory;
            state.last = None;
            state.seen = Seen::Nothing;
        }
        state.queue.push(last);
        self.list(&mut state);
    }

    /// Deletes the item: nothing is sampled or published any more. Returns samples that are still to be freed.
    pub(crate) fn delete(&self) -> Option<Discarded> {
        if let Some(place) = &self.event_place {
            place.leave();
        }
        let mut state = self.state();
        state.is_deleted = true;
        state.last = None;
        state.links = Vec::new();
        state.seen = Seen::Nothing;
        let discarded = state.queue.close();
        self.unlist(&mut state);
        discarded
    }

    /// Links to another item (SetTriggering, OPC 10000-4, 5.13.5).
    pub(crate) fn link(&self, to: &Arc<Self>) -> Result<(), StatusCode> {
        let mut state = self.state();
        // A deleted item does not know the items that link to it, so its links are removed here.
        state.links.retain(|link| link.strong_count() > 0);
        let to = Arc::downgrade(to);
        if !state.links.iter().any(|link| link.ptr_eq(&to)) {
            if !state.count_memory(1) {
                return Err(StatusCode::BadOutOfMemory);
            }
            state.links.push(to);
        }
        Ok(())
    }

    /// Returns the number of links, including links to deleted items.
    pub(crate) fn link_count(&self) -> usize {
        self.state().links.len()
    }

    /// Removes a link. Returns true if it existed.
    pub(crate) fn unlink(&self, to: &Arc<Self>) -> bool {
        let mut state = self.state();
        let to = Arc::downgrade(to);
        let before = state.links.len();
        state.links.retain(|link| !link.ptr_eq(&to));
        state.count_memory(0);
        state.links.len() < before
    }

    fn observes(&self, stored: &StoredValue) -> bool {
        let state = self.state();
        self.takes(&state)
            && matches!(&state.seen, Seen::Observed(seen) if std::ptr::eq(&**seen, stored))
    }
}

impl State {
    /// Returns true if queued samples are to be published.
    fn reports(&self) -> bool {
        self.mode == MonitoringMode::Reporting || self.is_triggered
    }

    fn has_notifications(&self) -> bool {
        self.reports() && !self.queue.is_empty()
    }

    fn is_sampled(&self) -> bool {
        !self.is_deleted && self.mode != MonitoringMode::Disabled
    }

    /// Keeps a sample for comparison with the next one, without its value if there is no memory for it.
    fn remember(&mut self, sample: Sample) {
        self.last = Some(sample);
        self.has_forgotten = false;
        if !self.count_memory(0)
            && let Some(last) = &mut self.last
        {
            self.has_forgotten = !last.value.is_empty();
            last.value = Vec::new();
            self.count_memory(0);
        }
    }

    /// Reserves the memory of the item as it is, and of `more` links. Returns true if there is enough.
    fn count_memory(&mut self, more: usize) -> bool {
        let last = self.last.as_ref().map_or(0, |last| last.value.len());
        let links = (self.links.len() + more) * size_of::<Weak<MonitoredItem>>();
        self.queue.resize_item(self.fixed + last + links)
    }
}

impl ChangeObserver for MonitoredItem {
    fn changed(
        self: Arc<Self>,
        stored: &StoredValue,
        encoded: &[u8],
        status: StatusCode,
        source_timestamp: DateTime,
    ) -> bool {
        if !self.observes(stored) {
            return false;
        }
        let sample = Sample {
            value: if status.is_bad() {
                Vec::new()
            } else {
                encoded.to_vec()
            },
            status,
            source_timestamp,
            server_timestamp: DateTime::now(),
        };
        self.offer(sample.part(self.range.as_ref()));
        true
    }
}

#[cfg(test)]
mod tests;

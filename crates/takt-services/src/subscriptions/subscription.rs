//! A Subscription (OPC 10000-4, 5.14.1): its items, its timers, and the messages with their queued values.

mod absent;
mod saved;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_rt::memory_budget::{Charge, MemoryBudget};
use takt_space::Caller;
use takt_ua::binary::Encoder;
use takt_ua::structures::{StatusChangeNotification, SubscriptionDiagnosticsDataType};
use takt_ua::{DateTime, ExtensionObject, NodeId, StatusCode};

use super::absence::{Absence, Resumption};
use super::agenda::Timed;
use super::counts::{Counts, count};
use super::groups::{Groups, after};
use super::item::MonitoredItem;
use super::load::{Load, PartialLoad};
use super::message::{CLOSING, Kind, encode_notifications, encoded};
use super::now::Now;
use super::queue::Discarded;
use super::ready::Ready;
use super::retransmission::RetransmissionQueue;
use super::revise::Revised;
use super::room::Room;
use super::sampler::Sampler;
use super::slice::Slice;
use super::state::StateMachine;

pub(crate) use saved::SavedSubscription;

/// Approximate size in bytes at which a message of many small values ends; the rest is sent in the next one at once. Larger
/// values are sent alone.
const MESSAGE_SIZE: usize = 256 << 10;

/// A Subscription of a client.
pub(crate) struct Subscription {
    pub(crate) id: u32,
    /// The Session that the Subscription sends to.
    pub(crate) session: NodeId,
    /// The client that created the Subscription, or took it over.
    pub(crate) owner: Arc<Caller>,
    pub(crate) priority: u8,
    pub(crate) machine: StateMachine,
    /// Items with values to publish.
    pub(crate) ready: Arc<Ready<MonitoredItem>>,
    /// Items with Events to publish.
    pub(crate) ready_events: Arc<Ready<MonitoredItem>>,
    /// True if the last message had Events: values and Events take turns.
    had_events: bool,
    pub(crate) retransmission: RetransmissionQueue,
    /// Number of its last turn: of equal priority, the one that has waited longest is served first.
    pub(crate) turn: u64,
    /// Number of the last interruption of its sampling, for the same order.
    pub(crate) sampling_turn: u64,
    /// True if the Session has no channel, the Subscription is not durable, and no item has a queue for the values meanwhile: nothing
    /// is sampled until the Session has a channel again.
    is_paused: bool,
    /// The absence of the client, if it is gone.
    absence: Option<Absence>,
    /// Longest time that the Session may have no channel before the Subscription is abandoned.
    max_absence: Duration,
    /// End of the lifetime, if the publishing timer stands still until a client comes back.
    ends: Option<Instant>,
    /// True if nothing is sampled until a client comes back.
    is_suspended: bool,
    /// Items that have not been sampled since the client has come back.
    resumption: Option<Resumption>,
    /// Lifetime without a Publish request, if the Subscription is durable (OPC 10000-4, 5.14.9): it is sampled without a channel.
    durable: Option<Duration>,
    /// Time since which messages have been waiting for the next slice.
    pub(crate) interrupted: Option<Instant>,
    /// Items in the order of their ids, so that work on all of them can continue at its last position.
    items: BTreeMap<u32, Entry>,
    /// Items whose initial values have not been queued yet.
    initial: Option<Initial>,
    last_item_id: u32,
    groups: Groups,
    load: PartialLoad,
    /// Memory budget of the Session that created the Subscription: its memory counts there even after another Session has taken
    /// it over.
    pub(crate) memory: MemoryBudget,
    charge: Charge,
    publishing_interval: Duration,
    next_publish: Instant,
    max_notifications: usize,
    max_message: usize,
    next_sequence_number: u32,
    pub(crate) counts: Counts,
}

/// An item, and its current sampling.
struct Entry {
    item: Arc<MonitoredItem>,
    /// Sampling period; `None`: not sampled.
    period: Option<Duration>,
    /// Load that counts in the sampling budget, also for disabled items.
    load: Load,
}

/// The items, from an id on, whose last values are to be queued for a client that may not have received them.
struct Initial {
    from: u32,
    since: Instant,
}

/// The parts of a new Subscription.
pub(crate) struct NewSubscription {
    pub(crate) id: u32,
    pub(crate) session: NodeId,
    pub(crate) owner: Arc<Caller>,
    pub(crate) revised: Revised,
    pub(crate) publishing_enabled: bool,
    pub(crate) priority: u8,
    pub(crate) max_retained: usize,
    pub(crate) max_absence: Duration,
    pub(crate) max_message: usize,
    pub(crate) charge: Charge,
    pub(crate) memory: MemoryBudget,
    pub(crate) load: PartialLoad,
}

impl Subscription {
    /// Approximate bytes of memory of a Subscription without items.
    pub(crate) const MEMORY: usize = 2 * size_of::<Self>();

    pub(crate) fn new(new: NewSubscription, now: Now) -> Self {
        let revised = new.revised;
        Self {
            id: new.id,
            session: new.session,
            owner: new.owner,
            priority: new.priority,
            machine: StateMachine::new(
                new.publishing_enabled,
                revised.lifetime_count,
                revised.max_keep_alive_count,
            ),
            ready: Arc::default(),
            ready_events: Arc::default(),
            had_events: false,
            retransmission: RetransmissionQueue::new(new.max_retained, new.memory.clone()),
            turn: 0,
            sampling_turn: 0,
            is_paused: false,
            absence: None,
            max_absence: new.max_absence,
            ends: None,
            is_suspended: false,
            resumption: None,
            durable: None,
            interrupted: None,
            items: BTreeMap::new(),
            initial: None,
            last_item_id: 0,
            groups: Groups::default(),
            load: new.load,
            memory: new.memory,
            charge: new.charge,
            publishing_interval: revised.publishing_interval,
            next_publish: now.instant + revised.publishing_interval,
            max_notifications: revised.max_notifications,
            max_message: new.max_message,
            next_sequence_number: 1,
            counts: Counts::default(),
        }
    }

    /// Changes the parameters (ModifySubscription, OPC 10000-4, 5.14.3). A new interval begins with the next timer. Returns the
    /// lifetime in intervals: a durable Subscription keeps its hours.
    pub(crate) fn modify(&mut self, revised: Revised, priority: u8) -> u32 {
        count(&mut self.counts.modified);
        self.machine
            .modify(revised.lifetime_count, revised.max_keep_alive_count);
        self.publishing_interval = revised.publishing_interval;
        self.max_notifications = revised.max_notifications;
        self.priority = priority;
        // The hours stay the same, and are another number of the new intervals.
        if let Some(lifetime) = self.durable {
            self.set_durable(lifetime);
        }
        self.machine.lifetime_count()
    }

    /// Makes it durable: it lives for `lifetime` without a Publish request, and is sampled without a channel.
    pub(crate) fn set_durable(&mut self, lifetime: Duration) {
        let interval = self.publishing_interval.as_nanos().max(1);
        let count = u32::try_from(lifetime.as_nanos() / interval).unwrap_or(u32::MAX);
        self.machine.set_lifetime(count.max(3));
        self.durable = Some(lifetime);
        self.is_paused = false;
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.durable.is_some()
    }

    /// Counts the memory of the Subscription in another budget. It has no items yet.
    pub(crate) fn move_memory(&mut self, memory: &MemoryBudget) -> Result<(), StatusCode> {
        let moved = self.charge.move_to(memory);
        moved.map_err(|_| StatusCode::BadTooManySubscriptions)?;
        self.memory = memory.clone();
        self.retransmission.set_memory(memory.clone());
        Ok(())
    }

    pub(crate) fn publishing_interval(&self) -> Duration {
        self.publishing_interval
    }

    pub(crate) fn item_count(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = &Arc<MonitoredItem>> {
        self.items.values().map(|entry| &entry.item)
    }

    /// Queues the last values of all reporting items, for a client that may not have received them: as many as the slice
    /// allows, and the others with the next samples.
    pub(crate) fn send_initial_values(&mut self, now: Instant, slice: &mut Slice) {
        self.initial = Some(Initial {
            from: 0,
            since: now,
        });
        // After a suspension the last values are old: each item is sampled first.
        if self.resumption.is_none() {
            self.queue_initial_values(slice);
        }
    }

    /// Continues to queue the last values. Returns true if this is complete.
    fn queue_initial_values(&mut self, slice: &mut Slice) -> bool {
        let Some(initial) = &mut self.initial else {
            return true;
        };
        for (id, entry) in self.items.range(initial.from..) {
            if slice.is_over() {
                initial.from = *id;
                return false;
            }
            entry.item.send_initial_value();
            slice.spend_sample(1);
        }
        self.initial = None;
        true
    }

    pub(crate) fn item(&self, id: u32) -> Result<&Arc<MonitoredItem>, StatusCode> {
        let entry = self.items.get(&id);
        let entry = entry.ok_or(StatusCode::BadMonitoredItemIdInvalid)?;
        Ok(&entry.item)
    }

    /// Returns the load of the items in the sampling budget.
    pub(crate) fn load(&self) -> Load {
        self.load.get()
    }

    /// Returns an id for a new item.
    pub(crate) fn next_item_id(&mut self) -> u32 {
        self.last_item_id = self.last_item_id.wrapping_add(1).max(1);
        self.last_item_id
    }

    /// Adds an item, which is sampled from now on.
    pub(crate) fn add(&mut self, item: Arc<MonitoredItem>, now: Instant) {
        let id = item.id;
        let entry = Entry {
            item,
            period: None,
            load: Load::default(),
        };
        self.items.insert(id, entry);
        self.schedule(id, now);
    }

    /// Removes an item. Returns samples that are still to be freed.
    pub(crate) fn remove(&mut self, id: u32) -> Result<Option<Discarded>, StatusCode> {
        let entry = self.items.remove(&id);
        let entry = entry.ok_or(StatusCode::BadMonitoredItemIdInvalid)?;
        self.load.subtract(entry.load);
        Ok(self.forget(id, &entry))
    }

    fn forget(&mut self, id: u32, entry: &Entry) -> Option<Discarded> {
        if let Some(period) = entry.period {
            self.groups.remove(id, period);
        }
        entry.item.delete()
    }

    /// Stops a removed Subscription: its items release their part of the sampling budget.
    pub(super) fn stop(&mut self) {
        self.load.clear();
    }

    /// Gives back the memory of its items and messages within the slice. Returns true if none is left.
    pub(super) fn give_back(
        &mut self,
        slice: &mut Slice,
        discarded: &mut VecDeque<Discarded>,
    ) -> bool {
        while !slice.is_over() {
            if let Some((id, entry)) = self.items.pop_first() {
                slice.spend_item();
                discarded.extend(self.forget(id, &entry));
            } else if let Some(bytes) = self.retransmission.pop() {
                slice.spend_bytes_given_back(bytes);
            } else {
                return true;
            }
        }
        false
    }

    /// Schedules the sampling of an item after it was added or changed.
    pub(crate) fn schedule(&mut self, id: u32, now: Instant) {
        let Some(entry) = self.items.get_mut(&id) else {
            return;
        };
        let sampling = entry.item.sampling();
        self.load.subtract(entry.load);
        self.load.add(sampling.load);
        entry.load = sampling.load;
        let period = entry.item.is_sampled().then_some(sampling.period);
        if period == entry.period {
            return;
        }
        if let Some(before) = entry.period {
            self.groups.remove(id, before);
        }
        if let Some(period) = period {
            let publish = self.next_publish;
            self.groups.add(&entry.item, period, publish, now);
        }
        entry.period = period;
    }

    /// Returns the time of the next sample or initial value.
    fn next_sample(&self) -> Option<Instant> {
        let sample = self.groups.next_deadline().filter(|_| !self.is_paused);
        let initial = self.initial.as_ref().map(|initial| initial.since);
        let anew = self.resumption.as_ref().map(|anew| anew.since);
        sample.into_iter().chain(initial).chain(anew).min()
    }

    /// Queues initial values and samples the due items, within the slice. Returns true if all of them are done.
    pub(crate) fn sample(
        &mut self,
        sampler: &mut Sampler<'_>,
        now: Instant,
        slice: &mut Slice,
    ) -> bool {
        self.is_suspended
            || self.sample_anew(sampler, slice)
                && self.queue_initial_values(slice)
                && (self.is_paused || self.groups.sample(sampler, &self.owner, now, slice))
    }

    /// Returns true if publishing waits for the rest of the due samples; not for longer than one publishing interval.
    pub(crate) fn is_behind(&self, now: Instant) -> bool {
        self.next_sample().is_some_and(|at| at <= now)
            && now < self.next_publish + self.publishing_interval
    }

    /// Returns true if the publishing timer has expired; then it is started again.
    pub(crate) fn timer_expired(&mut self, now: Instant) -> bool {
        let expired = self.next_publish <= now;
        if expired {
            self.next_publish = after(self.next_publish, self.publishing_interval, now);
        }
        expired
    }

    /// Implements CreateNotificationMsg() (OPC 10000-4, 5.14.1.3) within the given number of Notifications and bytes. Returns
    /// an encoded NotificationMessage, which is kept for Republish, the number of Notifications in it, and true if there are
    /// more. Without Notifications it is a keep-alive.
    pub(crate) fn notifications(
        &mut self,
        now: DateTime,
        (notifications, bytes): (usize, usize),
    ) -> (Arc<[u8]>, usize, bool) {
        let mut message = Vec::new();
        let sequence_number = self.next_sequence_number;
        let room = Room {
            notifications: self.max_notifications.min(notifications),
            full: MESSAGE_SIZE.min(bytes),
            max: self.max_message,
        };
        let mut encoder = Encoder::growing(&mut message, self.max_message + CLOSING);
        // In turn if there are both, so that many Events do not keep the values back.
        let events = self.ready_events.is_any() && !(self.had_events && self.ready.is_any());
        self.had_events = events;
        let (kind, ready) = match events {
            true => (Kind::Events, &self.ready_events),
            false => (Kind::Values, &self.ready),
        };
        let count = encode_notifications(kind, &mut encoder, ready, (sequence_number, now), room);
        let count = count.unwrap_or(0);
        if count == 0 {
            return (self.keep_alive(now), 0, false);
        }
        let sent = u32::try_from(count).unwrap_or(u32::MAX);
        let counted = match kind {
            Kind::Events => &mut self.counts.events,
            Kind::Values => &mut self.counts.data_changes,
        };
        *counted = counted.wrapping_add(sent);
        let (message, more) = self.keep(message);
        (message, count, more)
    }

    /// Sets the PublishingMode (OPC 10000-4, 5.14.4).
    pub(crate) fn set_publishing_enabled(&mut self, enabled: bool) {
        count(match enabled {
            true => &mut self.counts.enabled,
            false => &mut self.counts.disabled,
        });
        self.machine.set_publishing_enabled(enabled);
    }

    /// Returns the diagnostics.
    pub(crate) fn diagnostics(&self) -> SubscriptionDiagnosticsDataType {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let counts = &self.counts;
        let (mut disabled, mut overflows, mut event_overflows) = (0, 0_u32, 0_u32);
        for entry in self.items.values() {
            disabled += usize::from(entry.item.is_disabled());
            let of_kind = match entry.item.is_for_events() {
                true => &mut event_overflows,
                false => &mut overflows,
            };
            *of_kind = of_kind.saturating_add(entry.item.overflows());
        }
        SubscriptionDiagnosticsDataType {
            session_id: self.session.clone(),
            subscription_id: self.id,
            priority: self.priority,
            publishing_interval: self.publishing_interval.as_secs_f64() * 1000.0,
            max_notifications_per_publish: number(self.max_notifications),
            modify_count: counts.modified,
            enable_count: counts.enabled,
            disable_count: counts.disabled,
            republish_request_count: counts.republish_requests,
            republish_message_request_count: counts.republish_requests,
            republish_message_count: counts.republished,
            transfer_request_count: counts.transfers,
            // Only the same user of the same application may take a Subscription over.
            transferred_to_same_client_count: counts.transferred,
            publish_request_count: counts.publish_requests,
            data_change_notifications_count: counts.data_changes,
            event_notifications_count: counts.events,
            notifications_count: counts.data_changes.wrapping_add(counts.events),
            unacknowledged_message_count: number(self.retransmission.sequence_numbers().len()),
            discarded_message_count: self.retransmission.discarded(),
            monitored_item_count: number(self.items.len()),
            disabled_monitored_item_count: number(disabled),
            monitoring_queue_overflow_count: overflows,
            event_queue_overflow_count: event_overflows,
            next_sequence_number: self.next_sequence_number,
            ..self.machine.diagnostics()
        }
    }

    fn keep(&mut self, message: Vec<u8>) -> (Arc<[u8]>, bool) {
        let message: Arc<[u8]> = message.into();
        let sequence_number = self.next_sequence_number;
        self.retransmission
            .push(sequence_number, Arc::clone(&message));
        // 0 is no sequence number.
        self.next_sequence_number = sequence_number.wrapping_add(1).max(1);
        (message, self.has_notifications())
    }

    /// Returns true if there are Notifications.
    pub(crate) fn has_notifications(&self) -> bool {
        self.ready.is_any() || self.ready_events.is_any()
    }

    /// Returns a keep-alive: a message with only the next sequence number.
    pub(crate) fn keep_alive(&self, now: DateTime) -> Arc<[u8]> {
        encoded(self.next_sequence_number, now, Vec::new())
    }

    /// Returns a StatusChangeNotification (OPC 10000-4, 7.25.4): the last message.
    pub(crate) fn status_change(&self, status: StatusCode, now: DateTime) -> Arc<[u8]> {
        let change = StatusChangeNotification {
            status,
            ..StatusChangeNotification::default()
        };
        let change = ExtensionObject::from_structure(&change);
        encoded(self.next_sequence_number, now, vec![change])
    }
}

impl Timed for Subscription {
    fn next_deadline(&self) -> Option<Instant> {
        if self.is_suspended {
            return self.ends;
        }
        let times = [self.next_sample(), self.interrupted, self.abandoned_at()];
        let times = times.into_iter().flatten();
        let timer = self.ends.unwrap_or(self.next_publish);
        Some(times.fold(timer, Instant::min))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // An item with values to publish is in a list that it holds itself, which is a cycle of references.
        for item in self.items() {
            drop(item.delete());
        }
    }
}

//! Subscriptions and MonitoredItems (OPC 10000-4, 5.13 and 5.14).
//!
//! The engine has no clock and no thread: services and [`Server::tick`] hand it the time, and [`Subscriptions::next_deadline`]
//! returns the time of the next call. Samples wait in the queues of the MonitoredItems. They are published in the responses to
//! Publish requests, which wait here and are answered like other deferred requests.
//!
//! * A Variable with a stored value reports by exception if its sampling interval is 0: every value that is set is queued, on
//!   the thread that sets it. All other items are sampled, not more often than the limits allow.
//! * All queues are bounded: [`SubscriptionLimits`](crate::SubscriptionLimits).

mod agenda;
pub(crate) mod filter;
mod groups;
pub(crate) mod item;
pub(crate) mod load;
mod message;
mod publish;
mod queue;
pub(crate) mod ready;
mod removed;
mod retransmission;
pub(crate) mod revise;
mod sample;
pub(crate) mod sampler;
mod sessions;
mod slice;
mod state;
mod subscription;
mod tick;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use takt_rt::memory_budget::MemoryBudget;
use takt_space::Caller;
use takt_ua::{DateTime, NodeId, StatusCode};

pub(crate) use publish::PublishRequest;
pub(crate) use removed::Removed;
pub(crate) use revise::Revised;
pub(crate) use subscription::Subscription;

use crate::deadline::Deadline;
use crate::limits::SubscriptionLimits;
use agenda::Agenda;
use load::{Allotment, Load, PartialLoad, TotalLoad};
use sampler::Sources;
use sessions::SessionQueue;
use slice::Slice;
use subscription::NewSubscription;

/// The current time on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) date_time: DateTime,
}

impl Now {
    pub(crate) fn get() -> Self {
        Self {
            instant: Instant::now(),
            date_time: DateTime::now(),
        }
    }
}

/// All Subscriptions of a server.
pub(crate) struct Subscriptions {
    engine: Mutex<Engine>,
    /// Time of the next call of the engine, readable without the lock.
    deadline: Deadline,
    /// Load of all items in the sampling budget.
    load: TotalLoad,
}

impl Subscriptions {
    pub(crate) fn new(
        limits: SubscriptionLimits,
        max_response_size: usize,
        work_per_slice: u32,
    ) -> Self {
        // The completion of a started operation may take a little more than the rest of the slice.
        let work_per_slice = u64::from(work_per_slice) / 8 * 7;
        let engine = Engine::new(limits, max_response_size, work_per_slice);
        Self {
            load: engine.load.clone(),
            engine: Mutex::new(engine),
            deadline: Deadline::default(),
        }
    }

    /// Returns the load of all items in the sampling budget, in units of work per second.
    pub(crate) fn sampling_load(&self) -> u64 {
        self.load.units()
    }

    /// Runs `work` on the engine, and stores the time of its next call.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Engine) -> R) -> R {
        let mut engine: MutexGuard<'_, Engine> =
            self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut engine);
        self.deadline.set(engine.next_deadline());
        result
    }

    /// Returns the time at which [`tick`](Self::tick) is due. Takes no lock.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadline.get()
    }

    /// Runs one slice of due sampling and publishing. Returns its units of work.
    pub(crate) fn tick(&self, sources: Sources<'_>, now: Now) -> u64 {
        if !self.deadline.is_due(now.instant) {
            return 0;
        }
        self.with(|engine| engine.tick(sources, now))
    }
}

/// The Subscriptions, and the Publish requests that carry their messages.
pub(crate) struct Engine {
    pub(crate) limits: SubscriptionLimits,
    subscriptions: Agenda<u32, Subscription>,
    sessions: Agenda<NodeId, SessionQueue>,
    removed: Removed,
    /// Time of creation of the engine: the due time of waiting work.
    epoch: Instant,
    last_id: u32,
    last_turn: u64,
    load: TotalLoad,
    slice: Slice,
    work_per_slice: u64,
    max_message: usize,
}

/// Maximum number of bytes of a PublishResponse beside its NotificationMessage.
const RESPONSE_OVERHEAD: usize = 64 << 10;

impl Engine {
    fn new(limits: SubscriptionLimits, max_response_size: usize, work_per_slice: u64) -> Self {
        Self {
            limits,
            subscriptions: Agenda::default(),
            sessions: Agenda::default(),
            removed: Removed::default(),
            epoch: Instant::now(),
            last_id: 0,
            last_turn: 0,
            load: TotalLoad::default(),
            slice: Slice::new(work_per_slice),
            work_per_slice,
            max_message: max_response_size
                .saturating_sub(RESPONSE_OVERHEAD)
                .max(8 << 10),
        }
    }

    fn next_deadline(&mut self) -> Option<Instant> {
        let removed = (!self.removed.is_empty()).then_some(self.epoch);
        let timers = self.subscriptions.next_deadline();
        let requests = self.sessions.next_deadline();
        removed.into_iter().chain(timers).chain(requests).min()
    }

    /// Creates a Subscription (CreateSubscription, OPC 10000-4, 5.14.2).
    pub(crate) fn create(
        &mut self,
        session: &NodeId,
        owner: Arc<Caller>,
        memory: &MemoryBudget,
        revised: Revised,
        (publishing_enabled, priority): (bool, u8),
        now: Now,
    ) -> Result<u32, StatusCode> {
        let of_session = self.sessions.get(session);
        let of_session = of_session.map_or(0, |session| session.subscriptions.len());
        if is_full(self.subscriptions.len(), self.limits.max_subscriptions)
            || is_full(of_session, self.limits.max_subscriptions_per_session)
        {
            return Err(StatusCode::BadTooManySubscriptions);
        }
        let charge = memory.charge(Subscription::MEMORY);
        let charge = charge.map_err(|_| StatusCode::BadTooManySubscriptions)?;
        self.last_id = self.last_id.wrapping_add(1).max(1);
        let id = self.last_id;
        let subscription = Subscription::new(
            NewSubscription {
                id,
                session: session.clone(),
                owner,
                revised,
                publishing_enabled,
                priority,
                max_retained: self.limits.max_retransmission_queue,
                max_message: self.max_message,
                charge,
                memory: memory.clone(),
                load: PartialLoad::of(&self.load),
            },
            now,
        );
        self.subscriptions.insert(id, subscription);
        self.attach(session, id);
        Ok(id)
    }

    /// Adds a Subscription to a Session.
    fn attach(&mut self, session: &NodeId, id: u32) {
        if self.sessions.get(session).is_none() {
            self.sessions
                .insert(session.clone(), SessionQueue::default());
        }
        if let Some(queue) = self.sessions.get_mut(session) {
            queue.subscriptions.push(id);
        }
    }

    /// Returns a Subscription of this Session.
    pub(crate) fn subscription(
        &mut self,
        session: &NodeId,
        id: u32,
    ) -> Result<&mut Subscription, StatusCode> {
        self.subscriptions
            .get_mut(&id)
            .filter(|subscription| subscription.session == *session)
            .ok_or(StatusCode::BadSubscriptionIdInvalid)
    }

    /// Returns a Subscription of this Session, and the receiver of the samples that it discards.
    pub(crate) fn subscription_to_change(
        &mut self,
        session: &NodeId,
        id: u32,
    ) -> Result<(&mut Subscription, &mut Removed), StatusCode> {
        self.subscription(session, id)?;
        let subscription = self.subscriptions.get_mut(&id);
        let subscription = subscription.ok_or(StatusCode::BadSubscriptionIdInvalid)?;
        Ok((subscription, &mut self.removed))
    }

    /// Returns a Subscription for a Method that only its own Session may call (OPC 10000-5, 9.1).
    pub(crate) fn subscription_of_caller(
        &mut self,
        session: &NodeId,
        id: u32,
    ) -> Result<&mut Subscription, StatusCode> {
        match self.subscriptions.get_mut(&id) {
            None => Err(StatusCode::BadSubscriptionIdInvalid),
            Some(subscription) if subscription.session != *session => {
                Err(StatusCode::BadUserAccessDenied)
            }
            Some(subscription) => Ok(subscription),
        }
    }

    /// Returns the number of MonitoredItems that may be added to a Subscription, considering all limits.
    pub(crate) fn room_for_items(&self, id: u32) -> usize {
        let all: usize = self
            .subscriptions
            .values()
            .map(Subscription::item_count)
            .sum();
        let own = self.subscriptions.get(&id);
        let own = own.map_or(0, Subscription::item_count);
        let left = |limit: u32, used| {
            usize::try_from(limit)
                .unwrap_or(usize::MAX)
                .saturating_sub(used)
        };
        left(self.limits.max_monitored_items, all)
            .min(left(self.limits.max_monitored_items_per_subscription, own))
    }

    /// Returns the part of the sampling budget that a request for `items` items of this Session may use.
    pub(crate) fn allotment(&self, session: &NodeId, items: usize) -> Allotment {
        let of_session = self.subscriptions.values();
        let of_session = of_session.filter(|subscription| subscription.session == *session);
        let own = of_session.map(Subscription::load).sum();
        let limit = Load::units_per_second(self.limits.max_sampling_load);
        Allotment::new(limit, own, self.load.get(), items)
    }

    /// Deletes one Subscription (DeleteSubscriptions, OPC 10000-4, 5.14.8).
    pub(crate) fn delete(&mut self, session: &NodeId, id: u32) -> Result<(), StatusCode> {
        self.subscription(session, id)?;
        self.remove(id);
        if let Some(session) = self.sessions.get_mut(session) {
            session.subscriptions.retain(|known| *known != id);
        }
        self.answer_who_waits_in_vain(session);
        Ok(())
    }

    /// Removes a Subscription. Its memory is given back later.
    fn remove(&mut self, id: u32) {
        if let Some(subscription) = self.subscriptions.remove(&id) {
            self.removed.add(subscription);
        }
    }

    /// Gives back memory of removed Subscriptions and samples, within the rest of the slice.
    pub(crate) fn give_back(&mut self) {
        self.removed.give_back(&mut self.slice);
    }

    /// Queues the last samples of items again (ResendData, OPC 10000-5, 9.2), even if they were published before.
    pub(crate) fn resend_data(
        &mut self,
        session: &NodeId,
        id: u32,
        now: Now,
    ) -> Result<(), StatusCode> {
        self.begin_slice(self.work_per_slice);
        self.subscription_of_caller(session, id)?;
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            subscription.send_initial_values(now.instant, &mut self.slice);
        }
        Ok(())
    }

    /// Transfers one Subscription (TransferSubscriptions, OPC 10000-4, 5.14.7). The old Session is notified.
    pub(crate) fn transfer(
        &mut self,
        session: &NodeId,
        caller: &Arc<Caller>,
        id: u32,
        send_initial_values: bool,
        now: Now,
    ) -> Result<Vec<u32>, StatusCode> {
        let of_session = self.sessions.get(session);
        let of_session = of_session.map_or(0, |session| session.subscriptions.len());
        let is_full = is_full(of_session, self.limits.max_subscriptions_per_session);
        let subscription = self
            .subscriptions
            .get_mut(&id)
            .ok_or(StatusCode::BadSubscriptionIdInvalid)?;
        if subscription.session == *session {
            return Err(StatusCode::BadNothingToDo);
        }
        let owner = &subscription.owner;
        if owner.user != caller.user
            || owner.peer().user() != caller.peer().user()
            || owner.application_uri != caller.application_uri
        {
            return Err(StatusCode::BadUserAccessDenied);
        }
        if is_full {
            return Err(StatusCode::BadTooManySubscriptions);
        }
        let before = std::mem::replace(&mut subscription.session, session.clone());
        subscription.owner = Arc::clone(caller);
        subscription.machine.reset_lifetime();
        subscription.is_paused = false;
        if send_initial_values {
            subscription.send_initial_values(now.instant, &mut self.slice);
        }
        let available = subscription.retransmission.sequence_numbers().collect();
        let transferred = StatusCode::GoodSubscriptionTransferred;
        let message = subscription.status_change(transferred, now.date_time);
        self.attach(session, id);
        if let Some(old) = self.sessions.get_mut(&before) {
            old.subscriptions.retain(|known| *known != id);
            old.tell(id, message, self.limits.max_subscriptions_per_session);
        }
        self.serve(&before, now);
        self.answer_who_waits_in_vain(&before);
        Ok(available)
    }

    /// Begins a slice of `units` units, at most those of a full slice.
    pub(crate) fn begin_slice(&mut self, units: u64) {
        self.slice = Slice::new(units.min(self.work_per_slice));
    }

    /// Returns the used units of the slice.
    pub(crate) fn spent(&self) -> u64 {
        self.slice.spent()
    }
}

fn is_full(count: usize, limit: u32) -> bool {
    count >= usize::try_from(limit).unwrap_or(usize::MAX)
}

//! Subscriptions and MonitoredItems (OPC 10000-4, 5.13 and 5.14).
//!
//! The engine has no clock and no thread: services and [`Server::tick`] hand it the time, and
//! [`Subscriptions::next_deadline`] says when it wants to be called again. What is sampled waits in the queues of the
//! MonitoredItems; what is published leaves through Publish requests, which wait here and are answered as deferred
//! requests are.
//!
//! * A Variable with a stored value reports by exception if its sampling interval is 0: every value that is set is
//!   queued, by whoever sets it. Everything else is sampled, not more often than the limits allow.
//! * All queues are bounded: [`SubscriptionLimits`](crate::SubscriptionLimits).

pub(crate) mod filter;
mod groups;
pub(crate) mod item;
pub(crate) mod load;
mod publish;
mod queue;
mod retransmission;
pub(crate) mod revise;
mod sample;
pub(crate) mod sampler;
mod sessions;
mod slice;
mod state;
mod subscription;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use takt_rt::memory_budget::MemoryBudget;
use takt_space::Caller;
use takt_ua::{DateTime, NodeId, StatusCode};

pub(crate) use publish::PublishRequest;
pub(crate) use revise::Revised;
pub(crate) use subscription::Subscription;

use crate::deadline::Deadline;
use crate::limits::SubscriptionLimits;
use load::{Allotment, Load, PartialLoad, TotalLoad};
use sampler::{Sampler, Sources};
use sessions::SessionQueue;
use slice::Slice;
use state::OnTimer;
use subscription::NewSubscription;

/// The time, on both clocks.
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
    /// When the engine wants to be called: to be seen without the lock.
    deadline: Deadline,
    /// What all items take of the sampling budget.
    load: TotalLoad,
}

impl Subscriptions {
    pub(crate) fn new(
        limits: SubscriptionLimits,
        max_response_size: usize,
        work_per_slice: u32,
    ) -> Self {
        // Finishing what was begun may take a little more than is left.
        let work_per_slice = u64::from(work_per_slice) / 8 * 7;
        let engine = Engine::new(limits, max_response_size, work_per_slice);
        Self {
            load: engine.load.clone(),
            engine: Mutex::new(engine),
            deadline: Deadline::default(),
        }
    }

    /// What all items take of the sampling budget, in units of work per second.
    pub(crate) fn sampling_load(&self) -> u64 {
        self.load.units()
    }

    /// Works with the engine, and notes when it wants to be called next.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Engine) -> R) -> R {
        let mut engine: MutexGuard<'_, Engine> =
            self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut engine);
        self.deadline.set(engine.next_deadline());
        result
    }

    /// When [`tick`](Self::tick) is due. Takes no lock.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadline.get()
    }

    /// Samples and publishes what is due: one slice of it, whose units of work are returned.
    pub(crate) fn tick(&self, sources: Sources<'_>, now: Now) -> u64 {
        if !self.deadline.is_due(now.instant) {
            return 0;
        }
        self.with(|engine| engine.tick(sources, now))
    }
}

/// What there is, and who waits for it.
pub(crate) struct Engine {
    pub(crate) limits: SubscriptionLimits,
    subscriptions: HashMap<u32, Subscription>,
    sessions: HashMap<NodeId, SessionQueue>,
    last_id: u32,
    last_turn: u64,
    load: TotalLoad,
    /// What may still be done in the current slice.
    slice: Slice,
    work_per_slice: u64,
    max_message: usize,
}

/// Bytes of a PublishResponse beside its NotificationMessage, at most.
const RESPONSE_OVERHEAD: usize = 64 << 10;

impl Engine {
    fn new(limits: SubscriptionLimits, max_response_size: usize, work_per_slice: u64) -> Self {
        Self {
            limits,
            subscriptions: HashMap::new(),
            sessions: HashMap::new(),
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

    fn next_deadline(&self) -> Option<Instant> {
        let subscriptions = self.subscriptions.values();
        let timers = subscriptions.map(Subscription::next_deadline).min();
        let requests = self.sessions.values();
        let requests = requests.filter_map(SessionQueue::next_timeout).min();
        timers.into_iter().chain(requests).min()
    }

    /// CreateSubscription (OPC 10000-4, 5.14.2).
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
        let session = self.sessions.entry(session.clone()).or_default();
        session.subscriptions.push(id);
        Ok(id)
    }

    /// A Subscription of this Session.
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

    /// A Subscription, for a Method that its own Session alone may call (OPC 10000-5, 9.1).
    pub(crate) fn subscription_of_caller(
        &self,
        session: &NodeId,
        id: u32,
    ) -> Result<&Subscription, StatusCode> {
        match self.subscriptions.get(&id) {
            None => Err(StatusCode::BadSubscriptionIdInvalid),
            Some(subscription) if subscription.session != *session => {
                Err(StatusCode::BadUserAccessDenied)
            }
            Some(subscription) => Ok(subscription),
        }
    }

    /// How many MonitoredItems there may still be in a Subscription, all limits considered.
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

    /// What a request for `items` items of this Session may take of the sampling budget.
    pub(crate) fn allotment(&self, session: &NodeId, items: usize) -> Allotment {
        let of_session = self.subscriptions.values();
        let of_session = of_session.filter(|subscription| subscription.session == *session);
        let own = of_session.map(Subscription::load).sum();
        let limit = Load::units_per_second(self.limits.max_sampling_load);
        Allotment::new(limit, own, self.load.get(), items)
    }

    /// DeleteSubscriptions (OPC 10000-4, 5.14.8), one of them.
    pub(crate) fn delete(&mut self, session: &NodeId, id: u32) -> Result<(), StatusCode> {
        self.subscription(session, id)?;
        self.subscriptions.remove(&id);
        if let Some(session) = self.sessions.get_mut(session) {
            session.subscriptions.retain(|known| *known != id);
        }
        self.answer_who_waits_in_vain(session);
        Ok(())
    }

    /// TransferSubscriptions (OPC 10000-4, 5.14.7), one of them. The old Session learns of it.
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
            || owner.peer.user != caller.peer.user
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
            subscription.send_initial_values();
        }
        let available = subscription.retransmission.sequence_numbers().collect();
        let transferred = StatusCode::GoodSubscriptionTransferred;
        let message = subscription.status_change(transferred, now.date_time);
        let new = self.sessions.entry(session.clone()).or_default();
        new.subscriptions.push(id);
        if let Some(old) = self.sessions.get_mut(&before) {
            old.subscriptions.retain(|known| *known != id);
            old.tell(id, message, self.limits.max_subscriptions_per_session);
        }
        self.begin_slice();
        self.serve(&before, now);
        self.answer_who_waits_in_vain(&before);
        Ok(available)
    }

    pub(super) fn begin_slice(&mut self) {
        self.slice = Slice::new(self.work_per_slice);
    }

    /// Samples and publishes what is due, the highest priority first, then who waited longest: one slice of it. What is left
    /// is due at once. Sampling gets half of the slice, publishing the rest.
    pub(crate) fn tick(&mut self, sources: Sources<'_>, now: Now) -> u64 {
        self.slice = Slice::new(self.work_per_slice / 2);
        let due = self.subscriptions.values();
        let due = due.filter(|subscription| subscription.next_deadline() <= now.instant);
        let mut due: Vec<(u8, u64, u64, u32)> = due
            .map(|subscription| {
                let last = u8::MAX - subscription.priority;
                let turns = (subscription.sampling_turn, subscription.turn);
                (last, turns.0, turns.1, subscription.id)
            })
            .collect();
        due.sort_unstable();
        let mut sampler = Sampler::new(sources, now.date_time);
        for (_, _, _, id) in &due {
            if let Some(subscription) = self.subscriptions.get_mut(id)
                && !subscription.sample(&mut sampler, now.instant, &mut self.slice)
            {
                self.last_turn += 1;
                subscription.sampling_turn = self.last_turn;
                break;
            }
        }
        sampler.finish();
        self.slice.extend(self.work_per_slice / 2);
        due.sort_unstable_by_key(|(last, _, turn, id)| (*last, *turn, *id));
        for (_, _, _, id) in due {
            self.publish_due(id, now);
        }
        for session in self.sessions.values_mut() {
            session.time_out(now.instant);
        }
        self.slice.spent()
    }

    fn publish_due(&mut self, id: u32, now: Now) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        if self.slice.is_over() || subscription.is_behind(now.instant) {
            return;
        }
        if subscription.interrupted.take().is_some() {
            self.return_notifications(id, now);
        }
        self.publishing_timer(id, now);
    }

    fn publishing_timer(&mut self, id: u32, now: Now) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        if !subscription.timer_expired(now.instant) {
            return;
        }
        let session = self.sessions.get_mut(&subscription.session);
        let is_queued = session.is_some_and(|session| session.has_requests());
        let available = subscription.ready.is_any();
        match subscription.machine.timer_expired(is_queued, available) {
            OnTimer::Nothing => {}
            OnTimer::Notifications => self.return_notifications(id, now),
            OnTimer::KeepAlive => self.return_keep_alive(id, now),
            OnTimer::Expired => self.expire(id, now),
        }
    }

    /// The lifetime of a Subscription is over: its Session learns of it with the next Publish request.
    fn expire(&mut self, id: u32, now: Now) {
        let Some(subscription) = self.subscriptions.remove(&id) else {
            return;
        };
        tracing::debug!(subscription = id, "Subscription timed out");
        if let Some(session) = self.sessions.get_mut(&subscription.session) {
            session.subscriptions.retain(|known| *known != id);
            let message = subscription.status_change(StatusCode::BadTimeout, now.date_time);
            session.tell(id, message, self.limits.max_subscriptions_per_session);
        }
        self.serve(&subscription.session, now);
    }
}

fn is_full(count: usize, limit: u32) -> bool {
    count >= usize::try_from(limit).unwrap_or(usize::MAX)
}

//! State of the engine: the Subscriptions, and the Publish requests that carry their messages.

use std::sync::Arc;
use std::time::Instant;

use takt_ua::{NodeId, StatusCode};

use super::agenda::Agenda;
use super::event_dispatch::Dispatch;
use super::load::TotalLoad;
use super::now::Now;
use super::publish_request::RESPONSE_OVERHEAD;
use super::removed::Removed;
use super::session_memory::SessionMemory;
use super::session_queue::SessionQueue;
use super::slice::Slice;
use super::snapshots::Snapshots;
use super::subscription::{SavedSubscription, Subscription};
use crate::budgets::{SubscriptionBudgets, is_full};

/// The Subscriptions, and the Publish requests that carry their messages.
pub(crate) struct Engine {
    pub(crate) budgets: SubscriptionBudgets,
    pub(super) subscriptions: Agenda<u32, Subscription>,
    pub(super) sessions: Agenda<NodeId, SessionQueue>,
    pub(super) removed: Removed,
    pub(super) memory: SessionMemory,
    /// Time of creation of the engine: the due time of waiting work.
    epoch: Instant,
    /// SubscriptionId that is given next, if no Subscription has it.
    pub(super) next_id: u32,
    /// Number of Subscriptions that were ever created.
    pub(super) created: u32,
    pub(super) last_turn: u64,
    pub(super) load: TotalLoad,
    pub(super) slice: Slice,
    pub(super) work_per_slice: u64,
    pub(super) max_message: usize,
    pub(crate) dispatch: Dispatch,
    durable_observer: Option<Box<dyn Fn() + Send>>,
    pub(super) snapshots: Arc<Snapshots>,
}

impl Engine {
    pub(super) fn new(
        budgets: SubscriptionBudgets,
        max_response_size: usize,
        work_per_slice: u64,
        dispatch: Dispatch,
        first_id: u32,
        memory: SessionMemory,
        snapshots: Arc<Snapshots>,
    ) -> Self {
        Self {
            budgets,
            subscriptions: Agenda::default(),
            sessions: Agenda::default(),
            removed: Removed::default(),
            memory,
            epoch: Instant::now(),
            next_id: first_id,
            created: 0,
            last_turn: 0,
            load: TotalLoad::default(),
            slice: Slice::new(work_per_slice),
            work_per_slice,
            dispatch,
            durable_observer: None,
            snapshots,
            // A message has room for something even if the limit is very small.
            max_message: max_response_size
                .saturating_sub(RESPONSE_OVERHEAD)
                .max(8 << 10),
        }
    }

    pub(super) fn next_deadline(&mut self) -> Option<Instant> {
        let is_busy = !self.removed.is_empty() || self.dispatch.is_due();
        let removed = is_busy.then_some(self.epoch);
        let timers = self.subscriptions.next_deadline();
        let requests = self.sessions.next_deadline();
        let others = [timers, requests, self.memory.next_look()];
        removed
            .into_iter()
            .chain(others.into_iter().flatten())
            .min()
    }

    /// Returns the number of Subscriptions, and of those that were ever created.
    pub(super) fn counts(&self) -> [u32; 2] {
        let current = u32::try_from(self.subscriptions.len()).unwrap_or(u32::MAX);
        [current, self.created]
    }

    /// Returns the count of the load of all items in the sampling budget, which the engine keeps up to date.
    pub(super) fn total_load(&self) -> TotalLoad {
        self.load.clone()
    }

    /// Adds a Subscription to a Session.
    pub(super) fn attach(&mut self, session: &NodeId, id: u32) {
        if self.sessions.get(session).is_none() {
            self.sessions
                .insert(session.clone(), SessionQueue::default());
        }
        if let Some(queue) = self.sessions.get_mut(session) {
            queue.subscriptions.push(id);
        }
    }

    /// Sets the function that is called when a durable Subscription begins, ends, or may change.
    pub(crate) fn set_durable_observer(&mut self, observer: Option<Box<dyn Fn() + Send>>) {
        self.durable_observer = observer;
    }

    /// Tells the observer that this Subscription changes, if it is durable.
    pub(super) fn durable_changes(&self, id: u32) {
        if let Some(observer) = &self.durable_observer
            && self
                .subscriptions
                .get(&id)
                .is_some_and(Subscription::is_durable)
        {
            observer();
        }
    }

    /// Returns the durable Subscriptions, as they are kept for the next server.
    pub(crate) fn saved(&self) -> Vec<SavedSubscription> {
        let all = self.subscriptions.values();
        all.filter_map(Subscription::saved).collect()
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
        // It is looked up twice because the observer is told with the whole engine in between.
        self.subscription(session, id)?;
        self.durable_changes(id);
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

    /// Returns the number of MonitoredItems that may be added to a Subscription, considering all limits. Abandoned Subscriptions
    /// make room.
    pub(crate) fn room_for_items(&mut self, id: u32, now: Now) -> usize {
        self.make_room(now);
        let count = |engine: &Self| -> usize {
            let all = engine.subscriptions.values();
            all.map(Subscription::item_count).sum()
        };
        let mut all = count(self);
        while is_full(all, self.budgets.max_monitored_items) && self.give_way(now) {
            all = count(self);
        }
        let own = self.subscriptions.get(&id);
        let own = own.map_or(0, Subscription::item_count);
        let left = |limit: u32, used| {
            usize::try_from(limit)
                .unwrap_or(usize::MAX)
                .saturating_sub(used)
        };
        left(self.budgets.max_monitored_items, all)
            .min(left(self.budgets.max_monitored_items_per_subscription, own))
    }

    /// Removes a Subscription. Its memory is given back later.
    pub(super) fn remove(&mut self, id: u32) {
        if let Some(subscription) = self.take(id) {
            self.removed.add(subscription);
        }
    }

    /// Takes a Subscription out of the engine. Each end of a Subscription is an end here, so the observer learns of all of them.
    pub(super) fn take(&mut self, id: u32) -> Option<Subscription> {
        // Before the removal: afterwards it is not known whether it was durable.
        self.durable_changes(id);
        self.snapshots.forget(id);
        self.subscriptions.remove(&id)
    }

    /// Gives back memory of removed Subscriptions and samples, within the rest of the slice.
    pub(crate) fn give_back(&mut self) {
        self.removed.give_back(&mut self.slice);
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

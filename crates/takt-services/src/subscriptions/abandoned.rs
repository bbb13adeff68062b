//! Subscriptions whose clients are gone make room for others: their sampling, their memory and their places.
//!
//! An abandoned Subscription stays until its lifetime is over (OPC 10000-4, 5.7.4), if nobody else needs what it holds.
//! Otherwise the one whose client has been gone for the longest time ends, then the next one. Durable Subscriptions stay: they
//! have a budget of their own.

use std::time::{Duration, Instant};

use takt_rt::memory_budget::MemoryBudget;
use takt_ua::{NodeId, StatusCode};

use super::engine::Engine;
use super::load::{Allotment, Load};
use super::now::Now;
use super::slice::Slice;
use super::subscription::Subscription;

/// Interval at which the memory of Sessions is looked at while there are abandoned Subscriptions.
const LOOK: Duration = Duration::from_millis(100);

/// Inverse of the fraction of the sampling budget that durable Subscriptions have together.
const DURABLE_SHARE: u32 = 4;

impl Engine {
    /// Returns the abandoned Subscription whose client has been gone for the longest time.
    fn oldest_abandoned(&self, now: Instant) -> Option<u32> {
        let all = self.subscriptions.values();
        let abandoned = all.filter_map(|one| Some((one.abandoned_since(now)?, one.id)));
        abandoned.min().map(|(_, id)| id)
    }

    /// Ends the abandoned Subscription whose client has been gone for the longest time. Returns `false` if there is none.
    pub(super) fn give_way(&mut self, now: Now) -> bool {
        let Some(id) = self.oldest_abandoned(now.instant) else {
            return false;
        };
        tracing::debug!(
            subscription = id,
            "abandoned Subscription made room for others"
        );
        self.end(id, StatusCode::BadTimeout, now);
        true
    }

    /// Looks at the memory of Sessions when it is due: if it is short, an abandoned Subscription ends. The next one follows when
    /// its memory is given back.
    pub(super) fn look_at_memory(&mut self, now: Now) {
        if self.memory.next_look().is_none_or(|at| at > now.instant) {
            return;
        }
        let is_short = self.memory.is_short();
        if is_short && self.removed.is_empty() {
            self.give_way(now);
        }
        // While memory is being given back, the next slice looks again: another Subscription may have to follow.
        let earliest = match is_short && !self.removed.is_empty() {
            true => now.instant,
            false => now.instant + LOOK,
        };
        let all = self.subscriptions.values();
        let abandoned = all.filter_map(Subscription::abandoned_at).min();
        self.memory.look_at(abandoned.map(|at| at.max(earliest)));
    }

    /// Gives memory of abandoned Subscriptions to a request, if the memory of Sessions is short: some at once, the rest soon.
    pub(crate) fn make_room(&mut self, now: Now) {
        if self.memory.next_look().is_none() || !self.memory.is_short() {
            return;
        }
        if self.removed.is_empty() {
            self.give_way(now);
        }
        // Half of a slice: the request itself takes the other half.
        self.slice = Slice::new(self.work_per_slice / 2);
        self.give_back();
    }

    /// Returns the memory of one more durable Subscription.
    pub(super) fn durable_memory(&self) -> MemoryBudget {
        self.memory.of_durable()
    }

    /// Returns the part of the sampling budget that a request for `items` items of a Subscription may use. Subscriptions without
    /// a client leave at least half of the budget to others: those whose clients have been gone longest are suspended.
    pub(crate) fn allotment(
        &mut self,
        session: &NodeId,
        subscription: u32,
        items: usize,
    ) -> Allotment {
        let limit = Load::units_per_second(self.budgets.max_sampling_load);
        while self.load.get() > limit.half() && self.suspend_one() {}
        let of_session = |one: &&Subscription| one.session == *session;
        let sum = |of: &dyn Fn(&&Subscription) -> bool| -> Load {
            let all = self.subscriptions.values();
            all.filter(of).map(Subscription::load).sum()
        };
        let allotment = Allotment::new(limit, sum(&of_session), self.load.get(), items);
        let one = self.subscriptions.get(&subscription);
        if !one.is_some_and(Subscription::is_durable) {
            return allotment;
        }
        let is_durable = |one: &&Subscription| one.is_durable();
        let limit = Load::units_per_second(self.budgets.max_sampling_load / DURABLE_SHARE);
        let own = sum(&|one| is_durable(one) && of_session(one));
        allotment.within(&Allotment::new(limit, own, sum(&is_durable), items))
    }

    /// Suspends the Subscription that is sampled and whose client has been gone for the longest time. Returns `false` if there is
    /// none.
    fn suspend_one(&mut self) -> bool {
        let all = self.subscriptions.values();
        let all = all.filter(|one| one.load() > Load::default());
        let absent = all.filter_map(|one| Some((one.samples_without_client()?, one.id)));
        let Some((_, id)) = absent.min() else {
            return false;
        };
        if let Some(subscription) = self.subscriptions.get_mut(&id) {
            subscription.suspend();
            if let Some(at) = subscription.abandoned_at() {
                self.memory.note_abandoned(at);
            }
        }
        true
    }
}

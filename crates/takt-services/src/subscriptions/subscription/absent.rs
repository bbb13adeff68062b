//! A Subscription whose client is gone: its Session has no channel, or has ended.
//!
//! * While the Session has no channel, sampling goes on for items that keep several values. There are no Publish requests, so the
//!   publishing timer stands still, and the end of the lifetime is due instead.
//! * An abandoned Subscription is suspended: its Session has ended and no other one has taken it over, or the Session has had no
//!   channel for [`SubscriptionBudgets::max_absence`](crate::SubscriptionBudgets::max_absence). Nothing is sampled, and its items take
//!   no values and Events.
//! * A client that comes back gets the current values, and is told that others are missing.
//!
//! A durable Subscription (OPC 10000-4, 6.8) goes on without a client.

use std::ops::Bound;
use std::time::Instant;

use takt_rt::clock;

use super::{Subscription, after};
use crate::subscriptions::absence::{Absence, Resumption};
use crate::subscriptions::sampler::Sampler;
use crate::subscriptions::slice::Slice;

impl Subscription {
    /// Handles the loss of the channel. Without queues, only the value after its return matters.
    pub(crate) fn pause(&mut self, now: Instant) {
        let mut items = self.items.values();
        self.is_paused = !self.is_durable() && !items.any(|entry| entry.item.keeps_several());
        if self.ends.is_none() {
            // The first one of the remaining intervals ends at `next_publish`.
            let left = self.machine.lifetime_left().saturating_sub(1);
            self.ends = Some(self.next_publish.max(now) + self.publishing_interval * left);
            // Without a channel there are no Publish requests that the remaining messages could answer.
            self.interrupted = None;
        }
        let absence = Absence {
            since: now,
            has_ended: false,
        };
        // The loss of the channel and the end of the Session are one absence, from its beginning.
        self.absence.get_or_insert(absence);
    }

    /// Handles the end of the Session. Returns true if the Subscription is abandoned.
    pub(crate) fn abandon(&mut self, now: Instant) -> bool {
        self.pause(now);
        if let Some(absence) = &mut self.absence {
            absence.has_ended = true;
        }
        self.suspend();
        !self.is_durable()
    }

    /// Stops sampling and Events until the client comes back, which is absent already.
    pub(crate) fn suspend(&mut self) {
        if self.is_durable() || self.is_suspended {
            return;
        }
        self.is_suspended = true;
        self.ready.suspend(true);
        self.ready_events.suspend(true);
        self.load.lend(true);
    }

    /// Handles the return of a client.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.is_paused = false;
        self.absence = None;
        if let Some(ends) = self.ends.take() {
            let interval = self.publishing_interval;
            let left = ends.saturating_duration_since(now).as_nanos() / interval.as_nanos().max(1);
            // An interval that has begun counts as a whole.
            let left = u32::try_from(left).unwrap_or(u32::MAX).saturating_add(1);
            self.machine.set_lifetime_left(left);
            if self.next_publish <= now {
                self.next_publish = after(self.next_publish, interval, now);
            }
        }
        if !std::mem::take(&mut self.is_suspended) {
            return;
        }
        self.ready.suspend(false);
        self.ready_events.suspend(false);
        self.load.lend(false);
        self.resumption = Some(Resumption {
            done: None,
            since: now,
        });
    }

    /// Returns the end of the lifetime of a Subscription without a client, whose publishing timer stands still.
    pub(crate) fn ends(&self) -> Option<Instant> {
        self.ends
    }

    /// Returns the time since which the client has been gone, if others may have the sampling of the Subscription.
    pub(crate) fn samples_without_client(&self) -> Option<Instant> {
        let is_idle = self.is_durable() || self.is_suspended;
        let absence = self.absence.filter(|_| !is_idle)?;
        Some(absence.since)
    }

    /// Returns the time at which the Subscription is abandoned, if its client is gone.
    pub(crate) fn abandoned_at(&self) -> Option<Instant> {
        let absence = self.absence.filter(|_| !self.is_durable())?;
        Some(match absence.has_ended {
            true => absence.since,
            false => clock::after(absence.since, self.max_absence),
        })
    }

    /// Returns the time since which the client of an abandoned Subscription has been gone.
    pub(crate) fn abandoned_since(&self, now: Instant) -> Option<Instant> {
        self.abandoned_at().filter(|at| *at <= now)?;
        self.absence.map(|absence| absence.since)
    }

    /// Suspends a Subscription whose Session has been without a channel for too long. Returns true if it was not suspended.
    pub(crate) fn notice_absence(&mut self, now: Instant) -> bool {
        let is_new = !self.is_suspended && self.abandoned_since(now).is_some();
        if is_new {
            self.suspend();
        }
        is_new
    }

    /// Continues to sample items anew after a suspension. Returns true if this is complete.
    pub(super) fn sample_anew(&mut self, sampler: &mut Sampler<'_>, slice: &mut Slice) -> bool {
        let Some(resumption) = &mut self.resumption else {
            return true;
        };
        let from = resumption.done.map_or(Bound::Unbounded, Bound::Excluded);
        for (id, entry) in self.items.range((from, Bound::Unbounded)) {
            if slice.is_over() {
                return false;
            }
            entry.item.resume();
            slice.spend_sample(match entry.item.is_sampled() {
                true => sampler.sample(&entry.item, &self.owner),
                false => 1,
            });
            resumption.done = Some(*id);
        }
        self.resumption = None;
        true
    }
}

//! One slice of due work: sampling, publishing, lifetimes, and release of memory.

use std::sync::Arc;

use takt_ua::{NodeId, StatusCode};

use super::engine::Engine;
use super::now::Now;
use super::sampler::{Sampler, Sources};
use super::slice::Slice;
use super::state::OnTimer;

impl Engine {
    /// Runs one slice of due work: samples and publishes, the highest priority first, then the Subscription that has waited
    /// longest. The rest is due at once. A quarter of the slice is for giving back memory, another one for sampling, and
    /// publishing gets the rest; each part also gets the unused part of those before it. Returns the units of work.
    pub(crate) fn tick(&mut self, sources: Sources<'_>, now: Now) -> u64 {
        self.slice = Slice::new(self.work_per_slice / 4);
        self.give_back();
        self.look_at_memory(now);
        // Events get half of the part for sampling.
        let events = match self.dispatch.is_due() {
            true => self.work_per_slice / 8,
            false => 0,
        };
        self.slice.extend(self.work_per_slice / 4 - events);
        let due = self.subscriptions.due(now.instant);
        let mut due: Vec<(u8, u64, u64, u32)> = due
            .map(|(_, subscription)| {
                let last = u8::MAX - subscription.priority;
                let turns = (subscription.sampling_turn, subscription.turn);
                (last, turns.0, turns.1, subscription.id)
            })
            .collect();
        due.sort_unstable();
        let mut sampler = Sampler::new(sources, now.date_time);
        for (_, _, _, id) in &due {
            let Some(subscription) = self.subscriptions.get_mut(id) else {
                continue;
            };
            if subscription.notice_absence(now.instant) {
                self.memory.note_abandoned(now.instant);
            }
            if !subscription.sample(&mut sampler, now.instant, &mut self.slice) {
                // In the next slice, others of its priority come first.
                self.last_turn += 1;
                subscription.sampling_turn = self.last_turn;
                break;
            }
        }
        let units = sampler.finish(|| self.snapshot());
        self.slice.spend_units(units);
        if events > 0 {
            self.slice.extend(events);
            self.deliver_events(sources);
        }
        self.slice.extend(self.work_per_slice / 2);
        // Turns of sampling do not matter for publishing.
        due.sort_unstable_by_key(|(last, _, turn, id)| (*last, *turn, *id));
        for (_, _, _, id) in due {
            self.publish_due(id, now);
        }
        let late: Vec<NodeId> = self
            .sessions
            .due(now.instant)
            .map(|(id, _)| id.clone())
            .collect();
        for id in late {
            if let Some(session) = self.sessions.get_mut(&id) {
                session.time_out(now.instant);
            }
        }
        // Units that the other parts have not used serve to give back memory.
        self.give_back();
        self.slice.spent()
    }

    fn deliver_events(&mut self, sources: Sources<'_>) {
        let subscriptions = &self.subscriptions;
        let owner = |id| Some(Arc::clone(&subscriptions.get(&id)?.owner));
        let view = sources.space.view();
        self.dispatch.run(&view, &owner, &mut self.slice);
    }

    fn publish_due(&mut self, id: u32, now: Now) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        if let Some(ends) = subscription.ends() {
            if ends <= now.instant {
                self.end(id, StatusCode::BadTimeout, now);
            }
            return;
        }
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
        let available = subscription.has_notifications();
        match subscription.machine.timer_expired(is_queued, available) {
            OnTimer::Nothing => {}
            OnTimer::Notifications => self.return_notifications(id, now),
            OnTimer::KeepAlive => self.return_keep_alive(id, now),
            OnTimer::Expired => {
                tracing::debug!(subscription = id, "Subscription timed out");
                self.end(id, StatusCode::BadTimeout, now);
            }
        }
    }

    /// Ends a Subscription: its Session, if there is one, is notified with the next Publish request.
    pub(super) fn end(&mut self, id: u32, status: StatusCode, now: Now) {
        let Some(subscription) = self.take(id) else {
            return;
        };
        if let Some(session) = self.sessions.get_mut(&subscription.session) {
            session.subscriptions.retain(|known| *known != id);
            let message = subscription.status_change(status, now.date_time);
            session.tell(id, message, self.budgets.max_subscriptions_per_session);
        }
        let session = subscription.session.clone();
        self.removed.add(subscription);
        self.serve(&session, now);
    }
}

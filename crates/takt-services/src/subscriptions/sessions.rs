//! Events of Sessions that concern their Subscriptions and Publish requests.

use std::sync::Arc;
use std::time::Instant;

use takt_space::Caller;
use takt_ua::{NodeId, StatusCode};

use super::engine::Engine;
use crate::responses::completed::Completed;

impl Engine {
    /// Handles the end of a Session. Its Subscriptions are deleted, or stay until their lifetime is over (OPC 10000-4, 5.7.4), or
    /// until others need their memory.
    pub(crate) fn session_closed(
        &mut self,
        session: &NodeId,
        delete_subscriptions: bool,
        now: Instant,
    ) {
        let Some(mut queue) = self.sessions.remove(session) else {
            return;
        };
        queue.fail_all(StatusCode::BadSessionClosed);
        if delete_subscriptions {
            for id in queue.subscriptions {
                self.remove(id);
            }
            return;
        }
        for id in queue.subscriptions {
            if let Some(subscription) = self.subscriptions.get_mut(&id)
                && subscription.abandon(now)
            {
                self.memory.note_abandoned(now);
            }
        }
    }

    /// Handles the loss or the return of the channel of a Session. Without a channel, Subscriptions whose items have queues of one
    /// value are not sampled. Other values still fill their queues, until the Subscription is abandoned, and the lifetimes of the
    /// Subscriptions continue (OPC 10000-4, 5.14.1.1).
    pub(crate) fn set_has_channel(&mut self, session: &NodeId, has_channel: bool, now: Instant) {
        let subscriptions = self.sessions.get(session).map(|queue| &queue.subscriptions);
        for id in subscriptions.into_iter().flatten() {
            if let Some(subscription) = self.subscriptions.get_mut(id) {
                match has_channel {
                    true => subscription.resume(now),
                    false => subscription.pause(now),
                }
            }
        }
    }

    /// Sets the new caller of a Session, which owns its Subscriptions from now on.
    pub(crate) fn set_owner(&mut self, session: &NodeId, owner: &Arc<Caller>) {
        let subscriptions = self.sessions.get(session).map(|queue| &queue.subscriptions);
        for id in subscriptions.into_iter().flatten() {
            self.durable_changes(*id);
            if let Some(subscription) = self.subscriptions.get_mut(id) {
                subscription.owner = Arc::clone(owner);
            }
        }
    }

    /// Handles the end of a channel: the answers to requests that were received through it cannot be delivered.
    pub(crate) fn channel_closed(&mut self, channel: &Arc<Completed>) {
        self.sessions
            .for_each(|session| session.drop_requests_of(channel));
    }

    /// Answers all Publish requests of a Session without Subscriptions: there is nothing to publish (OPC 10000-4, 5.14.5.1).
    pub(super) fn answer_who_waits_in_vain(&mut self, session: &NodeId) {
        if let Some(queue) = self.sessions.get_mut(session)
            && queue.subscriptions.is_empty()
            && queue.status_changes.is_empty()
        {
            queue.fail_all(StatusCode::BadNoSubscription);
            self.sessions.remove(session);
        }
    }
}

//! The Publish requests of a Session, and the StatusChangeNotifications for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use takt_space::Caller;
use takt_ua::{NodeId, StatusCode};

use super::agenda::Timed;
use super::publish::PublishRequest;
use super::{Engine, is_full};
use crate::completed::Completed;
use crate::fault::Fault;

/// The Subscriptions of one Session and the Publish requests that carry their messages.
#[derive(Default)]
pub(crate) struct SessionQueue {
    pub(super) subscriptions: Vec<u32>,
    /// StatusChangeNotifications of Subscriptions that the Session no longer has.
    pub(super) status_changes: VecDeque<(u32, Arc<[u8]>)>,
    requests: VecDeque<PublishRequest>,
}

impl SessionQueue {
    /// Queues a request; if there are too many, the oldest is answered with a fault (OPC 10000-4, 5.14.5.1).
    pub(super) fn push(&mut self, request: PublishRequest, max: usize) {
        self.requests
            .retain(|request| !request.pending.is_answered());
        if self.requests.len() >= max.max(1)
            && let Some(oldest) = self.requests.pop_front()
        {
            oldest.fail(StatusCode::BadTooManyPublishRequests);
        }
        self.requests.push_back(request);
    }

    /// Queues a StatusChangeNotification; the oldest is discarded if there are too many.
    pub(super) fn tell(&mut self, subscription: u32, message: Arc<[u8]>, max: u32) {
        if is_full(self.status_changes.len(), max.max(1)) {
            self.status_changes.pop_front();
        }
        self.status_changes.push_back((subscription, message));
    }

    /// Takes the request that has waited longest.
    pub(super) fn pop(&mut self) -> Option<PublishRequest> {
        while let Some(request) = self.requests.pop_front() {
            // The request may have been cancelled.
            if !request.pending.is_answered() {
                return Some(request);
            }
        }
        None
    }

    pub(super) fn has_requests(&mut self) -> bool {
        self.requests
            .retain(|request| !request.pending.is_answered());
        !self.requests.is_empty()
    }

    /// Answers the requests whose TimeoutHint has elapsed (OPC 10000-4, 7.33).
    pub(super) fn time_out(&mut self, now: Instant) {
        self.requests.retain(|request| {
            let is_over = request.deadline.is_some_and(|deadline| deadline <= now);
            if is_over {
                request.fail(StatusCode::BadTimeout);
            }
            !is_over
        });
    }

    fn fail_all(&mut self, status: StatusCode) {
        while let Some(request) = self.requests.pop_front() {
            request.fail(status);
        }
    }
}

impl Timed for SessionQueue {
    /// Returns the time at which the first request times out.
    fn next_deadline(&self) -> Option<Instant> {
        let requests = self.requests.iter();
        requests.filter_map(|request| request.deadline).min()
    }
}

impl PublishRequest {
    fn fail(&self, status: StatusCode) {
        self.pending.answer_fault(Fault(status));
    }
}

impl Engine {
    /// Handles the end of a Session. Its Subscriptions are deleted, or stay until their lifetime is over (OPC 10000-4, 5.7.4).
    pub(crate) fn session_closed(&mut self, session: &NodeId, delete_subscriptions: bool) {
        let Some(mut queue) = self.sessions.remove(session) else {
            return;
        };
        queue.fail_all(StatusCode::BadSessionClosed);
        if delete_subscriptions {
            for id in queue.subscriptions {
                self.remove(id);
            }
        } else {
            self.set_paused(&queue.subscriptions, true);
        }
    }

    /// Handles the loss or the return of the channel of a Session: without a channel its items are not sampled. Values that are
    /// reported by exception still fill their queues, and the lifetimes of the Subscriptions continue (OPC 10000-4, 5.14.1.1).
    pub(crate) fn set_has_channel(&mut self, session: &NodeId, has_channel: bool) {
        if let Some(queue) = self.sessions.get(session) {
            let subscriptions = queue.subscriptions.clone();
            self.set_paused(&subscriptions, !has_channel);
        }
    }

    /// Sets the new caller of a Session, which owns its Subscriptions from now on.
    pub(crate) fn set_owner(&mut self, session: &NodeId, owner: &Arc<Caller>) {
        let subscriptions = self.sessions.get(session).map(|queue| &queue.subscriptions);
        for id in subscriptions.into_iter().flatten() {
            if let Some(subscription) = self.subscriptions.get_mut(id) {
                subscription.owner = Arc::clone(owner);
            }
        }
    }

    fn set_paused(&mut self, subscriptions: &[u32], is_paused: bool) {
        for id in subscriptions {
            if let Some(subscription) = self.subscriptions.get_mut(id) {
                subscription.is_paused = is_paused;
            }
        }
    }

    /// Handles the end of a channel: the answers to requests that were received through it cannot be delivered.
    pub(crate) fn channel_closed(&mut self, channel: &Arc<Completed>) {
        self.sessions.for_each(|session| {
            let requests = &mut session.requests;
            requests.retain(|request| !request.pending.came_through(channel));
        });
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

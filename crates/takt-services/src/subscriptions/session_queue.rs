//! The Publish requests of a Session, and the StatusChangeNotifications for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use takt_ua::StatusCode;

use super::agenda::Timed;
use super::publish_request::PublishRequest;
use crate::budgets::is_full;
use crate::responses::completed::Completed;

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
        // Requests that were cancelled must not displace others.
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

    /// Returns the number of Publish requests that wait.
    pub(super) fn waiting(&self) -> usize {
        let all = self.requests.iter();
        all.filter(|request| !request.pending.is_answered()).count()
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

    /// Answers all requests with this fault.
    pub(super) fn fail_all(&mut self, status: StatusCode) {
        while let Some(request) = self.requests.pop_front() {
            request.fail(status);
        }
    }

    /// Drops the requests that were received through this channel: their answers cannot be delivered.
    pub(super) fn drop_requests_of(&mut self, channel: &Arc<Completed>) {
        self.requests
            .retain(|request| !request.pending.came_through(channel));
    }
}

impl Timed for SessionQueue {
    /// Returns the time at which the first request times out.
    fn next_deadline(&self) -> Option<Instant> {
        let requests = self.requests.iter();
        requests.filter_map(|request| request.deadline).min()
    }
}

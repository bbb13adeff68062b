//! Publish and Republish (OPC 10000-4, 5.14.5 and 5.14.6): acknowledgements, and messages for waiting requests.

use std::sync::Arc;

use takt_ua::structures::SubscriptionAcknowledgement;
use takt_ua::{NodeId, StatusCode};

use super::counts::count;
use super::engine::Engine;
use super::now::Now;
use super::publish_request::{Publication, PublishRequest, RESPONSE_OVERHEAD};
use super::state::OnPublish;

impl Engine {
    /// Processes the acknowledgements of a Publish request.
    pub(crate) fn acknowledge(
        &mut self,
        session: &NodeId,
        acknowledgements: &[SubscriptionAcknowledgement],
    ) -> Vec<StatusCode> {
        let mut acknowledge = |acknowledgement: &SubscriptionAcknowledgement| match self
            .subscription(session, acknowledgement.subscription_id)
        {
            Err(status) => status,
            Ok(subscription) => {
                let number = acknowledgement.sequence_number;
                if subscription.retransmission.acknowledge(number) {
                    StatusCode::Good
                } else {
                    StatusCode::BadSequenceNumberUnknown
                }
            }
        };
        acknowledgements.iter().map(&mut acknowledge).collect()
    }

    /// Returns true if a Publish request of this Session can ever be answered.
    pub(crate) fn has_subscriptions(&self, session: &NodeId) -> bool {
        self.sessions.get(session).is_some()
    }

    /// Takes a Publish request, and answers it at once if a message is waiting.
    pub(crate) fn publish(&mut self, session: &NodeId, request: PublishRequest, now: Now) {
        let max = self.budgets.max_publish_requests;
        if let Some(queue) = self.sessions.get_mut(session) {
            queue.push(request, max);
        }
        self.begin_slice(self.work_per_slice);
        self.serve(session, now);
    }

    /// Answers one Publish request of a Session, if there is one, with a late message: StatusChangeNotifications first, then
    /// the Subscription of the highest priority, then the one that has waited longest.
    pub(super) fn serve(&mut self, session: &NodeId, now: Now) {
        let max_size = self.max_message;
        let Some(queue) = self.sessions.get_mut(session) else {
            return;
        };
        if !queue.has_requests() {
            return;
        }
        if let Some((subscription, message)) = queue.status_changes.pop_front() {
            if let Some(request) = queue.pop() {
                let publication = Publication {
                    subscription,
                    // No message of the Subscription is left for this Session: it has ended, or another one has it.
                    available_sequence_numbers: Vec::new(),
                    more_notifications: false,
                    message,
                };
                request.answer(&publication, now.date_time, max_size);
            }
            return self.answer_who_waits_in_vain(session);
        }
        let late = queue.subscriptions.iter().filter_map(|id| {
            let subscription = self.subscriptions.get(id)?;
            let wants = subscription.machine.wants_request();
            // The smallest one is served, so the highest priority has to be the smallest number.
            wants.then_some((u8::MAX - subscription.priority, subscription.turn, *id))
        });
        let Some((_, _, id)) = late.min() else { return };
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        let available = subscription.has_notifications();
        match subscription.machine.publish_received(available) {
            OnPublish::Enqueue => {}
            OnPublish::Notifications => self.return_notifications(id, now),
            OnPublish::KeepAlive => self.return_keep_alive(id, now),
        }
    }

    /// Implements ReturnNotifications() (OPC 10000-4, 5.14.1.3): sends messages as long as there are Notifications and
    /// requests.
    pub(super) fn return_notifications(&mut self, id: u32, now: Now) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        let Some(queue) = self.sessions.get_mut(&subscription.session) else {
            return;
        };
        self.last_turn += 1;
        subscription.turn = self.last_turn;
        while queue.has_requests() {
            let Some(room) = self.slice.message() else {
                // It is due at once; the next slice continues here.
                subscription.interrupted = Some(now.instant);
                break;
            };
            let Some(request) = queue.pop() else { break };
            count(&mut subscription.counts.publish_requests);
            let (message, count, more) = subscription.notifications(now.date_time, room);
            self.slice.spend_message(message.len(), count);
            subscription.machine.set_more_notifications(more);
            let publication = Publication {
                subscription: id,
                available_sequence_numbers: subscription
                    .retransmission
                    .sequence_numbers()
                    .collect(),
                more_notifications: more,
                message,
            };
            request.answer(
                &publication,
                now.date_time,
                self.max_message + RESPONSE_OVERHEAD,
            );
            if !more {
                break;
            }
        }
    }

    /// Implements ReturnKeepAlive() (OPC 10000-4, 5.14.1.3).
    pub(super) fn return_keep_alive(&mut self, id: u32, now: Now) {
        let Some(subscription) = self.subscriptions.get_mut(&id) else {
            return;
        };
        let queue = self.sessions.get_mut(&subscription.session);
        let Some(request) = queue.and_then(|queue| queue.pop()) else {
            return;
        };
        count(&mut subscription.counts.publish_requests);
        let publication = Publication {
            subscription: id,
            available_sequence_numbers: subscription.retransmission.sequence_numbers().collect(),
            more_notifications: false,
            message: subscription.keep_alive(now.date_time),
        };
        request.answer(
            &publication,
            now.date_time,
            self.max_message + RESPONSE_OVERHEAD,
        );
    }

    /// Returns the encoded NotificationMessage for Republish.
    pub(crate) fn republish(
        &mut self,
        session: &NodeId,
        id: u32,
        sequence_number: u32,
    ) -> Result<Arc<[u8]>, StatusCode> {
        let subscription = self.subscription(session, id)?;
        subscription.machine.reset_lifetime();
        count(&mut subscription.counts.republish_requests);
        let message = subscription
            .retransmission
            .get(sequence_number)
            .ok_or(StatusCode::BadMessageNotAvailable)?;
        count(&mut subscription.counts.republished);
        Ok(message)
    }
}

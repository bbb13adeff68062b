//! Publish requests and their responses.

use std::time::{Duration, Instant};

use takt_ua::StatusCode;
use takt_ua::binary::DecodeError;
use takt_ua::structures::*;

use super::core::{Core, Created, Pending, Publishing};
use super::missing::{MOST_MISSING, Missing};
use super::notifications::{data_changes, events};
use crate::error::{ClientError, ConnectionError};

impl<C: Publishing> Core<C> {
    /// Waits for one message from the server. After an error, and after lost messages, the values of all items arrive again.
    pub(crate) async fn receive(&mut self, timeout: Duration) -> Result<(), ClientError> {
        let lost = self.lost_messages;
        let received = self.receive_message(timeout).await;
        if received.is_err() || self.lost_messages != lost {
            self.request_values();
        }
        received
    }

    async fn receive_message(&mut self, timeout: Duration) -> Result<(), ClientError> {
        let timeout = self.created().await?.recovery.wait(timeout);
        if !self.pending.is_empty() {
            return self.handle_pending().await;
        }
        self.request()?;
        let answer = self.client.receive_publish(timeout).await;
        let Some(created) = &mut self.created else {
            return Ok(());
        };
        let answered = match answer {
            Ok(answered) => answered,
            Err(ClientError::Timeout { .. }) => return self.check_silence(),
            Err(error) => Err(error),
        };
        // A fault uses up a Publish request as well.
        created.outstanding = created.outstanding.saturating_sub(1);
        if answered.is_err() {
            created.acknowledgements.repeat();
        }
        match answered {
            // Of a previous Subscription, or of one that belongs to another client: no sign of life.
            Ok(response) if response.subscription_id != created.id => self.check_silence(),
            Ok(response) => {
                created.last_message = Instant::now();
                created.is_heard = true;
                self.take(response);
                self.handle_pending().await
            }
            Err(ClientError::Service { status, .. })
                if status == StatusCode::BadTooManyPublishRequests =>
            {
                // At least one: the server can send nothing without.
                created.wanted = created.wanted.saturating_sub(1).max(1);
                self.check_silence()
            }
            // A late response to a request that the server has given up.
            Err(ClientError::Service { status, .. }) if status == StatusCode::BadTimeout => {
                self.check_silence()
            }
            Err(ClientError::Service { status, .. })
                if status == StatusCode::BadNoSubscription
                    || status == StatusCode::BadSubscriptionIdInvalid =>
            {
                self.created = None;
                Ok(())
            }
            // The session may go on with another connection.
            Err(error @ ClientError::Closed { .. }) => Err(error),
            // The Subscription goes on when the server has memory again.
            Err(error @ ClientError::Service { .. }) if error.is_temporary() => {
                self.check_silence()?;
                Err(error)
            }
            Err(error) => {
                self.abandon();
                Err(error)
            }
        }
    }

    /// Gives up the connection if the Subscription has been silent for too long, and its session too if the last connection was given up
    /// for the same reason.
    fn check_silence(&mut self) -> Result<(), ClientError> {
        let silent = |created: &&mut Created| created.last_message.elapsed() > created.patience;
        let Some(created) = self.created.as_mut().filter(silent) else {
            return Ok(());
        };
        if created.is_heard {
            self.client.disconnect();
        } else {
            self.abandon();
        }
        let endpoint = self.client.endpoint();
        Err(ClientError::closed(endpoint, ConnectionError::Silent))
    }

    /// Keeps enough Publish requests waiting.
    fn request(&mut self) -> Result<(), ClientError> {
        let Some(created) = &mut self.created else {
            return Ok(());
        };
        while created.outstanding < created.wanted {
            let acknowledged = created.acknowledgements.send().into_iter();
            let id = created.id;
            let subscription_acknowledgements = acknowledged
                .map(|sequence_number| SubscriptionAcknowledgement {
                    subscription_id: id,
                    sequence_number,
                })
                .collect();
            let request = PublishRequest {
                subscription_acknowledgements,
                ..PublishRequest::default()
            };
            let sent = self.client.send_publish(request);
            if sent.is_err() {
                created.acknowledgements.repeat();
            }
            match sent {
                Ok(_) => created.outstanding += 1,
                // The server has not accepted the previous requests yet.
                Err(ClientError::Service { .. }) if created.outstanding > 0 => break,
                Err(error @ ClientError::Closed { .. }) => return Err(error),
                Err(error) => {
                    self.abandon();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Takes a message, and notes the missing ones before it.
    fn take(&mut self, response: PublishResponse) {
        let Some(created) = &mut self.created else {
            return;
        };
        let available = &response.available_sequence_numbers;
        created.acknowledgements.confirm(available);
        let message = response.notification_message;
        let (expected, number) = (created.next_sequence_number, message.sequence_number);
        let is_keep_alive = message.notification_data.is_empty();
        // Responses of a server with many threads may overtake each other.
        if (1..=MOST_MISSING).contains(&expected.wrapping_sub(number)) {
            let overtaken =
                |one: &&mut Pending| matches!(one, Pending::Missing(at) if *at == number);
            let overtaken = self.pending.iter_mut().find(overtaken);
            if let Some(missing) = overtaken.filter(|_| !is_keep_alive) {
                created.acknowledgements.add(number);
                *missing = Pending::Message(message);
            }
            // Anything else is a duplicate or an old keep-alive.
            return;
        }
        // A keep-alive has the number of the message that follows it (OPC 10000-4, 5.14.1.1).
        created.next_sequence_number = if is_keep_alive { number } else { next(number) };
        if !is_keep_alive {
            created.acknowledgements.add(number);
        }
        let missing = Missing::before(number, expected, available);
        self.lost_messages += missing.lost;
        let requested = missing.requested.into_iter().map(Pending::Missing);
        self.pending.extend(requested);
        self.pending.push_back(Pending::Message(message));
    }

    /// Handles messages, and requests missing ones, in their order, up to the first one with notifications: those of many messages
    /// may take much memory. One that fails with the connection is requested again.
    async fn handle_pending(&mut self) -> Result<(), ClientError> {
        while let Some(first) = self.pending.front() {
            if let Pending::Missing(number) = first {
                let number = *number;
                self.republish(number).await?;
            } else if let Some(Pending::Message(message)) = self.pending.pop_front() {
                self.notify(message)?;
            }
            if !(self.changes.is_empty() && self.events.is_empty()) {
                break;
            }
        }
        Ok(())
    }

    async fn republish(&mut self, number: u32) -> Result<(), ClientError> {
        let Some(created) = &self.created else {
            self.pending.pop_front();
            self.lost_messages += 1;
            return Ok(());
        };
        let request = RepublishRequest {
            subscription_id: created.id,
            retransmit_sequence_number: number,
            ..RepublishRequest::default()
        };
        let response = self.client.call(request).await;
        if response.as_ref().is_err_and(ClientError::is_connection) {
            return response.map(|_| ());
        }
        self.pending.pop_front();
        match response {
            Ok(response) => {
                if let Some(created) = &mut self.created {
                    created.acknowledgements.add(number);
                }
                self.notify(response.notification_message)
            }
            Err(error) => {
                self.lost_messages += 1;
                match error.status_code() {
                    StatusCode::BadMessageNotAvailable => Ok(()),
                    StatusCode::BadSubscriptionIdInvalid => {
                        self.created = None;
                        Ok(())
                    }
                    _ => Err(error),
                }
            }
        }
    }

    fn notify(&mut self, message: NotificationMessage) -> Result<(), ClientError> {
        for object in &message.notification_data {
            let broken = |error: DecodeError| ClientError::protocol(self.client.endpoint(), error);
            if let Some(changes) = data_changes(object) {
                let changes = changes.map_err(broken)?;
                if let Some(created) = &mut self.created {
                    let items = changes.list.iter();
                    items.for_each(|change| created.recovery.notified(change.client_handle));
                }
                let last = changes.list.last().map(|change| change.client_handle);
                self.changes.extend(changes.list);
                if let Some(handle) = last.filter(|_| changes.missing > 0) {
                    self.leave_out(handle, changes.missing);
                }
            } else if let Some(events) = events(object) {
                let events = events.map_err(broken)?;
                self.events.extend(events.list);
                if events.missing > 0 {
                    self.lost_messages += 1;
                    tracing::warn!(
                        endpoint = %self.client.endpoint(),
                        events = events.missing,
                        "Events after one that cannot be decoded are lost"
                    );
                }
            } else if object.is::<StatusChangeNotification>() {
                // The server has deleted the Subscription: the next call creates a new one.
                let change: StatusChangeNotification = object.decode_as().map_err(broken)?;
                tracing::warn!(
                    endpoint = %self.client.endpoint(),
                    status = %change.status,
                    "the server has ended the Subscription: another one is created"
                );
                self.created = None;
            }
        }
        Ok(())
    }

    /// Begins again without an item, after whose value nothing in a message can be decoded. So the other items, whose
    /// changes were in the message, send their values again.
    fn leave_out(&mut self, handle: u32, missing: usize) {
        if let Some(item) = self.items.remove(&handle) {
            tracing::warn!(
                endpoint = %self.client.endpoint(),
                node = %item.node,
                missing,
                "the value cannot be decoded, nor can those after it: it is not monitored any more"
            );
            self.unreadable.push(handle);
        }
        self.abandon();
    }

    /// Abandons the Subscription, its session and the connection.
    pub(super) fn abandon(&mut self) {
        self.created = None;
        self.client.close();
    }
}

/// Returns the next sequence number; they begin again with 1 (OPC 10000-4, 7.9).
fn next(sequence_number: u32) -> u32 {
    sequence_number.wrapping_add(1).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use takt_ua::binary::{Decode, Decoder, Encode};
    use takt_ua::{DataValue, ExtensionObject, Structure, Variant};

    use super::super::options::SubscriptionOptions;
    use super::*;
    use crate::client::{Batches, Requests, ServiceRequest, ready};
    use crate::endpoint::Endpoint;

    /// A server with given responses, which can send each message again.
    struct Responses {
        endpoint: Endpoint,
        waiting: VecDeque<u32>,
        available: Vec<u32>,
        republished: Vec<u32>,
        /// The acknowledgements of each Publish request.
        acknowledged: Vec<Vec<u32>>,
        batches: Batches,
        /// Number of Publish requests that are refused first, for lack of memory.
        refusals: u32,
        created: u32,
        closed: u32,
    }

    impl Requests for Responses {
        fn endpoint(&self) -> &Endpoint {
            &self.endpoint
        }

        fn batches(&self) -> &Batches {
            &self.batches
        }

        async fn call<Q: ServiceRequest>(
            &mut self,
            request: Q,
        ) -> Result<Q::Response, ClientError> {
            let bytes = if Q::NAME == CreateSubscriptionRequest::NAME {
                self.created += 1;
                let response = CreateSubscriptionResponse {
                    subscription_id: 1,
                    ..CreateSubscriptionResponse::default()
                };
                response.encode_to_vec()
            } else {
                let bytes = request.encode_to_vec();
                let request = RepublishRequest::decode(&mut Decoder::new(&bytes)).unwrap();
                let number = request.retransmit_sequence_number;
                self.republished.push(number);
                let response = RepublishResponse {
                    notification_message: message(number),
                    ..RepublishResponse::default()
                };
                response.encode_to_vec()
            };
            Ok(Q::Response::decode(&mut Decoder::new(&bytes)).unwrap())
        }
    }

    impl Publishing for Responses {
        fn timeout(&self) -> Duration {
            Duration::from_secs(60)
        }

        fn is_connected(&self) -> bool {
            true
        }

        fn epoch(&self) -> u64 {
            1
        }

        fn connections(&self) -> u64 {
            1
        }

        async fn reopen(&mut self) -> Result<(), ClientError> {
            Ok(())
        }

        fn send_publish(&mut self, request: PublishRequest) -> Result<(), ClientError> {
            let numbers = request.subscription_acknowledgements.into_iter();
            let numbers = numbers.map(|one| one.sequence_number);
            self.acknowledged.push(numbers.collect());
            Ok(())
        }

        async fn receive_publish(
            &mut self,
            _: Duration,
        ) -> Result<Result<PublishResponse, ClientError>, ClientError> {
            if let Some(left) = self.refusals.checked_sub(1) {
                self.refusals = left;
                return Ok(Err(ClientError::Service {
                    service: "Publish",
                    status: StatusCode::BadOutOfMemory,
                }));
            }
            Ok(Ok(PublishResponse {
                subscription_id: 1,
                available_sequence_numbers: self.available.clone(),
                notification_message: message(self.waiting.pop_front().unwrap()),
                ..PublishResponse::default()
            }))
        }

        fn disconnect(&mut self) {}

        fn close(&mut self) {
            self.closed += 1;
        }
    }

    /// A message whose value is its number.
    fn message(sequence_number: u32) -> NotificationMessage {
        let notification = DataChangeNotification {
            monitored_items: vec![MonitoredItemNotification {
                client_handle: 1,
                value: DataValue::good(sequence_number),
            }],
            ..DataChangeNotification::default()
        };
        NotificationMessage {
            sequence_number,
            notification_data: vec![ExtensionObject::from_structure(&notification)],
            ..NotificationMessage::default()
        }
    }

    /// Receives this number of values from a server that sends messages in this order, and keeps the `available` ones.
    fn received(order: &[u32], available: Vec<u32>, count: usize) -> Core<Responses> {
        let client = Responses {
            endpoint: "opc.tcp://127.0.0.1:4840".parse().unwrap(),
            waiting: order.iter().copied().collect(),
            available,
            republished: Vec::new(),
            acknowledged: Vec::new(),
            batches: Batches::default(),
            refusals: 0,
            created: 0,
            closed: 0,
        };
        let mut core = ready(Core::create(client, SubscriptionOptions::default())).unwrap();
        while core.changes.len() < count {
            ready(core.receive(Duration::ZERO)).unwrap();
        }
        core
    }

    #[test]
    fn a_subscription_outlives_a_server_without_memory() {
        let mut core = received(&[1, 2], Vec::new(), 1);
        core.client.refusals = 3;
        let mut errors = 0;
        while core.changes.len() < 2 {
            if let Err(error) = ready(core.receive(Duration::ZERO)) {
                assert!(error.is_temporary() && !error.is_connection(), "{error}");
                // The values are not requested again here, because this server has no Methods.
                core.created.as_mut().unwrap().recovery.is_due = false;
                errors += 1;
            }
        }
        assert_eq!((errors, core.client.created, core.client.closed), (3, 1, 0));
    }

    #[test]
    fn acknowledgements_of_a_refused_request_are_sent_again() {
        let mut core = received(&[1, 2, 3], Vec::new(), 1);
        core.changes.clear();
        let waiting = core.client.acknowledged.len();
        // The next request acknowledges the message, and the server has no memory for it.
        core.client.refusals = 1;
        let refused = ready(core.receive(Duration::ZERO));
        assert!(refused.is_err_and(|error| error.is_temporary()));
        core.created.as_mut().unwrap().recovery.is_due = false;
        assert_eq!(core.client.acknowledged[waiting..], [vec![1]]);
        ready(core.receive(Duration::ZERO)).unwrap();
        assert_eq!(core.client.acknowledged[waiting..], [vec![1], vec![1]]);
        // The server has got it: it keeps no message.
        ready(core.receive(Duration::ZERO)).unwrap();
        assert_eq!(core.client.acknowledged.last(), Some(&vec![2]));
    }

    #[test]
    fn all_messages_of_a_long_gap_are_requested_or_lost() {
        // Without the messages 2 to 199, of which the server has some.
        for (available, requested) in [(1..10, 2..10), (1..151, 2..66), (0..0, 0..0)] {
            let requested: Vec<u32> = requested.collect();
            let core = received(&[1, 200], available.collect(), requested.len() + 2);
            assert_eq!(core.client.republished, requested);
            assert_eq!(core.lost_messages, 198 - requested.len() as u64);
        }
    }

    #[test]
    fn messages_that_overtake_each_other_arrive_once_and_in_order() {
        let order = [1, 3, 2, 6, 4, 5, 7];
        let core = received(&order, (1..10).collect(), order.len());
        let values = core.changes.iter().map(|change| change.value.value.clone());
        let expected = (1..8).map(|number| Some(Variant::UInt32(number)));
        assert_eq!(values.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert_eq!(core.client.republished, [2, 4, 5]);
        assert_eq!(core.lost_messages, 0);
    }
}

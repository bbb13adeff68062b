//! Recovery with a server in memory.

use std::collections::VecDeque;

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::structures::*;
use takt_ua::{DataValue, ExtensionObject, QualifiedName, Structure, UaString};

use super::*;
use crate::client::{Batches, EventQuery, Requests, ServiceRequest, ready};
use crate::endpoint::Endpoint;
use crate::error::ConnectionError;
use crate::subscription::{MonitoredItemOptions, SubscriptionOptions};

const GOOD: StatusCode = StatusCode::Good;

/// A server with one Subscription, whose items have the values 10, 20 and so on.
struct Fake {
    endpoint: Endpoint,
    batches: Batches,
    connections: u64,
    epoch: u64,
    is_connected: bool,
    /// Results of ResendData; with none left, it is Good.
    resends: VecDeque<Result<StatusCode, ClientError>>,
    /// True if ResendData is Good, and nothing is sent.
    resends_nothing: bool,
    /// Subscription whose messages the server sends, if it is another one.
    sends_of: Option<u32>,
    /// StatusCode of new items.
    creates: StatusCode,
    values: Vec<(u32, u32)>,
    messages: VecDeque<NotificationMessage>,
    last_number: u32,
    namespaces: Vec<&'static str>,
    /// Nodes of the last CreateMonitoredItems request.
    monitored: Vec<NodeId>,
    /// Names of the requests, with the number of their operations.
    requests: Vec<(&'static str, usize)>,
}

impl Fake {
    fn new() -> Self {
        Self {
            endpoint: "opc.tcp://127.0.0.1:4840".parse().unwrap(),
            batches: Batches::default(),
            connections: 1,
            epoch: 1,
            is_connected: true,
            resends: VecDeque::new(),
            resends_nothing: false,
            sends_of: None,
            creates: GOOD,
            values: Vec::new(),
            messages: VecDeque::new(),
            last_number: 0,
            namespaces: vec!["ua", "server", "one", "two"],
            monitored: Vec::new(),
            requests: Vec::new(),
        }
    }

    fn publish(&mut self, values: &[(u32, u32)]) {
        self.last_number += 1;
        let items = values
            .iter()
            .map(|(handle, value)| MonitoredItemNotification {
                client_handle: *handle,
                value: DataValue::good(*value),
            });
        let notification = DataChangeNotification {
            monitored_items: items.collect(),
            ..DataChangeNotification::default()
        };
        self.messages.push_back(NotificationMessage {
            sequence_number: self.last_number,
            notification_data: vec![ExtensionObject::from_structure(&notification)],
            ..NotificationMessage::default()
        });
    }

    fn answer(&mut self, name: &'static str, request: &[u8]) -> Result<Vec<u8>, ClientError> {
        let mut decoder = Decoder::new(request);
        let (operations, answer) = match name {
            CreateSubscriptionRequest::NAME => {
                self.last_number = 0;
                let response = CreateSubscriptionResponse {
                    subscription_id: u32::try_from(self.epoch).unwrap(),
                    revised_publishing_interval: 1.0,
                    ..CreateSubscriptionResponse::default()
                };
                (1, response.encode_to_vec())
            }
            CreateMonitoredItemsRequest::NAME => {
                let request = CreateMonitoredItemsRequest::decode(&mut decoder).unwrap();
                let items = request.items_to_create.iter();
                self.monitored = items
                    .map(|item| item.item_to_monitor.node_id.clone())
                    .collect();
                let created = request.items_to_create.iter().map(|item| {
                    let handle = item.requested_parameters.client_handle;
                    let namespace = usize::from(item.item_to_monitor.node_id.namespace);
                    if namespace >= self.namespaces.len() {
                        return MonitoredItemCreateResult {
                            status_code: StatusCode::BadNodeIdUnknown,
                            ..MonitoredItemCreateResult::default()
                        };
                    }
                    if self.creates.is_good() && item.item_to_monitor.attribute_id == 13 {
                        self.values.push((handle, 10 * handle));
                    }
                    MonitoredItemCreateResult {
                        monitored_item_id: handle,
                        status_code: self.creates,
                        ..MonitoredItemCreateResult::default()
                    }
                });
                let response = CreateMonitoredItemsResponse {
                    results: created.collect(),
                    ..CreateMonitoredItemsResponse::default()
                };
                let values = self.values.clone();
                self.publish(&values);
                (response.results.len(), response.encode_to_vec())
            }
            CallRequest::NAME => {
                let request = CallRequest::decode(&mut decoder).unwrap();
                assert_eq!(
                    request.methods_to_call[0].method_id,
                    NodeId::from(ids::SERVER_RESEND_DATA)
                );
                // A call that fails counts as well.
                self.requests.push((name, 1));
                let status = self.resends.pop_front().unwrap_or(Ok(GOOD))?;
                if status.is_good() && !self.resends_nothing {
                    let values = self.values.clone();
                    self.publish(&values);
                }
                let result = CallMethodResult {
                    status_code: status,
                    ..CallMethodResult::default()
                };
                let response = CallResponse {
                    results: vec![result],
                    ..CallResponse::default()
                };
                return Ok(response.encode_to_vec());
            }
            ReadRequest::NAME => {
                let request = ReadRequest::decode(&mut decoder).unwrap();
                let results = request.nodes_to_read.iter().map(|read| {
                    if read.node_id == NodeId::from(ids::SERVER_NAMESPACE_ARRAY) {
                        let uris = self.namespaces.iter().map(|uri| (*uri).into());
                        return DataValue::good(uris.collect::<Vec<UaString>>());
                    }
                    let value = self
                        .values
                        .iter()
                        .find(|(handle, _)| read.node_id == NodeId::from(*handle));
                    DataValue::good(value.unwrap().1)
                });
                let response = ReadResponse {
                    results: results.collect(),
                    ..ReadResponse::default()
                };
                (response.results.len(), response.encode_to_vec())
            }
            other => panic!("{other}"),
        };
        self.requests.push((name, operations));
        Ok(answer)
    }

    fn closed(&self) -> ClientError {
        ClientError::closed(&self.endpoint, ConnectionError::NoSession)
    }
}

impl Requests for Fake {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn batches(&self) -> &Batches {
        &self.batches
    }

    async fn call<Q: ServiceRequest>(&mut self, request: Q) -> Result<Q::Response, ClientError> {
        let answer = self.answer(Q::NAME, &request.encode_to_vec())?;
        Ok(Q::Response::decode(&mut Decoder::new(&answer)).unwrap())
    }
}

impl Publishing for Fake {
    fn timeout(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn connections(&self) -> u64 {
        self.connections
    }

    async fn reopen(&mut self) -> Result<(), ClientError> {
        self.is_connected = true;
        self.connections += 1;
        Ok(())
    }

    fn send_publish(&mut self, _: PublishRequest) -> Result<(), ClientError> {
        Ok(())
    }

    async fn receive_publish(
        &mut self,
        timeout: Duration,
    ) -> Result<Result<PublishResponse, ClientError>, ClientError> {
        if !self.is_connected {
            return Err(self.closed());
        }
        let Some(notification_message) = self.messages.pop_front() else {
            std::thread::sleep(timeout);
            return Err(ClientError::Timeout {
                endpoint: self.endpoint.to_string(),
                timeout,
            });
        };
        Ok(Ok(PublishResponse {
            subscription_id: self.sends_of.unwrap_or(u32::try_from(self.epoch).unwrap()),
            notification_message,
            ..PublishResponse::default()
        }))
    }

    fn disconnect(&mut self) {
        self.is_connected = false;
    }

    fn close(&mut self) {
        self.is_connected = false;
        self.epoch += 1;
    }
}

/// Returns a Subscription with two items whose first values have arrived.
fn subscribed() -> Core<Fake> {
    let mut core = ready(Core::create(Fake::new(), SubscriptionOptions::default())).unwrap();
    let items = [1_u32, 2].map(|node| (NodeId::from(node), MonitoredItemOptions::default()));
    ready(core.monitor_values(items.to_vec())).unwrap();
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    core.client.requests.clear();
    core
}

/// Receives until nothing more is to come for a while; returns the changes, by handle.
fn received(core: &mut Core<Fake>) -> Vec<(u32, Result<u32, StatusCode>)> {
    let end = Instant::now() + Duration::from_millis(20);
    loop {
        ready(core.receive(Duration::from_millis(1))).unwrap();
        let recovery = &core.created.as_ref().unwrap().recovery;
        let is_done = recovery.awaited.is_empty() && core.client.messages.is_empty();
        if is_done && Instant::now() > end {
            break;
        }
    }
    let changes = core.changes.drain(..).map(|change| {
        let value = match change.value.value {
            Some(Variant::UInt32(value)) => Ok(value),
            _ => Err(change.value.status_code()),
        };
        (change.client_handle, value)
    });
    changes.collect()
}

fn count(core: &Core<Fake>, name: &str) -> usize {
    let requests = core.client.requests.iter();
    requests.filter(|(of, _)| *of == name).count()
}

#[test]
fn unchanged_values_arrive_after_a_resumed_session() {
    let mut core = subscribed();
    core.client.disconnect();
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    assert_eq!(core.client.requests, [(CallRequest::NAME, 1)]);
    // Once.
    assert!(received(&mut core).is_empty());
    assert_eq!(core.client.requests.len(), 1);
}

#[test]
fn unchanged_values_arrive_after_an_error_on_the_same_connection() {
    let mut core = subscribed();
    let created = core.created.as_mut().unwrap();
    created.patience = Duration::ZERO;
    created.last_message = Instant::now() - Duration::from_secs(1);
    assert!(ready(core.receive(Duration::ZERO)).is_err());
    // As if the connection were still there.
    core.client.is_connected = true;
    core.created.as_mut().unwrap().patience = Duration::from_secs(10);
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
}

#[test]
fn messages_of_another_subscription_are_no_sign_of_life() {
    let mut core = subscribed();
    core.client.sends_of = Some(77);
    let patience = Duration::from_millis(50);
    core.created.as_mut().unwrap().patience = patience;
    let silent = |core: &mut Core<Fake>| {
        let begin = Instant::now();
        loop {
            core.client.publish(&[(1, 666)]);
            match ready(core.receive(Duration::from_millis(1))) {
                Ok(()) => assert!(begin.elapsed() < Duration::from_secs(20)),
                Err(error) => break error,
            }
        }
    };
    assert!(matches!(silent(&mut core), ClientError::Closed { .. }));
    assert!(core.changes.is_empty());
    assert_eq!(core.client.epoch, 1);
    // The same on the next connection: another session is the only way.
    assert!(silent(&mut core).is_connection());
    assert_eq!(core.client.epoch, 2);
    core.client.sends_of = None;
    core.client.messages.clear();
    core.client.values.clear();
    core.changes.clear();
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
}

#[test]
fn values_are_read_at_a_server_without_the_method() {
    for status in [
        StatusCode::BadMethodInvalid,
        StatusCode::BadNotImplemented,
        StatusCode::BadNodeIdUnknown,
        StatusCode::BadUserAccessDenied,
    ] {
        let mut core = subscribed();
        core.client.disconnect();
        core.client.resends.push_back(Ok(status));
        // Queued at the server since before: it arrives first, and its item is not read.
        core.client.publish(&[(2, 19)]);
        assert_eq!(received(&mut core), [(2, Ok(19)), (1, Ok(10))]);
        let expected = [(CallRequest::NAME, 1), (ReadRequest::NAME, 1)];
        assert_eq!(core.client.requests, expected);
        // The next time it is not asked for the Method.
        core.client.disconnect();
        assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
        assert_eq!(core.client.requests[2..], [(ReadRequest::NAME, 2)]);
    }
}

#[test]
fn values_are_read_if_the_method_does_nothing() {
    let mut core = subscribed();
    core.client.disconnect();
    core.client.resends_nothing = true;
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    assert_eq!(count(&core, ReadRequest::NAME), 1);
}

#[test]
fn a_recovery_that_fails_is_repeated() {
    let mut core = subscribed();
    core.client.disconnect();
    let closed = core.client.closed();
    core.client.resends.push_back(Err(closed));
    assert!(ready(core.receive(Duration::ZERO)).is_err());
    core.client.disconnect();
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    assert_eq!(count(&core, CallRequest::NAME), 2);
    // A server that does not answer the call is not asked again.
    core.client.disconnect();
    core.client.resends.push_back(Err(ClientError::Timeout {
        endpoint: String::new(),
        timeout: Duration::ZERO,
    }));
    assert!(ready(core.receive(Duration::ZERO)).is_err());
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    assert_eq!(count(&core, CallRequest::NAME), 3);
}

#[test]
fn values_arrive_again_after_lost_messages() {
    let mut core = subscribed();
    core.client.last_number += 3;
    core.client.publish(&[(1, 11)]);
    core.client.values[0].1 = 11;
    assert_eq!(received(&mut core), [(1, Ok(11)), (1, Ok(11)), (2, Ok(20))]);
    assert_eq!(core.lost_messages, 3);
}

#[test]
fn a_subscription_that_is_gone_is_created_with_all_values() {
    let mut core = subscribed();
    core.client.disconnect();
    core.client.values.clear();
    let gone = StatusCode::BadSubscriptionIdInvalid;
    core.client.resends.push_back(Ok(gone));
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    assert_eq!(count(&core, CreateSubscriptionRequest::NAME), 1);
    assert_eq!(count(&core, ReadRequest::NAME), 0);
}

#[test]
fn events_are_not_sent_again() {
    let mut core = ready(Core::create(Fake::new(), SubscriptionOptions::default())).unwrap();
    let events = Monitored::Events(EventQuery::default());
    ready(core.monitor_one(&ids::SERVER.into(), events)).unwrap();
    core.client.disconnect();
    assert!(received(&mut core).is_empty());
    assert_eq!(count(&core, CallRequest::NAME), 0);
    assert_eq!(count(&core, ReadRequest::NAME), 0);
}

#[test]
fn refused_items_are_monitored_as_soon_as_the_server_has_them() {
    let mut core = subscribed();
    let unknown = StatusCode::BadNodeIdUnknown;
    core.client.close();
    core.client.creates = unknown;
    core.client.values.clear();
    let refused = [(1, Err(unknown)), (2, Err(unknown))];
    assert_eq!(received(&mut core), refused);
    let retry = |core: &mut Core<Fake>| {
        let created = core.created.as_mut().unwrap();
        assert!(created.recovery.retry_at.is_some());
        created.recovery.retry_at = Some(Instant::now());
        received(core)
    };
    // The same refusal is not reported again.
    assert!(retry(&mut core).is_empty());
    core.client.creates = GOOD;
    assert_eq!(retry(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    let created = core.created.as_ref().unwrap();
    assert!(created.recovery.refused.is_empty() && created.recovery.retry_at.is_none());
}

#[test]
fn items_follow_their_namespaces_into_the_next_session() {
    let mut core = ready(Core::create(Fake::new(), SubscriptionOptions::default())).unwrap();
    let items = [2, 3].map(|namespace| {
        let node = NodeId::string(namespace, "Level");
        (node, MonitoredItemOptions::default())
    });
    ready(core.monitor_values(items.to_vec())).unwrap();
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    // The server comes back with another model: both NodeIds name other nodes.
    core.client.close();
    core.client.values.clear();
    core.client.namespaces = vec!["ua", "server", "two", "three"];
    let gone = (1, Err(StatusCode::BadNodeIdUnknown));
    let is_gone = received(&mut core);
    assert_eq!(is_gone, [gone, (2, Ok(20))]);
    let expected = [u16::MAX, 2].map(|namespace| NodeId::string(namespace, "Level"));
    assert_eq!(core.client.monitored, expected);
    // The namespace comes later.
    core.client.namespaces.push("one");
    let created = core.created.as_mut().unwrap();
    created.recovery.retry_at = Some(Instant::now());
    assert!(received(&mut core).contains(&(1, Ok(10))));
    assert_eq!(core.client.monitored, [NodeId::string(4, "Level")]);
    // A session with the same array changes nothing.
    core.client.close();
    core.client.values.clear();
    assert_eq!(received(&mut core), [(1, Ok(10)), (2, Ok(20))]);
    let expected = [4, 2].map(|namespace| NodeId::string(namespace, "Level"));
    assert_eq!(core.client.monitored, expected);
}

#[test]
fn filters_of_events_follow_their_namespaces() {
    let mut core = ready(Core::create(Fake::new(), SubscriptionOptions::default())).unwrap();
    let plain = Monitored::Events(EventQuery::default());
    ready(core.monitor_one(&ids::SERVER.into(), plain)).unwrap();
    assert_eq!(count(&core, ReadRequest::NAME), 0);
    let field = [QualifiedName::new(2, "Pressure")];
    let query = EventQuery::default().declared_field(NodeId::numeric(2, 7), field.to_vec());
    let events = Monitored::Events(query);
    ready(core.monitor_one(&ids::SERVER.into(), events)).unwrap();
    assert_eq!(count(&core, ReadRequest::NAME), 1);
}

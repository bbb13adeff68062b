//! Server of an attacker that another server mirrors: it answers without end, or with as much as the limits of a mirror permit.

use std::time::{Duration, Instant};

use takt_tcp::{ChannelDescription, TcpChannels, TcpPeer};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::enumerations::{MessageSecurityMode, NodeClass, UserTokenType};
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};
use takt_ua::structures::*;
use takt_ua::{
    ByteString, DataValue, DateTime, ExtensionObject, NodeId, StatusCode, Structure, UaString,
    Variant, ids,
};

use crate::hostile_nodes::{VALUE, read, reference};

/// Path of the URL under which BrowseNext has no end.
pub(crate) const ENDLESS: &str = "/endless";

/// Path of the URL under which nodes and values stay just below the limits of a mirror.
pub(crate) const FULL: &str = "/full";

/// References in one answer of BrowseNext.
const PAGE: u32 = 500;

/// Nodes below each other node.
const CHILDREN: u32 = 20;

/// Length of a value that a mirror does not keep.
const LARGE_VALUE: usize = 4 << 20;

/// Values in one notification.
const NOTIFIED: usize = 50;

/// Notifications without a value that is not kept.
const SMALL_NOTIFICATIONS: u32 = 20;

/// Time after which a Session that has sent values ends with its connection.
const SESSION: Duration = Duration::from_millis(1500);

/// Largest number of nodes of one Session.
const NODES: u32 = 1_000_000;

/// Counts of the server.
#[derive(Debug, Default)]
pub(crate) struct Served {
    pub(crate) connections: u64,
    pub(crate) messages: u64,
    /// True if a Session of [`FULL`] has begun.
    pub(crate) is_full_mirrored: bool,
    /// True if a Session has lasted long enough: all connections shall end.
    pub(crate) is_over: bool,
    /// Number of Sessions so far: each has nodes of its own.
    sessions: u32,
}

/// The server. It has one thread.
pub(crate) struct HostileServer<'a> {
    pub(crate) url: String,
    /// Nodes of one Session of [`FULL`].
    pub(crate) nodes: u32,
    pub(crate) served: &'a std::cell::RefCell<Served>,
}

/// One connection.
pub(crate) struct Connection {
    is_endless: bool,
    /// Number of the Session.
    session: u32,
    /// Number of nodes so far.
    nodes: u32,
    /// Handles of the MonitoredItems, and the position of the next one that is notified.
    handles: Vec<u32>,
    next_handle: usize,
    notifications: u32,
    first_notification: Option<Instant>,
}

impl HostileServer<'_> {
    fn endpoint(&self, url: &UaString) -> EndpointDescription {
        let url = match url.as_str() {
            "" => self.url.as_str(),
            asked => asked,
        };
        EndpointDescription {
            endpoint_url: url.into(),
            security_mode: MessageSecurityMode::None,
            security_policy_uri: "http://opcfoundation.org/UA/SecurityPolicy#None".into(),
            user_identity_tokens: vec![UserTokenPolicy {
                policy_id: "anonymous".into(),
                token_type: UserTokenType::Anonymous,
                ..UserTokenPolicy::default()
            }],
            transport_profile_uri:
                "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary".into(),
            ..EndpointDescription::default()
        }
    }

    fn create_session(
        &self,
        connection: &mut Connection,
        request: &CreateSessionRequest,
    ) -> CreateSessionResponse {
        let mut served = self.served.borrow_mut();
        served.sessions += 1;
        connection.is_endless = request.endpoint_url.as_str().ends_with(ENDLESS);
        served.is_full_mirrored |= !connection.is_endless;
        connection.session = served.sessions;
        connection.nodes = 0;
        CreateSessionResponse {
            session_id: NodeId::numeric(1, served.sessions),
            authentication_token: NodeId::numeric(1, served.sessions),
            revised_session_timeout: 60_000.0,
            server_nonce: ByteString::from(&[7_u8; 32][..]),
            server_endpoints: vec![self.endpoint(&request.endpoint_url)],
            ..CreateSessionResponse::default()
        }
    }

    /// Returns the references of a node, with a continuation point if there are more.
    fn page(&self, connection: &mut Connection, node: Option<&NodeId>) -> BrowseResult {
        let standard = node.filter(|node| node.namespace == 0);
        if let Some(node) = standard.filter(|node| **node != NodeId::from(ids::OBJECTS_FOLDER)) {
            // A scan begins with the types. These have an end, so that it gets to the instances.
            let subtype = match node.standard_id() {
                Some(ids::REFERENCES) => ids::HIERARCHICAL_REFERENCES,
                Some(ids::HIERARCHICAL_REFERENCES) => ids::ORGANIZES,
                _ => return BrowseResult::default(),
            };
            return BrowseResult {
                references: vec![ReferenceDescription {
                    reference_type_id: NodeId::from(ids::HAS_SUBTYPE),
                    is_forward: true,
                    node_id: NodeId::from(subtype).into(),
                    node_class: NodeClass::ReferenceType,
                    ..ReferenceDescription::default()
                }],
                ..BrowseResult::default()
            };
        }
        let (count, most) = match connection.is_endless {
            true => (PAGE, NODES),
            false => (CHILDREN, self.nodes),
        };
        let count = count.min(most.saturating_sub(connection.nodes));
        let first = connection.nodes;
        connection.nodes += count;
        let is_last = !connection.is_endless || connection.nodes == most;
        BrowseResult {
            references: (first..first + count)
                .map(|number| reference(connection.session, number))
                .collect(),
            continuation_point: match is_last {
                true => ByteString::default(),
                false => ByteString::from(&b"more"[..]),
            },
            ..BrowseResult::default()
        }
    }

    /// Returns a notification with the values of some MonitoredItems. The answer comes at once, so that the next request does, too.
    fn publish(&self, connection: &mut Connection) -> PublishResponse {
        let begin = *connection
            .first_notification
            .get_or_insert_with(Instant::now);
        self.served.borrow_mut().is_over |= begin.elapsed() > SESSION;
        connection.notifications += 1;
        let large = connection.notifications.is_multiple_of(SMALL_NOTIFICATIONS);
        let (count, length) = match large {
            true => (1, LARGE_VALUE),
            false => (NOTIFIED, VALUE),
        };
        let value = DataValue::good(Variant::ByteString(ByteString::from(vec![b'x'; length])));
        let mut items = Vec::new();
        for _ in 0..count.min(connection.handles.len()) {
            let at = connection.next_handle % connection.handles.len();
            connection.next_handle = at + 1;
            items.push(MonitoredItemNotification {
                client_handle: connection.handles.get(at).copied().unwrap_or_default(),
                value: value.clone(),
            });
        }
        let data = DataChangeNotification {
            monitored_items: items,
            ..DataChangeNotification::default()
        };
        PublishResponse {
            subscription_id: 1,
            more_notifications: true,
            notification_message: NotificationMessage {
                sequence_number: connection.notifications,
                publish_time: DateTime::now(),
                notification_data: vec![ExtensionObject::from_structure(&data)],
            },
            ..PublishResponse::default()
        }
    }

    /// Encodes the answer to a request. `None` if the request cannot be decoded.
    fn answer(
        &self,
        connection: &mut Connection,
        type_id: u32,
        body: &mut Decoder<'_>,
        response: &mut Encoder<'_>,
    ) -> Option<()> {
        match type_id {
            GetEndpointsRequest::BINARY_ENCODING_ID => {
                let request = GetEndpointsRequest::decode(body).ok()?;
                encode(
                    response,
                    &GetEndpointsResponse {
                        endpoints: vec![self.endpoint(&request.endpoint_url)],
                        ..GetEndpointsResponse::default()
                    },
                )
            }
            CreateSessionRequest::BINARY_ENCODING_ID => {
                let request = CreateSessionRequest::decode(body).ok()?;
                encode(response, &self.create_session(connection, &request))
            }
            ActivateSessionRequest::BINARY_ENCODING_ID => {
                encode(response, &ActivateSessionResponse::default())
            }
            ReadRequest::BINARY_ENCODING_ID => {
                let request = ReadRequest::decode(body).ok()?;
                let response_of_all = ReadResponse {
                    results: request.nodes_to_read.iter().map(read).collect(),
                    ..ReadResponse::default()
                };
                encode(response, &response_of_all)
            }
            BrowseRequest::BINARY_ENCODING_ID => {
                let request = BrowseRequest::decode(body).ok()?;
                let nodes = request.nodes_to_browse.iter();
                let results = nodes.map(|browse| self.page(connection, Some(&browse.node_id)));
                let results = results.collect();
                encode(
                    response,
                    &BrowseResponse {
                        results,
                        ..BrowseResponse::default()
                    },
                )
            }
            BrowseNextRequest::BINARY_ENCODING_ID => {
                let request = BrowseNextRequest::decode(body).ok()?;
                let results = match request.release_continuation_points {
                    true => vec![BrowseResult::default()],
                    false => vec![self.page(connection, None)],
                };
                encode(
                    response,
                    &BrowseNextResponse {
                        results,
                        ..BrowseNextResponse::default()
                    },
                )
            }
            CreateSubscriptionRequest::BINARY_ENCODING_ID => encode(
                response,
                &CreateSubscriptionResponse {
                    subscription_id: 1,
                    revised_publishing_interval: 100.0,
                    revised_lifetime_count: 1000,
                    revised_max_keep_alive_count: 10,
                    ..CreateSubscriptionResponse::default()
                },
            ),
            CreateMonitoredItemsRequest::BINARY_ENCODING_ID => {
                let request = CreateMonitoredItemsRequest::decode(body).ok()?;
                let handles = request.items_to_create.iter();
                let handles = handles.map(|item| item.requested_parameters.client_handle);
                let first = connection.handles.len();
                connection.handles.extend(handles);
                let results = (first..connection.handles.len()).map(|number| {
                    let id = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
                    MonitoredItemCreateResult {
                        monitored_item_id: id,
                        revised_sampling_interval: 100.0,
                        revised_queue_size: 1,
                        ..MonitoredItemCreateResult::default()
                    }
                });
                encode(
                    response,
                    &CreateMonitoredItemsResponse {
                        results: results.collect(),
                        ..CreateMonitoredItemsResponse::default()
                    },
                )
            }
            PublishRequest::BINARY_ENCODING_ID => encode(response, &self.publish(connection)),
            _ => encode(
                response,
                &ServiceFault {
                    response_header: ResponseHeader {
                        service_result: StatusCode::BadServiceUnsupported,
                        ..ResponseHeader::default()
                    },
                },
            ),
        }
    }
}

fn encode<T: Structure + Encode>(response: &mut Encoder<'_>, message: &T) -> Option<()> {
    NodeId::numeric(0, T::BINARY_ENCODING_ID)
        .encode(response)
        .ok()?;
    message.encode(response).ok()
}

impl RequestHandler for HostileServer<'_> {
    type Connection = Connection;

    fn handle(
        &self,
        connection: &mut Connection,
        _: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        let mut body = Decoder::new(request);
        let type_id = NodeId::decode(&mut body).ok();
        let type_id = type_id.and_then(|type_id| type_id.standard_id());
        if let Some(type_id) = type_id {
            // An answer that does not fit is damaged, which a victim has to survive as well.
            let _ = self.answer(connection, type_id, &mut body, response);
        }
        self.served.borrow_mut().messages += 1;
        RequestOutcome::Complete
    }

    fn take_completed(&self, _: &mut Connection) -> Option<(u32, Vec<u8>)> {
        None
    }

    fn disconnect(&self, _: Connection) {}
}

impl TcpChannels for HostileServer<'_> {
    fn connect(&self, _: TcpPeer, _: ChannelDescription<'_>, _: CompletionWaker) -> Connection {
        self.served.borrow_mut().connections += 1;
        Connection {
            is_endless: false,
            session: 0,
            nodes: 0,
            handles: Vec::new(),
            next_handle: 0,
            notifications: 0,
            first_notification: None,
        }
    }

    fn has_session(&self, _: &Connection) -> bool {
        true
    }
}

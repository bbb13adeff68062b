//! A server that answers without end: the registry and its clients take a bounded amount, and say so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_app::client::Follow;
use takt_app::{Client, ClientError, ClientOptions, Endpoint};
use takt_rt::readiness::Events;
use takt_services::ServerBudgets;
use takt_tcp::{ChannelDescription, TcpChannels, TcpPeer, TcpServer, TcpServerConfig};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::enumerations::{MessageSecurityMode, NodeClass, UserTokenType};
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};
use takt_ua::structures::*;
use takt_ua::{
    ByteString, DataValue, ExtensionObject, NodeId, QualifiedName, Structure, UaString, Variant,
    ids,
};

use crate::mirror::support::{PATIENCE, mirror, registry, value};

/// Length of the names of the server.
const NAME: usize = 2_000;

/// References in one answer.
const REFERENCES: u32 = 500;

/// Bytes of all answers after which the client should have stopped: the server ends the test.
const WITHOUT_END: usize = 1 << 30;

/// The way in which the server has no end.
#[derive(Clone, Copy, PartialEq)]
enum Endless {
    /// BrowseNext has a continuation point each time.
    Pages,
    /// Each node has children.
    Tree,
    /// Each page of a history has a continuation point.
    History,
}

struct Hostile {
    endless: Endless,
    url: String,
    /// Bytes of names and values that were sent.
    sent: Arc<AtomicUsize>,
}

impl Hostile {
    fn references(&self, count: u32) -> Vec<ReferenceDescription> {
        // The bytes so far also number the nodes: a mirror does not browse a known node again.
        let first = self.sent.fetch_add(NAME * count as usize, Ordering::SeqCst);
        let first = u32::try_from(first / NAME).unwrap();
        let reference = |number: u32| ReferenceDescription {
            // A mirror follows it without knowing the types of the server.
            reference_type_id: NodeId::from(ids::HAS_CONDITION),
            is_forward: true,
            node_id: NodeId::numeric(1, first + number).into(),
            browse_name: QualifiedName::new(1, format!("{number:x>NAME$}").as_str()),
            node_class: NodeClass::Object,
            ..ReferenceDescription::default()
        };
        (0..count).map(reference).collect()
    }

    /// Returns the references of a node, with a continuation point if there are more.
    fn page(&self, node: Option<&NodeId>) -> BrowseResult {
        // A scan begins with the types: these have an end, so that it gets to the instances.
        let is_type = node
            .is_some_and(|node| node.namespace == 0 && *node != NodeId::from(ids::OBJECTS_FOLDER));
        if is_type {
            return BrowseResult::default();
        }
        let endless = self.sent.load(Ordering::SeqCst) < WITHOUT_END;
        match self.endless {
            Endless::Tree if endless => BrowseResult {
                references: self.references(20),
                ..BrowseResult::default()
            },
            Endless::Pages if endless => BrowseResult {
                references: self.references(REFERENCES),
                continuation_point: ByteString::from(&b"more"[..]),
                ..BrowseResult::default()
            },
            _ => BrowseResult::default(),
        }
    }

    fn history(&self) -> HistoryReadResult {
        let text = Variant::String(UaString::from("x".repeat(NAME).as_str()));
        let data_values = vec![DataValue::good(text); REFERENCES as usize];
        let sent = self
            .sent
            .fetch_add(NAME * data_values.len(), Ordering::SeqCst);
        HistoryReadResult {
            continuation_point: match sent < WITHOUT_END {
                true => ByteString::from(&b"more"[..]),
                false => ByteString::default(),
            },
            history_data: ExtensionObject::from_structure(&HistoryData { data_values }),
            ..HistoryReadResult::default()
        }
    }

    fn endpoint(&self) -> EndpointDescription {
        EndpointDescription {
            endpoint_url: UaString::from(self.url.as_str()),
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

    fn answer(&self, type_id: u32, body: &mut Decoder<'_>, response: &mut Encoder<'_>) {
        match type_id {
            GetEndpointsRequest::BINARY_ENCODING_ID => encode(
                response,
                &GetEndpointsResponse {
                    endpoints: vec![self.endpoint()],
                    ..GetEndpointsResponse::default()
                },
            ),
            CreateSessionRequest::BINARY_ENCODING_ID => encode(
                response,
                &CreateSessionResponse {
                    session_id: NodeId::numeric(1, 1),
                    authentication_token: NodeId::numeric(1, 2),
                    revised_session_timeout: 60_000.0,
                    server_nonce: ByteString::from(&[7_u8; 32][..]),
                    server_endpoints: vec![self.endpoint()],
                    ..CreateSessionResponse::default()
                },
            ),
            ActivateSessionRequest::BINARY_ENCODING_ID => {
                encode(response, &ActivateSessionResponse::default());
            }
            ReadRequest::BINARY_ENCODING_ID => {
                let request = ReadRequest::decode(body).unwrap();
                let array = |read: &ReadValueId| match read.node_id.standard_id() {
                    Some(ids::SERVER_NAMESPACE_ARRAY) => DataValue::good(vec![
                        UaString::from("http://opcfoundation.org/UA/"),
                        UaString::from("urn:hostile"),
                    ]),
                    _ if read.attribute_id == 3 => DataValue::good(QualifiedName::new(1, "Type")),
                    _ => DataValue::default(),
                };
                let results = request.nodes_to_read.iter().map(array).collect();
                encode(
                    response,
                    &ReadResponse {
                        results,
                        ..ReadResponse::default()
                    },
                );
            }
            BrowseRequest::BINARY_ENCODING_ID => {
                let request = BrowseRequest::decode(body).unwrap();
                let nodes = request.nodes_to_browse.iter();
                let results = nodes.map(|browse| self.page(Some(&browse.node_id)));
                encode(
                    response,
                    &BrowseResponse {
                        results: results.collect(),
                        ..BrowseResponse::default()
                    },
                );
            }
            BrowseNextRequest::BINARY_ENCODING_ID => {
                let request = BrowseNextRequest::decode(body).unwrap();
                let results = match request.release_continuation_points {
                    true => vec![BrowseResult::default()],
                    false => vec![self.page(None)],
                };
                encode(
                    response,
                    &BrowseNextResponse {
                        results,
                        ..BrowseNextResponse::default()
                    },
                );
            }
            HistoryReadRequest::BINARY_ENCODING_ID => encode(
                response,
                &HistoryReadResponse {
                    results: vec![self.history()],
                    ..HistoryReadResponse::default()
                },
            ),
            _ => encode(
                response,
                &ServiceFault {
                    response_header: ResponseHeader {
                        service_result: takt_ua::StatusCode::BadServiceUnsupported,
                        ..ResponseHeader::default()
                    },
                },
            ),
        }
    }
}

fn encode<T: Structure + Encode>(response: &mut Encoder<'_>, message: &T) {
    NodeId::numeric(0, T::BINARY_ENCODING_ID)
        .encode(response)
        .unwrap();
    message.encode(response).unwrap();
}

impl RequestHandler for Hostile {
    type Connection = ();

    fn handle(
        &self,
        (): &mut (),
        _: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        let mut body = Decoder::new(request);
        let type_id = NodeId::decode(&mut body).unwrap();
        self.answer(type_id.standard_id().unwrap(), &mut body, response);
        RequestOutcome::Complete
    }

    fn take_completed(&self, (): &mut ()) -> Option<(u32, Vec<u8>)> {
        None
    }

    fn disconnect(&self, (): ()) {}
}

impl TcpChannels for Hostile {
    fn connect(&self, _: TcpPeer, _: ChannelDescription<'_>, _: CompletionWaker) {}

    fn has_session(&self, (): &()) -> bool {
        true
    }
}

/// A hostile server on a thread, ended when dropped.
struct Running {
    endpoint: Endpoint,
    sent: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(endless: Endless) -> Self {
        let port = takt_ports::reserve();
        let url = format!("opc.tcp://127.0.0.1:{port}");
        let sent = Arc::new(AtomicUsize::new(0));
        let hostile = Hostile {
            endless,
            url: url.clone(),
            sent: Arc::clone(&sent),
        };
        let config = TcpServerConfig::default();
        let mut server = TcpServer::bind(&url.parse().unwrap(), config, hostile).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let mut events = Events::with_capacity(64);
                while !stop.load(Ordering::SeqCst) {
                    let _ = server.turn(&mut events, Some(Duration::from_millis(10)));
                }
            }
        });
        Self {
            endpoint: url.parse().unwrap(),
            sent,
            stop,
            thread: Some(thread),
        }
    }

    fn client(&self, max_memory: usize) -> Client {
        let options = ClientOptions {
            timeout: PATIENCE,
            max_memory,
            ..ClientOptions::named("Test")
        };
        Client::connect(&self.endpoint, options).unwrap()
    }

    /// Checks that the client stopped soon after `limit` bytes.
    fn was_stopped_after(&self, limit: usize) {
        let sent = self.sent.load(Ordering::SeqCst);
        assert!(sent < 2 * limit + (4 << 20), "{sent} bytes were taken");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_mirror_of_an_endless_server_names_the_limit() {
    // Shares of the memory budget of the registry.
    let budget = ServerBudgets::of_process().max_memory;
    for (endless, limit, said) in [
        (Endless::Pages, budget / 8, "bytes of references"),
        (Endless::Tree, budget / 4, "bytes of names and attributes"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let server = Running::start(endless);
        let options = mirror("Mill", &server.endpoint);
        let (_registry, mut client) = registry(directory.path(), vec![options]);
        let begin = Instant::now();
        loop {
            let problem = value(&mut client, "Mill/Problem").unwrap_or_default();
            let problem = problem.to_string();
            if problem.contains(said) && problem.contains(&limit.to_string()) {
                break;
            }
            let sent = server.sent.load(Ordering::SeqCst);
            assert!(
                begin.elapsed() < PATIENCE,
                "{said}: {problem} after {sent} bytes"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        server.was_stopped_after(limit);
    }
}

#[test]
fn a_client_stops_an_endless_answer_at_its_limit() {
    const LIMIT: usize = 4 << 20;
    let node = NodeId::from(ids::OBJECTS_FOLDER);
    type Ask = fn(&mut Client, &NodeId) -> Result<(), ClientError>;
    let asks: [(Endless, Ask); 5] = [
        (Endless::Pages, |client, node| {
            client.browse(node, &Follow::children()).map(drop)
        }),
        (Endless::Pages, |client, _| {
            client.find("Objects/x").map(drop)
        }),
        (Endless::Pages, |client, node| {
            client.declared_fields(node).map(drop)
        }),
        (Endless::History, |client, node| {
            client
                .history_raw(node, takt_app::HistoryRange::default())
                .map(drop)
        }),
        (Endless::Tree, |client, _| {
            client.find_by_type("ns=1;i=5").map(drop)
        }),
    ];
    for (at, (endless, ask)) in asks.into_iter().enumerate() {
        let server = Running::start(endless);
        let mut client = server.client(LIMIT);
        let error = ask(&mut client, &node).unwrap_err();
        let is_limit = matches!(&error, ClientError::TooMuch { limit, .. } if *limit == LIMIT);
        assert!(is_limit, "{at}: {error}");
        assert!(error.to_string().contains("4194304"), "{error}");
        server.was_stopped_after(LIMIT);
    }
}

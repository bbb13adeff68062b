//! A server and a client without a transport between them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "this is a test")]

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use takt_layout::LaidOut;
use takt_services::{Connection, Server, ServerBuilder};
use takt_space::{ChannelSecurity, Peer};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::enumerations::{MessageSecurityMode, TimestampsToReturn};
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, CreateSessionRequest, CreateSessionResponse,
    ReadRequest, ReadResponse, ReadValueId, RequestHeader, ServiceFault, WriteRequest,
    WriteResponse, WriteValue,
};
use takt_ua::{DataValue, NodeId, StatusCode, Structure, ids};

/// Attribute ids (OPC 10000-6, A.1).
pub const VALUE: u32 = 13;

/// The first SessionId and SubscriptionId. SessionIds are no NodeIds that the tests use.
pub const FIRST_ID: u32 = 1 << 24;

pub fn builder() -> ServerBuilder {
    // Responses of two servers are compared.
    Server::builder("Test", "urn:test:server").first_id(FIRST_ID)
}

pub fn server() -> Arc<Server> {
    builder().build().unwrap()
}

/// One channel, optionally with a Session.
pub struct Client {
    pub server: Arc<Server>,
    pub connection: Connection,
    pub token: NodeId,
    pub handle: u32,
    pub timeout_hint: u32,
    woken: Receiver<()>,
}

impl Client {
    /// Opens a channel without a Session.
    pub fn connect(server: &Arc<Server>) -> Self {
        Self::connect_as(server, Some(1000))
    }

    pub fn connect_as(server: &Arc<Server>, user: Option<u32>) -> Self {
        let peer = Peer::SharedMemory {
            user,
            process: None,
            groups: Vec::new(),
        };
        Self::connect_from(server, peer, ChannelSecurity::none())
    }

    /// Opens a channel from the loopback interface.
    pub fn connect_over_tcp(server: &Arc<Server>, mode: MessageSecurityMode) -> Self {
        let address = ([127, 0, 0, 1], 50_000).into();
        let security = ChannelSecurity {
            mode,
            ..ChannelSecurity::none()
        };
        Self::connect_from(server, Peer::tcp(address), security)
    }

    fn connect_from(server: &Arc<Server>, peer: Peer, security: ChannelSecurity) -> Self {
        let (wake, woken) = mpsc::channel();
        let wake = move || {
            let _ = wake.send(());
        };
        let connection =
            server.connect(peer, security, "opc.iox2://Test".to_owned(), Arc::new(wake));
        Self {
            server: Arc::clone(server),
            connection,
            token: NodeId::NULL,
            handle: 0,
            timeout_hint: 0,
            woken,
        }
    }

    /// Opens a channel with an activated Session.
    pub fn new(server: &Arc<Server>) -> Self {
        let mut client = Self::connect(server);
        client.create().unwrap();
        client.activate().unwrap();
        client
    }

    pub fn create(&mut self) -> Result<CreateSessionResponse, StatusCode> {
        let request_header = self.header();
        let created: CreateSessionResponse = self.call(CreateSessionRequest {
            request_header,
            session_name: "test".into(),
            requested_session_timeout: 60_000.0,
            ..CreateSessionRequest::default()
        })?;
        self.token = created.authentication_token.clone();
        Ok(created)
    }

    pub fn activate(&mut self) -> Result<ActivateSessionResponse, StatusCode> {
        let request_header = self.header();
        self.call(ActivateSessionRequest {
            request_header,
            ..ActivateSessionRequest::default()
        })
    }

    pub fn header(&mut self) -> RequestHeader {
        self.handle += 1;
        RequestHeader {
            authentication_token: self.token.clone(),
            request_handle: self.handle,
            timeout_hint: self.timeout_hint,
            ..RequestHeader::default()
        }
    }

    /// Returns the response message; waits for it if it is deferred.
    pub fn raw(&mut self, request: &[u8]) -> Vec<u8> {
        let mut response = Vec::new();
        let outcome = {
            let mut encoder = Encoder::growing(&mut response, 16 << 20);
            self.server
                .handle(&mut self.connection, 7, request, &mut encoder)
        };
        match outcome {
            RequestOutcome::Complete => response,
            RequestOutcome::Deferred => {
                assert!(response.is_empty(), "a deferred request encodes nothing");
                self.completed().1
            }
        }
    }

    /// Sends a request whose response is deferred.
    pub fn defer(&mut self, request: &[u8], request_id: u32) -> Result<(), StatusCode> {
        let mut response = Vec::new();
        let mut encoder = Encoder::growing(&mut response, 16 << 20);
        let outcome = self
            .server
            .handle(&mut self.connection, request_id, request, &mut encoder);
        match outcome {
            RequestOutcome::Deferred => Ok(()),
            RequestOutcome::Complete => {
                Err(decode::<ServiceFault>(&response).expect_err("a fault"))
            }
        }
    }

    /// Waits for the next deferred response.
    pub fn completed(&mut self) -> (u32, Vec<u8>) {
        loop {
            while self.server.work() {}
            if let Some(completed) = self.connection.take_completed() {
                return completed;
            }
            self.woken
                .recv_timeout(Duration::from_secs(20))
                .expect("the waker is called");
        }
    }

    pub fn call<Q: Structure, R: Structure>(&mut self, request: Q) -> Result<R, StatusCode> {
        let response = self.raw(&message(&request));
        decode(&response)
    }

    pub fn read(&mut self, nodes_to_read: Vec<ReadValueId>) -> Result<Vec<DataValue>, StatusCode> {
        let request_header = self.header();
        let request = ReadRequest {
            request_header,
            max_age: 0.0,
            timestamps_to_return: TimestampsToReturn::Both,
            nodes_to_read,
        };
        Ok(self.call_either::<_, ReadResponse>(request)?.results)
    }

    /// Sends requests alternately in the two forms, so that the tests cover both.
    pub fn call_either<Q, R>(&mut self, request: Q) -> Result<R, StatusCode>
    where
        Q: Structure + LaidOut<Response = R>,
        R: Structure,
    {
        if self.handle.is_multiple_of(2) {
            self.call_laid_out(&request)
        } else {
            self.call(request)
        }
    }

    /// Does the same as [`call`](Self::call) in the layout of shared memory.
    pub fn call_laid_out<Q: LaidOut>(&mut self, request: &Q) -> Result<Q::Response, StatusCode> {
        let mut message = Vec::new();
        let mut encoder = Encoder::growing(&mut message, 16 << 20);
        request.lay_out(&mut encoder).unwrap();
        let response = self.raw(&message);
        match Q::parse_response(&response).unwrap() {
            Some(response) => Ok(response),
            None => Err(decode::<ServiceFault>(&response).expect_err("a fault")),
        }
    }

    pub fn read_value(&mut self, node_id: impl Into<NodeId>) -> DataValue {
        self.read_attribute(node_id, VALUE)
    }

    pub fn read_attribute(&mut self, node_id: impl Into<NodeId>, attribute: u32) -> DataValue {
        self.read(vec![read_id(node_id, attribute)])
            .unwrap()
            .remove(0)
    }

    pub fn write(
        &mut self,
        nodes_to_write: Vec<WriteValue>,
    ) -> Result<Vec<StatusCode>, StatusCode> {
        let request_header = self.header();
        let request = WriteRequest {
            request_header,
            nodes_to_write,
        };
        Ok(self.call_either::<_, WriteResponse>(request)?.results)
    }

    pub fn write_value(
        &mut self,
        node_id: impl Into<NodeId>,
        value: impl Into<takt_ua::Variant>,
    ) -> StatusCode {
        self.write(vec![write_of(node_id, DataValue::good(value.into()))])
            .unwrap()
            .remove(0)
    }
}

pub fn read_id(node_id: impl Into<NodeId>, attribute_id: u32) -> ReadValueId {
    ReadValueId {
        node_id: node_id.into(),
        attribute_id,
        ..ReadValueId::default()
    }
}

pub fn write_of(node_id: impl Into<NodeId>, value: DataValue) -> WriteValue {
    WriteValue {
        node_id: node_id.into(),
        attribute_id: VALUE,
        value,
        ..WriteValue::default()
    }
}

/// Runs all work that is due at a time, slice by slice. Returns the number of slices.
pub fn catch_up(server: &Server, now: Instant) -> usize {
    let mut slices = 0;
    while server.next_deadline().is_some_and(|next| next <= now) {
        server.tick(now);
        slices += 1;
        assert!(slices < 100_000, "the work never ends");
    }
    slices
}

/// Encodes TypeId and structure.
pub fn message<T: Structure>(structure: &T) -> Vec<u8> {
    let mut bytes = NodeId::from(T::BINARY_ENCODING_ID).encode_to_vec();
    bytes.extend(structure.encode_to_vec());
    bytes
}

/// Decodes the response, or the serviceResult of a ServiceFault.
pub fn decode<R: Structure>(response: &[u8]) -> Result<R, StatusCode> {
    let mut decoder = Decoder::new(response);
    let type_id = NodeId::decode(&mut decoder).expect("a response has a TypeId");
    if type_id == NodeId::from(ids::SERVICE_FAULT_ENCODING_DEFAULT_BINARY) {
        let fault = ServiceFault::decode(&mut decoder).expect("a ServiceFault can be decoded");
        assert_eq!(decoder.remaining(), 0);
        assert!(fault.response_header.service_result.is_bad());
        return Err(fault.response_header.service_result);
    }
    assert_eq!(
        type_id,
        NodeId::from(R::BINARY_ENCODING_ID),
        "the response is of the right type"
    );
    let structure = R::decode(&mut decoder).expect("a response can be decoded");
    assert_eq!(decoder.remaining(), 0, "nothing follows a response");
    Ok(structure)
}

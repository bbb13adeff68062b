//! Every service, over each transport: requests of any content, some of them in a proper Session.

use std::cell::RefCell;
use std::sync::Arc;

use takt_fuzz::choice;
use takt_layout::{LaidOut, MARK, VERSION};
use takt_services::{Connection, EverybodyManages, Server, ServerBudgets};
use takt_space::{ChannelSecurity, Peer, StoredValue, Value};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{
    ActivateSessionRequest, CallRequest, CreateSessionRequest, CreateSessionResponse, ReadRequest,
    RequestHeader, ServiceFault, WriteRequest,
};
use takt_ua::{NodeId, Structure, Variant, ids};

/// Requests that a server supports, by the NodeIds of their encodings.
const REQUESTS: [u32; 31] = [
    422, 428, 461, 467, 473, 479, 488, 494, 500, 506, 527, 533, 554, 560, 566, 631, 673, 712, 446,
    787, 751, 763, 769, 775, 781, 793, 799, 826, 832, 841, 847,
];

/// Number of inputs after which the server is created again, because added nodes make it slower.
const INPUTS: u32 = 2_000;

thread_local! {
    static SERVER: RefCell<(Arc<Server>, u32)> = RefCell::new((server(), 0));
}

fn server() -> Arc<Server> {
    let budgets = ServerBudgets {
        encoding: takt_fuzz::LIMITS,
        max_nodes: 5_000,
        max_sessions: 10,
        max_response_size: 1 << 20,
        ..ServerBudgets::default()
    };
    let server = Server::builder("Fuzz", "urn:takt:fuzz")
        .budgets(budgets)
        .node_management(Arc::new(EverybodyManages))
        .namespace("urn:takt:fuzz:nodes")
        .build()
        .expect("a server can be built");
    for (number, value) in [
        (1, Variant::from(42_u32)),
        (2, Variant::from(vec![1_u32, 2, 3])),
        (3, "text".into()),
    ] {
        server
            .address_space()
            .add_variable(takt_ua::QualifiedName::from(format!("V{number}").as_str()))
            .node_id(NodeId::numeric(2, number))
            .component_of(NodeId::numeric(0, ids::OBJECTS_FOLDER))
            .writable()
            .value(Value::Stored(Arc::new(StoredValue::new(&value))))
            .add()
            .expect("a Variable can be added");
    }
    server
}

fn message<T: Structure>(request: &T) -> Vec<u8> {
    let mut bytes = NodeId::numeric(0, T::BINARY_ENCODING_ID).encode_to_vec();
    bytes.extend(request.encode_to_vec());
    bytes
}

/// Handles one request; exactly one decodable message must be returned.
fn handle(server: &Arc<Server>, connection: &mut Connection, request: &[u8]) -> Vec<u8> {
    let mut response = Vec::new();
    let mut encoder = Encoder::growing(&mut response, 1 << 20);
    if server.handle(connection, 7, request, &mut encoder) == RequestOutcome::Deferred {
        assert!(response.is_empty());
        return response;
    }
    if takt_layout::is_layout(&response) {
        let read = ReadRequest::parse_response(&response).is_ok();
        let write = WriteRequest::parse_response(&response).is_ok();
        assert!(read || write || CallRequest::parse_response(&response).is_ok());
        return response;
    }
    let mut decoder = Decoder::new(&response);
    let type_id = NodeId::decode(&mut decoder).expect("a response begins with a NodeId");
    if type_id == NodeId::numeric(0, ServiceFault::BINARY_ENCODING_ID) {
        ServiceFault::decode(&mut decoder).expect("a ServiceFault can be decoded");
    }
    response
}

/// Opens a Session and returns its AuthenticationToken.
fn session(server: &Arc<Server>, connection: &mut Connection) -> NodeId {
    let response = handle(
        server,
        connection,
        &message(&CreateSessionRequest {
            requested_session_timeout: 60_000.0,
            ..CreateSessionRequest::default()
        }),
    );
    let mut decoder = Decoder::new(&response);
    let _ = NodeId::decode(&mut decoder);
    let Ok(created) = CreateSessionResponse::decode(&mut decoder) else {
        return NodeId::NULL;
    };
    let token = created.authentication_token;
    handle(
        server,
        connection,
        &message(&ActivateSessionRequest {
            request_header: header(&token),
            ..ActivateSessionRequest::default()
        }),
    );
    token
}

fn header(token: &NodeId) -> RequestHeader {
    RequestHeader {
        authentication_token: token.clone(),
        request_handle: 1,
        ..RequestHeader::default()
    }
}

/// Returns a request in the layout of shared memory, in a proper Session: one or two records of a Read, a Write or a
/// Call, and arbitrary bytes behind them.
fn laid_out(token: &NodeId, choice: u8, body: &[u8]) -> Vec<u8> {
    let (kind, record) = [(1, 32), (3, 64), (5, 24)][usize::from(choice) % 3];
    let count = 1 + choice / 3 % 2;
    let mut message = vec![MARK, VERSION, kind, 0, count, 0, 0, 0];
    message.resize(48, 0);
    let records = usize::from(count) * record;
    let (records, rest) = body.split_at(records.min(body.len()));
    message.extend(records);
    message.resize(48 + usize::from(count) * record, 0);
    let token = token.encode_to_vec();
    let at = u32::try_from(message.len()).unwrap_or(0);
    message[24..28].copy_from_slice(&at.to_le_bytes());
    message[28] = u8::try_from(token.len()).unwrap_or(0);
    message.extend(token);
    message.extend(rest);
    message
}

fn play(server: &Arc<Server>, data: &[u8]) {
    let peer = Peer::SharedMemory {
        user: Some(1000),
        process: None,
        groups: Vec::new(),
    };
    let mut connection = server.connect(
        peer,
        ChannelSecurity::none(),
        "opc.iox2://Fuzz".to_owned(),
        Arc::new(|| {}),
    );
    let Some((kind, rest)) = choice(data) else {
        return;
    };
    if kind == 255 {
        // The bytes are not a request.
        handle(server, &mut connection, rest);
    } else {
        let token = session(server, &mut connection);
        // Parts of two bytes of length each: the first byte of a part names the service.
        let mut rest = data;
        while let Some((length, tail)) = rest.split_first_chunk::<2>() {
            let (part, tail) =
                tail.split_at(usize::from(u16::from_le_bytes(*length) & 0x0FFF).min(tail.len()));
            rest = tail;
            let Some((service, body)) = choice(part) else {
                continue;
            };
            if service >= 0xF0 {
                handle(server, &mut connection, &laid_out(&token, service, body));
                continue;
            }
            let id = REQUESTS[usize::from(service) % REQUESTS.len()];
            let mut request = NodeId::numeric(0, id).encode_to_vec();
            request.extend(header(&token).encode_to_vec());
            request.extend(body);
            handle(server, &mut connection, &request);
        }
    }
    // All MonitoredItems are sampled and published.
    server.tick(std::time::Instant::now() + std::time::Duration::from_secs(1));
    server.disconnect(connection);
}

pub(crate) fn run(data: &[u8]) {
    SERVER.with_borrow_mut(|(current, inputs)| {
        *inputs += 1;
        if *inputs > INPUTS {
            (*current, *inputs) = (server(), 0);
        }
        play(current, data);
    });
}

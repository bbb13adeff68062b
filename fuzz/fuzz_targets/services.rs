//! Every service, over whichever transport: requests of any content, some of them in a proper Session.
#![no_main]

use std::cell::RefCell;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use takt_fuzz::choice;
use takt_services::{Connection, EverybodyManages, Outcome, Peer, Server, ServerLimits, StoredValue, Transport, Value};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::structures::{
    ActivateSessionRequest, CreateSessionRequest, CreateSessionResponse, RequestHeader, ServiceFault,
};
use takt_ua::{NodeId, Structure, Variant, ids};

/// The requests that a server knows, by the NodeIds of their encodings.
const REQUESTS: [u32; 31] = [
    422, 428, 461, 467, 473, 479, 488, 494, 500, 506, 527, 533, 554, 560, 566, 631, 673, 712, 446, 787, 751, 763, 769,
    775, 781, 793, 799, 826, 832, 841, 847,
];

/// A server is made anew after so many inputs: what they added would make it slower and slower.
const INPUTS: u32 = 2_000;

thread_local! {
    static SERVER: RefCell<(Arc<Server>, u32)> = RefCell::new((server(), 0));
}

fn server() -> Arc<Server> {
    let limits = ServerLimits {
        encoding: takt_fuzz::LIMITS,
        max_nodes: 5_000,
        max_sessions: 10,
        max_response_size: 1 << 20,
        ..ServerLimits::default()
    };
    let server = Server::builder("Fuzz", "urn:takt:fuzz")
        .limits(limits)
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

/// Handles one request: exactly one message must come back, and a decodable one.
fn handle(server: &Arc<Server>, connection: &mut Connection, request: &[u8]) -> Vec<u8> {
    let mut response = Vec::new();
    let mut encoder = Encoder::growing(&mut response, 1 << 20);
    if server.handle(connection, 7, request, &mut encoder) == Outcome::Deferred {
        assert!(response.is_empty());
        return response;
    }
    let mut decoder = Decoder::new(&response);
    let type_id = NodeId::decode(&mut decoder).expect("a response begins with a NodeId");
    if type_id == NodeId::numeric(0, ServiceFault::BINARY_ENCODING_ID) {
        ServiceFault::decode(&mut decoder).expect("a ServiceFault can be decoded");
    }
    response
}

/// A Session's token.
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

fn run(server: &Arc<Server>, data: &[u8]) {
    let peer = Peer {
        transport: Transport::SharedMemory,
        user: Some(1000),
        process: None,
        address: "fuzz".to_owned(),
    };
    let mut connection = server.connect(peer, "opc.iox2://Fuzz".to_owned(), Arc::new(|| {}));
    let Some((kind, rest)) = choice(data) else {
        return;
    };
    if kind == 255 {
        // Not even a request.
        handle(server, &mut connection, rest);
    } else {
        let token = session(server, &mut connection);
        // Parts of two bytes of length each: the first byte of a part names the service.
        let mut rest = data;
        while let Some((length, tail)) = rest.split_first_chunk::<2>() {
            let (part, tail) = tail.split_at(usize::from(u16::from_le_bytes(*length) & 0x0FFF).min(tail.len()));
            rest = tail;
            let Some((service, body)) = choice(part) else {
                continue;
            };
            let id = REQUESTS[usize::from(service) % REQUESTS.len()];
            let mut request = NodeId::numeric(0, id).encode_to_vec();
            request.extend(header(&token).encode_to_vec());
            request.extend(body);
            handle(server, &mut connection, &request);
        }
    }
    // Whatever is watched by now is sampled and published.
    server.tick(std::time::Instant::now() + std::time::Duration::from_secs(1));
    server.disconnect(connection);
}

fuzz_target!(|data: &[u8]| {
    SERVER.with_borrow_mut(|(current, inputs)| {
        *inputs += 1;
        if *inputs > INPUTS {
            (*current, *inputs) = (server(), 0);
        }
        run(current, data);
    });
});

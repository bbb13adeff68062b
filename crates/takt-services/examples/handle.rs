//! Measures the time that a request takes in the server, transport not included:
//! `cargo run --release -p takt-services --example handle [PART OF A NAME]`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use takt_cell::Cell;
use takt_services::{Connection, Server};
use takt_space::{CallError, Caller, ChannelSecurity, Peer, Value};
use takt_ua::binary::{Decode, Decoder, Encode, Encoder};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{
    ActivateSessionRequest, BrowseDescription, BrowseRequest, CallMethodRequest, CallRequest,
    CreateSessionRequest, CreateSessionResponse, ReadRequest, ReadValueId, RequestHeader,
    WriteRequest, WriteValue,
};
use takt_ua::{DataValue, NodeId, Structure, Variant, ids};

const VALUE: u32 = 13;
const ROUNDS: u32 = 200;
const REQUESTS: u32 = 2_000;

fn message<T: Structure>(structure: &T) -> Vec<u8> {
    let mut bytes = NodeId::from(T::BINARY_ENCODING_ID).encode_to_vec();
    bytes.extend(structure.encode_to_vec());
    bytes
}

struct Bench {
    server: Arc<Server>,
    connection: Connection,
    header: RequestHeader,
    buffer: Vec<u8>,
}

impl Bench {
    fn handle(&mut self, request: &[u8]) -> usize {
        let mut response = Encoder::fixed(&mut self.buffer);
        let outcome = self
            .server
            .handle(&mut self.connection, 1, request, &mut response);
        assert_eq!(outcome, RequestOutcome::Complete);
        response.position()
    }

    fn open_session(&mut self) -> Result<(), takt_ua::binary::DecodeError> {
        let length = self.handle(&message(&CreateSessionRequest::default()));
        let mut decoder = Decoder::new(self.buffer.get(..length).unwrap_or_default());
        NodeId::decode(&mut decoder)?;
        self.header.authentication_token =
            CreateSessionResponse::decode(&mut decoder)?.authentication_token;
        let request_header = self.header.clone();
        self.handle(&message(&ActivateSessionRequest {
            request_header,
            ..ActivateSessionRequest::default()
        }));
        Ok(())
    }

    /// Prints the median over the rounds of the time per request.
    fn measure<T: Structure>(&mut self, name: &str, request: &T) {
        if std::env::args()
            .nth(1)
            .is_some_and(|wanted| !name.contains(&wanted))
        {
            return;
        }
        let request = message(request);
        let mut rounds: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..REQUESTS {
                    black_box(self.handle(black_box(&request)));
                }
                start.elapsed().as_nanos() as f64 / f64::from(REQUESTS)
            })
            .collect();
        rounds.sort_by(f64::total_cmp);
        let response = self.handle(&request);
        let (min, median) = (rounds[0], rounds[rounds.len() / 2]);
        println!(
            "{name:<34} {min:>8.1} {median:>8.1} ns   {:>5} B -> {response:>5} B",
            request.len()
        );
    }

    fn read(&self, nodes: &[NodeId]) -> ReadRequest {
        ReadRequest {
            request_header: self.header.clone(),
            timestamps_to_return: TimestampsToReturn::Both,
            nodes_to_read: nodes
                .iter()
                .map(|node_id| ReadValueId {
                    node_id: node_id.clone(),
                    attribute_id: VALUE,
                    ..ReadValueId::default()
                })
                .collect(),
            ..ReadRequest::default()
        }
    }

    fn write(&self, node_id: &NodeId, value: Variant) -> WriteRequest {
        WriteRequest {
            request_header: self.header.clone(),
            nodes_to_write: vec![WriteValue {
                node_id: node_id.clone(),
                attribute_id: VALUE,
                value: DataValue::good(value),
                ..WriteValue::default()
            }],
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder("Bench", "urn:bench").build()?;
    let peer = Peer::SharedMemory {
        user: None,
        process: None,
        groups: Vec::new(),
    };
    let connection = server.connect(
        peer,
        ChannelSecurity::none(),
        "opc.iox2://Bench".to_owned(),
        Arc::new(|| ()),
    );
    let space = Arc::clone(server.address_space());
    let numbers: Vec<u32> = (0..1024).collect();
    let cell = |value: Variant| Value::Cell(Arc::new(Cell::of(&value)));
    let add = |name: &str, value: Value| {
        space
            .add_variable((1, name))
            .node_id(NodeId::string(1, name))
            .value(value)
            .writable()
            .add()
    };
    let scalar = add("cell", cell(Variant::from(1_u32)))?;
    let array = add("cells", cell(Variant::from(numbers.clone())))?;
    let stored = add("stored", Value::stored(1_u32))?;
    let stored_array = add("stored array", Value::stored(numbers.clone()))?;
    let numeric = space
        .add_variable((1, "n"))
        .value(cell(Variant::from(1_u32)))
        .add()?;
    let add_one = |_: &Caller, _: &NodeId, inputs: &[Variant]| match inputs {
        [Variant::UInt32(number)] => {
            Ok::<_, CallError>(vec![Variant::from(number.wrapping_add(1))])
        }
        _ => Ok(Vec::new()),
    };
    let method = space
        .add_method((1, "AddOne"))
        .input("number", ids::UINT32, -1)
        .output("sum", ids::UINT32, -1)
        .handler(add_one)
        .add()?;

    let header = RequestHeader::default();
    let mut bench = Bench {
        server,
        connection,
        header,
        buffer: vec![0; 1 << 20],
    };
    bench.open_session()?;

    println!("{:<34} {:>8} {:>8}", "", "min", "median");
    bench.measure(
        "Read UInt32, cell, ns=1;s=",
        &bench.read(std::slice::from_ref(&scalar)),
    );
    bench.measure("Read UInt32, cell, ns=1;i=", &bench.read(&[numeric]));
    bench.measure(
        "Read UInt32, stored",
        &bench.read(std::slice::from_ref(&stored)),
    );
    bench.measure(
        "Read 1024 UInt32, cell",
        &bench.read(std::slice::from_ref(&array)),
    );
    bench.measure("Read 1024 UInt32, stored", &bench.read(&[stored_array]));
    bench.measure(
        "Read 100 x UInt32, cell",
        &bench.read(&vec![scalar.clone(); 100]),
    );
    bench.measure(
        "Read ServerStatus",
        &bench.read(&[NodeId::from(ids::SERVER_SERVER_STATUS)]),
    );
    bench.measure(
        "Write UInt32, cell",
        &bench.write(&scalar, Variant::from(7_u32)),
    );
    bench.measure(
        "Write UInt32, stored",
        &bench.write(&stored, Variant::from(7_u32)),
    );
    bench.measure(
        "Write 1024 UInt32, cell",
        &bench.write(&array, Variant::from(numbers)),
    );
    let call = CallRequest {
        request_header: bench.header.clone(),
        methods_to_call: vec![CallMethodRequest {
            object_id: NodeId::from(ids::OBJECTS_FOLDER),
            method_id: method,
            input_arguments: vec![Variant::from(1_u32)],
        }],
    };
    bench.measure("Call, one argument", &call);
    let browse = BrowseRequest {
        request_header: bench.header.clone(),
        nodes_to_browse: vec![BrowseDescription {
            node_id: NodeId::from(ids::SERVER),
            result_mask: 63,
            ..BrowseDescription::default()
        }],
        ..BrowseRequest::default()
    };
    bench.measure("Browse Server", &browse);
    Ok(())
}

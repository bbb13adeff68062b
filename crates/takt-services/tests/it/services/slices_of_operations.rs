//! Read, Write and Call of many operations, or of large values: small slices have the same results as one big slice.

use std::sync::Arc;

use crate::common::{Client, VALUE, builder, decode, message, read_id, write_of};
use takt_layout::LaidOut;
use takt_services::{Server, ServerBudgets};
use takt_space::{
    CallError, Caller, RemoteOperations, RemoteRead, RemoteRequest, RemoteResults, RemoteSource,
    RemoteValue, SourceKey, Value,
};
use takt_ua::binary::{Encoder, Limits};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::*;
use takt_ua::{ByteString, DataValue, NodeId, StatusCode, Structure, Variant, ids};

/// Units of work per slice: few enough for many slices, and enough that no operation of these tests exceeds its reserve.
pub(crate) const SMALL: u32 = 200;
/// Maximum number of bytes of one value in these tests.
const LARGEST: u32 = 12_000;

/// Pseudo-random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32 % limit
    }

    /// Returns a size, often small, seldom large.
    fn size(&mut self) -> u32 {
        match self.below(20) {
            0 => self.below(LARGEST),
            _ => self.below(30),
        }
    }
}

fn bytes(length: u32) -> ByteString {
    ByteString::from(vec![7; length as usize])
}

fn fill(_: &Caller, _: &NodeId, inputs: &[Variant]) -> Result<Vec<Variant>, CallError> {
    match inputs {
        [Variant::UInt32(length)] if length % 7 == 3 => {
            Err(CallError::argument(0, 1, StatusCode::BadOutOfRange))
        }
        [Variant::UInt32(length)] => Ok(vec![bytes(*length).into(), (*length).into()]),
        _ => Err(StatusCode::BadInternalError.into()),
    }
}

pub(crate) const VARIABLES: u32 = 40;

pub(crate) fn variable(number: u32) -> NodeId {
    NodeId::numeric(1, 1_000 + number)
}

fn method() -> NodeId {
    NodeId::numeric(1, 2_000)
}

/// Returns a server with Variables of all sizes, and a Method that returns a ByteString of the length in its argument.
pub(crate) fn server(budgets: ServerBudgets) -> Arc<Server> {
    let server = builder().budgets(budgets).build().unwrap();
    let space = server.address_space();
    for number in 0..VARIABLES {
        let value = match number % 4 {
            0 => Value::stored(bytes(number * number)),
            1 => Value::stored(bytes(LARGEST / (number + 1))),
            2 => Value::stored(number),
            _ => Value::callback(move || DataValue::good(number)),
        };
        let added = space
            .add_variable((1, format!("V{number}").as_str()))
            .node_id(variable(number));
        added.value(value).writable().add().unwrap();
    }
    space
        .add_method((1, "Fill"))
        .node_id(method())
        .component_of(ids::OBJECTS_FOLDER)
        .input("Length", ids::UINT32, -1)
        .output("Bytes", ids::BYTE_STRING, -1)
        .output("Length", ids::UINT32, -1)
        .handler(fill)
        .add()
        .unwrap();
    server
}

pub(crate) fn sliced(work_per_slice: u32) -> Arc<Server> {
    server(ServerBudgets {
        work_per_slice,
        ..ServerBudgets::default()
    })
}

fn node(random: &mut Random) -> NodeId {
    match random.below(10) {
        0 => NodeId::numeric(1, random.below(5_000)),
        1 => NodeId::from(ids::SERVER_SERVER_STATUS_BUILD_INFO),
        _ => variable(random.below(VARIABLES)),
    }
}

fn read(random: &mut Random, count: u32) -> ReadRequest {
    let item = |random: &mut Random| ReadValueId {
        index_range: match random.below(12) {
            0 => "0:5".into(),
            1 => "nonsense".into(),
            _ => takt_ua::UaString::default(),
        },
        ..read_id(
            node(random),
            if random.below(5) == 0 {
                1 + random.below(27)
            } else {
                VALUE
            },
        )
    };
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::Neither,
        nodes_to_read: (0..count).map(|_| item(random)).collect(),
        ..ReadRequest::default()
    }
}

fn write(random: &mut Random, count: u32) -> WriteRequest {
    let item = |random: &mut Random| {
        let value: Variant = match random.below(3) {
            0 => random.below(1_000).into(),
            _ => bytes(random.size()).into(),
        };
        write_of(node(random), DataValue::good(value))
    };
    WriteRequest {
        nodes_to_write: (0..count).map(|_| item(random)).collect(),
        ..WriteRequest::default()
    }
}

fn call(random: &mut Random, count: u32) -> CallRequest {
    let item = |random: &mut Random| CallMethodRequest {
        object_id: ids::OBJECTS_FOLDER.into(),
        method_id: match random.below(10) {
            0 => node(random),
            _ => method(),
        },
        input_arguments: match random.below(10) {
            0 => vec![],
            _ => vec![random.size().into()],
        },
    };
    CallRequest {
        methods_to_call: (0..count).map(|_| item(random)).collect(),
        ..CallRequest::default()
    }
}

/// Returns a request in both forms, and the position of the time in its response.
fn both_forms<Q: Structure + LaidOut>(request: &Q) -> [(Vec<u8>, usize); 2] {
    let mut laid_out = Vec::new();
    request
        .lay_out(&mut Encoder::growing(&mut laid_out, 16 << 20))
        .unwrap();
    [(message(request), 4), (laid_out, 16)]
}

/// Returns the response without its time.
pub(crate) fn answer(client: &mut Client, request: &[u8], time_at: usize) -> Vec<u8> {
    let mut response = client.raw(request);
    response.drain(time_at..time_at + 8);
    response
}

#[test]
fn random_requests_give_the_same_in_small_slices_and_in_one() {
    let (small, big) = (sliced(SMALL), sliced(u32::MAX));
    let mut clients = [Client::new(&small), Client::new(&big)];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..60 {
        let count = 1 + match round % 3 {
            0 => random.below(20),
            _ => random.below(800),
        };
        let seed = random.0;
        let mut requests = Vec::new();
        for client in &mut clients {
            random.0 = seed;
            let request_header = client.header();
            requests.push(match round % 4 {
                0 | 1 => both_forms(&ReadRequest {
                    request_header,
                    ..read(&mut random, count)
                }),
                2 => both_forms(&WriteRequest {
                    request_header,
                    ..write(&mut random, count)
                }),
                _ => both_forms(&CallRequest {
                    request_header,
                    ..call(&mut random, count)
                }),
            });
        }
        for form in 0..2 {
            let mut answers = clients.iter_mut().zip(&requests).map(|(client, forms)| {
                let (request, time_at) = &forms[form];
                answer(client, request, *time_at)
            });
            let (first, second) = (answers.next().unwrap(), answers.next().unwrap());
            assert!(
                first == second,
                "round {round}, form {form}, {count} operations"
            );
            assert!(first.len() > 28, "no fault");
        }
    }
    assert!(
        small.longest_slice() <= u64::from(SMALL),
        "{}",
        small.longest_slice()
    );
    assert!(big.longest_slice() > 1_000, "{}", big.longest_slice());
}

#[test]
fn few_operations_with_large_values_are_sliced_too_and_small_requests_are_served_in_between() {
    let server = sliced(SMALL);
    let mut client = Client::new(&server);
    let large = NodeId::numeric(1, 3_000);
    let added = server.address_space().add_variable((1, "Large"));
    let value = Value::stored(bytes(20_000));
    added.node_id(large.clone()).value(value).add().unwrap();
    for request in both_forms(&ReadRequest {
        request_header: client.header(),
        nodes_to_read: vec![read_id(large.clone(), VALUE); 60],
        ..ReadRequest::default()
    }) {
        client.defer(&request.0, 5).unwrap();
        let mut slices = 0;
        while server.work() {
            slices += 1;
            // Requests of the same connection are served, too.
            assert_eq!(client.read_value(variable(2)).value, Some(2_u32.into()));
        }
        assert!(slices >= 5, "{slices}");
        assert_eq!(client.completed().0, 5);
    }
    assert!(
        server.longest_slice() <= u64::from(SMALL),
        "{}",
        server.longest_slice()
    );
}

/// Returns an array of null LocalizedTexts, each of one byte.
fn null_texts(count: usize) -> Variant {
    vec![takt_ua::LocalizedText::default(); count].into()
}

#[test]
fn elements_of_one_byte_count_as_work_before_anybody_is_asked_for_rights() {
    let server = sliced(SMALL);
    let mut client = Client::new(&server);
    let unknown = NodeId::numeric(1, 9_999);
    let text = DataValue::good(null_texts(800));
    for (request, _) in both_forms(&WriteRequest {
        request_header: client.header(),
        nodes_to_write: vec![write_of(unknown.clone(), text.clone()); 50],
    }) {
        client.defer(&request, 5).unwrap();
        let mut slices = 0;
        while server.work() {
            slices += 1;
        }
        // 100 units each, in two passes; by their bytes alone they would take one slice.
        assert!(slices > 25, "{slices}");
        assert_eq!(client.completed().0, 5);
    }
    assert!(
        server.longest_slice() <= 2 * u64::from(SMALL),
        "{}",
        server.longest_slice()
    );
}

#[test]
fn an_array_of_too_many_elements_is_refused_before_it_is_decoded() {
    let server = sliced(2_000);
    let mut client = Client::new(&server);
    let most = Limits::STRUCTURE.max_memory / Limits::ELEMENT;
    for (count, expected) in [
        (most, Ok(vec![StatusCode::BadNodeIdUnknown])),
        (most + 1, Err(StatusCode::BadEncodingLimitsExceeded)),
    ] {
        let texts = DataValue::good(null_texts(count));
        let request = WriteRequest {
            request_header: client.header(),
            nodes_to_write: vec![write_of(NodeId::numeric(1, 9_999), texts)],
        };
        for (request, _) in both_forms(&request) {
            let response = client.raw(&request);
            let decoded = match WriteRequest::parse_response(&response).unwrap() {
                Some(laid_out) => Ok(laid_out),
                None => decode::<WriteResponse>(&response),
            };
            assert_eq!(decoded.map(|response| response.results), expected);
        }
    }
    // The elements are decoded twice, each time in a slice of their own: 512 bytes of their memory are one unit.
    let once = 2_000 + (Limits::STRUCTURE.max_memory as u64 >> 9);
    assert!(server.longest_slice() <= once, "{}", server.longest_slice());
}

/// Returns a request to write a number to the same Variable, many times.
fn many_writes(client: &mut Client, count: usize) -> WriteRequest {
    WriteRequest {
        request_header: client.header(),
        nodes_to_write: vec![write_of(variable(2), DataValue::good(99_u32)); count],
    }
}

#[test]
fn a_long_write_that_is_damaged_at_its_end_changes_nothing() {
    let server = sliced(SMALL);
    let mut client = Client::new(&server);
    for (mut request, _) in both_forms(&many_writes(&mut client, 1_000)) {
        request.truncate(request.len() - 3);
        let response = client.raw(&request);
        let refused = decode::<WriteResponse>(&response).unwrap_err();
        assert_eq!(refused, StatusCode::BadDecodingError);
        assert_eq!(client.read_value(variable(2)).value, Some(2_u32.into()));
    }
    assert!(server.longest_slice() <= u64::from(SMALL));
}

#[test]
fn a_long_write_without_memory_for_the_rest_of_it_changes_nothing() {
    let server = server(ServerBudgets {
        work_per_slice: SMALL,
        max_memory_per_session: 20_000,
        ..ServerBudgets::default()
    });
    let mut client = Client::new(&server);
    for (request, _) in both_forms(&many_writes(&mut client, 1_000)) {
        let response = client.raw(&request);
        let refused = decode::<WriteResponse>(&response).unwrap_err();
        assert_eq!(refused, StatusCode::BadOutOfMemory);
        assert_eq!(client.read_value(variable(2)).value, Some(2_u32.into()));
    }
}

/// A source that answers with the requested NodeId.
#[derive(Default)]
struct Echo(SourceKey);

impl RemoteSource for Echo {
    fn key(&self) -> SourceKey {
        self.0
    }

    fn forward(&self, request: RemoteRequest) {
        if let RemoteOperations::Read(items) = &request.operations {
            let echo = |item: &RemoteRead| DataValue::good(item.node_id.clone());
            let values = items.iter().map(echo).collect();
            request.reply.answer(RemoteResults::Read(values));
        }
    }
}

#[test]
fn remote_operations_of_a_long_request_are_searched_for_in_slices() {
    let server = sliced(SMALL);
    let mut client = Client::new(&server);
    let remote = |number: u32| NodeId::numeric(1, 4_000 + number);
    for number in 0..3 {
        let value = Value::Remote(RemoteValue {
            source: Arc::new(Echo::default()),
            node_id: remote(number),
            callback: None,
        });
        let added = server.address_space().add_variable((1, "Remote"));
        let added = added.node_id(remote(number)).data_type(ids::NODE_ID);
        added.value(value).add().unwrap();
    }
    // Remote operations are at the end: the first slices find none.
    let nodes = || (0..1_000).map(|_| variable(2)).chain((0..3).map(remote));
    for (request, time_at) in both_forms(&ReadRequest {
        request_header: client.header(),
        timestamps_to_return: TimestampsToReturn::Neither,
        nodes_to_read: nodes().map(|node| read_id(node, VALUE)).collect(),
        ..ReadRequest::default()
    }) {
        let response = client.raw(&request);
        let results = match time_at {
            4 => decode::<ReadResponse>(&response).unwrap().results,
            _ => {
                let response = ReadRequest::parse_response(&response).unwrap();
                response.unwrap().results
            }
        };
        let values: Vec<_> = results.into_iter().map(|result| result.value).collect();
        let expected = (0..1_000).map(|_| Some(2_u32.into()));
        let expected = expected.chain((0..3).map(|number| Some(remote(number).into())));
        assert!(values == expected.collect::<Vec<_>>());
    }
    assert!(
        server.longest_slice() <= u64::from(SMALL),
        "{}",
        server.longest_slice()
    );
}

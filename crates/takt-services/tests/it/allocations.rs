//! Test that Read, Write and Call of cells and stored values allocate nothing, published or not, counted at malloc level. The
//! publication of a callback's value allocates nothing either.

use std::sync::Arc;

use crate::common::{Client, VALUE, message, read_id, server, write_of};
use takt_cell::Cell;
use takt_layout::LaidOut;
use takt_space::{MethodCall, OutputArguments, Value};
use takt_ua::binary::Encoder;
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{
    CallMethodRequest, CallRequest, CallResponse, ReadRequest, WriteRequest,
};
use takt_ua::{DataValue, NodeId, StatusCode, Structure, Variant, VariantRef, ids};

const REQUESTS: usize = 10_000;

/// One Variable for each kind of value.
fn variables(client: &Client) -> Vec<NodeId> {
    let space = client.server.address_space();
    let cell = |value: Variant| Value::Cell(Arc::new(Cell::of(&value)));
    let numbers: Vec<u32> = (0..1024).collect();
    [
        ("cell", cell(Variant::from(1_u32))),
        ("stored", Value::stored(2.5_f64)),
        ("text", Value::stored("some text")),
        ("array in a cell", cell(Variant::from(numbers.clone()))),
        ("array", Value::stored(numbers.clone())),
        (
            "published array",
            Value::stored(numbers).publish_current(8192).unwrap(),
        ),
        (
            "cached callback",
            Value::callback(|| DataValue::good(7_u32))
                .publish_current(16)
                .unwrap(),
        ),
    ]
    .into_iter()
    .map(|(name, value)| {
        space
            .add_variable(name)
            .value(value)
            .writable()
            .add()
            .unwrap()
    })
    // A Variable of the standard's table, whose value the server itself gives.
    .chain([NodeId::from(takt_ua::ids::SERVER_SERVICE_LEVEL)])
    .collect()
}

/// Returns a request in both forms.
fn both_forms<Q: Structure + LaidOut>(request: &Q) -> [(&'static str, Vec<u8>); 2] {
    let mut laid_out = Vec::new();
    let mut encoder = Encoder::growing(&mut laid_out, 64 << 10);
    request.lay_out(&mut encoder).unwrap();
    [("encoded", message(request)), ("laid out", laid_out)]
}

/// Handles a request many times and counts its allocations.
fn allocations(client: &mut Client, request: &[u8]) -> u64 {
    let mut buffer = vec![0; 64 << 10];
    let mut handle = |client: &mut Client| {
        let mut response = Encoder::fixed(&mut buffer);
        let server = Arc::clone(&client.server);
        let outcome = server.handle(&mut client.connection, 1, request, &mut response);
        assert_eq!(outcome, RequestOutcome::Complete);
        // A ServiceFault is shorter than any response to these requests.
        assert!(response.position() > 28, "{} bytes", response.position());
    };
    // These requests allocate the data that is set up once per thread.
    for _ in 0..100 {
        handle(client);
    }
    takt_malloc::least(|| (0..REQUESTS).for_each(|_| handle(client)))
}

#[test]
fn the_hot_path_allocates_nothing() {
    takt_malloc::alone(|| {
        reads_and_writes();
        calls();
    });
}

fn reads_and_writes() {
    let mut client = Client::new(&server());
    let nodes = variables(&client);
    for node in &nodes {
        let read = ReadRequest {
            request_header: client.header(),
            timestamps_to_return: TimestampsToReturn::Both,
            nodes_to_read: vec![read_id(node.clone(), VALUE)],
            ..ReadRequest::default()
        };
        for (form, message) in both_forms(&read) {
            assert_eq!(
                allocations(&mut client, &message),
                0,
                "Read of {node}, {form}"
            );
        }
    }
    let read = ReadRequest {
        request_header: client.header(),
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: nodes
            .iter()
            .map(|node| read_id(node.clone(), VALUE))
            .collect(),
        ..ReadRequest::default()
    };
    for (form, message) in both_forms(&read) {
        assert_eq!(allocations(&mut client, &message), 0, "Read of all, {form}");
    }

    // The last two cannot be written: the callback and the ServiceLevel.
    for node in &nodes[..6] {
        let value = client.read_value(node.clone()).value.unwrap();
        let write = WriteRequest {
            request_header: client.header(),
            nodes_to_write: vec![write_of(node.clone(), DataValue::good(value))],
        };
        assert_eq!(
            client.write(write.nodes_to_write.clone()).unwrap(),
            [takt_ua::StatusCode::Good]
        );
        for (form, request) in both_forms(&write) {
            assert_eq!(
                allocations(&mut client, &request),
                0,
                "Write of {node}, {form}"
            );
        }
    }
}

/// A Method that borrows its arguments.
fn calls() {
    let mut client = Client::new(&server());
    let space = Arc::clone(client.server.address_space());
    let object = space.add_object((1, "Calculator")).add().unwrap();
    let method = space
        .add_method((1, "Statistics"))
        .component_of(object.clone())
        .input("Text", ids::STRING, -1)
        .input("Numbers", ids::UINT32, 1)
        .output("Length", ids::UINT32, -1)
        .output("Numbers", ids::UINT32, 1)
        .in_place(
            |call: &MethodCall<'_>, outputs: &mut OutputArguments<'_, '_>| {
                let (Some(VariantRef::String(Some(text))), Some(numbers)) =
                    (call.input(0), call.input(1))
                else {
                    return Err(StatusCode::BadInternalError.into());
                };
                outputs.push(&VariantRef::UInt32(u32::try_from(text.len()).unwrap()));
                outputs.push(&numbers);
                Ok(())
            },
        )
        .add()
        .unwrap();
    let numbers: Vec<u32> = (0..1024).collect();
    let request = CallRequest {
        request_header: client.header(),
        methods_to_call: vec![CallMethodRequest {
            object_id: object,
            method_id: method,
            input_arguments: vec!["Grüße".into(), numbers.clone().into()],
        }],
    };
    // Seven bytes, because two of the five letters have two.
    let expected = [Variant::from(7_u32), Variant::from(numbers)];
    let laid_out = client.call_laid_out(&request).unwrap();
    assert_eq!(laid_out.results[0].output_arguments, expected);
    let encoded: CallResponse = client.call(request.clone()).unwrap();
    assert_eq!(encoded.results, laid_out.results);
    for (form, message) in both_forms(&request) {
        assert_eq!(allocations(&mut client, &message), 0, "{form}");
    }
}

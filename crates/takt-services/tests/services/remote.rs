//! Values and Methods of other servers: deferred, grouped by source, bounded.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Client, VALUE, builder, decode, message, read_id, server, write_of};
use takt_services::{Outcome, Server, ServerLimits};
use takt_space::{
    MethodHandler, RemoteCall, RemoteMethod, RemoteRead, RemoteSource, RemoteValue, RemoteWrite,
    Value,
};
use takt_ua::binary::Encoder;
use takt_ua::structures::*;
use takt_ua::{DataValue, NodeId, StatusCode, Variant, ids};

/// A source that records its requests and returns their contents.
#[derive(Default)]
struct Source {
    key: u64,
    reads: Mutex<Vec<Vec<RemoteRead>>>,
    writes: Mutex<Vec<RemoteWrite>>,
    timeouts: Mutex<Vec<Duration>>,
    /// Gate for reads: every read waits for one message, if a gate is set.
    gate: Mutex<Option<Receiver<()>>>,
}

impl Source {
    fn new(key: u64) -> Arc<Self> {
        Arc::new(Self {
            key,
            ..Self::default()
        })
    }

    fn gated(key: u64) -> (Arc<Self>, Sender<()>) {
        let (open, gate) = mpsc::channel();
        (
            Arc::new(Self {
                key,
                gate: Mutex::new(Some(gate)),
                ..Self::default()
            }),
            open,
        )
    }
}

impl RemoteSource for Source {
    fn key(&self) -> u64 {
        self.key
    }

    fn read(&self, items: &[RemoteRead], timeout: Duration) -> Vec<DataValue> {
        self.timeouts.lock().unwrap().push(timeout);
        self.reads.lock().unwrap().push(items.to_vec());
        if let Some(gate) = &*self.gate.lock().unwrap() {
            gate.recv_timeout(Duration::from_secs(20))
                .unwrap_or_default();
        }
        items
            .iter()
            .map(|item| DataValue::good(item.node_id.to_string().as_str()))
            .collect()
    }

    fn write(&self, items: &[RemoteWrite], _: Duration) -> Vec<StatusCode> {
        self.writes.lock().unwrap().extend_from_slice(items);
        vec![StatusCode::GoodClamped; items.len()]
    }

    fn call(&self, calls: &[RemoteCall], _: Duration) -> Vec<CallMethodResult> {
        let answer = |call: &RemoteCall| CallMethodResult {
            output_arguments: vec![call.object_id.clone().into(), call.method_id.clone().into()],
            ..CallMethodResult::default()
        };
        calls.iter().map(answer).collect()
    }
}

fn remote(source: &Arc<Source>, name: &str) -> Value {
    let source: Arc<dyn RemoteSource> = Arc::clone(source) as _;
    Value::Remote(RemoteValue {
        source,
        node_id: NodeId::string(3, name),
    })
}

fn variable(server: &Server, source: &Arc<Source>, name: &str) -> NodeId {
    let variable = server
        .address_space()
        .add_variable((1, name))
        .data_type(ids::STRING);
    variable
        .value(remote(source, name))
        .writable()
        .add()
        .unwrap()
}

fn read_request(client: &mut Client, nodes: &[NodeId]) -> Vec<u8> {
    message(&ReadRequest {
        request_header: client.header(),
        nodes_to_read: nodes
            .iter()
            .map(|node| read_id(node.clone(), VALUE))
            .collect(),
        ..ReadRequest::default()
    })
}

/// Sends a request that the server must defer.
fn send(client: &mut Client, request_id: u32, request: &[u8]) {
    let mut buffer = [0; 256];
    let mut response = Encoder::fixed(&mut buffer);
    let server = Arc::clone(&client.server);
    let outcome = server.handle(&mut client.connection, request_id, request, &mut response);
    assert_eq!(outcome, Outcome::Deferred);
    assert_eq!(response.position(), 0);
}

fn values(response: &[u8]) -> Vec<DataValue> {
    decode::<ReadResponse>(response).unwrap().results
}

#[test]
fn reads_are_forwarded_together() {
    let server = server();
    let mut client = Client::new(&server);
    let (first, second) = (Source::new(1), Source::new(2));
    let nodes = [
        variable(&server, &first, "a"),
        NodeId::from(ids::SERVER_SERVICE_LEVEL),
        variable(&server, &second, "b"),
        variable(&server, &first, "c"),
        NodeId::numeric(1, 4711),
    ];
    let results = client
        .read(
            nodes
                .iter()
                .map(|node| read_id(node.clone(), VALUE))
                .collect(),
        )
        .unwrap();
    let texts: Vec<_> = results.iter().map(|result| result.value.clone()).collect();
    let text = |text: &str| Some(Variant::from(text));
    assert_eq!(
        texts,
        [
            text("ns=3;s=a"),
            Some(255_u8.into()),
            text("ns=3;s=b"),
            text("ns=3;s=c"),
            None
        ]
    );
    assert_eq!(results[4].status, Some(StatusCode::BadNodeIdUnknown));
    assert_eq!(
        first.reads.lock().unwrap().len(),
        1,
        "one question for both"
    );
    assert_eq!(first.reads.lock().unwrap()[0].len(), 2);
    // Requests without remote operations are answered at once, as before.
    let request = read_request(&mut client, &nodes[1..2]);
    let mut buffer = [0; 256];
    let mut response = Encoder::fixed(&mut buffer);
    assert_eq!(
        server.handle(&mut client.connection, 1, &request, &mut response),
        Outcome::Complete
    );
}

#[test]
fn writes_are_checked_first() {
    let server = server();
    let mut client = Client::new(&server);
    let source = Source::new(1);
    let node = variable(&server, &source, "a");
    let part = WriteValue {
        index_range: "1:2".into(),
        ..write_of(node.clone(), DataValue::good("xy"))
    };
    let results = client
        .write(vec![
            write_of(node.clone(), DataValue::good("text")),
            write_of(node.clone(), DataValue::good(1_u32)),
            part,
        ])
        .unwrap();
    assert_eq!(
        results,
        [
            StatusCode::GoodClamped,
            StatusCode::BadTypeMismatch,
            StatusCode::GoodClamped
        ]
    );
    let writes = source.writes.lock().unwrap();
    assert_eq!(writes.len(), 2);
    assert_eq!(
        (writes[0].node_id.clone(), writes[0].index_range.as_str()),
        (NodeId::string(3, "a"), "")
    );
    assert_eq!(writes[1].index_range, "1:2");
    assert_eq!(writes[1].value.value, Some(Variant::from("xy")));
}

#[test]
fn calls_are_forwarded() {
    let server = server();
    let mut client = Client::new(&server);
    let space = server.address_space();
    let object = space.add_object((1, "Machine")).add().unwrap();
    let method = space
        .add_method((1, "Start"))
        .component_of(object.clone())
        .add()
        .unwrap();
    let source: Arc<dyn RemoteSource> = Source::new(1);
    let there = RemoteMethod {
        source,
        object_id: NodeId::NULL,
        method_id: NodeId::string(3, "Start"),
    };
    space
        .set_method(&method, MethodHandler::Remote(there))
        .unwrap();
    let request = CallRequest {
        request_header: client.header(),
        methods_to_call: vec![CallMethodRequest {
            object_id: object.clone(),
            method_id: method,
            input_arguments: vec![1_u32.into()],
        }],
    };
    let result = client
        .call::<_, CallResponse>(request)
        .unwrap()
        .results
        .remove(0);
    assert_eq!(
        result.output_arguments,
        [Variant::from(object), NodeId::string(3, "Start").into()]
    );
}

#[test]
fn a_blocked_source_does_not_delay_others() {
    let limits = ServerLimits {
        workers: 2,
        max_queued_per_remote: 2,
        ..ServerLimits::default()
    };
    let server = builder().limits(limits).build().unwrap();
    let mut client = Client::new(&server);
    let (slow, open) = Source::gated(1);
    let fast = Source::new(2);
    let hanging = variable(&server, &slow, "slow");
    let quick = variable(&server, &fast, "fast");
    let request = read_request(&mut client, std::slice::from_ref(&hanging));
    send(&mut client, 1, &request);
    while slow.reads.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    // Two requests wait behind it, the others are refused.
    for request_id in 2..=5 {
        send(&mut client, request_id, &request);
    }
    for _ in 0..2 {
        let (request_id, response) = client.completed();
        assert!(request_id == 4 || request_id == 5);
        assert_eq!(
            values(&response)[0].status,
            Some(StatusCode::BadNoCommunication)
        );
    }
    // Other requests, including those for local values, are answered meanwhile.
    let request = read_request(&mut client, std::slice::from_ref(&quick));
    send(&mut client, 6, &request);
    assert_eq!(client.completed().0, 6);
    // A request with an unanswered part is not answered.
    let request = read_request(&mut client, &[quick, hanging]);
    send(&mut client, 7, &request);
    let (request_id, response) = client.completed();
    assert_eq!(request_id, 7);
    let both = values(&response);
    assert!(both[0].value.is_some());
    assert_eq!(both[1].status, Some(StatusCode::BadNoCommunication));
    for _ in 0..3 {
        open.send(()).unwrap();
    }
    let mut rest: Vec<u32> = (0..3).map(|_| client.completed().0).collect();
    rest.sort_unstable();
    assert_eq!(rest, [1, 2, 3]);
}

#[test]
fn deferred_requests_can_be_cancelled() {
    let server = server();
    let mut client = Client::new(&server);
    let (slow, open) = Source::gated(1);
    let node = variable(&server, &slow, "slow");
    let request = read_request(&mut client, &[node]);
    let request_handle = client.handle;
    send(&mut client, 1, &request);
    let request_header = client.header();
    let cancelled: CancelResponse = client
        .call(CancelRequest {
            request_header,
            request_handle,
        })
        .unwrap();
    assert_eq!(cancelled.cancel_count, 1);
    let (request_id, response) = client.completed();
    assert_eq!(request_id, 1);
    let fault = decode::<ReadResponse>(&response).unwrap_err();
    assert_eq!(fault, StatusCode::BadRequestCancelledByClient);
    open.send(()).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(
        client.connection.take_completed().is_none(),
        "there is one answer only"
    );
}

#[test]
fn the_timeout_hint_counts_the_time_in_the_queue() {
    let server = server();
    let mut client = Client::new(&server);
    let (slow, open) = Source::gated(1);
    let node = variable(&server, &slow, "slow");
    let request = read_request(&mut client, std::slice::from_ref(&node));
    send(&mut client, 1, &request);
    while slow.reads.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let before = server.next_deadline().unwrap();
    // Two requests wait behind it: one for 5 s, the other for an hour.
    client.timeout_hint = 5000;
    let request = read_request(&mut client, std::slice::from_ref(&node));
    send(&mut client, 2, &request);
    client.timeout_hint = 3_600_000;
    let request = read_request(&mut client, std::slice::from_ref(&node));
    send(&mut client, 3, &request);
    let deadline = server.next_deadline().unwrap();
    assert!(deadline < before);
    server.tick(deadline - Duration::from_millis(1));
    assert!(client.connection.take_completed().is_none());
    server.tick(deadline);
    let (request_id, response) = client.connection.take_completed().unwrap();
    assert_eq!(request_id, 2);
    let fault = decode::<ReadResponse>(&response).unwrap_err();
    assert_eq!(fault, StatusCode::BadTimeout);
    // Its operations are skipped; the others are answered. No source gets more time than the server's limit.
    open.send(()).unwrap();
    open.send(()).unwrap();
    assert_eq!(client.completed().0, 1);
    assert_eq!(client.completed().0, 3);
    assert_eq!(slow.reads.lock().unwrap().len(), 2);
    let longest = server.limits().max_remote_timeout;
    assert_eq!(*slow.timeouts.lock().unwrap(), [longest, longest]);
    assert!(client.connection.take_completed().is_none());
}

#[test]
fn a_source_has_less_time_than_the_client() {
    let server = server();
    let mut client = Client::new(&server);
    let source = Source::new(1);
    let node = variable(&server, &source, "a");
    client.timeout_hint = 8000;
    assert!(client.read_value(node).value.is_some());
    let timeouts = source.timeouts.lock().unwrap();
    assert!(timeouts[0] <= Duration::from_millis(7000), "{timeouts:?}");
}

#[test]
fn operations_of_a_failing_source_get_a_bad_status() {
    struct Broken;
    impl RemoteSource for Broken {
        fn key(&self) -> u64 {
            9
        }
        fn read(&self, items: &[RemoteRead], _: Duration) -> Vec<DataValue> {
            assert!(items.len() > 1, "for the test");
            vec![DataValue::good(1_u32)]
        }
    }
    let server = server();
    let mut client = Client::new(&server);
    let source: Arc<dyn RemoteSource> = Arc::new(Broken);
    let value = Value::Remote(RemoteValue {
        source,
        node_id: NodeId::numeric(3, 1),
    });
    let node = server
        .address_space()
        .add_variable((1, "broken"))
        .value(value)
        .writable()
        .add()
        .unwrap();
    let item = read_id(node.clone(), VALUE);
    let results = client.read(vec![item.clone()]).unwrap();
    assert_eq!(results[0].status, Some(StatusCode::BadNoCommunication));
    let results = client.read(vec![item.clone(), item]).unwrap();
    assert_eq!(results[0].value, Some(Variant::from(1_u32)));
    assert_eq!(results[1].status, Some(StatusCode::BadNoCommunication));
    assert_eq!(client.write_value(node, 1_u32), StatusCode::BadNotWritable);
}

#[test]
fn a_variable_that_is_no_longer_remote_is_answered_at_once() {
    let server = server();
    let mut client = Client::new(&server);
    let source = Source::new(1);
    let node = variable(&server, &source, "a");
    server
        .address_space()
        .set_value(&node, Value::stored("here"))
        .unwrap();
    assert_eq!(
        client.read_value(node.clone()).value,
        Some(Variant::from("here"))
    );
    assert!(source.reads.lock().unwrap().is_empty());
    let other = variable(&server, &source, "b");
    server
        .address_space()
        .edit()
        .delete_node(&other, true)
        .unwrap();
    let request = read_request(&mut client, &[node, other]);
    let mut buffer = [0; 256];
    let mut response = Encoder::fixed(&mut buffer);
    assert_eq!(
        server.handle(&mut client.connection, 1, &request, &mut response),
        Outcome::Complete
    );
}

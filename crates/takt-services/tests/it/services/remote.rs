//! Values and Methods of other servers: deferred, grouped by source, bounded.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Client, VALUE, decode, message, read_id, server, write_of};
use takt_services::Server;
use takt_space::{
    MethodHandler, RemoteCall, RemoteMethod, RemoteOperations, RemoteRead, RemoteRequest,
    RemoteResults, RemoteSource, RemoteValue, RemoteWrite, SourceKey, Value,
};
use takt_ua::binary::Encoder;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::*;
use takt_ua::{DataValue, NodeId, StatusCode, Variant, ids};

/// A source that records its requests and returns their contents.
#[derive(Default)]
struct Source {
    key: SourceKey,
    reads: Mutex<Vec<Vec<RemoteRead>>>,
    writes: Mutex<Vec<RemoteWrite>>,
    timeouts: Mutex<Vec<Duration>>,
    /// Time for each request within the client's TimeoutHint.
    hints: Mutex<Vec<Option<Duration>>>,
    clients: Mutex<Vec<u64>>,
    /// Requests without an answer, of a source that hangs.
    held: Option<Mutex<VecDeque<RemoteRequest>>>,
}

impl Source {
    fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Returns a source that answers only in [`answer_next`](Self::answer_next).
    fn hanging() -> Arc<Self> {
        Arc::new(Self {
            held: Some(Mutex::default()),
            ..Self::default()
        })
    }

    /// Takes the oldest request without an answer.
    fn take_held(&self) -> RemoteRequest {
        let mut held = self.held.as_ref().unwrap().lock().unwrap();
        held.pop_front().unwrap()
    }

    /// Answers the oldest request without an answer.
    fn answer_next(&self) {
        self.answer(self.take_held());
    }

    fn answer(&self, request: RemoteRequest) {
        let results = match &request.operations {
            RemoteOperations::Read(items) => {
                let echo = |item: &RemoteRead| DataValue::good(item.node_id.to_string().as_str());
                RemoteResults::Read(items.iter().map(echo).collect())
            }
            RemoteOperations::Write(items) => {
                self.writes.lock().unwrap().extend_from_slice(items);
                RemoteResults::Write(vec![StatusCode::GoodClamped; items.len()])
            }
            RemoteOperations::Call(calls) => {
                let echo = |call: &RemoteCall| CallMethodResult {
                    output_arguments: vec![
                        call.object_id.clone().into(),
                        call.method_id.clone().into(),
                    ],
                    ..CallMethodResult::default()
                };
                RemoteResults::Call(calls.iter().map(echo).collect())
            }
            RemoteOperations::History(_) => request.operations.failed(StatusCode::Good),
        };
        request.reply.answer(results);
    }
}

impl RemoteSource for Source {
    fn key(&self) -> SourceKey {
        self.key
    }

    fn forward(&self, request: RemoteRequest) {
        if let RemoteOperations::Read(items) = &request.operations {
            let left = request.deadline.saturating_duration_since(Instant::now());
            self.timeouts.lock().unwrap().push(left);
            let hint = request
                .hint
                .map(|hint| hint.saturating_duration_since(Instant::now()));
            self.hints.lock().unwrap().push(hint);
            self.reads.lock().unwrap().push(items.clone());
        }
        self.clients.lock().unwrap().push(request.client);
        match &self.held {
            Some(held) => held.lock().unwrap().push_back(request),
            None => self.answer(request),
        }
    }
}

fn remote(source: &Arc<Source>, name: &str) -> Value {
    let source: Arc<dyn RemoteSource> = Arc::clone(source) as _;
    Value::Remote(RemoteValue {
        source,
        node_id: NodeId::string(3, name),
        callback: None,
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
    assert_eq!(outcome, RequestOutcome::Deferred);
    assert_eq!(response.position(), 0);
}

fn values(response: &[u8]) -> Vec<DataValue> {
    decode::<ReadResponse>(response).unwrap().results
}

#[test]
fn reads_are_forwarded_together() {
    let server = server();
    let mut client = Client::new(&server);
    let (first, second) = (Source::new(), Source::new());
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
        RequestOutcome::Complete
    );
}

#[test]
fn writes_are_checked_first() {
    let server = server();
    let mut client = Client::new(&server);
    let source = Source::new();
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
    let source: Arc<dyn RemoteSource> = Source::new();
    let hidden = NodeId::string(1, "Condition");
    for takes_unknown_objects in [false, true] {
        let there = RemoteMethod {
            source: Arc::clone(&source),
            object_id: NodeId::NULL,
            method_id: NodeId::string(3, "Start"),
            checks_arguments: true,
            takes_unknown_objects,
        };
        space
            .set_method(&method, MethodHandler::Remote(there))
            .unwrap();
        let mut call = |object_id: &NodeId, method_id: &NodeId| {
            let request = CallRequest {
                request_header: client.header(),
                methods_to_call: vec![CallMethodRequest {
                    object_id: object_id.clone(),
                    method_id: method_id.clone(),
                    input_arguments: vec![1_u32.into()],
                }],
            };
            let mut response: CallResponse = client.call(request).unwrap();
            let result = response.results.remove(0);
            (result.status_code, result.output_arguments)
        };
        let answer = |object: &NodeId| {
            let outputs = vec![object.clone().into(), NodeId::string(3, "Start").into()];
            (StatusCode::Good, outputs)
        };
        let unknown = (StatusCode::BadNodeIdUnknown, Vec::new());
        assert_eq!(call(&object, &method), answer(&object));
        // An Object that is no node here reaches a source that takes it.
        let expected = match takes_unknown_objects {
            true => answer(&hidden),
            false => unknown.clone(),
        };
        assert_eq!(call(&hidden, &method), expected);
        assert_eq!(call(&hidden, &NodeId::string(1, "None")), unknown);
        let (status, _) = call(&NodeId::NULL, &method);
        assert_eq!(status, StatusCode::BadNodeIdInvalid);
    }
}

#[test]
fn a_blocked_source_does_not_delay_others() {
    let server = server();
    let (mut client, mut other) = (Client::new(&server), Client::new(&server));
    let (slow, fast) = (Source::hanging(), Source::new());
    let hanging = variable(&server, &slow, "slow");
    let quick = variable(&server, &fast, "fast");
    let request = read_request(&mut client, std::slice::from_ref(&hanging));
    for request_id in 1..=100 {
        send(&mut client, request_id, &request);
    }
    // Other requests, including those for local values, are answered meanwhile.
    let request = read_request(&mut client, std::slice::from_ref(&quick));
    send(&mut client, 101, &request);
    assert_eq!(client.connection.take_completed().unwrap().0, 101);
    // A request with an unanswered part is not answered.
    let request = read_request(&mut other, &[quick, hanging]);
    send(&mut other, 1, &request);
    assert!(other.connection.take_completed().is_none());
    // The source can tell the clients apart.
    let clients = slow.clients.lock().unwrap().clone();
    assert_ne!(clients[0], clients[100]);
    assert_eq!(clients[..100], [clients[0]; 100]);
    for request_id in 1..=100 {
        slow.answer_next();
        assert_eq!(client.connection.take_completed().unwrap().0, request_id);
    }
    slow.answer_next();
    let (_, response) = other.connection.take_completed().unwrap();
    assert!(values(&response).iter().all(|value| value.value.is_some()));
}

#[test]
fn waiting_requests_hold_memory_of_their_session() {
    let server = server();
    let mut client = Client::new(&server);
    let slow = Source::hanging();
    let node = variable(&server, &slow, "slow");
    let before = server.memory_of_sessions().used();
    let request = read_request(&mut client, &[node]);
    for request_id in 1..=10 {
        send(&mut client, request_id, &request);
    }
    let waiting = server.memory_of_sessions().used();
    assert!(waiting >= before + 10 * request.len());
    for _ in 1..=10 {
        slow.answer_next();
        client.connection.take_completed().unwrap();
    }
    assert_eq!(server.memory_of_sessions().used(), before);
}

#[test]
fn deferred_requests_can_be_cancelled() {
    let server = server();
    let mut client = Client::new(&server);
    let slow = Source::hanging();
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
    let held = slow.take_held();
    assert!(!held.reply.is_awaited());
    slow.answer(held);
    assert!(
        client.connection.take_completed().is_none(),
        "there is one answer only"
    );
}

#[test]
fn the_timeout_hint_ends_the_wait_for_a_source() {
    let server = server();
    let mut client = Client::new(&server);
    let slow = Source::hanging();
    let node = variable(&server, &slow, "slow");
    let request = read_request(&mut client, std::slice::from_ref(&node));
    send(&mut client, 1, &request);
    let before = server.next_deadline().unwrap();
    // One request waits for 5 s, the other for an hour.
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
    // The source learns that; the others are answered. No source gets more time than the server's limit, and each
    // gets less than the client waits.
    slow.answer_next();
    let held = slow.take_held();
    assert!(!held.reply.is_awaited());
    drop(held);
    slow.answer_next();
    assert_eq!(client.completed().0, 1);
    assert_eq!(client.completed().0, 3);
    assert!(client.connection.take_completed().is_none());
    let longest = server.budgets().max_remote_timeout;
    let timeouts = slow.timeouts.lock().unwrap();
    assert!(timeouts.iter().all(|timeout| *timeout <= longest));
    assert!(timeouts[1] <= Duration::from_millis(4375), "{timeouts:?}");
    assert!(timeouts[2] > Duration::from_millis(4375), "{timeouts:?}");
    // A source that has no limit of its own takes the time that the client gives it.
    let hints = slow.hints.lock().unwrap();
    assert_eq!(hints[0], None);
    assert!(
        hints[1].unwrap() <= Duration::from_millis(4375),
        "{hints:?}"
    );
    assert!(hints[2].unwrap() > longest, "{hints:?}");
}

#[test]
fn operations_of_a_failing_source_get_a_bad_status() {
    struct Broken(SourceKey);
    impl RemoteSource for Broken {
        fn key(&self) -> SourceKey {
            self.0
        }
        fn forward(&self, request: RemoteRequest) {
            if request.operations.len() > 1 {
                let one = vec![DataValue::good(1_u32)];
                request.reply.answer(RemoteResults::Read(one));
            }
        }
    }
    let server = server();
    let mut client = Client::new(&server);
    let source: Arc<dyn RemoteSource> = Arc::new(Broken(SourceKey::new()));
    let value = Value::Remote(RemoteValue {
        source,
        node_id: NodeId::numeric(3, 1),
        callback: None,
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
    assert_eq!(
        client.write_value(node, 1_u32),
        StatusCode::BadNoCommunication
    );
}

#[test]
fn a_variable_that_is_no_longer_remote_is_answered_at_once() {
    let server = server();
    let mut client = Client::new(&server);
    let source = Source::new();
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
        RequestOutcome::Complete
    );
}

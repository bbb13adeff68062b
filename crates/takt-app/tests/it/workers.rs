//! Methods on worker threads: a slow one delays no other client.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use takt_app::serve::ServeOptions;
use takt_app::{Client, ClientOptions, Method, Provider, Variable, WorkerOptions};
use takt_cell::Cell;
use takt_ua::structures::{CallMethodRequest, CallRequest};
use takt_ua::{BuiltInType, NodeId, StatusCode, Variant};

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

fn object() -> NodeId {
    NodeId::numeric(1, takt_app::model::provider::OBJECT)
}

/// Gate of the Methods: they say that they run, and end when it is dropped.
struct Gate {
    entered: Receiver<()>,
    _open: Sender<()>,
}

/// A Provider with two workers, one place in their queue, and four Methods that wait at a gate.
fn start(directory: &Path) -> (Provider, Gate) {
    let (open, gate) = channel::<()>();
    let (enter, entered) = channel();
    let gate = Arc::new(Mutex::new(gate));
    let cell = Arc::new(Cell::of(&Variant::Double(1.5)));
    let mut provider = Provider::builder("Slow")
        .without_registry()
        .workers(WorkerOptions {
            threads: 2,
            queue: 1,
        })
        .variable(Variable::cell("Cell", &cell))
        .method(Method::new("Inline", |_| Ok(vec![1_u32.into()])).inline())
        .method(Method::new("Panics", |_| panic!("as it should")))
        .method(
            Method::new("Twice", |inputs| match inputs {
                [Variant::Double(value)] => Ok(vec![(value * 2.0).into()]),
                _ => Err(StatusCode::BadInternalError),
            })
            .input("Value", BuiltInType::Double)
            .output("Twice", BuiltInType::Double),
        )
        .serve(ServeOptions {
            runtime_directory: Some(directory.to_path_buf()),
            ..ServeOptions::default()
        });
    for name in NAMES {
        let (gate, enter) = (Arc::clone(&gate), enter.clone());
        provider = provider.method(Method::new(name, move |_| {
            let _ = enter.send(());
            let _ = gate.lock().unwrap().recv();
            Ok(Vec::new())
        }));
    }
    let gate = Gate {
        entered,
        _open: open,
    };
    (provider.start().unwrap(), gate)
}

fn connect(directory: &Path, timeout: Duration) -> Client {
    let options = ClientOptions {
        runtime_directory: Some(directory.to_path_buf()),
        timeout,
        ..ClientOptions::named("Test")
    };
    Client::connect(&"opc.iox2://Slow".parse().unwrap(), options).unwrap()
}

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn slow_methods_delay_no_other_request() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_provider, gate) = start(directory.path());
    let mut slow = connect(directory.path(), PATIENCE);
    let calls = std::thread::spawn(move || {
        let methods_to_call = NAMES.map(|name| CallMethodRequest {
            object_id: object(),
            method_id: node(name),
            ..CallMethodRequest::default()
        });
        slow.call(CallRequest {
            methods_to_call: methods_to_call.to_vec(),
            ..CallRequest::default()
        })
    });
    gate.entered.recv().unwrap();
    gate.entered.recv().unwrap();
    // All workers wait at the gate now. The serving thread goes on.
    let mut client = connect(directory.path(), PATIENCE);
    let read = client.read(&node("Cell")).unwrap();
    assert_eq!(read.value, Some(1.5.into()));
    let inline = client.call_method(&object(), &node("Inline"), Vec::new());
    assert_eq!(inline.unwrap(), [Variant::from(1_u32)]);
    let full = client.call_method(&object(), &node("A"), Vec::new());
    assert_eq!(
        full.unwrap_err().status_code(),
        StatusCode::BadTooManyOperations
    );
    drop(gate);
    let results = calls.join().unwrap().unwrap().results;
    let mut statuses: Vec<_> = results.iter().map(|result| result.status_code).collect();
    // The workers decide which of the Methods finds the queue full.
    statuses.sort_by_key(|status| status.0);
    let good = StatusCode::Good;
    let full = StatusCode::BadTooManyOperations;
    assert_eq!(statuses, [good, good, good, full]);
}

#[test]
fn a_method_past_the_timeout_hint_gets_bad_timeout() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_provider, gate) = start(directory.path());
    let mut hasty = connect(directory.path(), Duration::from_millis(200));
    let late = hasty.call_method(&object(), &node("A"), Vec::new());
    assert_eq!(late.unwrap_err().status_code(), StatusCode::BadTimeout);
    drop(gate);
}

#[test]
fn arguments_are_checked_and_returned() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_provider, _gate) = start(directory.path());
    let mut client = connect(directory.path(), PATIENCE);
    let mut twice = |inputs: Vec<Variant>| client.call_method(&object(), &node("Twice"), inputs);
    assert_eq!(twice(vec![21.0.into()]).unwrap(), [Variant::from(42.0)]);
    for (inputs, expected) in [
        (Vec::new(), StatusCode::BadArgumentsMissing),
        // The client shows the status of the argument.
        (vec!["x".into()], StatusCode::BadTypeMismatch),
    ] {
        assert_eq!(twice(inputs).unwrap_err().status_code(), expected);
    }
}

#[test]
fn a_panic_of_a_method_is_an_error_of_the_call() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (_provider, _gate) = start(directory.path());
    let mut client = connect(directory.path(), PATIENCE);
    for _ in 0..10 {
        let failed = client.call_method(&object(), &node("Panics"), Vec::new());
        assert_eq!(
            failed.unwrap_err().status_code(),
            StatusCode::BadInternalError
        );
    }
}

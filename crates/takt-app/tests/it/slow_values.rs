//! Callbacks on worker threads: a slow one delays no other value.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use takt_app::serve::ServeOptions;
use takt_app::{
    Attribute, Client, ClientOptions, Method, MonitoredItemOptions, Provider, ProviderBuilder,
    Subscription, SubscriptionOptions, Variable, WorkerOptions,
};
use takt_cell::Cell;
use takt_services::ServerBudgets;
use takt_space::ValueSource;
use takt_ua::structures::{
    CallMethodRequest, CallRequest, ReadRequest, ReadResponse, ReadValueId, WriteRequest,
    WriteValue,
};
use takt_ua::{BuiltInType, DataValue, DateTime, NodeId, StatusCode, Variant};

/// Time limit of required events.
const PATIENCE: Duration = Duration::from_secs(60);

fn node(path: &str) -> NodeId {
    NodeId::string(1, path)
}

/// A source whose calls say that they run, and end at the gate: each takes one value of it, and all end when it is dropped.
struct Gated {
    entered: Sender<()>,
    gate: Mutex<Receiver<f64>>,
}

/// The other side of a [`Gated`] source.
struct Gate {
    entered: Receiver<()>,
    open: Sender<f64>,
}

impl ValueSource for Gated {
    fn read(&self) -> DataValue {
        let _ = self.entered.send(());
        DataValue::good(self.gate.lock().unwrap().recv().unwrap_or(-1.0))
    }
}

impl Gated {
    fn new() -> (Arc<Self>, Gate) {
        let (open, gate) = channel();
        let (enter, entered) = channel();
        let gated = Self {
            entered: enter,
            gate: Mutex::new(gate),
        };
        (Arc::new(gated), Gate { entered, open })
    }
}

fn gated(path: &str) -> (Variable, Gate) {
    let (source, gate) = Gated::new();
    (Variable::source(path, BuiltInType::Double, source), gate)
}

/// A Method that waits at a gate.
fn gated_method(path: &str) -> (Method, Gate) {
    let (source, gate) = Gated::new();
    let method = Method::new(path, move |_| {
        source.read();
        Ok(Vec::new())
    });
    (method, gate)
}

/// A Provider with a cell, a stored value and an inline callback.
fn builder(directory: &Path, threads: usize, queue: usize) -> (ProviderBuilder, Arc<Cell>) {
    let cell = Arc::new(Cell::of(&Variant::Double(1.5)));
    let builder = Provider::builder("Slow")
        .without_registry()
        .workers(WorkerOptions { threads, queue })
        .serve(ServeOptions {
            runtime_directory: Some(directory.to_path_buf()),
            ..ServeOptions::default()
        })
        .variable(Variable::cell("Cell", &cell))
        .variable(Variable::stored("Stored", 2.5).writable())
        .variable(Variable::callback("Inline", BuiltInType::Double, || 3.5).inline());
    (builder, cell)
}

fn connect(directory: &Path) -> Client {
    let options = ClientOptions {
        runtime_directory: Some(directory.to_path_buf()),
        timeout: PATIENCE,
        ..ClientOptions::named("Test")
    };
    Client::connect(&"opc.iox2://Slow".parse().unwrap(), options).unwrap()
}

fn read_request(paths: &[&str]) -> ReadRequest {
    let nodes_to_read = paths.iter().map(|path| ReadValueId {
        node_id: node(path),
        attribute_id: Attribute::Value as u32,
        ..ReadValueId::default()
    });
    ReadRequest {
        nodes_to_read: nodes_to_read.collect(),
        ..ReadRequest::default()
    }
}

fn send(client: &mut Client, paths: &[&str]) {
    client.send(read_request(paths), PATIENCE).unwrap();
}

/// Receives the values of the next Read: numbers, or StatusCodes of operations without a value.
fn receive(client: &mut Client) -> Vec<Result<f64, StatusCode>> {
    let response = client.receive(PATIENCE, |response| response.decode::<ReadResponse>());
    let results = response.unwrap().unwrap().results;
    let number = |value: DataValue| match value.value {
        Some(value) => Ok(value.as_f64().unwrap()),
        None => Err(value.status_code()),
    };
    results.into_iter().map(number).collect()
}

fn read(client: &mut Client, paths: &[&str]) -> Vec<Result<f64, StatusCode>> {
    send(client, paths);
    receive(client)
}

#[test]
fn values_in_memory_are_read_while_all_workers_hang() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (builder, _) = builder(directory.path(), 2, 1);
    let ((value, value_gate), (method, method_gate)) = (gated("Value"), gated_method("Method"));
    let (other, other_gate) = gated("Other");
    let builder = builder.variable(value).variable(other).method(method);
    let _provider = builder.start().unwrap();

    let mut slow = connect(directory.path());
    send(&mut slow, &["Value", "Cell"]);
    value_gate.entered.recv().unwrap();
    let mut caller = connect(directory.path());
    let call = CallRequest {
        methods_to_call: vec![CallMethodRequest {
            object_id: NodeId::numeric(1, takt_app::model::provider::OBJECT),
            method_id: node("Method"),
            ..CallMethodRequest::default()
        }],
        ..CallRequest::default()
    };
    caller.send(call, PATIENCE).unwrap();
    method_gate.entered.recv().unwrap();

    // All workers hang now.
    let mut client = connect(directory.path());
    assert_eq!(
        read(&mut client, &["Cell", "Stored", "Inline"]),
        [Ok(1.5), Ok(2.5), Ok(3.5)]
    );
    client.write(&node("Stored"), 4.5.into()).unwrap();
    // One request waits for a worker, and the next one finds the queue full. Requests of a client arrive in their order.
    send(&mut client, &["Other"]);
    assert_eq!(
        read(&mut client, &["Stored", "Other", "Value", "Cell"]),
        [
            Ok(4.5),
            Err(StatusCode::BadTooManyOperations),
            Err(StatusCode::BadTooManyOperations),
            Ok(1.5)
        ]
    );
    assert!(other_gate.entered.try_recv().is_err(), "no worker is free");
    drop((value_gate, method_gate, other_gate));
    assert_eq!(receive(&mut slow), [Ok(-1.0), Ok(1.5)]);
    assert_eq!(receive(&mut client), [Ok(-1.0)]);
}

#[test]
fn callbacks_of_one_read_run_side_by_side_and_its_results_are_in_order() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (builder, _) = builder(directory.path(), 2, 0);
    let ((a, gate_a), (b, gate_b)) = (gated("A"), gated("B"));
    let _provider = builder.variable(a).variable(b).start().unwrap();
    let mut client = connect(directory.path());
    send(
        &mut client,
        &["A", "Cell", "B", "Unknown", "Inline", "A", "Stored"],
    );
    gate_a.entered.recv().unwrap();
    gate_b.entered.recv().unwrap();
    gate_b.open.send(20.0).unwrap();
    gate_a.open.send(10.0).unwrap();
    assert_eq!(
        receive(&mut client),
        [
            Ok(10.0),
            Ok(1.5),
            Ok(20.0),
            Err(StatusCode::BadNodeIdUnknown),
            Ok(3.5),
            Ok(10.0),
            Ok(2.5)
        ]
    );
    assert!(gate_a.entered.try_recv().is_err(), "one call for one Read");
}

#[test]
fn operations_without_a_value_in_time_get_bad_timeout() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (builder, _) = builder(directory.path(), 2, 64);
    let (hung, gate) = gated("Hung");
    let quick = Variable::callback("Quick", BuiltInType::Double, || 5.5);
    let budgets = ServerBudgets {
        max_remote_timeout: Duration::from_millis(50),
        ..ServerBudgets::default()
    };
    let builder = builder.variable(hung).variable(quick).budgets(budgets);
    let _provider = builder.start().unwrap();
    let mut client = connect(directory.path());
    let hung = |client: &mut Client| read(client, &["Hung", "Cell"]);
    let late = [Err(StatusCode::BadTimeout), Ok(1.5)];
    assert_eq!(hung(&mut client), late);
    gate.entered.recv().unwrap();
    // A callback that hangs keeps one worker, and leaves the places in the queue to others.
    for _ in 0..100 {
        send(&mut client, &["Hung", "Cell"]);
        assert_eq!(receive(&mut client), late);
    }
    assert!(gate.entered.try_recv().is_err(), "the callback still runs");
    // The quick one is in time on a machine that is not loaded.
    while read(&mut client, &["Quick"]) != [Ok(5.5)] {}
    gate.open.send(6.5).unwrap();
    gate.open.send(7.5).unwrap();
    // The first value came too late for its Read.
    while read(&mut client, &["Hung"]) == [Err(StatusCode::BadTimeout)] {
        let _ = gate.open.send(8.5);
    }
}

#[test]
fn a_slow_callback_is_sampled_once_and_delays_no_other_item() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (builder, cell) = builder(directory.path(), 2, 0);
    let (slow, gate) = gated("Value");
    let quick = Mutex::new(0.0);
    let quick = Variable::callback("Quick", BuiltInType::Double, move || {
        let mut quick = quick.lock().unwrap();
        *quick += 1.0;
        *quick
    });
    let _provider = builder.variable(slow).variable(quick).start().unwrap();
    let options = SubscriptionOptions {
        publishing_interval: Duration::from_millis(10),
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(connect(directory.path()), options).unwrap();
    let mut monitor = |path: &str| {
        let sampling_interval = Duration::from_millis(10);
        let options = MonitoredItemOptions {
            sampling_interval,
            ..MonitoredItemOptions::default()
        };
        subscription.monitor(&node(path), options).unwrap()
    };
    let [slow, quick, memory] = ["Value", "Quick", "Cell"].map(&mut monitor);
    gate.entered.recv().unwrap();
    let (mut of_quick, mut of_cell) = (0, 0);
    while of_quick < 10 || of_cell < 10 {
        let change = subscription.next(PATIENCE).unwrap().unwrap();
        assert_ne!(change.client_handle, slow);
        of_quick += u32::from(change.client_handle == quick);
        if change.client_handle == memory {
            of_cell += 1;
            let value = f64::from(of_cell);
            cell.set_f64(value, StatusCode::Good, DateTime::now())
                .unwrap();
        }
    }
    assert!(gate.entered.try_recv().is_err(), "sampled once meanwhile");
    gate.open.send(9.5).unwrap();
    let value = loop {
        let change = subscription.next(PATIENCE).unwrap().unwrap();
        if change.client_handle == slow {
            break change.value;
        }
    };
    assert_eq!(value.value, Some(9.5.into()));
    drop(gate);
}

#[test]
fn a_provider_ends_while_its_callbacks_and_methods_hang() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (value, gate) = gated("Value");
    let (builder, _) = builder(directory.path(), 2, 64);
    let provider = builder.variable(value).start().unwrap();
    let mut client = connect(directory.path());
    send(&mut client, &["Value"]);
    gate.entered.recv().unwrap();
    send(&mut client, &["Value"]);
    drop(provider);
    // Its name is free, although a thread of it still hangs.
    let (builder, _) = self::builder(directory.path(), 2, 64);
    let _provider = builder.start().unwrap();
    let mut client = connect(directory.path());
    assert_eq!(read(&mut client, &["Cell"]), [Ok(1.5)]);
    drop(gate);
}

/// A source that keeps what is written.
struct Device(Mutex<Variant>);

impl ValueSource for Device {
    fn read(&self) -> DataValue {
        DataValue::good(self.0.lock().unwrap().clone())
    }

    fn write(&self, value: &DataValue) -> StatusCode {
        match &value.value {
            Some(Variant::Double(value)) if *value < 0.0 => StatusCode::BadOutOfRange,
            Some(value) => {
                *self.0.lock().unwrap() = value.clone();
                StatusCode::Good
            }
            None => StatusCode::BadTypeMismatch,
        }
    }
}

#[test]
fn callbacks_on_workers_are_written_whole_and_in_parts() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (builder, _) = builder(directory.path(), 2, 64);
    let device = |path: &str, data_type, value: Variant| {
        Variable::source(path, data_type, Arc::new(Device(Mutex::new(value)))).writable()
    };
    let doubles = Variant::from(vec![1.0, 2.0, 3.0]);
    let bytes = Variant::from(takt_ua::ByteString::from(vec![1_u8, 2]));
    let _provider = builder
        .variable(device("Scalar", BuiltInType::Double, 1.0.into()))
        .variable(device("Array", BuiltInType::Double, doubles).array(0))
        .variable(device("Bytes", BuiltInType::ByteString, bytes))
        .start()
        .unwrap();
    let mut client = connect(directory.path());
    let write = |path: &str, range: &str, value: Variant| WriteValue {
        node_id: node(path),
        attribute_id: Attribute::Value as u32,
        index_range: range.into(),
        value: DataValue::good(value),
    };
    let with_time = WriteValue {
        value: DataValue::good(4.0).with_source_timestamp(DateTime::now()),
        ..write("Scalar", "", 4.0.into())
    };
    let written = client
        .call(WriteRequest {
            nodes_to_write: vec![
                write("Scalar", "", 7.0.into()),
                write("Stored", "", 8.0.into()),
                write("Array", "1", vec![9.0].into()),
                write("Array", "5", vec![9.0].into()),
                write("Scalar", "", (-1.0).into()),
                write("Scalar", "", "text".into()),
                // An array of Byte fits a ByteString.
                write("Bytes", "", vec![3_u8, 4].into()),
                with_time,
            ],
            ..WriteRequest::default()
        })
        .unwrap();
    assert_eq!(
        written.results,
        [
            StatusCode::Good,
            StatusCode::Good,
            StatusCode::Good,
            StatusCode::BadIndexRangeNoData,
            StatusCode::BadOutOfRange,
            StatusCode::BadTypeMismatch,
            StatusCode::Good,
            StatusCode::BadWriteNotSupported,
        ]
    );
    assert_eq!(read(&mut client, &["Scalar", "Stored"]), [Ok(7.0), Ok(8.0)]);
    let array = client.read(&node("Array")).unwrap();
    assert_eq!(array.value, Some(vec![1.0, 9.0, 3.0].into()));
    assert!(array.source_timestamp.is_some());
    let bytes = client.read(&node("Bytes")).unwrap().value;
    let expected = takt_ua::ByteString::from(vec![3_u8, 4]);
    assert_eq!(bytes, Some(expected.into()));
    let mut part = read_request(&["Array"]);
    part.nodes_to_read[0].index_range = "1:2".into();
    let part = client.call(part).unwrap().results.remove(0);
    assert_eq!(part.value, Some(vec![9.0, 3.0].into()));
}

#[test]
fn a_panic_of_a_callback_is_an_error_of_its_operation() {
    struct Panics;
    impl ValueSource for Panics {
        fn read(&self) -> DataValue {
            panic!("as it should")
        }
    }
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (builder, _) = builder(directory.path(), 1, 0);
    let panics = Variable::source("Panics", BuiltInType::Double, Arc::new(Panics));
    let _provider = builder.variable(panics).start().unwrap();
    let mut client = connect(directory.path());
    for _ in 0..10 {
        assert_eq!(
            read(&mut client, &["Panics", "Cell"]),
            [Err(StatusCode::BadInternalError), Ok(1.5)]
        );
    }
}

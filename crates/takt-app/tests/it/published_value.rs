//! Current values of stored values and callbacks: read from memory if MaxAge allows it, otherwise from the Provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::{Process, connect, eventually, node, options};
use rustix::process::Signal;
use takt_app::{
    Client, ClientError, CurrentValue, Method, MonitoredItemOptions, NodeError, Provider,
    ProviderError, Subscription, SubscriptionOptions, Variable,
};
use takt_cell::{Cell, CellError, Reading};
use takt_space::Value;
use takt_ua::{BuiltInType, DataValue, DateTime, StatusCode, Variant};

const ELEMENTS: usize = 1000;
/// Capacity in bytes of an array of that many UInt32.
const ARRAY: usize = 5 + 4 * ELEMENTS;

const NEW: Duration = Duration::ZERO;
const MILLISECOND: Duration = Duration::from_millis(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Returns a callback with the values 1, 2, 3 and so on for clients, each as `elements` elements. Its value at the start of the
/// Provider is 0.
fn counter(elements: usize) -> impl Fn() -> Variant + Send + Sync + 'static {
    let count = AtomicU32::new(0);
    move || {
        let count = count.fetch_add(1, Ordering::Relaxed);
        match elements {
            1 => Variant::UInt32(count),
            _ => Variant::from(vec![count; elements]),
        }
    }
}

/// Helper process, not a test of its own: adds and removes Variables on request, until it is killed.
#[test]
fn the_provider() {
    let Some(directory) = crate::support::provider_directory() else {
        return;
    };
    let (orders, ordered) = mpsc::channel();
    let order = |add: bool| {
        let orders = orders.clone();
        move |_: &[Variant]| {
            orders.send(add).unwrap();
            Ok(Vec::new())
        }
    };
    let number = BuiltInType::UInt32;
    let provider = Provider::builder("Current")
        .without_registry()
        .variable(
            Variable::stored("Number", 1_u32)
                .writable()
                .publish_current(16),
        )
        .variable(
            Variable::stored("Text", "one")
                .writable()
                .publish_current(16),
        )
        .variable(
            Variable::stored("Array", vec![0_u32; ELEMENTS])
                .writable()
                .publish_current(ARRAY),
        )
        .variable(Variable::callback("Count", number, counter(1)).publish_current(16))
        .variable(
            Variable::callback("Counts", number, counter(ELEMENTS))
                .array(0)
                .publish_current(ARRAY),
        )
        .variable(
            Variable::callback("Too large", number, counter(ELEMENTS))
                .array(0)
                .publish_current(ARRAY - 1),
        )
        .variable(Variable::callback("Private", number, counter(1)))
        .method(Method::new("Add", order(true)))
        .method(Method::new("Remove", order(false)))
        .serve(options(&directory))
        .start()
        .unwrap();
    println!("ready");
    let space = provider.server().address_space();
    while let Ok(add) = ordered.recv() {
        if add {
            let cell = Cell::of(&Variant::UInt32(7)).share().unwrap();
            let callback = counter(1);
            let _ = callback();
            let values = [
                ("Late cell", Value::Cell(Arc::new(cell))),
                ("Late stored", Value::stored("late")),
                ("Late array", Value::stored(vec![1_u32; ELEMENTS])),
                (
                    "Late count",
                    Value::callback(move || DataValue::good(callback())),
                ),
            ];
            for (name, value) in values {
                let value = value.publish_current(ARRAY).unwrap();
                let variable = space.add_variable(name).node_id(node(name)).value(value);
                variable.add().unwrap();
            }
        } else {
            for name in ["Late cell", "Late stored", "Late array", "Late count"] {
                space.edit().delete_node(&node(name), true).unwrap();
            }
        }
    }
}

fn current(client: &mut Client, path: &str) -> CurrentValue {
    client.current_value(&node(path)).unwrap().unwrap()
}

fn number(value: &DataValue) -> u32 {
    match value.value {
        Some(Variant::UInt32(number)) => number,
        ref other => panic!("{other:?}"),
    }
}

fn stop(provider: &Process) {
    provider.signal(Signal::STOP);
    eventually("all its threads stand still", || provider.is_stopped());
}

#[test]
fn a_stored_value_is_its_own_source() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = Process::start("published_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    let value = current(&mut client, "Number");
    let text = current(&mut client, "Text");
    assert_eq!(value.read_scalar::<u32>().unwrap().0, Some(1));

    // A written value is published before the response to the Write.
    for round in 2..100_u32 {
        client.write(&node("Number"), round.into()).unwrap();
        let (read, reading) = value.read_scalar::<u32>().unwrap();
        assert_eq!((read, reading.status), (Some(round), StatusCode::Good));
        assert!(reading.satisfies(NEW, DateTime::now()));
    }
    let read = client.read(&node("Number")).unwrap();
    let here = value.get().unwrap();
    assert_eq!(
        (here.value, here.source_timestamp),
        (read.value, read.source_timestamp)
    );

    // The Consumer sends no request for any MaxAge, so the Provider can be stopped.
    client.write(&node("Text"), "two".into()).unwrap();
    stop(&provider);
    let read = client.read_current(&text, NEW).unwrap();
    assert_eq!((read.value, read.status), (Some("two".into()), None));
    assert_eq!(number(&client.read_current(&value, NEW).unwrap()), 99);
    provider.signal(Signal::CONT);

    drop(provider);
    eventually("its death is noticed", || !value.is_alive());
    let read = client.read_current(&value, NEW).unwrap();
    assert_eq!(number(&read), 99);
    assert_eq!(read.status, Some(StatusCode::UncertainLastUsableValue));
}

#[test]
fn a_stored_array_is_of_one_moment() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let _provider = Process::start("published_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    let array = current(&mut client, "Array");
    let mut writer = connect(directory.path());
    let writing = std::thread::spawn(move || {
        for round in 1..2000_u32 {
            let elements = vec![round; ELEMENTS];
            writer.write(&node("Array"), elements.into()).unwrap();
        }
    });
    let mut last = 0;
    while last < 1999 {
        let mut elements = [0_u32; ELEMENTS];
        let (count, reading) = array.read_slice(&mut elements).unwrap();
        assert_eq!((count, reading.status), (Some(ELEMENTS), StatusCode::Good));
        assert!(elements.iter().all(|element| *element == elements[0]));
        assert!(elements[0] >= last);
        last = elements[0];
    }
    writing.join().unwrap();
}

#[test]
fn a_callback_is_called_when_its_last_value_is_too_old() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = Process::start("published_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    let value = current(&mut client, "Count");
    let mut read = |max_age| number(&client.read_current(&value, max_age).unwrap());

    // The callback was not called yet; afterwards all clients that accept the age get its value.
    assert_eq!(value.get().unwrap_err(), CellError::Withheld);
    assert_eq!(read(Reading::ANY_AGE), 1);
    assert_eq!(read(Reading::ANY_AGE), 1);
    assert_eq!(read(MINUTE), 1);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(read(MINUTE), 1);
    assert_eq!(read(MILLISECOND), 2, "too old");
    assert_eq!(read(NEW), 3, "a new one");
    let last = value.get().unwrap();
    assert_eq!(number(&last), 3);
    assert!(last.server_timestamp.unwrap() <= DateTime::now());
    assert!(last.source_timestamp.is_some());
    // A plain Read refreshes it too.
    assert_eq!(number(&client.read(&node("Count")).unwrap()), 4);
    let (scalar, reading) = value.read_scalar::<u32>().unwrap();
    assert_eq!(scalar, Some(4));
    assert!(reading.satisfies(MINUTE, DateTime::now()));
    assert!(!reading.satisfies(NEW, DateTime::now()));

    // The Provider is stopped: recent values are available; requests for others time out.
    stop(&provider);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(number(&client.read_current(&value, MINUTE).unwrap()), 4);
    client.set_timeout(Duration::from_millis(200));
    let begin = Instant::now();
    let asked = client.read_current(&value, MILLISECOND);
    assert!(
        matches!(asked, Err(ClientError::Timeout { .. })),
        "{asked:?}"
    );
    assert!(begin.elapsed() >= Duration::from_millis(200));
    client.set_timeout(crate::support::PATIENCE);
    provider.signal(Signal::CONT);
    assert!(number(&client.read_current(&value, MILLISECOND).unwrap()) > 4);

    // The Provider is dead: the last value of any age is returned, without waiting.
    let last = number(&value.get().unwrap());
    drop(provider);
    eventually("its death is noticed", || !value.is_alive());
    let begin = Instant::now();
    for max_age in [NEW, MILLISECOND, MINUTE] {
        let read = client.read_current(&value, max_age).unwrap();
        assert!(number(&read) >= last);
        assert_eq!(read.status, Some(StatusCode::UncertainLastUsableValue));
        assert!(read.server_timestamp.is_some());
    }
    assert!(begin.elapsed() < crate::support::PATIENCE / 3);
}

#[test]
fn a_monitored_item_refreshes_the_last_value() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = Process::start("published_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    let value = current(&mut client, "Counts");
    let subscriber = connect(directory.path());
    let mut subscription =
        Subscription::create(subscriber, SubscriptionOptions::default()).unwrap();
    let sampling = MonitoredItemOptions {
        sampling_interval: Duration::from_millis(10),
        ..MonitoredItemOptions::default()
    };
    subscription.monitor(&node("Counts"), sampling).unwrap();
    let mut elements = [0_u32; ELEMENTS];
    eventually("it is sampled again and again", || {
        let Ok((count, reading)) = value.read_slice(&mut elements) else {
            return false;
        };
        assert_eq!(count, Some(ELEMENTS));
        assert!(elements.iter().all(|element| *element == elements[0]));
        assert!(reading.satisfies(MINUTE, DateTime::now()));
        elements[0] > 10
    });
    // The Consumer uses these values and sends no requests.
    stop(&provider);
    assert!(client.read_current(&value, MINUTE).is_ok());
    provider.signal(Signal::CONT);
}

#[test]
fn values_above_the_capacity_are_read_with_requests() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let _provider = Process::start("published_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    let text = current(&mut client, "Text");
    let long = "longer than 16 bytes when encoded";
    client.write(&node("Text"), long.into()).unwrap();
    assert_eq!(text.get().unwrap_err(), CellError::Withheld);
    let read = client.read_current(&text, MINUTE).unwrap();
    assert_eq!(read.value, Some(long.into()));
    client.write(&node("Text"), "short".into()).unwrap();
    assert_eq!(text.get().unwrap().value, Some("short".into()));

    // A capacity that is one byte too small.
    let array = current(&mut client, "Too large");
    for round in 1..4_u32 {
        let read = client.read_current(&array, Reading::ANY_AGE).unwrap();
        assert_eq!(read.value, Some(vec![round; ELEMENTS].into()));
        assert_eq!(array.get().unwrap_err(), CellError::Withheld);
    }
    assert!(client.current_value(&node("Private")).unwrap().is_none());
}

#[test]
fn variables_are_published_that_are_added_at_run_time() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = Process::start("published_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    let late = ["Late cell", "Late stored", "Late array", "Late count"];
    let object = takt_ua::NodeId::numeric(1, takt_app::model::provider::OBJECT);
    for _ in 0..3 {
        for path in late {
            assert!(client.current_value(&node(path)).unwrap().is_none());
        }
        client
            .call_method(&object, &node("Add"), Vec::new())
            .unwrap();
        eventually("they are added", || {
            client.current_value(&node("Late count")).unwrap().is_some()
        });
        let [cell, stored, array, count] = late.map(|path| current(&mut client, path));
        assert_eq!(number(&client.read_current(&count, NEW).unwrap()), 1);
        stop(&provider);
        assert_eq!(number(&client.read_current(&cell, NEW).unwrap()), 7);
        let text = client.read_current(&stored, NEW).unwrap();
        assert_eq!(text.value, Some("late".into()));
        let elements = client.read_current(&array, NEW).unwrap();
        assert_eq!(elements.value, Some(vec![1_u32; ELEMENTS].into()));
        assert_eq!(number(&client.read_current(&count, MINUTE).unwrap()), 1);
        provider.signal(Signal::CONT);

        client
            .call_method(&object, &node("Remove"), Vec::new())
            .unwrap();
        for gone in [cell, stored, array, count] {
            eventually("it is removed", || gone.get() == Err(CellError::Gone));
            // The cell goes first, the node soon after it.
            eventually("its node is removed", || {
                let asked = client.read_current(&gone, MINUTE).unwrap();
                asked.status == Some(StatusCode::BadNodeIdUnknown)
            });
        }
    }
}

#[test]
fn a_cell_that_is_not_shared_cannot_be_published() {
    let cell = Arc::new(Cell::of(&Variant::Byte(1)));
    let refused = Provider::builder("Current")
        .without_registry()
        .variable(Variable::cell("Cell", &cell).publish_current(16))
        .start();
    match refused {
        Err(ProviderError::Node { path, cause }) => {
            assert_eq!(path, "Cell");
            assert!(matches!(cause, NodeError::Value(_)), "{cause}");
            assert!(cause.to_string().contains("Cell::share"), "{cause}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was published"),
    }
}

//! Current values: read from a Provider's memory while it serves, while it is stopped, and after it was killed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{Process, connect, eventually, node, options};
use rustix::process::Signal;
use takt_app::{CurrentValue, Provider, Variable};
use takt_cell::{Cell, CellError};
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};

const ELEMENTS: usize = 1000;

/// Helper process, not a test of its own: sets its cells until it is killed.
#[test]
fn the_provider() {
    let Some(directory) = crate::support::provider_directory() else {
        return;
    };
    let number = Arc::new(Cell::of(&Variant::UInt64(0)).share().unwrap());
    let array = Cell::for_type(BuiltInType::UInt32, Some(ELEMENTS), 0);
    let array = Arc::new(array.share().unwrap());
    let _provider = Provider::builder("Current")
        .without_registry()
        .variable(Variable::cell("Number", &number))
        .variable(Variable::cell("Array", &array))
        .variable(Variable::cell(
            "Private",
            &Arc::new(Cell::of(&Variant::Byte(1))),
        ))
        .variable(Variable::stored("Stored", 1_u32))
        .serve(options(&directory))
        .start()
        .unwrap();
    println!("ready");
    let mut elements = [0_u32; ELEMENTS];
    for round in 1.. {
        elements.fill(round);
        let now = DateTime::now();
        number.set_u64(round.into(), StatusCode::Good, now).unwrap();
        array.set_slice(&elements, StatusCode::Good, now).unwrap();
        // Nearly no pauses: the Provider is most likely killed while it writes.
        if round % 1000 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn number(value: &CurrentValue) -> (u64, StatusCode) {
    let (number, reading) = value.read_scalar::<u64>().unwrap();
    (number.unwrap(), reading.status)
}

/// Returns all elements of one moment.
fn whole_array(value: &CurrentValue) -> u32 {
    let mut elements = [0; ELEMENTS];
    let (count, _) = value.read_slice(&mut elements).unwrap();
    assert!(elements.iter().all(|element| *element == elements[0]));
    assert!(count == Some(ELEMENTS) || elements[0] == 0);
    elements[0]
}

#[test]
fn a_value_is_read_while_its_provider_serves_is_stopped_and_is_dead() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let provider = Process::start("current_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    let current = client.current_value(&node("Number")).unwrap().unwrap();
    let array = client.current_value(&node("Array")).unwrap().unwrap();

    // The value changes without a request, and is never torn.
    let (first, status) = number(&current);
    assert_eq!(status, StatusCode::Good);
    eventually("the value changes", || number(&current).0 > first);
    let begin = Instant::now();
    let mut last = 0;
    while begin.elapsed() < Duration::from_millis(300) {
        let now = whole_array(&array);
        assert!(now >= last);
        last = now;
    }
    assert!(last > 0);
    assert_eq!(current.get().unwrap().status, None);

    // Stopped, as by a debugger: a Read would wait.
    provider.signal(Signal::STOP);
    eventually("all its threads stand still", || provider.is_stopped());
    let still = number(&current);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(number(&current), still);
    assert_eq!(still.1, StatusCode::Good);
    whole_array(&array);
    provider.signal(Signal::CONT);
    eventually("it goes on", || number(&current).0 > still.0);

    // The Provider is killed while it writes.
    drop(provider);
    eventually("its death is noticed", || !current.is_alive());
    let (_, status) = number(&current);
    assert_eq!(status, StatusCode::UncertainLastUsableValue);
    let value = array.get().unwrap();
    assert_eq!(value.status, Some(StatusCode::UncertainLastUsableValue));
    whole_array(&array);

    // The next Provider of that name has its own values.
    let _next = Process::start("current_value::the_provider", directory.path());
    let again = client.current_value(&node("Number")).unwrap().unwrap();
    assert_eq!(number(&again).1, StatusCode::Good);
    assert!(!current.is_alive());
}

#[test]
fn unpublished_values_are_read_with_requests() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let _provider = Process::start("current_value::the_provider", directory.path());
    let mut client = connect(directory.path());
    for path in ["Private", "Stored", "Nowhere"] {
        assert!(
            client.current_value(&node(path)).unwrap().is_none(),
            "{path}"
        );
    }
    assert_eq!(
        client.read(&node("Stored")).unwrap().value,
        Some(Variant::UInt32(1))
    );
}

#[test]
fn added_and_deleted_variables_are_not_confused() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    for round in 0..3_u32 {
        let cell = Arc::new(Cell::of(&Variant::UInt32(round)).share().unwrap());
        let provider = Provider::builder("Current")
            .without_registry()
            .variable(Variable::cell("Value", &cell))
            .serve(options(directory.path()))
            .start()
            .unwrap();
        let mut client = connect(directory.path());
        let current = client.current_value(&node("Value")).unwrap().unwrap();
        assert_eq!(current.read_scalar::<u32>().unwrap().0, Some(round));
        drop(provider);
        drop(cell);
        assert_eq!(current.read_scalar::<u32>(), Err(CellError::Gone));
    }
}

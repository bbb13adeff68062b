//! Reading current values from memory allocates nothing, counted at malloc level.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{connect, node, options};
use takt_app::{Provider, Variable};
use takt_cell::Cell;
use takt_ua::{BuiltInType, DateTime, Variant};

#[test]
fn reading_current_values_allocates_nothing() {
    takt_malloc::alone(|| {
        const MINUTE: Duration = Duration::from_secs(60);
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let cell = Arc::new(Cell::of(&Variant::Double(1.5)).share().unwrap());
        let elements = vec![1.5_f64; 512];
        let array = elements.clone();
        let _provider = Provider::builder("Current")
            .without_registry()
            .variable(Variable::cell("Cell", &cell))
            .variable(Variable::stored("Stored", 1.5_f64).publish_current(9))
            .variable(
                Variable::callback("Callback", BuiltInType::Double, || 1.5).publish_current(9),
            )
            .variable(Variable::stored("Array", elements).publish_current(5 + 8 * 512))
            .variable(
                Variable::callback("Array of a callback", BuiltInType::Double, move || {
                    array.clone()
                })
                .array(512)
                .publish_current(5 + 8 * 512),
            )
            .serve(options(directory.path()))
            .start()
            .unwrap();
        let mut client = connect(directory.path());
        let mut current = |path: &str| {
            client.read(&node(path)).unwrap();
            client.current_value(&node(path)).unwrap().unwrap()
        };
        let numbers = ["Cell", "Stored", "Callback"].map(&mut current);
        let arrays = ["Array", "Array of a callback"].map(&mut current);
        // The Reads and the connection finish their work.
        std::thread::sleep(Duration::from_millis(100));
        let mut elements = [0.0_f64; 512];
        let allocations = takt_malloc::least(|| {
            for _ in 0..10_000 {
                for number in &numbers {
                    let (value, reading) = number.read_scalar::<f64>().unwrap();
                    assert_eq!(value, Some(1.5));
                    assert!(reading.satisfies(MINUTE, DateTime::now()));
                    let value = client.read_current(number, MINUTE).unwrap();
                    assert_eq!(value.value, Some(Variant::Double(1.5)));
                }
                for array in &arrays {
                    let (count, reading) = array.read_slice(&mut elements).unwrap();
                    assert_eq!((count, elements[511]), (Some(512), 1.5));
                    assert!(reading.satisfies(MINUTE, DateTime::now()));
                }
            }
        });
        assert_eq!(allocations, 0);
    });
}

//! A Provider with three Variables and a Method: a stored value, a callback, and a cell that another thread sets.
//!
//!     cargo run --example mixer_provider

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::{Method, Provider, Unit, Variable};
use takt_cell::Cell;
use takt_ua::{BuiltInType, DateTime, StatusCode, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let speed = Arc::new(Cell::of(&Variant::Double(0.0)));

    let provider = Provider::builder("Mixer")
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(Variable::stored("Recipe", "Vanilla").writable())
        .variable(Variable::callback("Uptime", BuiltInType::UInt64, move || started.elapsed().as_secs()))
        .variable(Variable::cell("Speed", &speed).unit(Unit::REVOLUTIONS_PER_MINUTE).range(0.0..300.0))
        .method(
            Method::new("Add", |inputs| match inputs {
                [Variant::Double(a), Variant::Double(b)] => Ok(vec![Variant::Double(a + b)]),
                _ => Err(StatusCode::BadInvalidArgument),
            })
            .input("A", BuiltInType::Double)
            .input("B", BuiltInType::Double)
            .output("Sum", BuiltInType::Double),
        )
        .start()?;
    println!("serving {:?}", provider.endpoints().iter().map(ToString::to_string).collect::<Vec<_>>());

    // The loop of a real-time thread would look the same: set never blocks and never allocates.
    loop {
        let value = 150.0 + 10.0 * started.elapsed().as_secs_f64().sin();
        speed.set_f64(value, StatusCode::Good, DateTime::now())?;
        std::thread::sleep(Duration::from_millis(10));
    }
}

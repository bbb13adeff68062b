//! A Provider with three Variables and a Method: a stored value, a callback, and a cell that a thread sets. Callback and Method
//! are quick, so they are inline: they run on the serving thread. Without that, they run on worker threads.
use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_app::{BuiltInType, Cell, DateTime, StatusCode, Variant};
use takt_app::{Method, Provider, Unit, Variable};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let uptime = move || started.elapsed().as_secs();
    let speed = Arc::new(Cell::of(&Variant::Double(0.0)));
    let add = |inputs: &[Variant]| match inputs {
        [Variant::Double(a), Variant::Double(b)] => Ok(vec![Variant::Double(a + b)]),
        _ => Err(StatusCode::BadInvalidArgument),
    };
    let add = Method::new("Add", add)
        .input("A", BuiltInType::Double)
        .input("B", BuiltInType::Double)
        .output("Sum", BuiltInType::Double)
        .inline();

    let provider = Provider::builder("Mixer")
        .endpoint("opc.tcp://127.0.0.1:0")
        .variable(Variable::stored("Recipe", "Vanilla").writable())
        .variable(Variable::callback("Uptime", BuiltInType::UInt64, uptime).inline())
        .variable(Variable::cell("Speed", &speed).unit(Unit::REVOLUTIONS_PER_MINUTE))
        .method(add)
        .start()?;
    for endpoint in provider.endpoints() {
        println!("serving {endpoint}");
    }
    // A real-time thread can do the same, because setting never waits and never allocates.
    loop {
        let value = 150.0 + 10.0 * started.elapsed().as_secs_f64().sin();
        speed.set_f64(value, StatusCode::Good, DateTime::now())?;
        std::thread::sleep(Duration::from_millis(10));
    }
}

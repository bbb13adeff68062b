//! The Provider that the checks of `peers/README.md` use. It prints its endpoint, and `registered` when it is
//! registered, and shuts down when its standard input ends.
//!
//! ```text
//! takt-interop-provider REGISTRY NAME ENDPOINT
//! ```
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use takt_app::{Method, Provider, ProviderBuilder, Variable};
use takt_ua::{Array, BuiltInType, Elements, StatusCode, Variant};

/// Number of Variables that one Read has at most.
const MANY: u32 = 10_000;

/// Number of elements of the large array.
const MILLION: u32 = 1_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [registry, name, endpoint] = arguments.as_slice() else {
        panic!("wrong arguments: {arguments:?}");
    };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let main = thread::current();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stopped.store(true, Ordering::Relaxed);
        main.unpark();
    });
    let builder = Provider::builder(name)
        .registry(registry)
        .endpoint(endpoint);
    let builder = with_methods(with_variables(builder));
    let provider = builder.start().expect("the Provider starts");
    for endpoint in provider.endpoints() {
        println!("{endpoint}");
    }
    while !provider.is_registered() && !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(5));
    }
    println!("registered");
    while !stop.load(Ordering::Relaxed) {
        thread::park();
    }
}

fn with_variables(mut builder: ProviderBuilder) -> ProviderBuilder {
    let matrix = Variant::Array(Box::new(Array {
        elements: Elements::Double((1..=6).map(f64::from).collect()),
        dimensions: vec![2, 3],
    }));
    let variables = [
        Variable::stored("Values/Double", 2.5_f64),
        Variable::stored("Values/String", "Takt: equal time"),
        Variable::stored("Values/Array", (0..16).collect::<Vec<u32>>()),
        Variable::stored("Values/Matrix", matrix),
        Variable::stored("Watched/Level", 0.0_f64).range(0.0..200.0),
        Variable::stored("Watched/Trigger", 0_u32),
        Variable::stored("Watched/Linked", 0_u32),
        Variable::stored("Large/Million", (0..MILLION).collect::<Vec<u32>>()),
    ];
    for variable in variables {
        builder = builder.variable(variable.writable());
    }
    builder = builder.variable(Variable::stored("Values/ReadOnly", -1_i64));
    for n in 0..MANY {
        let path = format!("Many/Group{}/Value{n}", n / 100);
        builder = builder.variable(Variable::stored(path, n));
    }
    builder
}

fn with_methods(builder: ProviderBuilder) -> ProviderBuilder {
    let multiply = Method::new("Multiply", |inputs| match inputs {
        [Variant::Double(a), Variant::Double(b)] => Ok(vec![Variant::Double(a * b)]),
        _ => Err(StatusCode::BadInternalError),
    });
    builder
        .method(
            multiply
                .input("A", BuiltInType::Double)
                .input("B", BuiltInType::Double)
                .output("Product", BuiltInType::Double),
        )
        .method(Method::new("Refuse", |_| Err(StatusCode::BadInvalidState)))
}

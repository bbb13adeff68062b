//! A Provider with many Variables, which prints when it is registered. It shuts down when its standard input ends.
//!
//! ```text
//! takt-large-provider REGISTRY NAME NUMBER VARIABLES
//! ```
//! Variable n is `Group<n / 100>/Value<n>`, a UInt32 that holds NUMBER * VARIABLES + n.
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

use takt_app::{Provider, Variable};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [registry, name, number, variables] = arguments.as_slice() else {
        panic!("wrong arguments: {arguments:?}");
    };
    let [number, variables]: [u32; 2] =
        [number, variables].map(|text| text.parse().expect("a number"));
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let main = thread::current();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stopped.store(true, Ordering::Relaxed);
        main.unpark();
    });
    let mut builder = Provider::builder(name).registry(registry);
    for n in 0..variables {
        let path = format!("Group{}/Value{n}", n / 100);
        builder = builder.variable(Variable::stored(path, number * variables + n));
    }
    let provider = builder.start().expect("the Provider starts");
    while !provider.is_registered() && !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(5));
    }
    println!("registered");
    while !stop.load(Ordering::Relaxed) {
        thread::park();
    }
}

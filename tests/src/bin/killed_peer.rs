//! The processes of the tests `patience::kills`: a Provider whose values change all the time, or a Consumer that reads and checks them.
//! Each shuts down when its standard input ends, and may be killed by SIGKILL at any time.
//!
//! ```text
//! takt-killed-peer provider REGISTRY NUMBER NAME
//! takt-killed-peer consumer REGISTRY SEED NAME...
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
use std::time::{Duration, Instant};

use takt_app::{ClientError, ClientOptions, Consumer, Item, Provider, Variable, Waiting};
use takt_cell::Cell;
use takt_tests::checked_values::{self, VARIABLES};
use takt_tests::random::Random;
use takt_ua::{DateTime, Elements, StatusCode, Variant};

/// Time limit of a request, connecting included; and the time after which it counts as a hang, which allows for a
/// loaded machine.
const TIMEOUT: Duration = Duration::from_secs(2);
const HANG: Duration = Duration::from_secs(60);
/// Interval of a Consumer's progress reports.
const REPORT: Duration = Duration::from_millis(100);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stopped.store(true, Ordering::Relaxed);
    });
    match arguments.as_slice() {
        ["provider", registry, number, name] => {
            provide(registry, number.parse().expect("a number"), name, &stop);
        }
        ["consumer", registry, seed, names @ ..] => {
            consume(registry, seed.parse().expect("a seed"), names, &stop);
        }
        other => panic!("wrong arguments: {other:?}"),
    }
}

fn provide(registry: &str, number: u32, name: &str, stop: &AtomicBool) {
    let mut variables: Vec<(Vec<u32>, Arc<Cell>)> = VARIABLES
        .iter()
        .map(|(_, length)| {
            let mut elements = vec![0; *length];
            checked_values::fill(number, 0, &mut elements);
            let cell = Arc::new(Cell::of(&Variant::from(elements.clone())));
            (elements, cell)
        })
        .collect();
    let mut builder = Provider::builder(name).registry(registry);
    for ((name, _), (_, cell)) in VARIABLES.iter().zip(&variables) {
        builder = builder.variable(Variable::cell(*name, cell));
    }
    let _provider = builder.start().expect("the Provider starts");
    println!("ready");
    let mut counter = 0;
    while !stop.load(Ordering::Relaxed) {
        counter += 1;
        for (index, (elements, cell)) in variables.iter_mut().enumerate() {
            // The large Variable changes less often, so that mainly the readers are busy.
            if index < 2 || counter % 64 == 0 {
                checked_values::fill(number, counter, elements);
                cell.set_u32s(elements, StatusCode::Good, DateTime::now())
                    .expect("it fits the cell");
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A Variable of a Provider.
struct Wanted {
    item: Item,
    provider: u32,
    length: usize,
}

fn consume(registry: &str, seed: u64, names: &[&str], stop: &AtomicBool) {
    let options = ClientOptions {
        timeout: TIMEOUT,
        waiting: match seed % 4 {
            0 => Waiting::ADAPTIVE,
            _ => Waiting::Sleep,
        },
        ..ClientOptions::named("Killed")
    };
    let mut consumer = Consumer::connect(registry, options).expect("the registry is there");
    let mut wanted = Vec::new();
    for (provider, name) in (0..).zip(names) {
        for (variable, length) in VARIABLES {
            let path = format!("{name}/{variable}");
            let item = consumer.find(&path).expect("the registry knows it");
            let endpoint = item.endpoint().expect("it has an endpoint");
            assert!(endpoint.is_shared_memory(), "{endpoint}");
            wanted.push(Wanted {
                item,
                provider,
                length,
            });
        }
    }
    let mut random = Random::new(seed);
    let mut since = Instant::now();
    let (mut read, mut failed) = (0_u32, 0_u32);
    while !stop.load(Ordering::Relaxed) {
        // Mostly small values, so that the channel is busy; sometimes one that needs memory of its own.
        let variable = match random.below(64) {
            0 => 2,
            1..16 => 1,
            _ => 0,
        };
        let provider = random.below(names.len() as u64) as usize;
        let wanted = &wanted[provider * VARIABLES.len() + variable];
        match request(&mut consumer, wanted) {
            Ok(()) => read += 1,
            Err(error) if error.is_connection() => failed += 1,
            Err(error) => panic!("{}: {error}", wanted.item.path),
        }
        if since.elapsed() >= REPORT {
            println!("{read} {failed}");
            (read, failed, since) = (0, 0, Instant::now());
        }
    }
    println!("{read} {failed}");
}

/// Reads a value and checks it.
fn request(consumer: &mut Consumer, wanted: &Wanted) -> Result<(), ClientError> {
    let started = Instant::now();
    let result = consumer.read(&wanted.item);
    let took = started.elapsed();
    let path = &wanted.item.path;
    assert!(took < HANG, "hang: {path} took {took:?}");
    let value = result?;
    let status = value.status_code();
    assert!(status.is_good(), "{path}: {status}");
    let whole = match &value.value {
        Some(Variant::Array(array)) => match &array.elements {
            Elements::UInt32(elements) => {
                checked_values::is_whole(wanted.provider, wanted.length, elements)
            }
            _ => false,
        },
        _ => false,
    };
    assert!(whole, "torn: {path} is {:?}", value.value);
    Ok(())
}

//! 1000 Variables change 100 times a second, and one Consumer gets each change: 100 000 a second, none lost.
//!
//! ```text
//! cargo run --release -p takt-app --example changes_per_second -- opc.iox2 10
//! ```
//!
//! Every value contains its number, so the Consumer detects missing and reordered values at once. With `cell` as
//! third argument the Variables are cells, which are sampled twice as often as they are set: none is missing unless
//! one side is late by half a cycle.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_app::serve::{ServeOptions, Serving};
use takt_app::{Cell, DateTime, NodeId, Server, StatusCode, StoredValue, Value, Variant};
use takt_app::{
    Client, ClientOptions, Endpoint, MonitoredItemOptions, Subscription, SubscriptionOptions,
};

const VARIABLES: u32 = 1000;
/// Interval of the changes of each Variable.
const CYCLE: Duration = Duration::from_millis(10);
const PUBLISHING_INTERVAL: Duration = Duration::from_millis(10);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let transport = arguments.next().unwrap_or_else(|| "opc.iox2".to_owned());
    let seconds: u64 = arguments.next().map_or(Ok(10), |text| text.parse())?;

    let are_cells = arguments.next().is_some_and(|kind| kind == "cell");

    let server = Server::builder("Changes", "urn:takt:example:changes").build()?;
    let mut values = Vec::new();
    let mut nodes = Vec::new();
    for number in 0..VARIABLES {
        let zero = Variant::from(0_u32);
        let value = if are_cells {
            Value::Cell(Arc::new(Cell::of(&zero)))
        } else {
            Value::Stored(Arc::new(StoredValue::new(&zero)))
        };
        let variable = server
            .address_space()
            .add_variable(format!("V{number}").as_str());
        nodes.push(variable.value(value.clone()).add()?);
        values.push(value);
    }
    let endpoint: Endpoint = match transport.as_str() {
        "opc.tcp" => "opc.tcp://127.0.0.1:0".parse()?,
        _ => format!("opc.iox2://Changes{}", std::process::id()).parse()?,
    };
    let serving = Serving::start(&server, &[endpoint], ServeOptions::default())?;
    let client = Client::connect(&serving.endpoints()[0], ClientOptions::named("Consumer"))?;
    let interval = if are_cells { CYCLE / 2 } else { Duration::ZERO };
    let mut subscription = subscribe(client, nodes, interval)?;

    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let stop = Arc::clone(&stop);
        std::thread::spawn(move || write(&values, &stop))
    };
    let result = count(&mut subscription, Duration::from_secs(seconds));
    stop.store(true, Ordering::Relaxed);
    let late_cycles = writer.join().map_err(|_| "the writer panicked")?;
    let (received, missing, took) = result?;
    println!(
        "{transport}: {received} changes in {:.2} s, {:.0} a second; {missing} missing, {} messages lost, {late_cycles} cycles late",
        took.as_secs_f64(),
        f64::from(received) / took.as_secs_f64(),
        subscription.lost_messages(),
    );
    if missing > 0 {
        return Err("changes were lost".into());
    }
    Ok(())
}

fn subscribe(
    client: Client,
    nodes: Vec<NodeId>,
    sampling_interval: Duration,
) -> Result<Subscription, Box<dyn Error>> {
    let options = SubscriptionOptions {
        publishing_interval: PUBLISHING_INTERVAL,
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(client, options)?;
    // Queues for one second of changes, in case this process has to wait for a core.
    let item = MonitoredItemOptions {
        sampling_interval,
        queue_size: 100,
        ..MonitoredItemOptions::default()
    };
    let items = nodes.into_iter().map(|node| (node, item.clone()));
    for result in subscription.monitor_all(items.collect())? {
        result.map_err(|status| format!("a Variable cannot be watched: {status}"))?;
    }
    Ok(subscription)
}

/// Increments each Variable once per cycle; returns the number of cycles that were late.
fn write(values: &[Value], stop: &AtomicBool) -> u32 {
    let mut next = Instant::now();
    let mut late = 0;
    for count in 1_u32.. {
        for value in values {
            match value {
                Value::Stored(stored) => stored.set(count),
                Value::Cell(cell) => {
                    // Setting cannot fail: the type matches, and no other thread sets the cell.
                    let _ = cell.set_scalar(count, StatusCode::Good, DateTime::now());
                }
                _ => {}
            }
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        next += CYCLE;
        match next.checked_duration_since(Instant::now()) {
            Some(left) => std::thread::sleep(left),
            None => {
                late += 1;
                // Stored values catch up; a cell that is set twice in a row shows the second value only.
                if matches!(values, [Value::Cell(_), ..]) {
                    next = Instant::now();
                }
            }
        }
    }
    late
}

/// Receives for a while; returns the number of changes, the number of missing ones, and the duration.
fn count(
    subscription: &mut Subscription,
    time: Duration,
) -> Result<(u32, u32, Duration), Box<dyn Error>> {
    let mut last = vec![0_u32; VARIABLES as usize + 1];
    let (mut received, mut missing) = (0, 0);
    // The first values are the ones before the first change.
    let mut began = None;
    loop {
        let change = subscription
            .next(Duration::from_secs(5))?
            .ok_or("nothing comes any more")?;
        let Some(Variant::UInt32(value)) = change.value.value else {
            return Err("a value that was never set".into());
        };
        let last = &mut last[change.client_handle as usize];
        if value > 0 {
            let began = *began.get_or_insert_with(Instant::now);
            received += 1;
            missing += value.abs_diff(*last + 1);
            let took = began.elapsed();
            if took >= time {
                return Ok((received, missing, took));
            }
        }
        *last = value;
    }
}

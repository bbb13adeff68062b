//! The Consumer of the demonstration. It browses the registry and uses the Providers. Then it shows live values, and the duration
//! of a Read over shared memory and over TCP.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use takt_app::client::{Client, ClientOptions, Follow};
use takt_app::{ClientError, Consumer, Item, ProviderEntry};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::EUInformation;
use takt_ua::{DataValue, NodeId, StatusCode, Variant, ids};

use crate::latency::{Latency, Summary};
use crate::screen::Screen;
use crate::{host, machine, tree};

/// Interval at which the live values are updated.
const REFRESH: Duration = Duration::from_millis(500);

/// Number of Reads over each transport that are timed for one update.
const READS: usize = 200;

/// Levels of the tree. Deeper levels are joined in one line.
const MAX_DEPTH: usize = 32;

/// Variable whose Reads are timed over both transports.
const TIMED: &str = "Spindle/Speed";

/// Error that ends the Consumer of the demonstration.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The Consumer cannot use the registry or a Provider.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The standard output cannot be written.
    #[error("cannot write to the standard output: {0}")]
    Output(#[from] io::Error),
}

/// Runs the Consumer until `run_for` has passed or `stop` is set. It shares memory with `group`, or only with its own user.
pub fn run(
    registry: &str,
    group: Option<&str>,
    run_for: Option<Duration>,
    stop: &AtomicBool,
) -> Result<(), DemoError> {
    let end = run_for.map(|time| Instant::now() + time);
    let options = ClientOptions {
        group: group.map(str::to_owned),
        ..ClientOptions::named("Demo Consumer")
    };
    let mut consumer = Consumer::connect(registry, options)?;
    let screen = Screen::new();
    let providers = wait_for_providers(&mut consumer, stop)?;
    let mut items = Vec::new();
    for provider in &providers {
        let found: Vec<Shown> = consumer
            .items(provider)?
            .into_iter()
            .map(|item| Shown {
                unit: unit(&mut consumer, &item).unwrap_or_default(),
                item,
            })
            .collect();
        show_tree(&screen, &mut consumer, provider, &found)?;
        items.extend(found);
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    use_the_machine(&screen, &mut consumer)?;
    let mut live = Live::new(&mut consumer, items)?;
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
        let started = Instant::now();
        live.refresh(&screen, &mut consumer)?;
        while started.elapsed() < REFRESH
            && !stop.load(Ordering::Relaxed)
            && end.is_none_or(|end| Instant::now() < end)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    screen.finish();
    Ok(())
}

/// Returns the Providers of the demonstration, once both have registered.
fn wait_for_providers(
    consumer: &mut Consumer,
    stop: &AtomicBool,
) -> Result<Vec<ProviderEntry>, ClientError> {
    let give_up = Instant::now() + Duration::from_secs(10);
    loop {
        let providers = consumer.providers()?;
        let ready = [host::NAME, machine::NAME].iter().all(|name| {
            providers
                .iter()
                .any(|provider| provider.name == *name && provider.available)
        });
        if ready || stop.load(Ordering::Relaxed) {
            return Ok(providers);
        }
        if Instant::now() > give_up {
            return Err(ClientError::Invalid(
                "the Providers did not register within 10 s".to_owned(),
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A Variable or Method with the symbol of its unit, which comes from the registry.
struct Shown {
    item: Item,
    unit: String,
}

fn show_tree(
    screen: &Screen,
    consumer: &mut Consumer,
    provider: &ProviderEntry,
    items: &[Shown],
) -> io::Result<()> {
    let endpoints: Vec<String> = provider.endpoints.iter().map(ToString::to_string).collect();
    screen.line(&format!("{}  ({})", provider.name, endpoints.join(", ")))?;
    let rows: Vec<tree::Row<'_>> = items
        .iter()
        .map(|shown| {
            let segments = shown.item.path.splitn(MAX_DEPTH, '/').skip(1).collect();
            (segments, describe(consumer, shown))
        })
        .collect();
    for line in tree::lines(&rows) {
        screen.line(&line)?;
    }
    screen.line("")
}

/// Describes an item for people, beside its name.
fn describe(consumer: &mut Consumer, shown: &Shown) -> String {
    if shown.item.node_class == NodeClass::Method {
        return "()".to_owned();
    }
    let length = match consumer.read(&shown.item).map(|value| value.value) {
        Ok(Some(Variant::Array(array))) => format!("[{}]", array.len()),
        _ => String::new(),
    };
    match shown.unit.as_str() {
        "" => length,
        unit => format!("{length}  [{unit}]"),
    }
}

/// Returns the symbol of an item's EngineeringUnits; `None` if it has none.
fn unit(consumer: &mut Consumer, item: &Item) -> Option<String> {
    let registry = consumer.registry();
    let property = registry
        .browse(&item.node_id, &Follow::forward(ids::HAS_PROPERTY))
        .ok()?
        .into_iter()
        .find(|property| property.browse_name.name.as_str() == "EngineeringUnits")?;
    let Variant::ExtensionObject(object) = registry.read_good(&property.node_id.node_id).ok()?
    else {
        return None;
    };
    let unit = object.decode_as::<EUInformation>().ok()?;
    Some(unit.display_name.text.as_str().to_owned())
}

/// Reads, writes and calls like any Consumer, and shows refusals by the machine.
fn use_the_machine(screen: &Screen, consumer: &mut Consumer) -> Result<(), DemoError> {
    let override_percent = consumer.find("Machine/Spindle/Override")?;
    consumer.write(&override_percent, 80.0)?;
    let value = consumer.read(&override_percent)?;
    screen.line(&format!(
        "write  Machine/Spindle/Override = 80  →  {}",
        text(&value)
    ))?;

    let too_much = consumer.write(&override_percent, 500.0);
    screen.line(&format!(
        "write  Machine/Spindle/Override = 500  →  {}",
        outcome(&too_much)
    ))?;

    let start = consumer.find("Machine/Start")?;
    // The machine may still be turning from an earlier run of this Consumer. Then it refuses the call, and the demonstration
    // continues.
    let started = consumer.call(&start, Vec::new());
    screen.line(&format!("call   Machine/Start()  →  {}", outcome(&started)))?;
    let again = consumer.call(&start, Vec::new());
    screen.line(&format!("call   Machine/Start()  →  {}", outcome(&again)))?;

    let set_interval = consumer.find("HostTelemetry/SetSamplingInterval")?;
    let revised = consumer.call(&set_interval, vec![Variant::Double(100.0)])?;
    let revised = revised
        .first()
        .map(takt_ua::json::to_value)
        .unwrap_or_default();
    screen.line(&format!(
        "call   HostTelemetry/SetSamplingInterval(100)  →  {revised}"
    ))?;
    screen.line("")?;
    Ok(())
}

fn outcome<T>(result: &Result<T, ClientError>) -> String {
    match result {
        Ok(_) => StatusCode::Good.to_string(),
        Err(error) => error.status_code().to_string(),
    }
}

/// Live part: values, and the latency of Reads over both transports.
struct Live {
    items: Vec<Shown>,
    timed: Item,
}

impl Live {
    fn new(consumer: &mut Consumer, items: Vec<Shown>) -> Result<Self, ClientError> {
        let timed = consumer.find(&format!("{}/{TIMED}", machine::NAME))?;
        let items = items
            .into_iter()
            .filter(|shown| shown.item.node_class == NodeClass::Variable)
            .collect();
        Ok(Self { items, timed })
    }

    fn refresh(&mut self, screen: &Screen, consumer: &mut Consumer) -> io::Result<()> {
        let mut lines = Vec::new();
        for Shown { item, unit } in &self.items {
            let shown = match consumer.read(item) {
                Ok(value) => format!("{} {unit}", text(&value)),
                Err(error) => error.status_code().to_string(),
            };
            lines.push(format!("{:<44} {shown}", item.path));
        }
        lines.push(String::new());
        lines.push(format!(
            "Read of {}, {READS} back to back, µs          min   median      p99      max",
            self.timed.path
        ));
        for scheme in ["opc.iox2", "opc.tcp"] {
            let latency = match self.timed.via(scheme) {
                Some(item) => time_reads(consumer, &item),
                None => Err(StatusCode::BadNotConnected),
            };
            lines.push(match latency {
                Ok(summary) => latency_line(scheme, &summary),
                Err(status) => format!("  {scheme:<12} {status}"),
            });
        }
        screen.show(&lines)
    }
}

fn time_reads(consumer: &mut Consumer, item: &Item) -> Result<Summary, StatusCode> {
    let (client, node) = consumer
        .provider(item)
        .map_err(|error| error.status_code())?;
    let mut latency = Latency::default();
    for _ in 0..READS {
        latency.record(time_read(client, &node)?);
    }
    latency.summary().ok_or(StatusCode::BadNoData)
}

fn time_read(client: &mut Client, node: &NodeId) -> Result<Duration, StatusCode> {
    let started = Instant::now();
    let value = client.read(node).map_err(|error| error.status_code())?;
    let elapsed = started.elapsed();
    match value.status_code() {
        status if status.is_bad() => Err(status),
        _ => Ok(elapsed),
    }
}

fn latency_line(scheme: &str, summary: &Summary) -> String {
    let micros = |time: Duration| format!("{:>8.1}", time.as_secs_f64() * 1e6);
    format!(
        "  {scheme:<44} {} {} {} {}",
        micros(summary.min),
        micros(summary.median),
        micros(summary.p99),
        micros(summary.max)
    )
}

/// Formats a value for people: numbers with few digits, arrays by their last elements, a StatusCode unless Good.
fn text(value: &DataValue) -> String {
    let shown = match &value.value {
        Some(Variant::Double(number)) => format!("{number:.1}"),
        Some(Variant::Array(array)) => match &array.elements {
            takt_ua::Elements::UInt32(elements) => match elements.last() {
                Some(last) => format!("… {last} ({} samples)", elements.len()),
                None => "[]".to_owned(),
            },
            _ => format!("{} elements", array.len()),
        },
        Some(other) => takt_ua::json::to_value(other).to_string(),
        None => String::new(),
    };
    match value.status_code() {
        status if status.is_good() => shown,
        status => format!("{shown} {status}"),
    }
}

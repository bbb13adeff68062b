//! The Consumer of the demonstration. It browses the registry and uses the Providers. Then it shows live values, and the duration
//! of a Read over shared memory and over TCP.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use takt_app::client::{Client, ClientOptions};
use takt_app::model::DEFAULT_REGISTRY;
use takt_app::{ClientError, Consumer, Item, ProviderEntry};
use takt_rt::time_limit::TimeLimit;
use takt_terminal::{Screen, Style, StyledLine, try_line};
use takt_ua::enumerations::NodeClass;
use takt_ua::{NodeId, StatusCode, Variant};

use crate::dashboard::{Dashboard, Section};
use crate::gauge::Gauge;
use crate::keys::Keys;
use crate::latency::{Latency, LatencySummary};
use crate::requests::{Request, use_the_machine};
use crate::{events, host, machine, tree};

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

/// Choices of the Consumer.
#[derive(Debug, Clone, Copy)]
pub struct ConsumerOptions<'a> {
    /// Endpoint of the registry.
    pub registry: &'a str,
    /// Unix group with which memory is shared; `None` is the own user alone.
    pub group: Option<&'a str>,
    /// Time after which the Consumer ends; `None` is no end.
    pub run_for: Option<Duration>,
    /// Endpoints of the registry for the output for programs, which replaces the one for people.
    pub events: Option<&'a [String]>,
}

/// Runs the Consumer until its time has passed or `stop` is set.
///
/// # Errors
/// [`DemoError`].
pub fn run(options: &ConsumerOptions<'_>, stop: &AtomicBool) -> Result<(), DemoError> {
    let end = TimeLimit::of(options.run_for);
    let client = ClientOptions {
        group: options.group.map(str::to_owned),
        ..ClientOptions::named("Demo Consumer")
    };
    let mut consumer = Consumer::connect(options.registry, client)?;
    let screen = Screen::new();
    let providers = wait_for_providers(&mut consumer, stop)?;
    if let Some(endpoints) = options.events {
        try_line(events::ready(DEFAULT_REGISTRY, endpoints, &providers))?;
    }
    let mut items = Vec::new();
    for provider in &providers {
        let found: Vec<Shown> = consumer
            .items(provider)?
            .into_iter()
            .map(|item| Shown {
                gauge: Gauge::of(&mut consumer, &item),
                item,
            })
            .collect();
        if !screen.is_terminal() && options.events.is_none() {
            show_tree(&screen, &mut consumer, provider, &found)?;
        }
        items.extend(found);
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let requests = use_the_machine(&mut consumer)?;
    let mut live = Live::new(&mut consumer, providers, items, requests)?;
    if options.events.is_some() {
        for request in &live.requests {
            try_line(request.event())?;
        }
    }
    let mut keys = Keys::new();
    let has_keys = keys.exist();
    let mut ends = || {
        if keys.pressed(b'q') {
            stop.store(true, Ordering::Relaxed);
        }
        stop.load(Ordering::Relaxed) || end.is_over()
    };
    while !ends() {
        let started = Instant::now();
        match options.events {
            Some(_) => try_line(live.event(&mut consumer))?,
            None => live.refresh(&screen, &mut consumer, has_keys)?,
        }
        // Short sleeps, so that a key or a signal ends the program soon.
        while started.elapsed() < REFRESH && !ends() {
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
        let mut providers = consumer.providers()?;
        let ready = [host::NAME, machine::NAME].iter().all(|name| {
            providers
                .iter()
                .any(|provider| provider.name == *name && provider.available)
        });
        if ready || stop.load(Ordering::Relaxed) {
            // The Machine is the more interesting one.
            providers.sort_by_key(|provider| provider.name != machine::NAME);
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

/// A Variable or Method with its last values.
struct Shown {
    item: Item,
    gauge: Gauge,
}

fn show_tree(
    screen: &Screen,
    consumer: &mut Consumer,
    provider: &ProviderEntry,
    items: &[Shown],
) -> io::Result<()> {
    screen.line(&format!("{}  ({})", provider.name, endpoints(provider)))?;
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

fn endpoints(provider: &ProviderEntry) -> String {
    let endpoints: Vec<String> = provider.endpoints.iter().map(ToString::to_string).collect();
    endpoints.join(", ")
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
    match shown.gauge.unit() {
        "" => length,
        unit => format!("{length}  [{unit}]"),
    }
}

/// Live part: values, and the latency of Reads over both transports.
struct Live {
    providers: Vec<ProviderEntry>,
    items: Vec<Shown>,
    requests: Vec<Request>,
    timed: Item,
}

impl Live {
    fn new(
        consumer: &mut Consumer,
        providers: Vec<ProviderEntry>,
        items: Vec<Shown>,
        requests: Vec<Request>,
    ) -> Result<Self, ClientError> {
        let timed = consumer.find(&format!("{}/{TIMED}", machine::NAME))?;
        let items = items
            .into_iter()
            .filter(|shown| shown.item.node_class == NodeClass::Variable)
            .collect();
        Ok(Self {
            providers,
            items,
            requests,
            timed,
        })
    }

    /// Reads all values.
    fn read(&mut self, consumer: &mut Consumer) {
        for shown in &mut self.items {
            shown.gauge.note(consumer.read(&shown.item));
        }
    }

    /// Reads all values, and returns them for programs.
    fn event(&mut self, consumer: &mut Consumer) -> Value {
        self.read(consumer);
        let times = self.times(consumer);
        let values = self.items.iter();
        events::values(
            values.map(|shown| (shown.item.path.as_str(), &shown.gauge)),
            &times,
        )
    }

    fn refresh(
        &mut self,
        screen: &Screen,
        consumer: &mut Consumer,
        has_keys: bool,
    ) -> io::Result<()> {
        self.read(consumer);
        let requests: Vec<StyledLine> = self.requests.iter().map(Request::line).collect();
        let latency = self.latency(consumer);
        let sections = self.providers.iter().map(|provider| Section {
            name: &provider.name,
            endpoints: endpoints(provider),
            rows: self
                .items
                .iter()
                .filter_map(|shown| {
                    let (name, path) = shown.item.path.split_once('/')?;
                    (name == provider.name).then_some((path, &shown.gauge))
                })
                .collect(),
        });
        let dashboard = Dashboard {
            sections: sections.collect(),
            requests: &requests,
            latency,
            has_keys,
        };
        screen.show_lines(&dashboard.lines(screen.height()))
    }

    fn latency(&self, consumer: &mut Consumer) -> Vec<StyledLine> {
        let title = format!("{READS} Reads of {}, µs", self.timed.path);
        let mut lines = vec![
            StyledLine::new()
                .with(Style::Title, format!("{title:<44}"))
                .with(Style::Label, "      min   median      p99      max"),
        ];
        for (scheme, latency) in self.times(consumer) {
            lines.push(match latency {
                Ok(summary) => StyledLine::from(latency_line(scheme, &summary).as_str()),
                Err(status) => StyledLine::new()
                    .with(Style::Plain, format!("  {scheme:<12} "))
                    .with(Style::Bad, status.to_string()),
            });
        }
        lines
    }

    /// Times Reads over each transport.
    fn times(
        &self,
        consumer: &mut Consumer,
    ) -> Vec<(&'static str, Result<LatencySummary, StatusCode>)> {
        let mut times = Vec::new();
        for scheme in ["opc.iox2", "opc.tcp"] {
            times.push(match self.timed.via(scheme) {
                Some(item) => (scheme, time_reads(consumer, &item)),
                // The demonstration may be without an endpoint over TCP.
                None if scheme == "opc.tcp" => continue,
                None => (scheme, Err(StatusCode::BadNotConnected)),
            });
        }
        times
    }
}

fn time_reads(consumer: &mut Consumer, item: &Item) -> Result<LatencySummary, StatusCode> {
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

fn latency_line(scheme: &str, summary: &LatencySummary) -> String {
    let micros = |time: Duration| format!("{:>8.1}", time.as_secs_f64() * 1e6);
    format!(
        "  {scheme:<42} {} {} {} {}",
        micros(summary.min),
        micros(summary.median),
        micros(summary.p99),
        micros(summary.max)
    )
}

//! Many sessions with Subscriptions at one server: lost notifications, delays, processor time and memory.
//!
//! Each value of the server counts up at an interval, and each session monitors all of them. So a client knows each value that
//! it has to get: a gap is a lost notification, whatever its reason. Server and clients are a process each.

mod options;
mod server;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;
use takt_app::{
    Client, ClientOptions, ClientSecurity, DataChange, Endpoint, MonitoredItemOptions,
    Subscription, SubscriptionOptions,
};
use takt_figures::{Column, Report, Table};
use takt_rt::process as system;
use takt_ua::{DateTime, Variant};

pub use options::Options;
pub(crate) use server::CountingServer;

use crate::assignment::Assignment;
use crate::error::{BenchError, check_interrupt};
use crate::measure::{Percentiles, Samples};
use crate::process::Process;
use crate::programs;

/// Subject in errors.
const SESSION: &str = "a session";

/// Queue of each item: values of this many intervals.
const QUEUE: u32 = 10;

/// Time after the beginning until which first values may still be on their way.
const SETTLED: Duration = Duration::from_secs(2);

/// Time after the last request until the memory of idle sessions is measured: the server frees the buffers of a
/// connection after 5 s without a request.
const UNTIL_IDLE: Duration = Duration::from_secs(6);

/// Result of a run.
#[derive(Debug, Serialize)]
struct Row {
    sessions: u32,
    items: u32,
    security: String,
    seconds: f64,
    /// Time of one connection with its session and Subscription, in ms.
    connect_ms: f64,
    notifications: u64,
    notifications_per_second: f64,
    lost: u64,
    /// From the change of a value to its arrival, in µs.
    delay_us: Percentiles,
    /// Processor time in percent of one core.
    server_cpu: f64,
    client_cpu: f64,
    /// Memory of the server for one session without and with its Subscription, in bytes.
    idle_session_bytes: i64,
    session_bytes: i64,
}

/// A session and the values that it has got.
struct Observed {
    subscription: Subscription,
    /// Last value of each item, by its handle; 0: none yet.
    last: Vec<u32>,
}

/// Runs the benchmark and prints its lines.
///
/// # Errors
/// [`BenchError`]: a session cannot be opened, or loses its connection.
pub fn run(
    options: &Options,
    interrupted: &AtomicBool,
    line: impl FnMut(String),
) -> Result<(), BenchError> {
    takt_rt::descriptors::raise_limit();
    let mut report = takt_profile::results(line, options.json);
    let folder = tempfile::tempdir().map_err(BenchError::system("make a folder"))?;
    let program = programs::own()?;
    let assignment = CountingServer {
        variables: options.items,
        interval: options.interval,
        sessions: options.sessions,
        certificates: folder.path().join("pki"),
    };
    let server = Process::start(
        "the server of the sessions",
        &mut assignment.command(&program)?,
    )?;
    let endpoint: Endpoint = server
        .ready()
        .endpoint
        .parse()
        .map_err(BenchError::round_trip(SESSION))?;
    let client_options = ClientOptions {
        timeout: Duration::from_secs(20),
        session_timeout: Duration::from_secs(3600),
        security: ClientSecurity {
            choice: options.security.clone(),
            // The applications of one folder trust each other.
            certificates: Some(folder.path().join("pki")),
            ..ClientSecurity::default()
        },
        ..ClientOptions::named("TaktBenchSessions")
    };
    let begin = Instant::now();
    let before = memory(server.id());
    let mut clients = Vec::new();
    for _ in 0..options.sessions {
        check_interrupt(interrupted)?;
        let client = Client::connect(&endpoint, client_options.clone());
        clients.push(client.map_err(BenchError::round_trip(SESSION))?);
    }
    let mut connect = begin.elapsed();
    let until = Instant::now() + UNTIL_IDLE;
    while Instant::now() < until {
        check_interrupt(interrupted)?;
        std::thread::sleep(Duration::from_millis(100));
    }
    let idle = memory(server.id());
    let begin = Instant::now();
    let mut observed = Vec::new();
    for client in clients {
        check_interrupt(interrupted)?;
        observed.push(subscribe(client, options)?);
    }
    connect += begin.elapsed();
    let subscribed = memory(server.id());
    let run = observe(&mut observed, server.id(), options, interrupted)?;
    let each = |bytes: i64| bytes / i64::from(options.sessions);
    let row = Row {
        sessions: options.sessions,
        items: options.items,
        security: options.security.to_string(),
        connect_ms: connect.as_secs_f64() * 1000.0 / f64::from(options.sessions),
        idle_session_bytes: each(idle - before),
        session_bytes: each(subscribed - before),
        ..run
    };
    show(&mut report, &row);
    report.row(&row)?;
    Ok(())
}

/// Returns the memory of a process in bytes; 0 if the kernel does not tell.
fn memory(process: u32) -> i64 {
    let memory = system::memory(process).map_or(0, system::Memory::bytes);
    i64::try_from(memory).unwrap_or(i64::MAX)
}

fn subscribe(client: Client, options: &Options) -> Result<Observed, BenchError> {
    let failed = BenchError::round_trip(SESSION);
    let subscription = SubscriptionOptions {
        publishing_interval: options.interval(),
        ..SubscriptionOptions::default()
    };
    let mut subscription = Subscription::create(client, subscription).map_err(failed)?;
    let item = MonitoredItemOptions {
        sampling_interval: Duration::ZERO,
        queue_size: QUEUE,
        ..MonitoredItemOptions::default()
    };
    let items = (0..options.items).map(|number| (server::variable(number), item.clone()));
    let results = subscription.monitor_all(items.collect());
    let results = results.map_err(BenchError::round_trip(SESSION))?;
    for result in results {
        result.map_err(BenchError::round_trip(SESSION))?;
    }
    Ok(Observed {
        subscription,
        last: vec![0; usize::try_from(options.items).unwrap_or_default() + 1],
    })
}

/// Takes the notifications of all sessions in turns, for the time of the measurement.
fn observe(
    sessions: &mut [Observed],
    server: u32,
    options: &Options,
    interrupted: &AtomicBool,
) -> Result<Row, BenchError> {
    let settled = Instant::now() + SETTLED;
    let mut samples = Samples::nanos();
    let (mut received, mut lost) = (0_u64, 0_u64);
    let cpu = |process| system::cpu_time(process).unwrap_or_default();
    let mut begun: Option<(Instant, [Duration; 2])> = None;
    loop {
        check_interrupt(interrupted)?;
        let now = Instant::now();
        if begun.is_none() && now >= settled {
            begun = Some((now, [cpu(server), cpu(std::process::id())]));
        }
        if begun.is_some_and(|(at, _)| now >= at + options.duration()) {
            break;
        }
        let mut any = false;
        for session in &mut *sessions {
            loop {
                let change = session.subscription.next(Duration::ZERO);
                let Some(change) = change.map_err(BenchError::round_trip(SESSION))? else {
                    break;
                };
                any = true;
                let missing = session.take(&change)?;
                if begun.is_some() {
                    received += 1;
                    lost += missing;
                    samples.record(delay(&change));
                }
            }
        }
        if !any {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let Some((at, before)) = begun else {
        return Err(BenchError::Interrupted);
    };
    let seconds = at.elapsed().as_secs_f64();
    let load = |process, before: Duration| {
        100.0 * cpu(process).saturating_sub(before).as_secs_f64() / seconds
    };
    Ok(Row {
        sessions: options.sessions,
        items: options.items,
        security: String::new(),
        seconds,
        connect_ms: 0.0,
        notifications: received,
        notifications_per_second: received as f64 / seconds,
        lost,
        delay_us: samples.percentiles(),
        server_cpu: load(server, before[0]),
        client_cpu: load(std::process::id(), before[1]),
        idle_session_bytes: 0,
        session_bytes: 0,
    })
}

impl Observed {
    /// Notes a value. Returns the number of values that are missing before it.
    fn take(&mut self, change: &DataChange) -> Result<u64, BenchError> {
        let at = usize::try_from(change.client_handle).unwrap_or_default();
        let (Some(last), Some(Variant::UInt32(value))) =
            (self.last.get_mut(at), &change.value.value)
        else {
            return Err(BenchError::round_trip(SESSION)(format!(
                "an unexpected value: {:?}",
                change.value
            )));
        };
        let missing = match *last {
            0 => 0,
            before => u64::from(value.saturating_sub(before.saturating_add(1))),
        };
        *last = *value;
        Ok(missing)
    }
}

/// Returns the time since the change of a value in nanoseconds.
fn delay(change: &DataChange) -> u64 {
    let changed = change.value.source_timestamp.unwrap_or_default();
    let ticks = DateTime::now().0.saturating_sub(changed.0);
    u64::try_from(ticks).unwrap_or_default().saturating_mul(100)
}

fn show(report: &mut Report<impl FnMut(String)>, row: &Row) {
    report.note(&format!(
        "{} sessions ({}) with {} items each, {:.0} s",
        row.sessions, row.security, row.items, row.seconds
    ));
    let mut table = Table::new([Column::text("quantity"), Column::number("value")]);
    let mut add = |name: &str, value: String| table.row([name.to_owned(), value]);
    add("notifications", row.notifications.to_string());
    add(
        "notifications per second",
        format!("{:.0}", row.notifications_per_second),
    );
    add("lost", row.lost.to_string());
    let delay = &row.delay_us;
    add("delay, median (ms)", format!("{:.1}", delay.p50 / 1000.0));
    add("delay, 99 % (ms)", format!("{:.1}", delay.p99 / 1000.0));
    add("delay, longest (ms)", format!("{:.1}", delay.max / 1000.0));
    add(
        "processor of the server (%)",
        format!("{:.0}", row.server_cpu),
    );
    add(
        "processor of the clients (%)",
        format!("{:.0}", row.client_cpu),
    );
    add(
        "time to connect and subscribe (ms)",
        format!("{:.1}", row.connect_ms),
    );
    add(
        "server's memory of an idle session (KiB)",
        kib(row.idle_session_bytes),
    );
    add(
        "server's memory with the items (KiB)",
        kib(row.session_bytes),
    );
    report.table(&table);
}

fn kib(bytes: i64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0)
}

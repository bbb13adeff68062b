//! `takt ps`: the applications on this host.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use takt_rt::process::{self, Memory, State};
use takt_shm::{Counts, Presence, URL_SCHEME};

use crate::arguments::PsArguments;
use crate::interrupt::Interrupt;
use crate::{explain, output};

const HEADINGS: [&str; 6] = [
    "ENDPOINT",
    "PROCESS",
    "CLIENTS",
    "REQUESTS/S",
    "MEMORY",
    "STATE",
];

/// An application, with what the kernel says of its process.
struct Row {
    endpoint: String,
    process: Option<u32>,
    counts: Option<Counts>,
    /// Requests per second.
    rate: Option<f64>,
    memory: Option<Memory>,
    /// For programs, and for people.
    state: (&'static str, &'static str),
}

pub fn run(arguments: &PsArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install()?;
    let applications =
        takt_shm::applications(None).map_err(|error| explain::shared_memory(&error))?;
    let look = || -> Vec<Option<(Instant, Counts)>> {
        let counts = applications.iter().map(Presence::counts);
        counts.map(|it| Some((Instant::now(), it?))).collect()
    };
    let before = look();
    if before.iter().any(Option::is_some) {
        interrupt.wait(Some(arguments.interval));
    }
    let after = look();
    let rows: Vec<Row> = applications
        .iter()
        .zip(before.into_iter().zip(after))
        .map(|(presence, (before, after))| row(presence, before, after))
        .collect();
    if arguments.json {
        rows.iter().for_each(|row| output::line(as_json(row)));
    } else if rows.is_empty() {
        output::line("no applications; `takt demo` starts some");
    } else {
        table(&rows);
    }
    Ok(())
}

fn row(
    presence: &Presence,
    before: Option<(Instant, Counts)>,
    after: Option<(Instant, Counts)>,
) -> Row {
    let rate = before.zip(after).and_then(|((start, first), (end, last))| {
        let time = end.duration_since(start);
        let requests = last.requests.checked_sub(first.requests)?;
        (time > Duration::ZERO).then(|| requests as f64 / time.as_secs_f64())
    });
    let doing = presence.process.and_then(process::state);
    let state = match doing {
        None | Some(State::Ended) => ("dead", "dead: name left behind"),
        Some(State::Stopped) => ("stopped", "stopped"),
        Some(_) if after.is_none() => ("notAnswering", "not answering"),
        Some(State::Running) => ("running", "running"),
        Some(State::Sleeping) => ("sleeping", "sleeping"),
    };
    Row {
        endpoint: format!("{URL_SCHEME}://{}", presence.name),
        process: presence.process,
        counts: after.map(|(_, counts)| counts),
        rate,
        memory: presence.process.and_then(process::memory),
        state,
    }
}

fn as_json(row: &Row) -> Value {
    let kind = row.memory.map(|memory| match memory {
        Memory::Proportional(_) => "PSS",
        Memory::Resident(_) => "RSS",
    });
    json!({
        "endpoint": row.endpoint,
        "process": row.process,
        "clients": row.counts.map(|counts| counts.connections),
        "requests": row.counts.map(|counts| counts.requests),
        "requestsPerSecond": row.rate,
        "memory": row.memory.map(Memory::bytes),
        "memoryKind": kind,
        "state": row.state.0,
    })
}

fn table(rows: &[Row]) {
    let mut lines = vec![HEADINGS.map(str::to_owned)];
    lines.extend(rows.iter().map(|row| {
        [
            row.endpoint.clone(),
            or_dash(row.process),
            or_dash(row.counts.map(|counts| counts.connections)),
            or_dash(row.rate.map(|rate| format!("{rate:.0}"))),
            or_dash(row.memory.map(|memory| mebibytes(memory.bytes()))),
            row.state.1.to_owned(),
        ]
    }));
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let lengths = lines.iter().map(|line| line[column].chars().count());
        lengths.max().unwrap_or_default()
    });
    for [endpoint, process, clients, rate, memory, state] in lines {
        let [a, b, c, d, e, _] = widths;
        output::line(format_args!(
            "{endpoint:a$}  {process:>b$}  {clients:>c$}  {rate:>d$}  {memory:>e$}  {state}"
        ));
    }
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

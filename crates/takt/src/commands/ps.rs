//! `takt ps`: the applications on this host.

use std::time::{Duration, Instant};

use miette::IntoDiagnostic;
use serde_json::{Value, json};
use takt_app::client::{Client, ClientOptions};
use takt_app::{Endpoint, FLOWS};
use takt_figures::{Column, Report, Table};
use takt_rt::interrupt::Interrupt;
use takt_rt::process::{self, Memory, ProcessState};
use takt_shm::{Counts, Presence, Runtime, ShmError, URL_SCHEME};
use takt_ua::{DataValue, NodeId, Variant};

use crate::arguments::PsArguments;
use crate::{explain, output};

/// An application, with the kernel's data on its process.
struct Row {
    endpoint: String,
    /// Group of its shared memory; `None` if only the user has access.
    group: Option<String>,
    process: Option<u32>,
    counts: Option<Counts>,
    /// Requests per second.
    rate: Option<f64>,
    memory: Option<Memory>,
    /// Memory budget of the application.
    budget: Option<Budget>,
    /// Watched flows of the application.
    flows: Option<Flows>,
    /// State for programs, and state for people.
    state: (&'static str, &'static str),
}

/// Memory that a server holds for its clients, in bytes.
#[derive(Clone, Copy)]
struct Budget {
    used: u64,
    peak: u64,
    limit: u64,
}

/// Flows of PubSub whose times an application compares with proven ones.
#[derive(Clone, Copy)]
struct Flows {
    count: u64,
    /// Greatest measured time divided by its proven time; `None` if nothing was measured.
    greatest_share: Option<f64>,
    /// Number of times above their bounds.
    late: u64,
}

/// Longest time for the answer of an application.
const PATIENCE: Duration = Duration::from_millis(500);

/// Asks an application for its budget and its flows; each is `None` without an answer.
fn ask(endpoint: &str, group: Option<&str>) -> (Option<Budget>, Option<Flows>) {
    let connect = || {
        let endpoint: Endpoint = endpoint.parse().ok()?;
        let options = ClientOptions {
            timeout: PATIENCE,
            group: group.map(str::to_owned),
            ..ClientOptions::named("takt ps")
        };
        Client::connect(&endpoint, options).ok()
    };
    match connect() {
        None => (None, None),
        Some(mut client) => (Budget::of(&mut client), Flows::of(&mut client)),
    }
}

/// Reads a Variable in the namespace of the server itself.
fn own(client: &mut Client, name: &str) -> Option<DataValue> {
    client.read(&NodeId::string(1, name)).ok()
}

fn number(client: &mut Client, name: &str) -> Option<u64> {
    match own(client, name)?.value? {
        Variant::UInt64(number) => Some(number),
        _ => None,
    }
}

impl Flows {
    fn of(client: &mut Client) -> Option<Self> {
        let count = number(client, &format!("{FLOWS}/Count"))?;
        let share = own(client, &format!("{FLOWS}/GreatestShare"))?;
        let is_known = share.status_code().is_good();
        Some(Self {
            count,
            greatest_share: match share.value {
                Some(Variant::Double(share)) if is_known => Some(share),
                _ => None,
            },
            late: number(client, &format!("{FLOWS}/Late"))?,
        })
    }
}

impl Budget {
    fn of(client: &mut Client) -> Option<Self> {
        let mut read = |name: &str| number(client, &format!("Budgets.Memory{name}"));
        Some(Self {
            used: read("Used")?,
            peak: read("Peak")?,
            limit: read("Limit")?,
        })
    }
}

pub fn run(arguments: &PsArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install().into_diagnostic()?;
    let group = arguments.group.as_deref();
    let applications = applications(group).map_err(|error| explain::shared_memory(&error))?;
    let look = || -> Vec<Option<(Instant, Counts)>> {
        let counts = applications.iter().map(|(_, presence)| presence.counts());
        counts.map(|it| Some((Instant::now(), it?))).collect()
    };
    let before = look();
    // Without counts there are no rates: a wait would gain nothing.
    if before.iter().any(Option::is_some) {
        interrupt.wait(Some(arguments.interval));
    }
    let after = look();
    let rows: Vec<Row> = applications
        .iter()
        .zip(before.into_iter().zip(after))
        .map(|((group, presence), (before, after))| {
            let row = row(presence, before, after);
            // An application that does not answer is not asked again.
            let answers = row.counts.is_some() && row.state.0 != "stopped";
            let answers = answers.then(|| ask(&row.endpoint, group.as_deref()));
            let (budget, flows) = answers.unwrap_or_default();
            Row {
                group: group.clone(),
                budget,
                flows,
                ..row
            }
        })
        .collect();
    let mut report = Report::new(output::line, arguments.json);
    if rows.is_empty() {
        let sharing = group.map_or_else(String::new, |group| format!(" --group {group}"));
        report.line(format!("no applications; `takt demo{sharing}` starts some"));
    } else {
        report.table(&table(&rows));
    }
    for row in &rows {
        report.row(&as_json(row)).into_diagnostic()?;
    }
    Ok(())
}

/// Returns the applications of a group, each with its group. Without a group, these are the user's own applications and those of
/// all groups of the user.
fn applications(group: Option<&str>) -> Result<Vec<(Option<String>, Presence)>, ShmError> {
    let (own, shared) = match group {
        Some(group) => (Vec::new(), vec![Runtime::open_for_group(group, None)?]),
        None => (
            takt_shm::applications(None)?,
            Runtime::open_for_own_groups(),
        ),
    };
    let mut applications: Vec<_> = own.into_iter().map(|presence| (None, presence)).collect();
    for runtime in shared {
        let group = runtime.group().map(|group| group.name().to_owned());
        let there = runtime.applications().into_iter();
        applications.extend(there.map(|presence| (group.clone(), presence)));
    }
    Ok(applications)
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
    // The application may have died since it was listed.
    let is_alive = presence.is_alive && presence.process.is_none_or(process::exists);
    let state = match presence.process.and_then(process::state) {
        Some(ProcessState::Ended) => ("dead", "dead: name left behind"),
        _ if !is_alive => ("dead", "dead: name left behind"),
        Some(ProcessState::Stopped) => ("stopped", "stopped"),
        _ if after.is_none() => ("notAnswering", "not answering"),
        Some(ProcessState::Running) => ("running", "running"),
        Some(ProcessState::Sleeping) => ("sleeping", "sleeping"),
        // The process is not visible from here.
        None => ("alive", "alive, in another container"),
    };
    Row {
        endpoint: format!("{URL_SCHEME}://{}", presence.name),
        group: None,
        process: presence.process,
        counts: after.map(|(_, counts)| counts),
        rate,
        memory: presence.process.and_then(process::memory),
        budget: None,
        flows: None,
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
        "group": row.group,
        "process": row.process,
        "clients": row.counts.map(|counts| counts.connections),
        "requests": row.counts.map(|counts| counts.requests),
        "requestsPerSecond": row.rate,
        "memory": row.memory.map(Memory::bytes),
        "memoryKind": kind,
        "memoryBudget": row.budget.map(|budget| json!({
            "used": budget.used,
            "peak": budget.peak,
            "limit": budget.limit,
        })),
        "flows": row.flows.map(|flows| json!({
            "count": flows.count,
            "greatestShare": flows.greatest_share,
            "late": flows.late,
        })),
        "state": row.state.0,
    })
}

fn table(rows: &[Row]) -> Table {
    // A terminal has 80 columns, and few applications watch flows.
    let with_flows = rows.iter().any(|row| row.flows.is_some());
    let share_column = with_flows.then(|| Column::number("share"));
    let columns = [
        // It is copied into commands.
        Column::text("endpoint").whole(),
        Column::text("group"),
        Column::number("process"),
        Column::number("clients"),
        Column::number("requests/s"),
        Column::number("memory").unit("MiB"),
        Column::number("budget used").unit("MiB"),
    ];
    let columns = columns.into_iter().chain(share_column);
    let mut table = Table::new(columns.chain([Column::text("state")]));
    for row in rows {
        let budget = row.budget.map(|budget| {
            let limit = budget.limit as f64 / MEBIBYTE;
            format!("{:.1} of {limit:.0}", budget.used as f64 / MEBIBYTE)
        });
        let cells = [
            row.endpoint.clone(),
            or_dash(row.group.as_ref()),
            or_dash(row.process),
            or_dash(row.counts.map(|counts| counts.connections)),
            or_dash(row.rate.map(|rate| format!("{rate:.0}"))),
            or_dash(row.memory.map(|memory| mebibytes(memory.bytes()))),
            or_dash(budget),
        ];
        let share = with_flows.then(|| or_dash(row.flows.map(share)));
        let cells = cells.into_iter().chain(share);
        table.row(cells.chain([row.state.1.to_owned()]));
    }
    table
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Returns the greatest share of a proven time in words, with the number of late messages.
fn share(flows: Flows) -> String {
    let share = flows
        .greatest_share
        .map_or_else(|| "none yet".to_owned(), |share| format!("{share:.3}"));
    match flows.late {
        0 => share,
        late => format!("{share}, {late} late"),
    }
}

const MEBIBYTE: f64 = 1_048_576.0;

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / MEBIBYTE)
}

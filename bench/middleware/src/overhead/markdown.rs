//! Markdown: Tables II and III in the layout of the paper, beside its figures.

use std::fmt::Write as _;
use std::path::Path;

use super::entry::Category;
use super::paper::{TABLE_II, TABLE_III};
use super::row::{OverheadRow, cell};
use crate::condition::Condition;
use crate::error::MiddlewareError;
use crate::own::Mode;

/// Cell of a figure that nobody has measured yet.
const OPEN: &str = "?";

/// Table of cells; the first columns are text.
struct Cells {
    text: usize,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Cells {
    fn new(text: usize, head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            text,
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    fn write(&self, document: &mut String) {
        let marks = (0..self.head.len()).map(|place| if place < self.text { "---" } else { "--:" });
        let _ = writeln!(document, "| {} |", self.head.join(" | "));
        let _ = writeln!(document, "|{}|", marks.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            let _ = writeln!(document, "| {} |", row.join(" | "));
        }
        document.push('\n');
    }
}

/// Returns the tables. `round_trips` is the file of results with the medians of Table III.
pub(super) fn document(
    rows: &[OverheadRow],
    sizes: &[u32],
    round_trips: Option<&Path>,
) -> Result<String, MiddlewareError> {
    let mut document = String::new();
    let _ = writeln!(document, "### Table II: bytes of a request\n");
    table_ii(rows, sizes).write(&mut document);
    let _ = writeln!(document, "### Purpose of the bytes\n");
    purposes(rows).write(&mut document);
    let medians = round_trips.map_or(Ok(Vec::new()), read)?;
    for mode in Mode::ALL {
        let _ = writeln!(document, "### Table III: {} in \u{b5}s\n", mode.name());
        table_iii(mode, &medians).write(&mut document);
        let _ = writeln!(
            document,
            "### Table III: {} as a ratio to the floor\n",
            mode.name()
        );
        ratios(mode, &medians).write(&mut document);
    }
    Ok(document)
}

fn table_ii(rows: &[OverheadRow], sizes: &[u32]) -> Cells {
    let head = ["peer".to_owned()]
        .into_iter()
        .chain(sizes.iter().map(u32::to_string));
    let head = head.chain(["connection: client", "all"].map(str::to_owned));
    let mut table = Cells::new(1, head);
    for (name, figures) in TABLE_II {
        // The paper has 0 bytes where the line protocol has 2, and counts one direction.
        let [none, hundred, thousand, most, connection] = figures.map(|it| it.to_string());
        let figure = |size: &u32| match size {
            100 => hundred.clone(),
            1000 => thousand.clone(),
            10_000 => most.clone(),
            size if Some(size) == sizes.first() => format!("{none} (0)"),
            _ => String::new(),
        };
        let cells = [format!("*paper: {name}*")].into_iter();
        let cells = cells.chain(sizes.iter().map(figure));
        table
            .rows
            .push(cells.chain([connection, String::new()]).collect());
    }
    for row in rows {
        let mut cells = vec![format!("`{}`", row.peer)];
        match &row.missing {
            Some(_) => cells.extend(sizes.iter().map(|_| OPEN.to_owned())),
            None => cells.extend(row.sizes.iter().map(|size| cell(size.request))),
        }
        cells.extend([row.connection_of_client, row.connection].map(cell));
        table.rows.push(cells);
    }
    table
}

fn purposes(rows: &[OverheadRow]) -> Cells {
    let head = [
        "peer",
        "request",
        "answer",
        "broker",
        "ack",
        "set-up",
        "discovery",
        "keep-alive",
        "tear-down",
    ];
    let mut table = Cells::new(1, head);
    for row in rows.iter().filter(|row| row.missing.is_none()) {
        let Some(size) = row.shown() else {
            continue;
        };
        let total = |category| cell(row.connection.map(|_| row.total(category)));
        table.rows.push(vec![
            format!("`{}`", row.peer),
            cell(size.request),
            cell(size.answer),
            size.forwarded.to_string(),
            size.acknowledgements.to_string(),
            total(Category::SetUp),
            total(Category::Discovery),
            total(Category::KeepAlive),
            total(Category::TearDown),
        ]);
    }
    table
}

/// Rows of Table III: the name in the paper, if it is there, the peer, and its floor.
const ROWS: [(&str, &str, &str); 18] = [
    ("OPC UA C/S", "takt-tcp", "tcp"),
    ("OPC UA C/S", "open62541-cs", "tcp"),
    ("", "takt-iox2", "iceoryx2"),
    ("OPC UA P/S", "takt-pubsub-udp", "udp"),
    ("OPC UA P/S", "open62541-pubsub", "udp"),
    ("", "takt-pubsub-ethernet", "udp"),
    ("", "takt-pubsub-iox2", "iceoryx2"),
    ("MQTT", "mqtt-paho", "tcp"),
    ("ROS", "ros1", "tcp"),
    ("DDS", "fastdds", "udp"),
    ("DDS", "cyclonedds", "udp"),
    ("", "ros2", "udp"),
    ("", "zenoh", "tcp"),
    ("", "grpc", "tcp"),
    ("", "nats", "tcp"),
    ("TCP", "tcp", "tcp"),
    ("UDP", "udp", "udp"),
    ("", "iceoryx2", "iceoryx2"),
];

/// Median of a row of results.
#[derive(serde::Deserialize)]
struct Median {
    peer: String,
    condition: Condition,
    mode: Mode,
    bytes: u32,
    median_us: Option<MedianValue>,
}

#[derive(serde::Deserialize)]
struct MedianValue {
    value: f64,
}

/// Reads the medians of a comparison without load. The file also has lines about links and peers.
fn read(path: &Path) -> Result<Vec<Median>, MiddlewareError> {
    let text = std::fs::read_to_string(path).map_err(MiddlewareError::file("read", path))?;
    let medians = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let medians: Vec<Median> = medians
        .filter(|median: &Median| median.condition == Condition::Idle)
        .collect();
    if medians.is_empty() {
        return Err(MiddlewareError::Table {
            path: path.to_owned(),
            reason: "it has no median without load".to_owned(),
        });
    }
    Ok(medians)
}

fn sizes() -> impl Iterator<Item = u32> {
    (1..=15).map(|power| 1 << power)
}

fn find(medians: &[Median], mode: Mode, peer: &str, bytes: u32) -> Option<f64> {
    let same = |it: &&Median| it.peer == peer && (it.mode, it.bytes) == (mode, bytes);
    Some(medians.iter().find(same)?.median_us.as_ref()?.value)
}

/// Returns a time in µs, with two digits at least.
fn micros(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

fn head() -> impl Iterator<Item = String> {
    // Powers of 1024 are short: the table has 15 of these columns.
    let size = |size: u32| match size {
        1024.. => format!("{}k", size / 1024),
        size => size.to_string(),
    };
    ["".to_owned()].into_iter().chain(sizes().map(size))
}

/// Returns the rows of the paper, whose figures are those of another machine.
fn of_paper(mode: Mode) -> impl Iterator<Item = (&'static str, [Option<f64>; 15])> {
    let of_mode = TABLE_III
        .into_iter()
        .filter(move |(name, ..)| *name == mode.name());
    of_mode.map(|(_, name, figures)| (name, figures.map(|it| it.map(f64::from))))
}

fn table_iii(mode: Mode, medians: &[Median]) -> Cells {
    let mut table = Cells::new(1, head());
    for (name, figures) in of_paper(mode) {
        let figures = figures.map(|it| it.map_or(String::new(), micros));
        table
            .rows
            .push([format!("*{name}*")].into_iter().chain(figures).collect());
    }
    for (_, peer, _) in ROWS {
        let figure = |bytes| find(medians, mode, peer, bytes);
        let cells = sizes().map(|bytes| figure(bytes).map_or(OPEN.to_owned(), micros));
        table
            .rows
            .push([peer.to_owned()].into_iter().chain(cells).collect());
    }
    table
}

fn ratios(mode: Mode, medians: &[Median]) -> Cells {
    let mut table = Cells::new(1, head());
    let ratio = |one: Option<f64>, floor: Option<f64>| Some(one? / floor?);
    let text =
        |ratio: Option<f64>, open: &str| ratio.map_or(open.to_owned(), |it| format!("{it:.1}"));
    let floor_of = |name: &str| match name {
        "OPC UA P/S" | "DDS" => "UDP",
        _ => "TCP",
    };
    for (name, figures) in of_paper(mode).filter(|(name, _)| !["TCP", "UDP"].contains(name)) {
        let floor = of_paper(mode).find(|(floor, _)| *floor == floor_of(name));
        let floor = floor.map_or([None; 15], |(_, figures)| figures);
        let cells = figures
            .into_iter()
            .zip(floor)
            .map(|(one, floor)| text(ratio(one, floor), ""));
        table
            .rows
            .push([format!("*{name}*")].into_iter().chain(cells).collect());
    }
    for (_, peer, floor) in ROWS.into_iter().filter(|(_, peer, floor)| peer != floor) {
        let of = |peer, bytes| find(medians, mode, peer, bytes);
        let cells = sizes().map(|bytes| text(ratio(of(peer, bytes), of(floor, bytes)), OPEN));
        table
            .rows
            .push([peer.to_owned()].into_iter().chain(cells).collect());
    }
    table
}

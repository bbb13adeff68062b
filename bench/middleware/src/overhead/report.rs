//! Output: tables on the terminal, CSV, JSON and Markdown.

use std::fmt::Write as _;

use takt_figures::{Column, CsvFile, Report, Table};

use super::entry::Category;
use super::markdown;
use super::options::OverheadOptions;
use super::row::{OverheadRow, cell};
use crate::error::MiddlewareError;

const NOTES: [&str; 5] = [
    "Bytes are payload of TCP or UDP, without their headers, in a capture of the real exchange; of opc.iox2: header and body as written to \
     shared memory. A payload of 2 bytes is the smallest one of the line protocol.",
    "-: the payload was not in TCP or UDP: the peer uses shared memory.",
    "connection: set-up and tear-down, as the client sends it, and as all sides send it, with discovery.",
    "The size of a message with a topic depends on the name of the topic: one letter for MQTT, longer for others.",
    "Encrypted acknowledgements cannot be told from data: they count for request and answer.",
];

/// Prints the tables and writes the files.
pub(super) fn show(
    report: &mut Report<impl FnMut(String)>,
    rows: &[OverheadRow],
    sizes: &[u32],
    options: &OverheadOptions,
) -> Result<(), MiddlewareError> {
    let output = |error: &dyn std::fmt::Display| MiddlewareError::Output(error.to_string());
    let write = |name: &str, text: &str| {
        let path = options.output.join(name);
        std::fs::write(&path, text).map_err(MiddlewareError::file("write", path))
    };
    let markdown = markdown::document(rows, sizes, options.round_trips.as_deref())?;
    write("overhead.md", &markdown)?;
    let mut text = String::new();
    let tables = [
        ("Bytes of a request", requests(rows, sizes)),
        ("Purpose of the bytes of an echo", purposes(rows, sizes)),
        ("Peers that were not counted", missing(rows)),
    ];
    match options.markdown {
        true => report.lines(markdown.lines().map(str::to_owned)),
        false => NOTES.iter().for_each(|note| report.note(note)),
    }
    for (title, table) in tables.iter().filter(|(_, table)| !table.is_empty()) {
        let _ = writeln!(text, "{title}\n{}\n", table.lines(Some(80)).join("\n"));
        if !options.markdown {
            report.line(String::new());
            report.line(*title);
            report.table(table);
        }
    }
    let _ = writeln!(text, "{}", NOTES.join("\n"));
    write("overhead.txt", &text)?;
    let mut objects = String::new();
    for row in rows {
        report.row(row).map_err(|error| output(&error))?;
        let object = serde_json::to_string(row).map_err(|error| output(&error))?;
        let _ = writeln!(objects, "{object}");
    }
    write("overhead.jsonl", &objects)?;
    let heading = [
        "peer",
        "phase",
        "category",
        "payload",
        "from",
        "to",
        "forwarded",
        "message",
        "count",
        "bytes",
    ];
    let path = options.output.join("overhead.csv");
    let mut csv = CsvFile::create(&path, &heading).map_err(|error| output(&error))?;
    for row in rows {
        for entry in &row.entries {
            csv.row([
                row.peer.clone(),
                word(&entry.phase),
                word(&entry.category),
                entry.payload.map_or(String::new(), |size| size.to_string()),
                word(&entry.from),
                word(&entry.to),
                entry.is_forwarded.to_string(),
                entry.name.clone(),
                entry.count.to_string(),
                entry.bytes.to_string(),
            ]);
        }
    }
    csv.finish().map_err(|error| output(&error))
}

/// Returns the name of a value in JSON.
fn word(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_value(value).ok();
    text.as_ref()
        .and_then(|it| it.as_str())
        .unwrap_or_default()
        .to_owned()
}

fn requests(rows: &[OverheadRow], sizes: &[u32]) -> Table {
    let mut columns = vec![Column::text("peer")];
    columns.extend(
        sizes
            .iter()
            .map(|size| Column::number(size.to_string()).group("payload")),
    );
    let connection = |name: &str| Column::number(name).group("connection");
    columns.extend([connection("client"), connection("all")]);
    let mut table = Table::new(columns);
    for row in rows.iter().filter(|row| row.missing.is_none()) {
        let mut cells = vec![row.peer.clone()];
        cells.extend(row.sizes.iter().map(|size| cell(size.request)));
        cells.extend([cell(row.connection_of_client), cell(row.connection)]);
        table.row(cells);
    }
    table
}

fn purposes(rows: &[OverheadRow], sizes: &[u32]) -> Table {
    let size = if sizes.contains(&100) {
        Some(100)
    } else {
        sizes.first().copied()
    };
    let size = size.map_or(String::new(), |size| size.to_string());
    let of_echo = |name: &str| Column::number(name).group(format!("echo of {size} bytes"));
    let mut table = Table::new([
        Column::text("peer"),
        of_echo("request"),
        of_echo("answer"),
        of_echo("broker"),
        of_echo("ack"),
        Column::number("set-up").group("whole session"),
        Column::number("find").group("whole session"),
        Column::number("alive").group("whole session"),
        Column::number("end").group("whole session"),
    ]);
    for row in rows.iter().filter(|row| row.missing.is_none()) {
        let Some(size) = row.shown() else {
            continue;
        };
        let of_session = |category| cell(row.connection.map(|_| row.total(category)));
        table.row([
            row.peer.clone(),
            cell(size.request),
            cell(size.answer),
            size.forwarded.to_string(),
            size.acknowledgements.to_string(),
            of_session(Category::SetUp),
            of_session(Category::Discovery),
            of_session(Category::KeepAlive),
            of_session(Category::TearDown),
        ]);
    }
    table
}

fn missing(rows: &[OverheadRow]) -> Table {
    let mut table = Table::new([Column::text("peer"), Column::text("reason")]);
    for row in rows {
        if let Some(reason) = &row.missing {
            table.row([row.peer.clone(), reason.clone()]);
        }
    }
    table
}

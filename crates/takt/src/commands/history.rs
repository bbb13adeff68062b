//! `takt history ENDPOINT NODE`

use std::time::{Duration, SystemTime};

use takt_app::{ClientError, HistoryRange};
use takt_ua::{DataValue, DateTime, NodeId, StatusCode, Variant};

use super::connect::{connect, node};
use super::described::Described;
use super::watch::event_query::EventLineQuery;
use super::watch::events::{Shown, declared, show_fields};
use crate::arguments::HistoryArguments;
use crate::{explain, output};

/// Number of values without any option.
const LAST: u32 = 20;

/// Width of values beside a StatusCode, in columns.
const VALUE: usize = 20;

pub fn run(arguments: &HistoryArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let explained = |error: ClientError| explain(arguments, &error);
    let node = node(&mut client, &arguments.node).map_err(|error| explain::client(&error))?;
    if arguments.events {
        let chosen = arguments.event_type.as_deref();
        let is_json = arguments.connect.json;
        let queries = EventLineQuery::all(&mut client, chosen, &arguments.conditions, is_json)?;
        let mut queries = queries.peekable();
        while let Some(one) = queries.next() {
            let read = client.history_events(&node, event_range(arguments), &one.query);
            match read {
                // The server may accept fewer fields.
                Err(error) if !error.is_connection() && queries.peek().is_some() => {}
                read => {
                    let events = read.map_err(explained)?;
                    let mut described = Described::default();
                    if is_json {
                        let fields: Vec<_> = events.iter().flat_map(|it| declared(it)).collect();
                        described.learn_declared(&mut client, &fields);
                    }
                    show_events(arguments, &one.names, events, &described);
                    break;
                }
            }
        }
        return Ok(());
    }
    if arguments.csv {
        output::line("time,value,status");
    }
    let mut described = Described::default();
    // Aggregates are of other types.
    if arguments.aggregate.is_none() {
        described.learn_variable(&mut client, &node);
    }
    let data_type = described.data_type(&node);
    let mut count = 0;
    let mut show = |values: &[DataValue]| {
        count += values.len();
        for value in values {
            row(arguments, value, &described, data_type);
        }
    };
    // One time for all options: `--from` and `--to` then have the distance that the user gives.
    let now = DateTime::now();
    let to = arguments.to.map_or(now, |to| to.from(now));
    let from = arguments.from.map(|from| from.from(now));
    match (from, arguments.aggregate) {
        (Some(from), Some(aggregate)) => {
            let interval = arguments.interval.unwrap_or(Duration::ZERO);
            let values = client.history_processed(&node, aggregate, (from, to), interval);
            show(&values.map_err(explained)?);
        }
        (Some(from), None) => {
            let range = HistoryRange {
                start: Some(from),
                end: Some(to),
                ..HistoryRange::default()
            };
            let read = client.history_raw_with(&node, range, |page| {
                show(&page);
                true
            });
            read.map_err(explained)?;
        }
        (None, _) if !arguments.at.is_empty() => {
            let times: Vec<_> = arguments.at.iter().map(|at| at.from(now)).collect();
            show(&client.history_at(&node, &times).map_err(explained)?);
        }
        (None, _) => {
            let last = arguments
                .last
                .map_or(LAST, |last| u32::try_from(last).unwrap_or(u32::MAX));
            // Backwards from the end. A request without a start means the same (OPC 10000-11, 6.5.3.2), but some servers, such
            // as open62541, take it for the year 1601, and return the first values.
            let range = HistoryRange {
                start: Some(to),
                end: Some(DateTime::from(SystemTime::UNIX_EPOCH)),
                limit: last,
                ..HistoryRange::default()
            };
            let mut values = client.history_raw(&node, range).map_err(explained)?;
            values.reverse();
            show(&values);
        }
    }
    if count == 0 && !arguments.csv && !arguments.connect.json {
        output::complain("no values were recorded in this time");
    }
    Ok(())
}

/// Returns the range of Events, the last ones without `--from`.
fn event_range(arguments: &HistoryArguments) -> HistoryRange {
    let now = DateTime::now();
    let last = || {
        let last = arguments.last.map(u32::try_from);
        last.map_or(LAST, |last| last.unwrap_or(u32::MAX))
    };
    HistoryRange {
        start: arguments.from.map(|from| from.from(now)),
        end: Some(arguments.to.map_or(now, |to| to.from(now))),
        // 0 is no limit.
        limit: if arguments.from.is_some() { 0 } else { last() },
        bounds: false,
    }
}

/// Prints Events, the oldest first.
fn show_events(
    arguments: &HistoryArguments,
    names: &[String],
    mut events: Vec<Vec<Variant>>,
    described: &Described,
) {
    if arguments.from.is_none() {
        events.reverse();
    }
    for fields in &events {
        let is_json = arguments.connect.json;
        show_fields(fields, names, Shown::DateAndTime, is_json, described);
    }
    if events.is_empty() && !arguments.connect.json {
        if arguments.conditions.is_empty() {
            output::complain("no Events were recorded in this time");
        } else {
            output::complain("no recorded Event of this time meets the conditions");
            output::complain("An Event without the field of a condition never does.");
        }
    }
}

fn row(
    arguments: &HistoryArguments,
    value: &DataValue,
    described: &Described,
    data_type: Option<&NodeId>,
) {
    if arguments.connect.json {
        return output::line(described.data_value_json(&arguments.node, value, data_type));
    }
    let time = value.source_timestamp.or(value.server_timestamp);
    let time = time.map(DateTime::to_iso8601).unwrap_or_default();
    let text = value
        .value
        .as_ref()
        .map(|value| described.text(value, data_type))
        .unwrap_or_default();
    let status = status(value.status_code());
    if arguments.csv {
        let row = format!("{time},{},{}", quoted(&text), quoted(&status));
        // A text in quotation marks may have several lines.
        return output::lines(row.split('\n'));
    }
    let status = match value.status_code() {
        StatusCode::Good => String::new(),
        _ => status,
    };
    let source = value.source_timestamp.or(value.server_timestamp);
    let time = source
        .map(output::whole_milliseconds)
        .map(DateTime::to_iso8601)
        .unwrap_or_default();
    output::line(line(&time, &text, &status, takt_figures::width()));
}

/// Returns a line, cut to the width of a terminal if there is one.
fn line(time: &str, text: &str, status: &str, columns: Option<usize>) -> String {
    // A time has up to 24 characters.
    let room = columns.map_or(usize::MAX, |columns| {
        // In a narrow terminal some characters of the value stay; the line is cut below.
        columns.saturating_sub(24 + 2 + 2 + status.len()).max(8)
    });
    let text = shortened(text, room);
    let width = room.min(VALUE);
    let line = format!("{time:<24}  {text:<width$}  {status}");
    shortened(line.trim_end(), columns.unwrap_or(usize::MAX))
}

/// Returns the name of a StatusCode, and its bits on how the value was obtained (OPC 10000-4, 7.39.1).
fn status(status: StatusCode) -> String {
    let name = StatusCode(status.0 & 0xFFFF_0000);
    let mut text = match name.name() {
        Some(name) => name.to_owned(),
        None => name.to_string(),
    };
    // InfoType DataValue. With another InfoType, the bits below have no such meaning.
    let is_data_value = status.0 & 0x0C00 == 0x0400;
    let bits = [
        (0x01, "calculated"),
        (0x02, "interpolated"),
        (0x04, "partial"),
        (0x08, "extra data"),
        (0x10, "multi value"),
    ];
    for (bit, word) in bits {
        if is_data_value && status.0 & bit != 0 {
            text.push_str(", ");
            text.push_str(word);
        }
    }
    text
}

/// Returns a text of at most `room` characters in one line, without commands to the terminal.
fn shortened(text: &str, room: usize) -> String {
    let line = output::printable(text);
    if line.chars().count() <= room {
        return line;
    }
    let kept: String = line.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Returns a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn explain(arguments: &HistoryArguments, error: &ClientError) -> miette::Report {
    use StatusCode as S;
    let (node, events) = (&arguments.node, arguments.events);
    match error.status_code() {
        S::BadHistoryOperationUnsupported | S::BadServiceUnsupported if events => {
            explain::with_help(
                format!("the server keeps no history of the Events of {node}"),
                "A Provider records its Events at the node Server, if it has `historized_events`.\n\
                 A registry records those of --history-events: at Server, or at Providers.\n\
                 docs/history.md describes both.",
            )
        }
        S::BadHistoryOperationUnsupported | S::BadServiceUnsupported => explain::with_help(
            format!("the server keeps no history of {node}"),
            "A Provider records a Variable that is `historized`, a registry those of --history.\n\
             docs/history.md describes both. Recorded Events are read with --events.",
        ),
        S::BadUserAccessDenied => explain::with_help(
            format!("this user may not read the history of {node}"),
            "Sign in as a user that may: --user NAME. docs/security.md describes users and roles.",
        ),
        S::BadEventFilterInvalid => explain::with_help(
            "the server refuses the fields, the type or the conditions of the Events",
            "Does it have the EventType of --type, and the fields of --where?",
        ),
        _ => explain::client(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_the_terminal_and_csv_keeps_everything() {
        assert_eq!(
            status(StatusCode(0x40A4_0405)),
            "UncertainDataSubNormal, calculated, partial"
        );
        assert_eq!(status(StatusCode::Good), "Good");
        assert_eq!(shortened("0123456789", 10), "0123456789");
        assert_eq!(shortened("01234567890", 10), "012345678…");
        assert_eq!(shortened("a\nb", 10), "a b");
        assert_eq!(shortened("a\u{1b}[2J\u{9b}", 10), "a [2J ");
        let long = "0123456789".repeat(20);
        let cut = line("2026-01-02T03:04:05.678Z", &long, "", Some(80));
        assert_eq!(cut.chars().count(), 78);
        // A file or a pipe has no width.
        let whole = line("2026-01-02T03:04:05.678Z", &long, "BadNoData", None);
        assert!(whole.ends_with(&format!("{long}  BadNoData")), "{whole}");
        assert_eq!(quoted("1.5"), "1.5");
        assert_eq!(quoted("[1, \"x\"]"), "\"[1, \"\"x\"\"]\"");
    }
}

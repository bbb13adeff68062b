//! Tables of a report, for the page and for the terminal.

use takt_control::TracePoint;
use takt_figures::number::trimmed;
use takt_figures::{Column, Table};

use crate::comparison::{
    ComparedBound, ComparedDelay, ComparedRun, LossShares, Requirement, RoundTripKind, TimeSummary,
    Verdict,
};
use crate::entries::{Entries, Entry};
use crate::trace_points::place;

const MICROS: &str = "\u{b5}s";
/// Sign of a number that is not known.
const NONE: &str = "-";

/// Returns the leading columns: case and what is special about the application.
fn leading(entries: &Entries<'_>) -> Vec<Column> {
    let mut columns = vec![Column::number("case")];
    columns.extend(match entries.dimensions.as_slice() {
        [] => vec![Column::text("application")],
        dimensions => dimensions
            .iter()
            // The name of a setting has its unit in brackets.
            .map(|it| match it.name.split_once(" (") {
                Some((name, unit)) => Column::number(name).unit(unit.trim_end_matches(')')),
                None if it.values.iter().all(|it| it.parse::<f64>().is_ok()) => {
                    Column::number(&it.name)
                }
                None => Column::text(&it.name),
            })
            .collect(),
    });
    columns
}

fn leading_cells(entries: &Entries<'_>, entry: &Entry<'_>) -> Vec<String> {
    let mut cells = vec![entry.number.to_string()];
    if entries.dimensions.is_empty() {
        cells.push(entry.application.name.clone());
    }
    let values = (0..entries.dimensions.len()).map(|it| entries.value(entry, it).to_owned());
    cells.extend(values);
    cells
}

fn micros(nanos: Option<f64>) -> String {
    // Rounded, so that nothing has no sign.
    let rounded = nanos.map(|nanos| (nanos / 100.0).round() / 10.0 + 0.0);
    rounded.map_or_else(|| NONE.to_owned(), |micros| format!("{micros:.1}"))
}

/// Formats a bound, rounded up, so that the printed one holds as well.
pub(crate) fn bound(bound: &ComparedBound) -> String {
    match bound {
        ComparedBound::Finite(picos) => format!("{:.1}", picos.div_ceil(100_000) as f64 / 10.0),
        ComparedBound::Infinite(_) => "infinite".to_owned(),
        ComparedBound::Unknown(_) => "unknown".to_owned(),
    }
}

/// Returns bound, simulation and measurement of one kind of round trip.
pub(crate) fn round_trips(run: &ComparedRun, entries: &Entries<'_>, kind: RoundTripKind) -> Table {
    let mut columns = leading(entries);
    columns.extend(of_delay(|answer| format!("{answer}, {}", kind.name())));
    let mut table = Table::new(columns);
    for entry in &entries.all {
        let mut cells = leading_cells(entries, entry);
        cells.extend(delay_cells(run, &entry.application.round_trip(kind).delay));
        table.row(cells);
    }
    table
}

/// Returns bound, simulation and measurement of each way on the wire.
pub(crate) fn one_way(run: &ComparedRun, entries: &Entries<'_>) -> Table {
    let mut columns = leading(entries);
    columns.push(Column::text("way"));
    columns.extend(of_delay(str::to_owned));
    let mut table = Table::new(columns);
    for entry in &entries.all {
        for way in &entry.application.one_way {
            let mut cells = leading_cells(entries, entry);
            cells.push(way.name.trim_end_matches(" on the wire").to_owned());
            cells.extend(delay_cells(run, &way.delay));
            table.row(cells);
        }
    }
    table
}

/// Returns the columns of bound, simulation, measurement and verdict. `group` names the group of an answer.
fn of_delay(group: impl Fn(&str) -> String) -> Vec<Column> {
    let number =
        |heading: &str, answer: &str| Column::number(heading).unit(MICROS).group(group(answer));
    let mut columns = vec![number("sound", "bound")];
    columns.extend(["median", "worst"].map(|it| number(it, "simulated")));
    columns.extend(["median", "p99", "longest"].map(|it| number(it, "measured")));
    columns.push(Column::number("margin to the bound").unit(MICROS));
    columns.push(Column::text("verdict"));
    columns
}

/// Returns the cells of the columns of [`of_delay`].
fn delay_cells(run: &ComparedRun, delay: &ComparedDelay) -> [String; 8] {
    let measured = delay.measured.as_ref().map(|it| it.delay);
    let margin = delay.bound.nanos().zip(delay.longest_nanos());
    [
        bound(&delay.bound),
        micros(delay.simulated.map(|it| it.delay.median)),
        micros(delay.simulated.map(|it| it.longest)),
        micros(measured.map(|it| it.median)),
        micros(measured.map(|it| it.p99)),
        micros(delay.longest_nanos()),
        micros(margin.map(|(bound, longest)| bound - longest)),
        verdict(run, delay),
    ]
}

/// Returns the verdict on measured and simulated delays.
fn verdict(run: &ComparedRun, delay: &ComparedDelay) -> String {
    let text = match &delay.bound {
        // First: the simulation is of the scenario alone, so it is comparable whatever the run was.
        _ if delay.is_simulation_above() => "\u{2717} simulation above the bound",
        _ if !run.is_comparable() => "not comparable",
        _ if delay.count == 0 => "not measured",
        ComparedBound::Finite(_) if !delay.is_decidable() => "not decidable: clocks",
        ComparedBound::Finite(_) if delay.above_bound > 0 => "\u{2717} above the bound",
        ComparedBound::Finite(_) => "\u{2713} below the bound",
        ComparedBound::Infinite(_) | ComparedBound::Unknown(_) => "no bound",
    };
    text.to_owned()
}

/// Returns the jitter of one kind of round trip.
pub(crate) fn jitter(entries: &Entries<'_>, kind: RoundTripKind) -> Table {
    let mut columns = leading(entries);
    for group in ["simulated", "measured"] {
        let group = format!("{group}, {}", kind.name());
        let numbers = ["median", "mean", "p99", "max"];
        columns.extend(numbers.map(|it| Column::number(it).unit(MICROS).group(&group)));
    }
    let mut table = Table::new(columns);
    for entry in &entries.all {
        let trip = &entry.application.round_trip(kind).delay;
        let mut cells = leading_cells(entries, entry);
        let simulated = trip.simulated.and_then(|it| it.jitter);
        let measured = trip.measured.as_ref().and_then(|it| it.jitter);
        for summary in [simulated, measured] {
            let numbers: [fn(&TimeSummary) -> f64; 4] =
                [|it| it.median, |it| it.mean, |it| it.p99, |it| it.max];
            cells.extend(numbers.map(|number| micros(summary.as_ref().map(number))));
        }
        table.row(cells);
    }
    table
}

/// Returns delays of one way and of other parts of the way.
pub(crate) fn parts(entries: &Entries<'_>) -> Table {
    let mut columns = leading(entries);
    columns.push(Column::text("part of the way"));
    columns.push(Column::number("sound").unit(MICROS).group("bound"));
    columns.push(Column::number("worst").unit(MICROS).group("simulated"));
    let numbers = ["median", "p99", "max"];
    columns.extend(numbers.map(|it| Column::number(it).unit(MICROS).group("measured")));
    let mut table = Table::new(columns);
    for entry in &entries.all {
        let application = entry.application;
        for it in &application.parts {
            let (name, delay) = (it.interval.name, &it.delay);
            let mut ways = application.one_way.iter();
            let way = ways.find(|way| way.name == name).map(|way| &way.delay);
            let simulated = way.and_then(|way| way.simulated).map(|it| it.delay.max);
            let mut cells = leading_cells(entries, entry);
            let points = format!("{:?} \u{2212} {:?}", it.interval.to, it.interval.from);
            cells.push(format!("{points}: {name}"));
            cells.push(way.map_or_else(|| NONE.to_owned(), |way| bound(&way.bound)));
            cells.push(micros(simulated));
            cells.extend([delay.median, delay.p99, delay.max].map(|it| micros(Some(it))));
            table.row(cells);
        }
    }
    table
}

/// Returns losses by place, in percent.
pub(crate) fn losses(entries: &Entries<'_>) -> Table {
    let mut columns = leading(entries);
    let names = ["messages", "dP", "way there", "dL", "way back", "d\u{3a3}"];
    for group in ["simulated", "measured"] {
        columns.extend(names.map(|name| {
            let column = Column::number(name).group(format!("{group} losses"));
            match name {
                "messages" => column,
                _ => column.unit("%"),
            }
        }));
    }
    let mut table = Table::new(columns);
    for entry in &entries.all {
        let mut cells = leading_cells(entries, entry);
        let application = entry.application;
        for losses in [&application.simulated_losses, &application.measured_losses] {
            cells.extend(loss_cells(losses));
        }
        table.row(cells);
    }
    table
}

fn loss_cells(losses: &LossShares) -> Vec<String> {
    let counts = [
        losses.publisher,
        losses.way_there,
        losses.loopback,
        losses.way_back,
        losses.all,
    ];
    let shares = counts.map(|count| match losses.percent(count) {
        Some(share) => trimmed(share, 4),
        None => NONE.to_owned(),
    });
    [losses.messages.to_string()]
        .into_iter()
        .chain(shares)
        .collect()
}

/// Returns counters and inter-frame spacing: at each trace point, or at the last one, where answers arrive at the Publisher.
pub(crate) fn counters(entries: &Entries<'_>, all: bool) -> Table {
    let mut columns = leading(entries);
    columns.push(Column::text("trace point"));
    let names = ["messages", "missed", "repeated", "reordered"];
    columns.extend(names.map(|it| Column::number(it).group("counters")));
    let names = ["min", "median", "p99", "max"];
    columns.extend(names.map(|it| Column::number(it).unit(MICROS).group("inter-frame spacing")));
    let names = ["missed", "repeated"];
    columns.extend(names.map(|it| Column::number(it).group("simulated")));
    let mut table = Table::new(columns);
    for entry in &entries.all {
        let points = &entry.application.points;
        let skipped = if all {
            0
        } else {
            points.len().saturating_sub(1)
        };
        for point in points.iter().skip(skipped) {
            let mut cells = leading_cells(entries, entry);
            cells.push(format!("{:?}, {}", point.point, place(point.point)));
            let it = point.counters;
            let counts = [it.messages, it.missed, it.repeated, it.reordered];
            cells.extend(counts.map(|it| it.to_string()));
            let spacing = point.spacing.as_ref();
            let numbers: [fn(&TimeSummary) -> f64; 4] =
                [|it| it.min, |it| it.median, |it| it.p99, |it| it.max];
            cells.extend(numbers.map(|number| micros(spacing.map(number))));
            // The simulator counts at the Publisher.
            let simulated = entry.application.simulated_counters;
            let simulated = simulated.filter(|_| point.point == TracePoint::T8);
            cells.extend(match simulated {
                Some(counts) => counts.map(|it| it.to_string()),
                None => [NONE.to_owned(), NONE.to_owned()],
            });
            table.row(cells);
        }
    }
    table
}

/// Returns the verdicts of a requirement: a row for each quantity, with all three answers.
pub(crate) fn requirement(entries: &Entries<'_>, requirement: &Requirement) -> Table {
    let mut columns = leading(entries);
    columns.push(Column::text("quantity"));
    columns.extend(["required", "bound", "simulation", "measurement"].map(Column::number));
    columns.extend([
        Column::number("smallest margin"),
        Column::text("unit"),
        Column::text("verdict"),
    ]);
    let mut table = Table::new(columns);
    for entry in &entries.all {
        if !requirement.applies(entry.application) {
            let mut cells = leading_cells(entries, entry);
            cells.push("not stated for so many hops".to_owned());
            table.row(cells);
            continue;
        }
        let verdicts = requirement.judge(entry.application);
        for of_quantity in verdicts.chunk_by(|one, other| one.quantity == other.quantity) {
            let mut cells = leading_cells(entries, entry);
            cells.extend(verdict_cells(of_quantity));
            table.row(cells);
        }
    }
    table
}

/// Returns the cells of a quantity.
fn verdict_cells(verdicts: &[Verdict]) -> Vec<String> {
    let number = |value: Option<f64>| match value {
        Some(value) => trimmed(value, 4),
        None => NONE.to_owned(),
    };
    let of = |answer: &str| {
        let found = verdicts.iter().find(|it| it.answer == answer);
        number(found.and_then(|it| it.value))
    };
    let first = verdicts.first();
    let margins = verdicts.iter().filter_map(|it| it.margin);
    let failed: Vec<&str> = verdicts
        .iter()
        .filter(|it| it.passes() == Some(false))
        .map(|it| it.answer)
        .collect();
    let is_known = verdicts.iter().any(|it| it.passes().is_some());
    let verdict = match (failed.is_empty(), is_known) {
        (true, true) => "\u{2713} pass".to_owned(),
        (true, false) => "unknown".to_owned(),
        (false, _) => format!("\u{2717} fail: {}", failed.join(", ")),
    };
    vec![
        first.map_or_else(String::new, |it| it.quantity.clone()),
        number(first.map(|it| it.limit)),
        of("bound"),
        of("simulation"),
        of("measurement"),
        number(margins.reduce(f64::min)),
        first.map_or_else(String::new, |it| it.unit.to_owned()),
        verdict,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_bounds_hold() {
        assert_eq!(bound(&ComparedBound::Finite(954_000_000)), "954.0");
        assert_eq!(bound(&ComparedBound::Finite(954_000_001)), "954.1");
        assert_eq!(bound(&ComparedBound::Infinite(String::new())), "infinite");
        assert_eq!(bound(&ComparedBound::Unknown(String::new())), "unknown");
    }

    #[test]
    fn a_quantity_passes_if_no_answer_fails() {
        let verdict = |answer, value: Option<f64>| Verdict {
            quantity: "delay".to_owned(),
            unit: MICROS,
            answer,
            limit: 100.0,
            value,
            margin: value.map(|value| 100.0 - value),
        };
        let cells = |values: [Option<f64>; 3]| {
            let answers = ["bound", "simulation", "measurement"];
            let verdicts = answers.into_iter().zip(values);
            let verdicts: Vec<Verdict> = verdicts.map(|(it, value)| verdict(it, value)).collect();
            verdict_cells(&verdicts).split_off(2).join(" ")
        };
        assert_eq!(
            cells([None, Some(100.0), Some(2.5)]),
            "- 100 2.5 0 \u{b5}s \u{2713} pass"
        );
        assert_eq!(
            cells([Some(200.0), Some(1.0), Some(101.0)]),
            "200 1 101 -100 \u{b5}s \u{2717} fail: bound, measurement"
        );
        assert_eq!(cells([None; 3]), "- - - - \u{b5}s unknown");
    }
}

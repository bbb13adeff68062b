//! Quantities for people.

use takt_analysis::{LateWakeUp, RunAnalysis, RunFile, RunFileFormat};
use takt_figures::number::{measured, trimmed};
use takt_figures::{Column, Report, Table};

use super::quantity::{quantities, statistics};
use crate::commands::late_causes;

pub(super) fn print(run: &RunAnalysis, report: &mut Report<impl FnMut(String)>) {
    for file in &run.files {
        report.line(described(file));
    }
    report.line(format!(
        "counters {} to {}, {} left out at each end",
        run.first_counter, run.last_counter, run.trim
    ));
    for line in stamps(run) {
        report.line(line);
    }
    report.line("");
    report.table(&times(run));
    report.line("");
    report.table(&counters(run));
    report.line("");
    for file in &run.files {
        let late = LateWakeUp::of_description(&file.description);
        if !late.is_empty() {
            let path = file.path.display();
            let total = LateWakeUp::total(&file.description);
            let total = total.map_or_else(String::new, |total| format!(" of {total}"));
            report.line(format!("{path}: the worst{total} late wake-ups"));
            report.table(&late_causes::table(&late));
            report.line("");
        }
    }
    for line in remarks(run) {
        report.note(&line);
    }
}

fn described(file: &RunFile) -> String {
    let points = file.points.iter();
    let points: Vec<String> = points
        .map(|(point, count)| format!("{point:?} {count}"))
        .collect();
    let clock = match (file.has_card_stamps, file.format) {
        (true, _) => "clock of the network card",
        (false, RunFileFormat::Trace) => "clock of the system",
        (false, RunFileFormat::Capture) => "stamps of the kernel",
    };
    let step = match file.step_nanos {
        0 | 1 => String::new(),
        step => format!(", in steps of {step} ns"),
    };
    format!(
        "{}: {} ({clock}{step})",
        file.path.display(),
        points.join(", ")
    )
}

/// Returns the times that captures have of sent frames.
fn stamps(run: &RunAnalysis) -> Vec<String> {
    let points = run.points.iter();
    let stamps = points.filter_map(|it| Some((it.point, it.sent_stamp?)));
    let stamps: Vec<_> = stamps.collect();
    match stamps.as_slice() {
        [(first, stamp), (second, other)] if stamp == other => {
            vec![format!(
                "{first:?} and {second:?} are: {}",
                stamp.described()
            )]
        }
        stamps => {
            let stamps = stamps.iter();
            stamps
                .map(|(point, stamp)| format!("{point:?} is: {}", stamp.described()))
                .collect()
        }
    }
}

/// Returns the table of times: a section for each interval, whose title has the kind of a round trip.
fn times(run: &RunAnalysis) -> Table {
    let names = ["min", "median", "mean", "p99", "p99.999", "max"];
    let columns = names.map(|name| Column::number(name).unit("\u{b5}s"));
    let first = [Column::text("measure"), Column::number("count")];
    let mut table = Table::new(first.into_iter().chain(columns));
    let mut section = String::new();
    for quantity in quantities(run) {
        let (title, row) = match quantity.name {
            "inter_frame_spacing" => (quantity.of, quantity.points),
            name => (
                format!("{} ({})", quantity.of, quantity.points),
                name.to_owned(),
            ),
        };
        if title != section {
            table.text(title.clone());
            section = title;
        }
        let mut cells = vec![format!("  {row}"), quantity.statistics.count().to_string()];
        match statistics(quantity.statistics) {
            Some([min, median, mean, p99, _, p99_999, max]) => {
                let numbers = [min, median, mean, p99, p99_999, max];
                cells.extend(numbers.map(|nanos| measured(nanos / 1e3)));
            }
            None => cells.extend(names.map(|_| "-".to_owned())),
        }
        table.row(cells);
    }
    table
}

fn counters(run: &RunAnalysis) -> Table {
    let names = [
        "messages",
        "missed",
        "repeated",
        "reordered",
        "clock set back",
    ];
    let first = [Column::text("point")];
    let mut table = Table::new(first.into_iter().chain(names.map(Column::number)));
    for point in &run.points {
        let counters = &point.counters;
        let numbers = [
            counters.messages,
            counters.missed,
            counters.repeated,
            counters.reordered,
            point.clock_steps,
        ];
        let first = [format!("{:?}", point.point)];
        table.row(first.into_iter().chain(numbers.map(|it| it.to_string())));
    }
    table
}

/// Returns losses, and everything that makes a quantity doubtful.
fn remarks(run: &RunAnalysis) -> Vec<String> {
    let mut lines = Vec::new();
    match (&run.losses, run.lost()) {
        (Some(losses), Some(lost)) if !losses.is_empty() => {
            let share = lost as f64 / run.messages.max(1) as f64 * 100.0;
            let parts = losses.iter().filter(|loss| loss.count > 0);
            let parts: Vec<String> = parts
                .map(|it| format!("{} from {:?} to {:?}", it.count, it.after, it.before))
                .collect();
            let parts = match parts.is_empty() {
                true => String::new(),
                false => format!(": {}", parts.join(", ")),
            };
            let share = trimmed(share, 6);
            lines.push(format!(
                "lost {lost} of {} messages ({share} %){parts}",
                run.messages
            ));
        }
        (Some(_), _) => {}
        (None, _) => lines.push(
            "Losses are unknown, because a file is damaged or has lost trace points.".to_owned(),
        ),
    }
    for file in run.files.iter().filter(|file| file.lost > 0) {
        lines.push(format!(
            "{}: {} trace points were lost, because the memory was full; --trace-points reserves more",
            file.path.display(),
            file.lost
        ));
    }
    for (point, count) in &run.missing_records {
        lines.push(format!(
            "{count} messages have no record at {point:?}, but at a later trace point"
        ));
    }
    for it in run.intervals.iter().filter(|it| it.negative > 0) {
        let reason = match it.interval.crosses_hosts() {
            true => "the clocks of the hosts differ",
            false => "the clock was set back; they are not counted",
        };
        let name = it.interval.name;
        lines.push(format!("{} negative times, {name}: {reason}", it.negative));
    }
    if run.late_records > 0 {
        lines.push(format!(
            "{} records came more than 131 072 counters late and are not in the intervals",
            run.late_records
        ));
    }
    let coarse = quantities(run);
    let coarse = coarse.iter().map(|it| it.statistics.resolution_nanos());
    if let Some(resolution) = coarse.max().filter(|resolution| *resolution > 1) {
        lines.push(format!(
            "Quantiles are up to {} ns too small: the times are too different for the memory",
            resolution - 1
        ));
    }
    lines
}

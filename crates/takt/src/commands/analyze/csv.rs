//! Quantities as a CSV file.

use std::path::Path;

use takt_analysis::RunAnalysis;
use takt_figures::{CsvError, CsvFile};

use super::quantity::{STATISTICS, quantities, statistics};
use crate::explain;

/// Writes a row for each distribution, and one for each count, whose statistics are empty.
pub(super) fn write(path: &Path, run: &RunAnalysis) -> miette::Result<()> {
    let refused = |error: CsvError| {
        explain::with_help(
            error,
            "Use --csv with a file in an existing directory with enough free space.",
        )
    };
    let mut heading = vec!["of", "points", "quantity", "count"];
    heading.extend(STATISTICS);
    let mut file = CsvFile::create(path, &heading).map_err(refused)?;
    for quantity in quantities(run) {
        let first = [
            quantity.of.clone(),
            // The minus sign of the tables is not ASCII, and programs look for `-`.
            quantity.points.replace('\u{2212}', "-"),
            quantity.name.to_owned(),
            quantity.statistics.count().to_string(),
        ];
        let numbers = match statistics(quantity.statistics) {
            Some(numbers) => numbers.map(|number| number.to_string()),
            None => [const { String::new() }; STATISTICS.len()],
        };
        file.row(first.into_iter().chain(numbers));
    }
    let mut count = |of: &str, points: String, quantity: &str, count: u64| {
        let fields = [
            of.to_owned(),
            points,
            quantity.to_owned(),
            count.to_string(),
        ];
        let empty = STATISTICS.map(|_| String::new());
        file.row(fields.into_iter().chain(empty));
    };
    for point in &run.points {
        for (name, number) in [
            ("messages", point.counters.messages),
            ("missed", point.counters.missed),
            ("repeated", point.counters.repeated),
            ("reordered", point.counters.reordered),
            ("clock_steps", point.clock_steps),
        ] {
            count("counters", format!("{:?}", point.point), name, number);
        }
    }
    count("run", String::new(), "messages", run.messages);
    for loss in run.losses.iter().flatten() {
        let points = format!("{:?} - {:?}", loss.before, loss.after);
        count("run", points, "lost", loss.count);
    }
    file.finish().map_err(refused)
}

//! Comparisons on the terminal, or as rows for programs.

use takt_figures::{Column, Report, Table};

use crate::comparison::{ComparedRun, Requirement, RoundTripKind};
use crate::entries::Entries;
use crate::trace_points::round_trip;
use crate::{json, page, tables};

/// Prints the comparison of a run, and the verdicts of these requirements.
///
/// # Errors
/// A number cannot be represented as JSON.
pub fn print(
    run: &ComparedRun,
    required: &[Requirement],
    report: &mut Report<impl FnMut(String)>,
) -> Result<(), serde_json::Error> {
    let entries = Entries::of(run);
    report.note(&format!(
        "{}: {}",
        run.description.scenario,
        page::origin(run)
    ));
    for reason in &run.not_comparable {
        report.note(&format!("not comparable: {reason}"));
    }
    for kind in RoundTripKind::ALL {
        report.line("");
        let name = round_trip(kind, run.sent_stamp());
        report.line(format!("round trip ({name})"));
        report.table(&tables::round_trips(run, &entries, kind));
    }
    report.line("");
    report.line("one way (wire)");
    report.table(&tables::one_way(run, &entries));
    let resolution = run.resolution();
    report.note(&format!("resolution: {resolution}"));
    for requirement in required {
        report.line("");
        report.line(format!("{} ({})", requirement.title, requirement.source));
        report.table(&tables::requirement(&entries, requirement));
    }
    report.line("");
    for entry in &entries.all {
        for trip in &entry.application.round_trips {
            report.row(&json::of(run, entry, trip, required))?;
        }
    }
    Ok(())
}

/// Returns the table of all requirements, with their sources.
#[must_use]
pub fn requirements() -> Table {
    let columns = ["name", "requirement", "source"];
    let mut table = Table::new(columns.map(Column::text));
    for requirement in Requirement::ALL {
        table.row([requirement.name, requirement.title, requirement.source]);
    }
    table
}

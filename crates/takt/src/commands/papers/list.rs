//! `takt papers list`.

use miette::IntoDiagnostic;
use serde_json::json;
use takt_figures::{Column, Report, Table};
use takt_papers::PaperLibrary;

use super::advice;
use crate::arguments::PapersListArguments;
use crate::output;

pub(super) fn run(arguments: &PapersListArguments) -> miette::Result<()> {
    let library =
        PaperLibrary::read(&arguments.library).map_err(|error| advice::explained(&error))?;
    let mut report = Report::new(output::line, arguments.json);
    for paper in &library.papers {
        report.line(format!("{}: {}", paper.id, paper.title));
        report.line("");
        let mut table = Table::new([
            Column::text("name").whole(),
            Column::text("place"),
            Column::text("content"),
            Column::number("findings"),
        ]);
        for element in &paper.elements {
            let (name, place) = (element.name.clone(), element.place.clone());
            let findings = element.findings.len();
            table.row([name, place, element.title.clone(), findings.to_string()]);
            let row = json!({
                "name": element.name,
                "paper": paper.id,
                "place": element.place,
                "title": element.title,
                "campaigns": element.campaigns.iter().map(|it| it.display().to_string()).collect::<Vec<_>>(),
                "findings": findings,
                "reason": null,
            });
            report.row(&row).into_diagnostic()?;
        }
        report.table(&table);
        if paper.missing.is_empty() {
            continue;
        }
        report.line("");
        report.line("Not expressible:");
        let mut table = Table::new([
            Column::text("place"),
            Column::text("content"),
            Column::text("reason"),
        ]);
        for missing in &paper.missing {
            let (place, title) = (missing.place.clone(), missing.title.clone());
            table.row([place, title, missing.reason.clone()]);
            let row = json!({
                "name": null,
                "paper": paper.id,
                "place": missing.place,
                "title": missing.title,
                "campaigns": [],
                "findings": 0,
                "reason": missing.reason,
            });
            report.row(&row).into_diagnostic()?;
        }
        report.table(&table);
        report.line("");
    }
    Ok(())
}

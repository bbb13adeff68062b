//! `takt papers report`.

use miette::IntoDiagnostic;
use serde_json::json;
use takt_figures::Report;
use takt_papers::{
    PaperEffort, PaperLibrary, PaperResults, PaperTable, PaperVerdict, paper_page, verdicts_table,
};

use super::advice;
use super::effort::effort;
use crate::arguments::PapersReportArguments;
use crate::{explain, output};

pub(super) fn run(arguments: &PapersReportArguments) -> miette::Result<()> {
    let library =
        PaperLibrary::read(&arguments.library).map_err(|error| advice::explained(&error))?;
    let elements: Vec<_> = library.elements().collect();
    let effort = effort(arguments.quick, arguments.messages);
    let results = PaperResults::read(&arguments.directory, effort, &library);
    let results = results.map_err(|error| advice::explained(&error))?;
    if results.is_empty() {
        let directory = arguments.directory.join(effort.folder());
        return Err(explain::with_help(
            format!("{} has no results", directory.display()),
            "`takt papers run` computes them; with --quick or --messages, give the same option to both commands.",
        ));
    }
    let mut report = Report::new(output::line, arguments.json);
    let (mut unexpected, mut all) = (0, Vec::new());
    let (mut rows, mut counts, mut without) = (Vec::new(), [0; 4], 0);
    for element in &elements {
        let of_element = results.rows(element);
        if of_element.is_empty() {
            without += 1;
            continue;
        }
        let mut verdicts = Vec::new();
        for table in PaperTable::of(element, &of_element) {
            verdicts.extend(PaperVerdict::of(&table));
        }
        for verdict in &verdicts {
            unexpected += usize::from(verdict.is_unexpected);
            counts[verdict.kind as usize] += 1;
            rows.push(json!({
                "element": element.name,
                "paper": element.paper,
                "place": element.place,
                "finding": verdict.finding.name,
                "claim": verdict.finding.claim,
                "source": verdict.finding.source,
                "backend": verdict.backend,
                "verdict": verdict.kind.name(),
                "reason": verdict.reason,
                "unexpected": verdict.is_unexpected,
            }));
        }
        let title = format!("{} {}: {}", element.paper, element.place, element.title);
        all.push((title, verdicts));
    }
    report.table(&verdicts_table(&all));
    for row in &rows {
        report.row(row).into_diagnostic()?;
    }
    let page = paper_page(&library, &results, &sentence(effort)).html();
    let file = arguments.file.clone();
    let file = file.unwrap_or_else(|| arguments.directory.join("report.html"));
    std::fs::write(&file, page).map_err(|error| {
        let message = format!("cannot write {}: {error}", file.display());
        explain::with_help(message, explain::file_help(&error))
    })?;
    let [reproduced, fitted, not_reproduced, not_decidable] = counts;
    report.line(format!(
        "{reproduced} reproduced, {fitted} fitted, {not_reproduced} not reproduced, {not_decidable} not decidable"
    ));
    if without > 0 {
        report.line(format!(
            "{without} of {} tables and figures have no results; `takt papers run` computes them",
            elements.len()
        ));
    }
    report.line(file.display().to_string());
    match unexpected {
        0 => Ok(()),
        count => Err(explain::with_help(
            format!("{count} verdicts are not those that the files of the findings expect"),
            "The page begins with them. Either results have changed, or a finding needs more messages than this run had.",
        )),
    }
}

/// Returns a sentence about the effort of the runs.
fn sentence(effort: PaperEffort) -> String {
    match effort {
        PaperEffort::Full => "Results of full campaigns.".to_owned(),
        PaperEffort::Quick => {
            "Results of quick campaigns, with fewer messages and repetitions than the papers had."
                .to_owned()
        }
        PaperEffort::Messages(messages) => {
            format!("Results of campaigns with {messages} messages and one repetition.")
        }
    }
}

//! The page of all papers.

use takt_figures::{Notice, Page};

use crate::cells::PaperTable;
use crate::charts::{figure, picture};
use crate::element::PaperElement;
use crate::library::{Paper, PaperLibrary};
use crate::results::PaperResults;
use crate::table::{findings_table, ranking, side_by_side};
use crate::verdict::{PaperVerdict, PaperVerdictKind};

/// Returns the page with all tables, charts and verdicts. `effort` describes the runs in a sentence.
#[must_use]
pub fn paper_page(library: &PaperLibrary, results: &PaperResults, effort: &str) -> Page {
    let mut page = Page::new("Tables and figures of the papers, beside results of Takt");
    page.paragraph(effort);
    page.paragraph(
        "A verdict is an expression over the results, which is checked against the paper's own figures as well. \"Fitted\" means that \
         the finding holds because a value was chosen so: it is not reproduced. Rows \"paper\" are the paper's figures; an interval \
         behind \u{b1} has a confidence of 95 % over repetitions with different seeds.",
    );
    let counts = counts(library, results);
    let kinds = counts
        .iter()
        .map(|(kind, count)| (kind.name(), count.to_string()));
    page.terms(kinds);
    unexpected(&mut page, library, results);
    for paper in &library.papers {
        of_paper(&mut page, paper, results);
    }
    page
}

/// Returns the number of verdicts of each kind.
fn counts(library: &PaperLibrary, results: &PaperResults) -> [(PaperVerdictKind, usize); 4] {
    let mut counts = [
        PaperVerdictKind::Reproduced,
        PaperVerdictKind::Fitted,
        PaperVerdictKind::NotReproduced,
        PaperVerdictKind::NotDecidable,
    ]
    .map(|kind| (kind, 0));
    // Without results nothing was judged.
    let ran = library.elements();
    for element in ran.filter(|it| !results.rows(it).is_empty()) {
        for table in PaperTable::of(element, &results.rows(element)) {
            for verdict in PaperVerdict::of(&table) {
                for (kind, count) in &mut counts {
                    *count += usize::from(*kind == verdict.kind);
                }
            }
        }
    }
    counts
}

/// Adds the verdicts that are not those that the files expect.
fn unexpected(page: &mut Page, library: &PaperLibrary, results: &PaperResults) {
    let mut lines = Vec::new();
    for element in library.elements() {
        for table in PaperTable::of(element, &results.rows(element)) {
            let verdicts = PaperVerdict::of(&table).into_iter();
            lines.extend(verdicts.filter(|it| it.is_unexpected).map(|it| {
                let (paper, place) = (&element.paper, &element.place);
                let (name, kind) = (&it.finding.name, it.kind.name());
                format!("{paper} {place}, {name}: {kind}")
            }));
        }
    }
    if !lines.is_empty() {
        let title = format!("{} unexpected verdicts", lines.len());
        page.notice(Notice::Error, &title, lines);
    }
}

fn of_paper(page: &mut Page, paper: &Paper, results: &PaperResults) {
    page.section(&format!("{}: {}", paper.id, paper.title));
    page.paragraph(&paper.source);
    for element in &paper.elements {
        of_element(page, element, results);
    }
    if !paper.missing.is_empty() {
        page.subsection("Not expressible");
        let missing = paper.missing.iter();
        page.terms(missing.map(|it| (it.place.as_str(), format!("{}: {}", it.title, it.reason))));
    }
}

fn of_element(page: &mut Page, element: &PaperElement, results: &PaperResults) {
    page.subsection(&format!(
        "{} {}: {}",
        element.paper, element.place, element.title
    ));
    if !element.notes.is_empty() {
        page.list(&element.notes);
    }
    let rows = results.rows(element);
    if rows.is_empty() {
        page.paragraph("Its campaign has no results yet.");
        return;
    }
    let pictures = element.pictures.iter();
    let pictures = pictures.filter_map(|it| picture(element, it, results.traces(element)));
    let pictures: Vec<_> = pictures.collect();
    if !pictures.is_empty() {
        page.figures(
            pictures
                .iter()
                .map(|(figure, caption)| (figure, caption.as_str())),
        );
    }
    for table in PaperTable::of(element, &rows) {
        let backend = table.backend.as_deref().unwrap_or("bounds");
        let messages = match table.messages {
            0 => String::new(),
            messages => format!(", {messages} messages"),
        };
        let caption = format!("{}, backend {backend}{messages}", element.place);
        page.table(&side_by_side(&table), &caption);
        let charts = element.charts.iter();
        let charts: Vec<_> = charts.map(|chart| figure(&table, chart)).collect();
        if !charts.is_empty() {
            page.figures(
                charts
                    .iter()
                    .map(|(figure, caption)| (figure, caption.as_str())),
            );
        }
        let ranked = element.charts.iter().filter(|it| it.is_ranked);
        let ranked = ranked.flat_map(|chart| &chart.rows);
        let ranked: Vec<String> = ranked.filter_map(|row| ranking(&table, row)).collect();
        if !ranked.is_empty() {
            page.paragraph("Ranking, the smallest first; \u{2248} where the intervals overlap. A value without an interval is that of one repetition:");
            page.list(ranked);
        }
        let verdicts = PaperVerdict::of(&table);
        if !verdicts.is_empty() {
            let title = format!("backend {backend}");
            page.table(&findings_table(&[(title, verdicts)]), "Findings");
        }
    }
}

//! The shipped library: each campaign runs with few messages, its findings have the expected verdicts, and each verdict can fail.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use takt_campaign::{CampaignPlan, CampaignRow, compute_row};

use crate::campaign::PaperEffort;
use crate::cells::PaperTable;
use crate::element::{PaperElement, PaperFinding, RowSource};
use crate::expression::{CellSide, Expression, ExpressionCells, Undecided};
use crate::library::PaperLibrary;
use crate::results::PaperResults;
use crate::trace::TracedCase;
use crate::verdict::{PaperVerdict, PaperVerdictKind};

/// Messages of each case: enough for findings that do not depend on rare events.
const MESSAGES: u64 = 400;

fn library() -> PaperLibrary {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/papers");
    PaperLibrary::read(&folder).unwrap_or_else(|error| panic!("{error}"))
}

/// The paper's own figures as results: a claim must hold for them.
struct OwnFigures<'a>(&'a PaperTable<'a>);

impl ExpressionCells for OwnFigures<'_> {
    fn quantity(&self, name: &str) -> Result<f64, Undecided> {
        self.0.quantity(name)
    }

    fn cells(
        &self,
        _: CellSide,
        row: Option<&str>,
        column: Option<&str>,
    ) -> Result<Vec<(String, f64)>, Undecided> {
        self.0.cells(CellSide::Paper, row, column)
    }
}

/// Computes all campaigns on all processors.
fn results(library: &PaperLibrary) -> PaperResults {
    let elements: Vec<&PaperElement> = library.elements().collect();
    let mut results = PaperResults::default();
    for campaign in library.campaigns(&elements) {
        let plan = campaign.plan(PaperEffort::Messages(MESSAGES), &[]);
        let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", campaign.name));
        results.add(&campaign.name, rows(&plan));
    }
    for element in elements {
        let traces = TracedCase::of(element, Some(MESSAGES), &AtomicBool::new(false));
        results.add_traces(element, traces.unwrap_or_else(|error| panic!("{error}")));
    }
    results
}

fn rows(plan: &CampaignPlan) -> Vec<CampaignRow> {
    let items: Vec<_> = plan.items().collect();
    let left = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((index, (case, backend))) = next else {
                        return;
                    };
                    let row = compute_row(plan, case, &CampaignPlan::key(case, *backend, 1));
                    done.lock().unwrap().push((index, row));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, row)| row).collect()
}

#[test]
fn claims_hold_for_the_figures_of_the_papers() {
    let library = library();
    let mut checked = 0;
    for element in library.elements() {
        let tables = PaperTable::of(element, &[]);
        for finding in &element.findings {
            let Some(holds) = &finding.holds else {
                continue;
            };
            // Undecided: the paper has no figures for a row of the claim.
            if let Ok(value) = holds.evaluate(&OwnFigures(&tables[0])) {
                assert!(value.truth(), "{}, {}", element.name, finding.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked}");
}

#[test]
fn findings_have_the_expected_verdicts_and_each_can_fail() {
    let library = library();
    let results = results(&library);
    let (mut judged, mut wrong) = (0, Vec::new());
    for element in library.elements() {
        let rows = results.rows(element);
        for row in rows.iter().filter(|row| row.failure.is_some()) {
            wrong.push(format!("{}: {:?}", element.name, row.failure));
        }
        for table in PaperTable::of(element, &rows) {
            wrong.extend(missing_cells(&table));
            for verdict in PaperVerdict::of(&table) {
                let (name, kind) = (&verdict.finding.name, verdict.kind);
                let reason = &verdict.reason;
                let is_decided = kind != PaperVerdictKind::NotDecidable;
                let is_known = verdict.finding.holds.is_none() || reason.starts_with("it needs ");
                if verdict.is_unexpected || !is_known && !is_decided {
                    wrong.push(format!("{}, {name}: {kind:?}, {reason}", element.name));
                }
                judged += usize::from(is_decided);
            }
        }
        for finding in &element.findings {
            if let Some(holds) = &finding.holds
                && !flips(element, finding, holds, &rows)
            {
                let (element, name) = (&element.name, &finding.name);
                wrong.push(format!("{element}, {name}: no rows change the verdict"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(judged > 30, "{judged}");
}

/// Returns the cells that have no value, although the paper does not say so.
fn missing_cells(table: &PaperTable<'_>) -> Vec<String> {
    let mut missing = Vec::new();
    let rows = table.element.rows.iter().zip(&table.cells);
    for (row, cells) in rows {
        for (index, cell) in cells.iter().enumerate() {
            let figure = row.paper.as_ref().map(|figures| figures[index]);
            if cell.value().is_none() && figure != Some(None) {
                let (element, name) = (&table.element.name, &row.name);
                missing.push(format!("{element}, {name}, column {index}: {cell:?}"));
            }
        }
    }
    missing
}

/// Returns true if other rows give the finding another verdict.
fn flips(
    element: &PaperElement,
    finding: &PaperFinding,
    holds: &Expression,
    rows: &[&CampaignRow],
) -> bool {
    let verdict = |rows: &[&CampaignRow]| {
        let tables = PaperTable::of(element, rows);
        let value = holds.evaluate(&tables[0]);
        value
            .unwrap_or_else(|error| panic!("{}: {error}", finding.name))
            .truth()
    };
    let before = verdict(rows);
    let quantities = quantities(element, holds);
    assert!(!quantities.is_empty(), "{}", finding.name);
    const FACTORS: [f64; 11] = [-1.0, 0.0, 0.1, 0.5, 0.9, 0.98, 1.1, 2.0, 3.0, 10.0, 1e6];
    let flips = |chosen: &dyn Fn(usize) -> bool, names: &[&String], factor: f64| {
        let changed: Vec<CampaignRow> = rows
            .iter()
            .enumerate()
            .map(|(index, row)| match chosen(index) {
                true => changed(row, names, factor),
                false => (*row).clone(),
            })
            .collect();
        verdict(&changed.iter().collect::<Vec<_>>()) != before
    };
    let names: Vec<&String> = quantities.iter().collect();
    // One quantity in one row, then in all rows.
    for factor in FACTORS {
        for name in &names {
            if (0..rows.len()).any(|row| flips(&|it| it == row, &[*name], factor))
                || flips(&|_| true, &[*name], factor)
            {
                return true;
            }
        }
    }
    // All rows with the same value of a setting.
    let settings = rows.iter().flat_map(|row| &row.settings);
    let mut settings: Vec<(String, String)> = settings
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    settings.sort_unstable();
    settings.dedup();
    for (name, value) in &settings {
        let has = |row: usize| {
            let found = rows[row].settings.get(name);
            found.is_some_and(|found| found.as_str() == Some(value.as_str()))
        };
        if FACTORS.iter().any(|factor| flips(&has, &names, *factor)) {
            return true;
        }
    }
    // Several rows: pseudo-random subsets, the same in each run.
    let mut state: u64 = 1;
    for _ in 0..3000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let bits = state >> 24;
        let factor = FACTORS[(state >> 60) as usize % FACTORS.len()];
        if flips(&|it| bits >> (it % 40) & 1 == 1, &names, factor) {
            return true;
        }
    }
    false
}

/// Returns a row with other values. A count of 0 becomes a fifth of the messages, times the factor.
fn changed(row: &CampaignRow, names: &[&String], factor: f64) -> CampaignRow {
    let mut row = row.clone();
    let published = row.number("control.messages.published").unwrap_or(5.0);
    for name in names {
        if let Some(value) = row.values.get_mut(name.as_str()) {
            let number = value.as_f64().unwrap_or(0.0);
            let number = if number == 0.0 {
                published / 5.0
            } else {
                number
            };
            *value = Value::from(number * factor);
        }
    }
    row
}

/// Returns the quantities of the rows that a finding uses.
fn quantities(element: &PaperElement, holds: &Expression) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for name in holds.rows(CellSide::Ours) {
        for row in element
            .rows
            .iter()
            .filter(|row| name.is_none_or(|name| row.name == name))
        {
            match &row.source {
                RowSource::Quantities(expression) => {
                    found.extend(expression.quantities().into_iter().map(str::to_owned));
                }
                RowSource::Cells(expression) => found.extend(quantities(element, expression)),
            }
        }
    }
    found
}

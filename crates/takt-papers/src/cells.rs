//! Cells of a table, which follow from the rows of a campaign.

use std::collections::BTreeMap;

use serde_json::Value;
use takt_campaign::CampaignRow;
use takt_scenario::CampaignBackend;
use takt_statistics::RunningMean;

use crate::element::{PaperElement, PaperRow, RowSource, Statistic};
use crate::expression::{CellSide, ExpressionCells, Undecided};
use crate::settings::has;

/// Our value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum PaperCell {
    /// A number, or nanoseconds.
    Value {
        /// Value over all repetitions; `NaN` if none has one.
        value: f64,
        /// Half of the width of the 95 % confidence interval of the mean, if there are several repetitions.
        margin: Option<f64>,
    },
    /// There is no value, with the reason.
    Missing(String),
}

impl PaperCell {
    /// Returns the value.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value { value, .. } => Some(*value),
            Self::Missing(_) => None,
        }
    }
}

/// A table of an element with our values.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperTable<'a> {
    /// The element.
    pub element: &'a PaperElement,
    /// Name of the backend that simulates or measures; `None` if there are bounds only.
    pub backend: Option<String>,
    /// Cells of each row of the element, one for each column.
    pub cells: Vec<Vec<PaperCell>>,
    /// Smallest number of messages that an application published in a row; 0 without such rows.
    pub messages: u64,
}

impl<'a> PaperTable<'a> {
    /// Returns the tables of an element: one for each backend that simulates or measures. Each has the bounds as well.
    #[must_use]
    pub fn of(element: &'a PaperElement, rows: &[&CampaignRow]) -> Vec<Self> {
        let mut backends: Vec<&str> = Vec::new();
        for row in rows {
            if row.backend != CampaignBackend::Bounds.name()
                && !backends.contains(&row.backend.as_str())
            {
                backends.push(&row.backend);
            }
        }
        if backends.is_empty() {
            return vec![Self::with(element, rows, None)];
        }
        let backends = backends.into_iter();
        backends
            .map(|backend| Self::with(element, rows, Some(backend)))
            .collect()
    }

    fn with(element: &'a PaperElement, rows: &[&CampaignRow], backend: Option<&str>) -> Self {
        let measured = rows
            .iter()
            .filter(|row| Some(row.backend.as_str()) == backend);
        let published = measured.flat_map(|row| {
            let values = row.values.iter();
            let published = values.filter(|(name, _)| name.ends_with(".messages.published"));
            published.filter_map(|(_, value)| value.as_u64())
        });
        let mut table = Self {
            element,
            backend: backend.map(str::to_owned),
            cells: Vec::with_capacity(element.rows.len()),
            messages: published.min().unwrap_or(0),
        };
        for row in &element.rows {
            let cells = match &row.source {
                RowSource::Quantities(_) => {
                    let columns = element.columns.iter();
                    let cells = columns.map(|column| table.cell(row, &column.settings, rows));
                    cells.collect()
                }
                RowSource::Cells(expression) => match expression.evaluate(&table) {
                    Ok(value) => table.series(&value.series()),
                    Err(reason) => {
                        vec![PaperCell::Missing(reason.to_string()); element.columns.len()]
                    }
                },
            };
            table.cells.push(cells);
        }
        table
    }

    /// Returns the cells of a series that was computed of other cells. A single number is that of all columns.
    fn series(&self, series: &[(String, f64)]) -> Vec<PaperCell> {
        let columns = self.element.columns.iter();
        let cells = columns.map(|column| {
            let mut named = series.iter();
            let found = named.find(|(name, _)| *name == column.name || name.is_empty());
            match found {
                Some((_, value)) => PaperCell::Value {
                    value: *value,
                    margin: None,
                },
                None => PaperCell::Missing("another row has no value".to_owned()),
            }
        });
        cells.collect()
    }

    /// Returns the cell of a row whose values are quantities.
    fn cell(
        &self,
        row: &PaperRow,
        column: &BTreeMap<String, String>,
        rows: &[&CampaignRow],
    ) -> PaperCell {
        let backend = match (row.is_bound, &self.backend) {
            (true, _) => CampaignBackend::Bounds.name(),
            (false, Some(backend)) => backend.as_str(),
            (false, None) => return PaperCell::Missing("no backend has simulated it".to_owned()),
        };
        let belongs = |it: &&&CampaignRow| {
            it.backend == backend && row_has(it, column) && row_has(it, &row.settings)
        };
        let found: Vec<&CampaignRow> = rows.iter().filter(belongs).copied().collect();
        let Some(first) = found.first() else {
            return PaperCell::Missing(format!("no such row of backend {backend}"));
        };
        if found.iter().any(|it| it.case != first.case) {
            return PaperCell::Missing("its settings are those of several cases".to_owned());
        }
        let RowSource::Quantities(expression) = &row.source else {
            return PaperCell::Missing("it is no quantity".to_owned());
        };
        let values = found.iter().map(|it| match &it.failure {
            Some(reason) => Err(Undecided(reason.clone())),
            None => Ok(expression.evaluate(&Quantities(it))?.number()),
        });
        match values.collect::<Result<Vec<f64>, _>>() {
            Ok(values) => merged(&values, row.over),
            Err(reason) => PaperCell::Missing(reason.to_string()),
        }
    }

    /// Returns the value of a cell; `None` if the paper has no figure there, `NaN` if we have none.
    fn value(&self, side: CellSide, row: usize, column: usize) -> Result<Option<f64>, Undecided> {
        let Some(of_row) = self.element.rows.get(row) else {
            return Ok(None);
        };
        let figures = of_row.paper.as_ref();
        let figure = figures.map(|figures| figures.get(column).copied().flatten());
        match (side, figure) {
            (CellSide::Paper, figure) => Ok(figure.flatten()),
            // The paper has figures for this row, and none in this column.
            (CellSide::Ours, Some(None)) => Ok(None),
            (CellSide::Ours, _) => match self.cells.get(row).and_then(|row| row.get(column)) {
                Some(PaperCell::Value { value, .. }) => Ok(Some(*value)),
                Some(PaperCell::Missing(reason)) => Err(Undecided(format!(
                    "{}, {}: {reason}",
                    of_row.name,
                    self.element.columns.get(column).map_or("", |it| &it.name)
                ))),
                None => Err(Undecided(format!("{} comes later", of_row.name))),
            },
        }
    }
}

/// Returns true if a row of a campaign has these settings, which are texts in rows.
fn row_has(row: &CampaignRow, settings: &BTreeMap<String, String>) -> bool {
    let value = |name: &str| row.settings.get(name).and_then(Value::as_str);
    has(&row.scenario, value, settings)
}

/// Merges the values of repetitions.
fn merged(values: &[f64], over: Statistic) -> PaperCell {
    // `f64::min` would ignore a NaN.
    if values.iter().any(|value| value.is_nan()) {
        return PaperCell::Value {
            value: f64::NAN,
            margin: None,
        };
    }
    let mut mean = RunningMean::default();
    values.iter().for_each(|value| mean.add(*value));
    let estimate = mean.estimate();
    let all = || values.iter().copied();
    let (value, margin) = match over {
        Statistic::Mean if values.len() > 1 => {
            let margin = estimate.map(|it| (it.high - it.low) / 2.0);
            (estimate.map(|it| it.value), margin)
        }
        Statistic::Mean => (all().next(), None),
        Statistic::Min => (all().reduce(f64::min), None),
        Statistic::Max => (all().reduce(f64::max), None),
    };
    PaperCell::Value {
        value: value.unwrap_or(f64::NAN),
        margin: margin.filter(|margin| margin.is_finite()),
    }
}

/// Quantities of a row.
struct Quantities<'a>(&'a CampaignRow);

impl Quantities<'_> {
    /// Returns words for the quantities that several Subscribers have in place of one.
    fn of_subscribers(&self, name: &str) -> String {
        let is_of_one = |known: &str| {
            let (application, rest) = known.split_once(" \u{2192} ")?;
            let kind = name.strip_prefix(application)?;
            (kind.starts_with('.') && rest.ends_with(kind)).then_some(())
        };
        let known = self.0.values.keys().map(String::as_str);
        let known: Vec<String> = known
            .filter(|known| is_of_one(known).is_some())
            .map(|known| format!("`{known}`"))
            .collect();
        match known.is_empty() {
            true => String::new(),
            false => format!("; each Subscriber has its own: {}", known.join(", ")),
        }
    }
}

impl ExpressionCells for Quantities<'_> {
    fn quantity(&self, name: &str) -> Result<f64, Undecided> {
        match self.0.values.get(name) {
            None => Err(Undecided(format!(
                "the row of backend {} has no {name}{}",
                self.0.backend,
                self.of_subscribers(name)
            ))),
            // An infinite bound, or a time of no message.
            Some(Value::Null) if self.0.backend == CampaignBackend::Bounds.name() => {
                Ok(f64::INFINITY)
            }
            Some(value) => Ok(value.as_f64().unwrap_or(f64::NAN)),
        }
    }

    fn cells(
        &self,
        _: CellSide,
        _: Option<&str>,
        _: Option<&str>,
    ) -> Result<Vec<(String, f64)>, Undecided> {
        Ok(Vec::new())
    }
}

impl ExpressionCells for PaperTable<'_> {
    fn quantity(&self, name: &str) -> Result<f64, Undecided> {
        Err(Undecided(format!("{name} is no cell")))
    }

    fn cells(
        &self,
        side: CellSide,
        row: Option<&str>,
        column: Option<&str>,
    ) -> Result<Vec<(String, f64)>, Undecided> {
        let chosen = |wanted: Option<&str>, name: &str| wanted.is_none_or(|wanted| wanted == name);
        let mut found = Vec::new();
        for (index, of_row) in self.element.rows.iter().enumerate() {
            if !chosen(row, &of_row.name) {
                continue;
            }
            for (place, of_column) in self.element.columns.iter().enumerate() {
                if !chosen(column, &of_column.name) {
                    continue;
                }
                let Some(value) = self.value(side, index, place)? else {
                    continue;
                };
                let name = match (row, column) {
                    (Some(_), _) => of_column.name.clone(),
                    (None, Some(_)) => of_row.name.clone(),
                    (None, None) => format!("{}, {}", of_row.name, of_column.name),
                };
                found.push((name, value));
            }
        }
        if found.is_empty() {
            let (side, of) = (side.name(), row.or(column).unwrap_or("any row"));
            return Err(Undecided(format!("{side}: there is no figure of {of}")));
        }
        Ok(found)
    }
}

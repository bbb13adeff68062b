//! `takt bounds`.

mod json;
mod plot;
mod row;
mod summary;
mod table;

use takt_calculus::scenario_bounds;
use takt_scenario::BoundsModel;

use crate::arguments::{BoundsArguments, ModelName};
use crate::scenario_file::{self, Loaded};
use crate::{explain, output};
use miette::IntoDiagnostic;
use row::Row;
use takt_report::Report;

pub(super) fn run(arguments: &BoundsArguments) -> miette::Result<()> {
    let Loaded {
        file,
        text,
        variants,
    } = scenario_file::load(&arguments.file)?;
    let mut rows = Vec::with_capacity(variants.len());
    let mut report = Report::new(output::line, arguments.json);
    for variant in variants {
        let scenario = &variant.scenario;
        let model = match arguments.model {
            Some(ModelName::Paper) => BoundsModel::Paper,
            Some(ModelName::Sound) => BoundsModel::Sound,
            None => scenario.bounds.model,
        };
        let analyses = match &arguments.analysis {
            Some(analyses) => &analyses.0,
            None => &scenario.bounds.analyses,
        };
        let bounds = scenario_bounds(scenario, model, analyses).map_err(|error| {
            let help =
                "docs/bounds.md describes the modelled parts. `takt simulate` has no such limits.";
            match error.part() {
                Some(part) => {
                    let error = file.error_at(&variant, part, error.to_string());
                    explain::scenario_with_help(&text, &error, help)
                }
                None => explain::with_help(format!("{}: {error}", arguments.file.display()), help),
            }
        })?;
        let row = Row {
            settings: variant.settings,
            scenario: variant.scenario,
            model,
            bounds,
        };
        if arguments.json {
            report.row(&json::object(&row)).into_diagnostic()?;
        }
        rows.push(row);
    }
    if let Some(picture) = &arguments.plot {
        plot::draw(picture, arguments.theme, &rows)?;
    }
    table::print(&rows, arguments.all, &mut report);
    Ok(())
}

//! `takt bounds`.

mod json;
mod plot;
mod row;
mod summary;
mod table;

use takt_calculus::{Realisation, scenario_bounds_with};
use takt_scenario::BoundsModel;

use crate::arguments::{BoundsArguments, Given, ModelName};
use crate::scenario_file::{self, Loaded};
use crate::{explain, output};
use miette::IntoDiagnostic;
use row::Row;
use takt_figures::{Progress, Report};

/// Number of flows up to which analyses take so little time that no progress is shown.
const QUICK: usize = 100;

/// Options that `takt bounds` has with the model of the paper, too.
const OF_PAPER: [&str; 7] = ["field", "model", "analysis", "plot", "theme", "all", "json"];

pub(super) fn run(arguments: &BoundsArguments, given: &Given) -> miette::Result<()> {
    let Loaded {
        file,
        text,
        variants,
    } = scenario_file::load(&arguments.file, &arguments.settings)?;
    let mut rows = Vec::with_capacity(variants.len());
    let mut report = Report::new(output::line, arguments.json);
    for variant in variants {
        let scenario = &variant.scenario;
        let model = match arguments.model {
            Some(ModelName::Paper) => BoundsModel::Paper,
            Some(ModelName::Sound) => BoundsModel::Sound,
            None => scenario.bounds.model,
        };
        if model == BoundsModel::Paper {
            given.refuse::<BoundsArguments>(&OF_PAPER, |option| {
                (
                    format!("{option} is for the model sound, and these bounds are of the model of the paper"),
                    "Add --model sound.".to_owned(),
                )
            })?;
        }
        let analyses = match &arguments.analysis {
            Some(analyses) => &analyses.0,
            None => &scenario.bounds.analyses,
        };
        let mut display = None;
        let mut progress = |flow: usize, of: usize| {
            if of > QUICK {
                let of = u32::try_from(of).unwrap_or(u32::MAX);
                let display = display.get_or_insert_with(|| Progress::new("flow", of));
                // `show` adds 1.
                display.show(u32::try_from(flow).unwrap_or(u32::MAX - 1));
            }
        };
        let driver_queue = arguments.driver_queue.into();
        let realisation = match arguments.software {
            true => Realisation::Software { driver_queue },
            false => Realisation::Linux { driver_queue },
        };
        let bounds = scenario_bounds_with(scenario, model, realisation, analyses, &mut progress);
        // The display is removed before an error or a table is printed.
        drop(display);
        let bounds = bounds.map_err(|error| {
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
            given: arguments.settings.clone(),
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

//! Computation of rows: simulations, bounds and runs of the lab.

use serde_json::Value;
use takt_calculus::scenario_bounds;
use takt_scenario::{CampaignBackend, Scenario};
use takt_sim::{Loopback, Model, RunOptions, Simulation};

use crate::case::{CampaignCase, RowKey};
use crate::lab_error::CampaignLabError;
use crate::lab_runner::{LabRow, LabRunner};
use crate::plan::CampaignPlan;
use crate::quantities::{of_bounds, of_simulation};
use crate::row::{CampaignRow, Quantities};

/// Computes a row of a simulation or of bounds. The same plan and key give the same row, on each host and in each order. Rows of the lab
/// have a failure: [`run_campaign_in_lab`](crate::run_campaign_in_lab) computes them.
#[must_use]
pub fn compute_row(plan: &CampaignPlan, case: &CampaignCase, key: &RowKey) -> CampaignRow {
    let seed = plan.seed(key.backend, key.repetition);
    let outcome = match plan.scenario_of(case) {
        // Checked with the plan.
        Err(error) => Err(error.to_string()),
        Ok(scenario) => match key.backend {
            CampaignBackend::Simulate => Ok(simulated(plan, &scenario, seed)),
            CampaignBackend::Bounds => bounded(&scenario),
            CampaignBackend::Uml | CampaignBackend::Netns => {
                Err("a run of the lab was not possible here".to_owned())
            }
        },
    };
    row(plan, case, key, outcome)
}

/// Row with facts that may differ between runs; null if it has none.
pub(crate) struct ComputedRow {
    pub(crate) row: CampaignRow,
    pub(crate) facts: Value,
}

/// Computes a row of any backend. The lab is there if a backend of the plan needs it.
pub(crate) fn compute_any_row(
    plan: &CampaignPlan,
    case: &CampaignCase,
    key: &RowKey,
    lab: Option<&LabRunner>,
) -> Result<ComputedRow, CampaignLabError> {
    let Some(lab) = lab.filter(|_| key.backend.is_of_lab()) else {
        return Ok(ComputedRow {
            row: compute_row(plan, case, key),
            facts: Value::Null,
        });
    };
    let LabRow { outcome, facts } = lab.row(plan, case, key)?;
    Ok(ComputedRow {
        row: row(plan, case, key, outcome),
        facts,
    })
}

fn row(
    plan: &CampaignPlan,
    case: &CampaignCase,
    key: &RowKey,
    outcome: Result<Quantities, String>,
) -> CampaignRow {
    let seed = plan.seed(key.backend, key.repetition);
    let name = plan.scenarios.get(case.scenario);
    let name = name.map_or("", |it| it.name.as_str());
    CampaignRow::new(case, name, key, seed, outcome)
}

fn simulated(plan: &CampaignPlan, scenario: &Scenario, seed: Option<u64>) -> Quantities {
    let mut options = RunOptions::new(scenario);
    if let Some(messages) = plan.file.messages {
        options = options.with_cycles(messages);
    }
    options.simulation.seed = seed.unwrap_or(options.simulation.seed);
    options.model = match plan.file.ieee_model {
        true => Model::Ieee,
        false => Model::Linux,
    };
    options.loopback = match plan.file.latest_loopback {
        true => Loopback::Latest,
        false => Loopback::All,
    };
    let results = Simulation::new(scenario, options).run(&mut ());
    of_simulation(scenario, &results)
}

fn bounded(scenario: &Scenario) -> Result<Quantities, String> {
    let options = &scenario.bounds;
    let bounds = scenario_bounds(scenario, options.model, &options.analyses);
    let bounds = bounds.map_err(|error| error.to_string())?;
    Ok(of_bounds(scenario, &bounds))
}

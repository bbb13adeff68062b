//! Computation of rows: simulations and bounds.

use takt_calculus::scenario_bounds;
use takt_scenario::{CampaignBackend, Scenario};
use takt_sim::{Loopback, Model, RunOptions, Simulation};

use crate::case::{CampaignCase, RowKey};
use crate::plan::CampaignPlan;
use crate::quantities::{of_bounds, of_simulation};
use crate::row::{CampaignRow, Quantities};

/// Computes a row. The same plan and key give the same row, on each host and in each order.
#[must_use]
pub fn compute_row(plan: &CampaignPlan, case: &CampaignCase, key: &RowKey) -> CampaignRow {
    let seed = plan.seed(key.backend, key.repetition);
    let outcome = match plan.scenario_of(case) {
        // Checked with the plan: a file has changed since then.
        Err(error) => Err(error.to_string()),
        Ok(scenario) => match key.backend {
            CampaignBackend::Simulate => Ok(simulated(plan, &scenario, seed)),
            CampaignBackend::Bounds => bounded(&scenario),
        },
    };
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

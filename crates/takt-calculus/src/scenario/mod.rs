//! Bounds of a scenario: translates nodes, ports and flows of `takt-scenario` to ports and streams, and the results back to
//! names.

mod application;
mod bounds;
mod error;
mod loopback;
mod named;
mod one_way;
mod paper;
mod ports;
mod quantities;
mod realisation;
mod reason;
mod schedule;
mod selection;
mod sound;
mod txtime;

pub use bounds::{FlowBound, QueueBound, ScenarioBounds};
pub use error::ScenarioBoundsError;
pub use one_way::OneWayTimes;
pub use realisation::Realisation;
pub use reason::Infinite;

use takt_scenario::{Analysis, BoundsModel, Scenario};

/// Returns the bounds of a scenario under a model, by these analyses, for Linux with one frame in each driver.
///
/// # Errors
/// A part of the scenario without known curves.
pub fn scenario_bounds(
    scenario: &Scenario,
    model: BoundsModel,
    analyses: &[Analysis],
) -> Result<ScenarioBounds, ScenarioBoundsError> {
    let realisation = Realisation::default();
    scenario_bounds_with(scenario, model, realisation, analyses, &mut |_, _| {})
}

/// Returns the same for a realisation of the queueing disciplines, and reports the progress of the sound model: the index of the next flow and the number of flows, before the
/// analyses of each flow.
///
/// # Errors
/// Those of [`scenario_bounds`].
pub fn scenario_bounds_with(
    scenario: &Scenario,
    model: BoundsModel,
    realisation: Realisation,
    analyses: &[Analysis],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ScenarioBounds, ScenarioBoundsError> {
    let mut bounds = match model {
        BoundsModel::Sound => sound::bounds(scenario, realisation, analyses, progress)?,
        BoundsModel::Paper => paper::bounds(scenario)?,
    };
    for flow in bounds.flows.iter_mut().filter(|flow| flow.round_trip) {
        flow.application_round_trip =
            application::round_trip(scenario, flow.source, &flow.from_queue);
    }
    Ok(bounds)
}

//! Names in all outputs of a simulation.

use takt_scenario::ScenarioVariant;
use takt_scenario::names::parameter_name;
use takt_sim::Model;

/// Returns the name of the scenario and the values of its sweeps, in one line.
pub(super) fn heading(variant: &ScenarioVariant) -> String {
    let settings = variant
        .settings
        .iter()
        .map(|(parameter, value)| format!(", {} = {value}", parameter_name(parameter)));
    format!("{}{}", variant.scenario.name, settings.collect::<String>())
}

/// Returns the name of a model, as on the command line.
pub(super) fn model_name(model: Model) -> &'static str {
    match model {
        Model::Linux => "linux",
        Model::Ieee => "ieee",
    }
}

//! One row of the results.

use takt_calculus::{Extended, Rational, ScenarioBounds};
use takt_scenario::{BoundsModel, Scenario};

/// Bounds for one combination of swept values.
pub(super) struct Row {
    /// Given fields and their values, the same in all rows.
    pub(super) given: Vec<(String, String)>,
    /// Swept parameters and their values here.
    pub(super) settings: Vec<(String, String)>,
    pub(super) scenario: Scenario,
    pub(super) model: BoundsModel,
    pub(super) bounds: ScenarioBounds,
}

/// Returns a time in this number of units per second; `None` if infinite. The model `sound` rounds up, so that the printed bound
/// holds as well. The model of the paper truncates.
pub(super) fn whole(time: &Extended, units: u32, model: BoundsModel) -> Option<String> {
    let units = time.finite()? * Rational::from(units);
    Some(match model {
        BoundsModel::Sound => units.ceil().to_string(),
        BoundsModel::Paper => units.floor().to_string(),
    })
}

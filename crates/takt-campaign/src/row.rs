//! Rows: results of one repetition of a case by a backend, as a line of JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use takt_scenario::CampaignBackend;

use crate::case::{CampaignCase, RowKey};

/// Quantities of a row by their names: `control.round_trip.mean_ns`. A quantity without a value is null, as an infinite bound.
pub type Quantities = Map<String, Value>;

/// One row of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignRow {
    /// Id of the case.
    pub case: String,
    /// File of the scenario, as the campaign has it.
    pub scenario: String,
    /// Names and values of swept and derived fields.
    pub settings: Map<String, Value>,
    /// Name of the backend.
    pub backend: String,
    /// Number of the repetition, from 1.
    pub repetition: u32,
    /// Seed of the repetition, if the backend has one.
    pub seed: Option<u64>,
    /// Quantities; empty if the computation failed.
    pub values: Quantities,
    /// True if the quantities were measured in the time of a host: a second run gives others.
    #[serde(default, skip_serializing_if = "is_false")]
    pub measured: bool,
    /// Reason why there are no quantities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// Returns true if a quantity of a backend is a bound.
pub(crate) fn is_bound(backend: &str, quantity: &str) -> bool {
    backend == CampaignBackend::Bounds.name() && quantity.ends_with(".bound_ns")
}

impl CampaignRow {
    /// Creates the row of a computation.
    pub(crate) fn new(
        case: &CampaignCase,
        scenario: &str,
        key: &RowKey,
        seed: Option<u64>,
        outcome: Result<Quantities, String>,
    ) -> Self {
        let settings = case.values.iter();
        let settings = settings.map(|(name, value)| (name.clone(), value.clone().into()));
        let (values, failure) = match outcome {
            Ok(values) => (values, None),
            Err(reason) => (Quantities::new(), Some(reason)),
        };
        Self {
            case: case.id.clone(),
            scenario: scenario.to_owned(),
            settings: settings.collect(),
            backend: key.backend.name().to_owned(),
            repetition: key.repetition,
            seed,
            values,
            measured: key.backend.is_measured(),
            failure,
        }
    }

    /// Returns the key of the row; `None` if this version has no such backend.
    #[must_use]
    pub fn key(&self) -> Option<RowKey> {
        Some(RowKey {
            case: self.case.clone(),
            backend: CampaignBackend::of_name(&self.backend)?,
            repetition: self.repetition,
        })
    }

    /// Returns true if a quantity is an infinite bound, which is null in the row.
    #[must_use]
    pub fn is_infinite(&self, quantity: &str) -> bool {
        is_bound(&self.backend, quantity) && self.values.get(quantity) == Some(&Value::Null)
    }

    /// Returns a quantity as a number.
    #[must_use]
    pub fn number(&self, quantity: &str) -> Option<f64> {
        self.values.get(quantity)?.as_f64()
    }
}

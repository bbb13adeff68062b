//! Dimensions of a campaign: settings and scenarios in which its cases differ.

use serde_json::Value;
use takt_campaign::{CampaignSummary, MergedRow, varied_settings};
use takt_scenario::names::{named, parameter_name};

/// Kind of a property in which cases differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DimensionKind {
    /// File of the scenario.
    Scenario,
    /// Swept field, by its path.
    Setting(String),
}

/// Dimension with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CampaignDimension {
    kind: DimensionKind,
    /// Name for people.
    pub(super) name: String,
    /// Values in the order of the campaign.
    pub(super) values: Vec<String>,
}

impl CampaignDimension {
    /// Returns the dimensions of a summary: the scenario if there are several, and each swept field.
    pub(super) fn all(summary: &CampaignSummary) -> Vec<Self> {
        let rows: Vec<MergedRow> = summary
            .quantities
            .iter()
            .flat_map(|it| it.rows.iter().cloned())
            .collect();
        let settings = varied_settings(&rows).into_iter();
        let kinds = settings.map(DimensionKind::Setting);
        let kinds = std::iter::once(DimensionKind::Scenario).chain(kinds);
        let dimensions = kinds.map(|kind| {
            let name = match &kind {
                DimensionKind::Scenario => "scenario".to_owned(),
                DimensionKind::Setting(path) => parameter_name(path),
            };
            let mut values = Vec::new();
            for row in &rows {
                let value = value_of(&kind, &row.scenario, &row.settings);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            Self { kind, name, values }
        });
        dimensions.filter(|it| it.values.len() > 1).collect()
    }

    /// Creates the dimension of these scenarios.
    #[cfg(test)]
    pub(super) fn of_scenarios<const N: usize>(values: [&str; N]) -> Self {
        Self {
            kind: DimensionKind::Scenario,
            name: "scenario".to_owned(),
            values: values.map(str::to_owned).to_vec(),
        }
    }

    /// Returns true if the dimension chooses a discipline.
    pub(super) fn is_discipline(&self) -> bool {
        match &self.kind {
            DimensionKind::Scenario => false,
            DimensionKind::Setting(path) => path.rsplit('.').next() == Some("discipline"),
        }
    }

    /// Returns true if the dimension is the scenario.
    pub(super) fn is_scenario(&self) -> bool {
        self.kind == DimensionKind::Scenario
    }

    /// Returns the value of a case.
    pub(super) fn value(
        &self,
        scenario: &str,
        settings: &serde_json::Map<String, Value>,
    ) -> String {
        value_of(&self.kind, scenario, settings)
    }

    /// Returns the value of a row.
    pub(super) fn of(&self, row: &MergedRow) -> String {
        self.value(&row.scenario, &row.settings)
    }

    /// Returns the name with a value: `3 hops`.
    pub(super) fn named(&self, value: &str) -> String {
        named(&self.name, value)
    }
}

fn value_of(
    kind: &DimensionKind,
    scenario: &str,
    settings: &serde_json::Map<String, Value>,
) -> String {
    match kind {
        DimensionKind::Scenario => scenario.to_owned(),
        DimensionKind::Setting(path) => match settings.get(path) {
            Some(Value::String(text)) => text.replace(" us", " \u{b5}s"),
            Some(other) => other.to_string(),
            None => "-".to_owned(),
        },
    }
}

/// Returns the values of a case in several dimensions, in words.
pub(super) fn label<'a>(
    dimensions: impl IntoIterator<Item = &'a CampaignDimension>,
    value: impl Fn(&CampaignDimension) -> String,
) -> String {
    let texts = dimensions.into_iter().map(|it| it.named(&value(it)));
    texts.collect::<Vec<_>>().join(", ")
}

//! Summary of a campaign: its repetitions merged into means and medians with 95 % confidence intervals.

use std::path::Path;

use serde_json::{Map, Value, json};
use takt_scenario::CampaignBackend;
use takt_statistics::{Estimate, RunningMean, SortedTimes};

use crate::error::CampaignError;
use crate::folder::{CampaignDescription, JOURNAL, ROWS};
use crate::row::{CampaignRow, is_bound};
use crate::table::{RowColumns, for_each_row};

/// Repetitions of a case by a backend, for one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedRow {
    /// Id of the case.
    pub case: String,
    /// File of the scenario.
    pub scenario: String,
    /// Names and values of swept and derived fields.
    pub settings: Map<String, Value>,
    /// Name of the backend.
    pub backend: String,
    /// True if the quantities were measured in the time of a host: a second run gives others.
    pub measured: bool,
    /// Number of rows, also of those without the quantity.
    pub rows: usize,
    /// Mean over the rows that have the quantity; `None` if none has it.
    pub mean: Option<Estimate>,
    /// Median over the same rows.
    pub median: Option<Estimate>,
    /// Smallest value.
    pub least: Option<f64>,
    /// Greatest value.
    pub most: Option<f64>,
}

impl MergedRow {
    /// Returns true if this quantity is an infinite bound, which has no mean.
    #[must_use]
    pub fn is_infinite(&self, quantity: &str) -> bool {
        // A bound that could not be computed has no row.
        is_bound(&self.backend, quantity) && self.mean.is_none()
    }

    /// Returns the row as an object for programs. A value that is not known is null, as is an infinite end of an interval.
    #[must_use]
    pub fn object(&self, quantity: &str) -> Value {
        let interval = |estimate: Option<Estimate>| {
            estimate.map_or(
                Value::Null,
                |it| json!({"value": it.value, "low": it.low, "high": it.high}),
            )
        };
        json!({
            "quantity": quantity,
            "case": self.case,
            "scenario": self.scenario,
            "settings": self.settings,
            "backend": self.backend,
            "measured": self.measured,
            "rows": self.rows,
            "count": self.mean.map_or(0, |it| it.count),
            "mean": interval(self.mean),
            "median": interval(self.median),
            "min": self.least,
            "max": self.most,
        })
    }
}

/// Summary of a quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedQuantity {
    /// Name of the quantity.
    pub quantity: String,
    /// Cases and backends that have it, in the order of the campaign.
    pub rows: Vec<MergedRow>,
}

/// Summary of a campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct CampaignSummary {
    /// Description of the campaign.
    pub description: CampaignDescription,
    /// Summaries of quantities.
    pub quantities: Vec<MergedQuantity>,
    /// Names of quantities that were asked for, by the caller or the campaign's file, and that no row has.
    pub absent: Vec<String>,
    /// Names of all quantities.
    pub known: Vec<String>,
    /// Number of rows.
    pub rows: usize,
    /// Number of rows with a failure in place of quantities.
    pub failed: usize,
}

/// Rows of an item so far.
#[derive(Default)]
struct Group {
    first: Option<CampaignRow>,
    rows: usize,
    /// Values of each quantity.
    values: Vec<Vec<f64>>,
}

impl CampaignSummary {
    /// Reads the summary of a complete campaign. Without `quantities` it has those of the campaign's file, or round trips, or ways.
    ///
    /// # Errors
    /// There is no complete campaign, or its files cannot be read.
    pub fn read(directory: &Path, quantities: &[String]) -> Result<Self, CampaignError> {
        let description = CampaignDescription::read(directory)?;
        let path = directory.join(ROWS);
        if directory.join(JOURNAL).exists() || !path.exists() {
            return Err(CampaignError::Incomplete(directory.to_owned()));
        }
        let known = RowColumns::of_file(&path)?.values;
        let mut is_of_uml = false;
        for_each_row(&path, |row| {
            is_of_uml |= row.backend == CampaignBackend::Uml.name();
            Ok(())
        })?;
        let wanted: Vec<String> = match (quantities, description.quantities.as_slice()) {
            ([], []) => usual(&known, is_of_uml),
            ([], of_file) => of_file.to_vec(),
            (given, _) => given.to_vec(),
        };
        let (wanted, absent): (Vec<String>, Vec<String>) =
            wanted.into_iter().partition(|it| known.contains(it));
        let mut merged: Vec<MergedQuantity> = wanted
            .iter()
            .map(|quantity| MergedQuantity {
                quantity: quantity.clone(),
                rows: Vec::new(),
            })
            .collect();
        let (mut group, mut rows, mut failed) = (Group::default(), 0, 0);
        for_each_row(&path, |row| {
            rows += 1;
            failed += usize::from(row.failure.is_some());
            let is_same =
                |first: &CampaignRow| (&first.case, &first.backend) == (&row.case, &row.backend);
            if !group.first.as_ref().is_some_and(is_same) {
                std::mem::take(&mut group).end(&mut merged);
                group.values = vec![Vec::new(); wanted.len()];
                group.first = Some(row.clone());
            }
            group.rows += 1;
            for (values, quantity) in group.values.iter_mut().zip(&wanted) {
                values.extend(row.number(quantity));
            }
            Ok(())
        })?;
        group.end(&mut merged);
        Ok(Self {
            description,
            quantities: merged,
            absent,
            known,
            rows,
            failed,
        })
    }
}

impl Group {
    /// Adds the rows of an item to the summaries of the quantities that it has.
    fn end(self, merged: &mut [MergedQuantity]) {
        let Some(first) = self.first else {
            return;
        };
        for (quantity, values) in merged.iter_mut().zip(self.values) {
            // A bound has no measured quantity, and a simulation no bound. A null is a value: infinite, or no message came.
            if !first.values.contains_key(&quantity.quantity) && values.is_empty() {
                continue;
            }
            let mut mean = RunningMean::default();
            values.iter().for_each(|value| mean.add(*value));
            quantity.rows.push(MergedRow {
                case: first.case.clone(),
                scenario: first.scenario.clone(),
                settings: first.settings.clone(),
                backend: first.backend.clone(),
                measured: first.measured,
                rows: self.rows,
                mean: mean.estimate(),
                least: values.iter().copied().reduce(f64::min),
                most: values.iter().copied().reduce(f64::max),
                // Fewer than six values give the least and the greatest one, whose confidence is less than 95 %.
                median: SortedTimes::new(values).median_estimate(),
            });
        }
    }
}

/// Returns the usual quantities: means, greatest values and bounds of round trips, and of ways to Subscribers. Captures of uml have the first bit, so
/// with rows of it there are those from the first bit, too.
fn usual(known: &[String], is_of_uml: bool) -> Vec<String> {
    let of_kind = |kind: &str| -> Vec<String> {
        let kinds = [kind.to_owned(), format!("{kind}_from_first_bit")];
        let kinds = kinds.iter().take(1 + usize::from(is_of_uml));
        let ends = ["mean_ns", "max_ns", "bound_ns"];
        let ends = kinds.flat_map(|kind| ends.map(|end| format!(".{kind}.{end}")));
        let ends: Vec<String> = ends.collect();
        let is_wanted = |name: &&String| ends.iter().any(|end| name.ends_with(end.as_str()));
        known.iter().filter(is_wanted).cloned().collect()
    };
    let round_trips = of_kind("round_trip");
    let mut ways = of_kind("one_way");
    if !round_trips.is_empty() {
        // Applications with Subscribers have no round trips.
        ways.retain(|name| is_to_subscriber(known, name));
    }
    known
        .iter()
        .filter(|name| round_trips.contains(name) || ways.contains(name))
        .cloned()
        .collect()
}

/// Returns true for a quantity of a way to a Subscriber: the only one of its application, or one of several.
fn is_to_subscriber(known: &[String], quantity: &str) -> bool {
    let Some((flow, _)) = quantity.rsplit_once(".one_way") else {
        return false;
    };
    let mut applications = known.iter().filter_map(|it| it.strip_suffix(".cycle_ns"));
    let application = applications.find(|application| {
        let rest = flow.strip_prefix(application);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" \u{2192} "))
    });
    application.is_some_and(|application| {
        let round_trip = format!("{application}.round_trip");
        !known.iter().any(|it| it.starts_with(&round_trip))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_the_usual_quantities() {
        let known = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let all = known(&[
            "control.round_trip.mean_ns",
            "control.round_trip.p99_ns",
            "control.one_way.max_ns",
            "control.round_trip.bound_ns",
        ]);
        assert_eq!(
            usual(&all, false),
            ["control.round_trip.mean_ns", "control.round_trip.bound_ns"]
        );
        assert_eq!(usual(&all[2..3], false), ["control.one_way.max_ns"]);
        // An application with two Subscribers has two ways, and one with a loopback stands beside it.
        let mixed = known(&[
            "control.cycle_ns",
            "control.one_way.max_ns",
            "control.round_trip.max_ns",
            "state.cycle_ns",
            "state \u{2192} panel.one_way.max_ns",
            "state \u{2192} robot.one_way.max_ns",
            "video.one_way.max_ns",
        ]);
        let expected = [2, 4, 5].map(|index| mixed[index].clone());
        assert_eq!(usual(&mixed, false), expected);
        let of_uml = known(&["control.round_trip_from_first_bit.mean_ns"]);
        assert_eq!(usual(&of_uml, true), of_uml);
    }
}

//! Rankings of disciplines, or of scenarios, by requirements.

use takt_figures::number::trimmed;
use takt_figures::{Column, Table};
use takt_statistics::Estimate;

use super::dimensions::{CampaignDimension, label};
use super::judged::JudgedCase;

/// Alternative of a ranking.
struct Ranked<'a> {
    /// Discipline or scenario.
    name: String,
    /// Case in which it is worst.
    worst: &'a JudgedCase,
    estimate: Estimate,
    /// Numbers of repetitions of all of its cases, and of those that meet the requirement.
    count: usize,
    met: usize,
}

/// Ranking of alternatives by one quantity of one backend.
pub(super) struct Ranking<'a> {
    /// Quantity with its unit and limit.
    pub(super) quantity: String,
    pub(super) backend: &'a str,
    alternatives: Vec<Ranked<'a>>,
    is_least: bool,
    unit: &'static str,
    limit: f64,
}

/// Row of a ranking for programs and tables.
pub(super) struct RankedRow {
    /// Best and worst rank that the intervals allow, from 1.
    pub(super) ranks: (usize, usize),
    pub(super) name: String,
    /// Application and case in which the alternative is worst.
    pub(super) place: String,
    pub(super) estimate: Estimate,
    pub(super) met: usize,
    pub(super) count: usize,
}

impl<'a> Ranking<'a> {
    /// Returns the rankings of a requirement, one for each of its quantities and backends.
    pub(super) fn of(
        requirement: &str,
        cases: &'a [JudgedCase],
        dimensions: &[CampaignDimension],
    ) -> Vec<Self> {
        let mut rankings: Vec<Self> = Vec::new();
        let chosen = alternatives(dimensions);
        for case in cases.iter().filter(|it| it.requirement == requirement) {
            let Some(estimate) = estimate(case) else {
                continue;
            };
            let value = |it: &CampaignDimension| it.value(&case.scenario, &case.settings);
            let name = match chosen.is_empty() {
                true => "all cases".to_owned(),
                false => {
                    let values = chosen.iter().map(|it| value(it));
                    values.collect::<Vec<_>>().join(", ")
                }
            };
            let same = rankings
                .iter_mut()
                .find(|it| it.backend == case.backend && it.quantity == quantity(case));
            let ranking = match same {
                Some(ranking) => ranking,
                None => {
                    rankings.push(Self {
                        quantity: quantity(case),
                        backend: &case.backend,
                        alternatives: Vec::new(),
                        is_least: case.is_least,
                        unit: case.unit,
                        limit: case.limit,
                    });
                    match rankings.last_mut() {
                        Some(ranking) => ranking,
                        None => continue,
                    }
                }
            };
            ranking.add(name, case, estimate);
        }
        rankings
    }

    fn add(&mut self, name: String, case: &'a JudgedCase, estimate: Estimate) {
        let is_least = self.is_least;
        match self.alternatives.iter_mut().find(|it| it.name == name) {
            None => self.alternatives.push(Ranked {
                name,
                worst: case,
                estimate,
                count: case.count,
                met: case.met,
            }),
            Some(known) => {
                known.count += case.count;
                known.met += case.met;
                let is_worse = match is_least {
                    true => estimate.value < known.estimate.value,
                    false => estimate.value > known.estimate.value,
                };
                if is_worse {
                    (known.worst, known.estimate) = (case, estimate);
                }
            }
        }
    }

    /// Returns the alternatives from the best to the worst.
    pub(super) fn rows(&self, dimensions: &[CampaignDimension]) -> Vec<RankedRow> {
        // Turned around, smaller is better for every quantity.
        let ends = |it: &Estimate| match self.is_least {
            true => (-it.high, -it.low),
            false => (it.low, it.high),
        };
        let mut sorted: Vec<&Ranked<'_>> = self.alternatives.iter().collect();
        sorted.sort_by(|one, other| {
            let (one, other) = (one.estimate.value, other.estimate.value);
            match self.is_least {
                true => other.total_cmp(&one),
                false => one.total_cmp(&other),
            }
        });
        let rest: Vec<&CampaignDimension> = match alternatives(dimensions) {
            chosen if chosen.is_empty() => dimensions.iter().collect(),
            chosen => dimensions
                .iter()
                .filter(|it| !chosen.contains(it))
                .collect(),
        };
        let row = |it: &&Ranked<'_>| {
            let (low, high) = ends(&it.estimate);
            let others = || {
                let others = sorted.iter().filter(|other| other.name != it.name);
                others.map(|other| ends(&other.estimate))
            };
            let better = others().filter(|other| other.1 < low).count();
            let worse = others().filter(|other| other.0 > high).count();
            let case = it.worst;
            let value = |it: &CampaignDimension| it.value(&case.scenario, &case.settings);
            let place = label(rest.iter().copied(), value);
            RankedRow {
                ranks: (better + 1, sorted.len() - worse),
                name: it.name.clone(),
                place: match place.as_str() {
                    "" => case.application.clone(),
                    place => format!("{}, {place}", case.application),
                },
                estimate: it.estimate,
                met: it.met,
                count: it.count,
            }
        };
        sorted.iter().map(row).collect()
    }

    /// Returns the limit with its unit.
    pub(super) fn limit(&self) -> String {
        let sign = if self.is_least { "at least" } else { "at most" };
        let limit = trimmed(self.limit, 3);
        format!("{sign} {limit} {}", self.unit)
            .trim_end()
            .to_owned()
    }

    /// Returns the table of the ranking.
    pub(super) fn table(&self, dimensions: &[CampaignDimension]) -> Table {
        let number = |name: &str| match self.unit {
            "" => Column::number(name),
            unit => Column::number(name).unit(unit),
        };
        let mut table = Table::new([
            Column::text("rank"),
            Column::text(heading(dimensions)),
            Column::text("worst at"),
            number("mean"),
            number("from"),
            number("to"),
            Column::text("met"),
        ]);
        for row in self.rows(dimensions) {
            let end = |end: f64| match end.is_finite() {
                true => trimmed(end, 3),
                false => "-".to_owned(),
            };
            table.row([
                ranks(row.ranks),
                row.name,
                row.place,
                match row.estimate.value.is_finite() {
                    true => trimmed(row.estimate.value, 3),
                    false => "\u{221e}".to_owned(),
                },
                end(row.estimate.low),
                end(row.estimate.high),
                match row.met == row.count {
                    true => "yes".to_owned(),
                    false => format!("{} of {}", row.met, row.count),
                },
            ]);
        }
        table
    }
}

/// Returns ranks as a text: `1`, or `1 to 3` where intervals overlap.
fn ranks((best, worst): (usize, usize)) -> String {
    match best == worst {
        true => best.to_string(),
        false => format!("{best} to {worst}"),
    }
}

/// Returns the dimensions that are ranked: disciplines, or scenarios if no discipline is swept.
fn alternatives(dimensions: &[CampaignDimension]) -> Vec<&CampaignDimension> {
    let chosen: Vec<&CampaignDimension> =
        dimensions.iter().filter(|it| it.is_discipline()).collect();
    match chosen.is_empty() {
        true => dimensions.iter().filter(|it| it.is_scenario()).collect(),
        false => chosen,
    }
}

/// Returns the name of the ranked things.
pub(super) fn heading(dimensions: &[CampaignDimension]) -> &'static str {
    match alternatives(dimensions).first() {
        Some(it) if it.is_discipline() => "discipline",
        Some(_) => "scenario",
        None => "cases",
    }
}

fn quantity(case: &JudgedCase) -> String {
    match case.unit {
        "" => case.quantity.to_owned(),
        unit => format!("{} ({unit})", case.quantity),
    }
}

/// Returns the mean of a case. A bound is exact; one repetition of another backend has no interval.
fn estimate(case: &JudgedCase) -> Option<Estimate> {
    let estimate = case.mean.estimate()?;
    Some(match case.backend.as_str() {
        "bounds" => Estimate {
            low: estimate.value,
            high: estimate.value,
            ..estimate
        },
        _ => estimate,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::{Map, json};
    use takt_campaign::{CampaignRow, Quantities};

    use super::super::judged::JudgedRows;
    use super::*;
    use crate::comparison::Requirement;

    fn bound(scenario: &str, hops: &str, nanos: Option<f64>) -> CampaignRow {
        let mut values = Quantities::new();
        values.insert("control.cycle_ns".to_owned(), json!(250e3));
        values.insert("control.one_way.bound_ns".to_owned(), json!(nanos));
        let mut settings = Map::new();
        settings.insert("load".to_owned(), hops.into());
        CampaignRow {
            case: format!("{scenario} {hops}"),
            scenario: scenario.to_owned(),
            settings,
            backend: "bounds".to_owned(),
            repetition: 1,
            seed: None,
            values,
            measured: false,
            failure: None,
        }
    }

    /// The worst Subscriber counts, and the application itself has no value of its own.
    #[test]
    fn each_subscriber_is_judged() {
        let flows = ["control \u{2192} host2", "control \u{2192} host3"];
        let mut known = vec!["control.cycle_ns".to_owned()];
        known.extend(flows.map(|flow| format!("{flow}.one_way.max_ns")));
        let mut row = bound("a.toml", "1", None);
        row.backend = "simulate".to_owned();
        row.values.remove("control.one_way.bound_ns");
        row.values
            .insert("control.messages.missed".to_owned(), json!(3));
        for (flow, number) in flows.into_iter().zip([1, 2]) {
            let mut value =
                |quantity: &str, value| row.values.insert(format!("{flow}.{quantity}"), value);
            value("one_way.max_ns", json!(10_000 * number));
            value("messages.missed", json!(number));
        }
        let mut judged = JudgedRows::new(&known, &Requirement::ALL);
        judged.add(&row);
        let mut names: Vec<&str> = judged
            .cases
            .iter()
            .map(|it| it.application.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, flows);
        let mut found = judged.cases.iter();
        let found =
            found.find(|it| it.application == flows[1] && it.quantity == "longest delay, one way");
        assert_eq!(found.unwrap().mean.estimate().unwrap().value, 20.0);
    }

    #[test]
    fn an_infinite_bound_is_the_worst_one() {
        let known = ["control.cycle_ns".to_owned()];
        let mut judged = JudgedRows::new(&known, &Requirement::ALL);
        for row in [
            bound("a.toml", "1", Some(10e3)),
            bound("a.toml", "2", None),
            bound("b.toml", "1", Some(20e3)),
            bound("b.toml", "2", Some(30e3)),
        ] {
            judged.add(&row);
        }
        let scenario = CampaignDimension::of_scenarios(["a.toml", "b.toml"]);
        let rankings = Ranking::of(
            "motion-control",
            &judged.cases,
            std::slice::from_ref(&scenario),
        );
        let rows = rankings[0].rows(&[scenario]);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["b.toml", "a.toml"]);
        assert_eq!((rows[0].ranks, rows[1].ranks), ((1, 1), (2, 2)));
        let (met, count) = (rows[1].met, rows[1].count);
        assert_eq!((rows[1].estimate.value, met, count), (f64::INFINITY, 1, 2));
    }
}

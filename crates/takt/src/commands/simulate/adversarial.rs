//! The worst that can be found, beside what is proven.

use serde_json::{Value, json};
use takt_calculus::{Extended, Rational, ScenarioBounds, scenario_bounds};
use takt_scenario::{BoundsModel, FlowSource, Receiver, Variant};
use takt_sim::{Found, Options, Time, Worst};

use super::{heading, json, model_name, table};
use crate::interrupt::Interrupt;
use crate::output;

/// Cycles of each try, if the scenario does not have fewer.
pub(super) const CYCLES: u64 = 48;

/// Searches, and prints what was found. An interrupted search prints what it has.
pub(super) fn run(
    tries: u64,
    as_json: bool,
    variant: &Variant,
    options: &Options,
    interrupt: &Interrupt,
) {
    let worst = takt_sim::search(&variant.scenario, options, tries, |_| !interrupt.is_set());
    let scenario = &variant.scenario;
    let bounds = scenario_bounds(scenario, BoundsModel::Sound, &scenario.bounds.analyses);
    let none = bounds.as_ref().err().map(ToString::to_string);
    let rows = rows(variant, &worst, bounds.as_ref().ok());
    if as_json {
        let mut object = json::head(variant, options);
        object.insert("tries".to_owned(), worst.tries.into());
        object.insert("no_bounds".to_owned(), none.into());
        object.insert("worst".to_owned(), rows.iter().map(Row::json).collect());
        output::line(Value::Object(object));
    } else {
        print(variant, options, &worst, &rows);
        if let Some(reason) = none {
            output::line(format!("no bounds: {reason}"));
        }
    }
}

/// The worst of one kind.
struct Row {
    name: String,
    kind: &'static str,
    found: Option<(Time, u64)>,
    bound: Option<Bound>,
}

/// What is proven.
enum Bound {
    /// In nanoseconds.
    Finite(f64),
    Infinite,
}

impl Bound {
    fn new(delay: &Extended) -> Self {
        match delay {
            Extended::Finite(delay) => {
                Self::Finite((delay * Rational::from(1_000_000_000)).to_f64().value())
            }
            Extended::Infinity | Extended::NegativeInfinity => Self::Infinite,
        }
    }
}

fn rows(variant: &Variant, worst: &Worst, bounds: Option<&ScenarioBounds>) -> Vec<Row> {
    let scenario = &variant.scenario;
    let flows = bounds.map_or(&[][..], |bounds| &bounds.flows);
    let found = |found: Option<&Found>| found.map(|found| (found.delay, found.attempt));
    let bound = |source: FlowSource, round_trip: bool| {
        let mut flows = flows.iter();
        let found = flows.find(|it| it.source == source && it.round_trip == round_trip);
        let found = found.filter(|bound| !bound.is_unknown());
        found.map(|bound| Bound::new(&bound.delay))
    };
    let mut rows = Vec::new();
    for (flow, one_way) in scenario.flows().iter().zip(&worst.flows) {
        if let FlowSource::Publish(id) = flow.source
            && let Receiver::Loopback(_) = scenario.applications[id.0].receiver
        {
            rows.push(Row {
                name: scenario.applications[id.0].name.clone(),
                kind: "round trip",
                found: found(worst.round_trip(id)),
                bound: bound(flow.source, true),
            });
        }
        rows.push(Row {
            name: scenario.flow_name(flow.source),
            kind: "one way",
            found: found(one_way.as_ref()),
            bound: bound(flow.source, false)
                .or_else(|| Some(Bound::new(&bounds?.of_way(scenario, flow)?))),
        });
    }
    rows
}

impl Row {
    /// What is proven divided by what was found.
    fn tightness(&self) -> Option<f64> {
        match (&self.bound, self.found) {
            (Some(Bound::Finite(bound)), Some((delay, _))) => {
                Some(bound * 1000.0 / delay.as_picoseconds().max(1) as f64)
            }
            _ => None,
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "kind": self.kind,
            "found_ns": json::nanoseconds(self.found.map(|found| found.0)),
            "try": self.found.map(|found| found.1),
            "bound_ns": match self.bound {
                Some(Bound::Finite(bound)) => bound.into(),
                _ => Value::Null,
            },
            "infinite": matches!(self.bound, Some(Bound::Infinite)),
            "tightness": self.tightness(),
        })
    }
}

fn print(variant: &Variant, options: &Options, worst: &Worst, rows: &[Row]) {
    output::line(heading(variant));
    output::line(format!(
        "the worst of {} simulations of {} cycles; seed {}, model {}, times in \u{b5}s",
        worst.tries,
        options.simulation.cycles,
        options.simulation.seed,
        model_name(options.model),
    ));
    output::line("");
    let names = rows.iter().map(|row| row.name.chars().count());
    let width = names.max().unwrap_or(0).max(30);
    output::line(format!(
        "{:<width$} {:<10} {:>12} {:>8} {:>12} {:>12}",
        "FLOW", "DELAY", "FOUND", "TRY", "BOUND", "BOUND/FOUND"
    ));
    for row in rows {
        let (delay, attempt) = match row.found {
            Some((delay, attempt)) => (table::micros(delay), attempt.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let bound = match row.bound {
            Some(Bound::Finite(bound)) => format!("{:.3}", bound / 1000.0),
            Some(Bound::Infinite) => "infinite".to_owned(),
            None => "-".to_owned(),
        };
        let tightness = row
            .tightness()
            .map_or("-".to_owned(), |it| format!("{it:.3}"));
        output::line(format!(
            "{:<width$} {:<10} {delay:>12} {attempt:>8} {bound:>12} {tightness:>12}",
            row.name, row.kind
        ));
    }
}

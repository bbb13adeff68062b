//! Results of the search for the worst case, beside the bound.

use miette::IntoDiagnostic;
use serde_json::{Value, json};
use takt_calculus::{Extended, Rational, ScenarioBounds, scenario_bounds};
use takt_figures::{Column, Report, Table};
use takt_rt::interrupt::Interrupt;
use takt_scenario::{ApplicationReceiver, BoundsModel, FlowSource, Scenario, ScenarioVariant};
use takt_sim::{Found, KeptPhases, RunOptions, Time, Worst};

use super::names::{heading, model_name};
use super::{json, table};

/// Cycles of each try, if the scenario does not have fewer.
pub(super) const CYCLES: u64 = 48;

/// Searches for the worst case, and prints the results. An interrupted search prints the results so far.
pub(super) fn run(
    tries: u64,
    variant: &ScenarioVariant,
    options: &RunOptions,
    interrupt: &Interrupt,
    report: &mut Report<impl FnMut(String)>,
) -> miette::Result<()> {
    let scenario = &variant.scenario;
    let bounds = scenario_bounds(scenario, BoundsModel::Sound, &scenario.bounds.analyses);
    let kept = bounds
        .as_ref()
        .map_or_else(|_| KeptPhases::default(), |bounds| kept(scenario, bounds));
    let worst = takt_sim::search(scenario, options, &kept, tries, |_| !interrupt.is_set());
    let none = bounds.as_ref().err().map(ToString::to_string);
    let rows = rows(variant, &worst, bounds.as_ref().ok());
    print(variant, options, &worst, &rows, report);
    if let Some(reason) = &none {
        report.line(format!("no bounds: {reason}"));
    }
    let mut object = json::head(variant, options);
    object.insert("tries".to_owned(), worst.tries.into());
    object.insert("no_bounds".to_owned(), none.into());
    object.insert("worst".to_owned(), rows.iter().map(Row::json).collect());
    report.row(&object).into_diagnostic()
}

/// Returns the delays whose bounds hold only for the phases of the scenario.
fn kept(scenario: &Scenario, bounds: &ScenarioBounds) -> KeptPhases {
    let round_trips = bounds.flows.iter().filter(|bound| bound.needs_phases);
    let round_trips = round_trips.filter_map(|bound| match bound.source {
        FlowSource::Publish(id) if bound.round_trip => Some(id),
        _ => None,
    });
    let ways = scenario.flows().iter().map(|flow| flow.source);
    KeptPhases {
        round_trips: round_trips.collect(),
        flows: ways.filter(|way| bounds.way_needs_phases(*way)).collect(),
    }
}

/// The worst delay of one kind.
struct Row {
    name: String,
    kind: &'static str,
    found: Option<(Time, u64)>,
    bound: Option<Bound>,
}

/// A proven bound.
enum Bound {
    /// Bound in nanoseconds.
    Finite(f64),
    Infinite,
}

impl Bound {
    fn new(delay: &Extended) -> Self {
        match delay {
            Extended::Finite(delay) => {
                // The bound is rounded up, so that the printed value holds as well.
                let nanoseconds = (delay * Rational::from(1_000_000_000)).ceil();
                Self::Finite(Rational::from(nanoseconds).to_f64().value())
            }
            Extended::Infinity | Extended::NegativeInfinity => Self::Infinite,
        }
    }
}

fn rows(variant: &ScenarioVariant, worst: &Worst, bounds: Option<&ScenarioBounds>) -> Vec<Row> {
    let scenario = &variant.scenario;
    let found = |found: Option<&Found>| found.map(|found| (found.delay, found.attempt));
    // As simulated delays do, these bounds begin at the first port's queue.
    let round_trip = |source: FlowSource| {
        let mut flows = bounds?.flows.iter();
        let bound = flows.find(|bound| bound.source == source && bound.round_trip)?;
        Some(Bound::new(&bound.from_queue))
    };
    let way = |source: FlowSource| Some(Bound::new(bounds?.of_way(source)?));
    let mut rows = Vec::new();
    for (flow, one_way) in scenario.flows().iter().zip(&worst.flows) {
        if let FlowSource::Publish(id) = flow.source
            && let ApplicationReceiver::Loopback(_) = scenario.applications[id.0].receiver
        {
            rows.push(Row {
                name: scenario.applications[id.0].name.clone(),
                kind: "wire round trip",
                found: found(worst.round_trip(id)),
                bound: round_trip(flow.source),
            });
        }
        rows.push(Row {
            name: scenario.flow_name(flow.source),
            kind: "one way",
            found: found(one_way.as_ref()),
            bound: way(flow.source),
        });
    }
    rows
}

impl Row {
    /// Returns the bound divided by the worst delay that was found.
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

fn print(
    variant: &ScenarioVariant,
    options: &RunOptions,
    worst: &Worst,
    rows: &[Row],
    report: &mut Report<impl FnMut(String)>,
) {
    report.line(heading(variant));
    report.line(format!(
        "the worst of {} simulations of {} cycles; seed {}, model {}\n",
        worst.tries,
        options.simulation.cycles,
        options.simulation.seed,
        model_name(options.model),
    ));
    let mut table = Table::new([
        Column::text("flow"),
        Column::text("delay"),
        Column::number("found").unit("\u{b5}s"),
        Column::number("try"),
        Column::number("bound").unit("\u{b5}s"),
        Column::number("bound/found"),
    ]);
    for row in rows {
        let none = || "-".to_owned();
        let bound = match row.bound {
            Some(Bound::Finite(bound)) => format!("{:.3}", bound / 1000.0),
            Some(Bound::Infinite) => "infinite".to_owned(),
            None => none(),
        };
        table.row([
            row.name.clone(),
            row.kind.to_owned(),
            row.found.map_or_else(none, |found| table::micros(found.0)),
            row.found.map_or_else(none, |found| found.1.to_string()),
            bound,
            row.tightness().map_or_else(none, |it| format!("{it:.3}")),
        ]);
    }
    report.table(&table);
}

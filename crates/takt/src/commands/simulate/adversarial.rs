//! Results of the search for the worst case, beside the bound.

use miette::IntoDiagnostic;
use serde_json::{Value, json};
use takt_calculus::{Extended, Rational, Realisation, ScenarioBounds, scenario_bounds_with};
use takt_figures::{Column, Report, Table};
use takt_rt::interrupt::Interrupt;
use takt_scenario::{BoundsModel, FlowSource, Scenario, ScenarioVariant};
use takt_sim::{Found, KeptPhases, Model, RunOptions, Time, Worst};

use super::names::{heading, model_name};
use super::{json, table};

/// Cycles of each try, if the scenario does not have fewer.
pub(super) const CYCLES: u64 = 48;

/// Rounding of a simulated delay at each port, in picoseconds.
const ROUNDING: i64 = 4;

/// Searches for the worst case, and prints the results. An interrupted search prints the results so far. Returns the delays
/// above their bounds, in words.
pub(super) fn run(
    tries: u64,
    variant: &ScenarioVariant,
    options: &RunOptions,
    interrupt: &Interrupt,
    report: &mut Report<impl FnMut(String)>,
) -> miette::Result<Vec<String>> {
    let scenario = &variant.scenario;
    let analyses = &scenario.bounds.analyses;
    let realisation = realisation(options);
    // A delay may be above a bound of the papers' model; above a sound one it is an error.
    let sound = BoundsModel::Sound;
    let bounds = scenario_bounds_with(scenario, sound, realisation, analyses, &mut |_, _| {});
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
    let reasons = bounds
        .as_ref()
        .map_or_else(|_| Vec::new(), ScenarioBounds::reasons);
    if !reasons.is_empty() {
        report.line("");
        report.line("Reasons of infinite bounds:");
        report.lines(reasons.iter().map(|it| format!("* {it}")));
    }
    let broken = bounds.as_ref().map_or(&[][..], |bounds| &bounds.broken);
    if !broken.is_empty() {
        report.line("");
        report.line("The simulated disciplines break these assumptions of the bounds:");
        report.lines(broken.iter().map(|it| format!("* {it}")));
    }
    let above: Vec<String> = rows.iter().filter_map(Row::above).collect();
    let mut object = json::head(variant, options);
    object.insert("broken_assumptions".to_owned(), broken.into());
    object.insert("infinite_because".to_owned(), reasons.into());
    object.insert("tries".to_owned(), worst.tries.into());
    object.insert("no_bounds".to_owned(), none.into());
    object.insert("worst".to_owned(), rows.iter().map(Row::json).collect());
    report.row(&object).into_diagnostic()?;
    Ok(above)
}

/// Returns the realisation of the disciplines that is simulated.
fn realisation(options: &RunOptions) -> Realisation {
    match options.model {
        Model::Ieee => Realisation::Ieee,
        Model::Linux => Realisation::Software {
            // The simulator takes 0 as 1, too.
            driver_queue: u32::try_from(options.driver_queue.max(1)).unwrap_or(u32::MAX),
        },
    }
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
    /// Ports on the way.
    ports: usize,
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
    let ports: usize = scenario.flows().iter().map(|flow| flow.ports.len()).sum();
    for (flow, one_way) in scenario.flows().iter().zip(&worst.flows) {
        if let FlowSource::Publish(id) = flow.source
            && scenario.applications[id.0].receiver.loopback().is_some()
        {
            rows.push(Row {
                name: scenario.applications[id.0].name.clone(),
                kind: "wire round trip",
                found: found(worst.round_trip(id)),
                bound: round_trip(flow.source),
                ports,
            });
        }
        rows.push(Row {
            name: scenario.flow_name(flow.source),
            kind: "one way",
            found: found(one_way.as_ref()),
            bound: way(flow.source),
            ports: flow.ports.len(),
        });
    }
    rows
}

impl Row {
    /// Returns the bound divided by the worst delay that was found.
    fn tightness(&self) -> Option<f64> {
        match (&self.bound, self.found) {
            (Some(Bound::Finite(bound)), Some((delay, _))) => {
                // The bound is in nanoseconds.
                Some(bound * 1000.0 / delay.as_picoseconds().max(1) as f64)
            }
            _ => None,
        }
    }

    /// Returns the delay that was found and its bound in words, if the delay is above.
    fn above(&self) -> Option<String> {
        let (Some(Bound::Finite(bound)), Some((delay, attempt))) = (&self.bound, self.found) else {
            return None;
        };
        let rounding = ROUNDING.saturating_mul(i64::try_from(self.ports).unwrap_or(i64::MAX));
        let picoseconds = delay.as_picoseconds().saturating_sub(rounding);
        (picoseconds as f64 > bound * 1000.0).then(|| {
            format!(
                "{}, {}: {} \u{b5}s found in try {attempt}, bound {:.3} \u{b5}s",
                self.name,
                self.kind,
                table::micros(delay),
                bound / 1000.0
            )
        })
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
            "above_bound": self.above().is_some(),
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
        "the worst of {} simulations of {} cycles; seed {}, model {}",
        worst.tries,
        options.simulation.cycles,
        options.simulation.seed,
        model_name(options.model),
    ));
    report.line("");
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

//! Quantities of a run of the lab, from its traces and captures. They have the names of the simulated ones that begin and end at the same
//! places.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use takt_analysis::{AnalysisOptions, ExactStatistics, RunAnalysis, SentStamp};
use takt_control::TracePoint;
use takt_lab::CaseRecord;
use takt_lab::run_directory::{RunApplication, RunCase};
use takt_scenario::{ApplicationIndex, FlowSource, Scenario};
use takt_statistics::Quantile;

use super::times;
use crate::lab_error::CampaignLabError;
use crate::row::Quantities;

/// Returns the quantities of all applications, and of all flows. `directory` is that of the case, `trim` the number of messages to leave out
/// at each end.
pub(crate) fn of_run(
    scenario: &Scenario,
    directory: &Path,
    case: &RunCase,
    record: &CaseRecord,
    trim: u64,
) -> Result<Quantities, CampaignLabError> {
    let mut quantities = Quantities::new();
    times::add_cycles(&mut quantities, scenario);
    let options = AnalysisOptions {
        trim,
        synchronized: case.synchronized,
    };
    // Each receiver has files of its own.
    let mut received = BTreeMap::<ApplicationIndex, Vec<ReceivedMessages>>::new();
    for flow in scenario.flows() {
        let (FlowSource::Publish(index) | FlowSource::Branch(index, _)) = flow.source else {
            continue;
        };
        let name = scenario.flow_name(flow.source);
        let mut runs = case.applications.iter();
        let run = runs.find(|it| it.name == name);
        let run = run.ok_or_else(|| {
            CampaignLabError::Run(format!("the run has no files of the messages {name}"))
        })?;
        let analysis = analysis(directory, run, &options)?;
        let of_one = of_receiver(&mut quantities, &name, &analysis, run.one_way);
        received.entry(index).or_default().push(of_one);
        let back = FlowSource::Return(index);
        let ways = [
            (flow.source, TracePoint::T2, TracePoint::T3),
            (back, TracePoint::T6, TracePoint::T7),
        ];
        for (source, from, to) in ways.into_iter().take(if run.one_way { 1 } else { 2 }) {
            let name = scenario.flow_name(source);
            of_way(&mut quantities, &name, &analysis, from, to);
        }
    }
    for (index, of_receivers) in received.iter().filter(|(_, of)| of.len() > 1) {
        let application = scenario.applications.get(index.0);
        let name = application.map_or("", |it| it.name.as_str());
        of_all_receivers(&mut quantities, name, of_receivers);
    }
    for flow in &record.cross_traffic {
        let lost = flow.sent.saturating_sub(flow.received);
        frames(&mut quantities, &flow.name, flow.sent, flow.received, lost);
    }
    Ok(quantities)
}

fn analysis(
    directory: &Path,
    run: &RunApplication,
    options: &AnalysisOptions,
) -> Result<RunAnalysis, CampaignLabError> {
    let analysis = RunAnalysis::of(&run.files(directory), options)?;
    // A file that is cut off, as on a full disk, is no result.
    let damage = analysis.files.iter().find_map(|it| it.damage.as_ref());
    match damage {
        None => Ok(analysis),
        Some(damage) => Err(CampaignLabError::Run(format!(
            "a file of {} is damaged: {damage}",
            run.name
        ))),
    }
}

/// Returns the end of the kinds of times on the wire: those from the first bit have a name of their own, as in simulations.
fn from_stamp(analysis: &RunAnalysis) -> &'static str {
    match analysis.sent_stamp() {
        Some(SentStamp::FirstBit) => "_from_first_bit",
        _ => "",
    }
}

/// Counts of the messages to a receiver, as it has seen them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReceivedMessages {
    published: Option<u64>,
    missed: Option<u64>,
    repeated: Option<u64>,
    out_of_order: Option<u64>,
}

/// Adds the quantities of an application's messages to one receiver, and returns the counts. A Subscriber has no round trips.
fn of_receiver(
    quantities: &mut Quantities,
    name: &str,
    analysis: &RunAnalysis,
    one_way: bool,
) -> ReceivedMessages {
    let counters = |point| {
        let mut points = analysis.points.iter();
        points.find(|it| it.point == point).map(|it| it.counters)
    };
    let taken = match one_way {
        true => TracePoint::T4,
        false => TracePoint::T8,
    };
    let (sent, taken) = (counters(TracePoint::T1), counters(taken));
    let messages = ReceivedMessages {
        published: sent.map(|it| it.messages),
        missed: taken.map(|it| it.missed),
        repeated: taken.map(|it| it.repeated),
        out_of_order: taken.map(|it| it.reordered),
    };
    count(quantities, name, "lost", analysis.lost());
    messages.add(quantities, name);
    if one_way {
        return messages;
    }
    let kind = format!("round_trip{}", from_stamp(analysis));
    interval(
        quantities,
        name,
        &kind,
        analysis,
        (TracePoint::T2, TracePoint::T7),
    );
    let kind = "application_round_trip";
    interval(
        quantities,
        name,
        kind,
        analysis,
        (TracePoint::T1, TracePoint::T8),
    );
    messages
}

/// Adds the counts of all receivers together, as in simulations. Lost messages are those of each receiver only: a run does not tell
/// whether two of them have lost the same frame.
fn of_all_receivers(quantities: &mut Quantities, name: &str, receivers: &[ReceivedMessages]) {
    let sum = |of: fn(&ReceivedMessages) -> Option<u64>| receivers.iter().map(of).sum();
    let all = ReceivedMessages {
        published: receivers.iter().find_map(|it| it.published),
        missed: sum(|it| it.missed),
        repeated: sum(|it| it.repeated),
        out_of_order: sum(|it| it.out_of_order),
    };
    all.add(quantities, name);
}

impl ReceivedMessages {
    fn add(&self, quantities: &mut Quantities, name: &str) {
        count(quantities, name, "published", self.published);
        count(quantities, name, "missed", self.missed);
        count(quantities, name, "repeated", self.repeated);
        count(quantities, name, "out_of_order", self.out_of_order);
    }
}

fn count(quantities: &mut Quantities, name: &str, quantity: &str, count: Option<u64>) {
    quantities.insert(format!("{name}.messages.{quantity}"), count.into());
}

fn of_way(
    quantities: &mut Quantities,
    name: &str,
    analysis: &RunAnalysis,
    from: TracePoint,
    to: TracePoint,
) {
    let at = |point| analysis.points.iter().find(|it| it.point == point);
    let (sent, received) = (at(from), at(to));
    let messages = |point: Option<&takt_analysis::PointQuantities>| {
        point.map_or(0, |point| point.counters.messages)
    };
    let (left, came) = (messages(sent), messages(received));
    frames(quantities, name, left, came, left.saturating_sub(came));
    let kind = format!("one_way{}", from_stamp(analysis));
    interval(quantities, name, &kind, analysis, (from, to));
    if let Some(received) = received {
        statistics(quantities, name, "spacing", &received.spacing);
    }
}

fn frames(quantities: &mut Quantities, name: &str, sent: u64, received: u64, lost: u64) {
    for (quantity, count) in [("sent", sent), ("received", received), ("lost", lost)] {
        quantities.insert(format!("{name}.frames.{quantity}"), count.into());
    }
}

/// Adds the delays and the jitter of an interval, if it was measured.
fn interval(
    quantities: &mut Quantities,
    name: &str,
    kind: &str,
    analysis: &RunAnalysis,
    (from, to): (TracePoint, TracePoint),
) {
    let mut intervals = analysis.intervals.iter();
    let found = intervals.find(|it| (it.interval.from, it.interval.to) == (from, to));
    if let Some(found) = found {
        statistics(quantities, name, kind, &found.delay);
        let kind = format!("{kind}_jitter");
        statistics(quantities, name, &kind, &found.jitter);
    }
}

fn statistics(quantities: &mut Quantities, name: &str, kind: &str, of: &ExactStatistics) {
    let quantiles = [Quantile::MEDIAN, Quantile::P99, Quantile::P99_9];
    let time = |nanos: Option<i64>| nanos.map_or(Value::Null, |nanos| (nanos as f64).into());
    let [median, p99, p99_9] = match of.quantiles(quantiles) {
        Some(quantiles) => quantiles.map(Some),
        None => [None; 3],
    };
    let mean = of.mean().map_or(Value::Null, Value::from);
    let times = [
        time(of.min()),
        mean,
        time(median),
        time(p99),
        time(p99_9),
        time(of.max()),
    ];
    times::add(quantities, name, kind, of.count(), times);
}

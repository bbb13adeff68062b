//! Quantities of a run of the lab, from its traces and captures. They have the names of the simulated ones that begin and end at the same
//! places.

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
    let applications = scenario.applications.iter().enumerate();
    for (index, application) in applications {
        let mut runs = case.applications.iter();
        let Some(run) = runs.find(|it| it.name == application.name) else {
            continue;
        };
        let analysis = analysis(directory, run, &options)?;
        let index = ApplicationIndex(index);
        of_application(&mut quantities, &application.name, &analysis);
        let ways = [
            (FlowSource::Publish(index), TracePoint::T2, TracePoint::T3),
            (FlowSource::Return(index), TracePoint::T6, TracePoint::T7),
        ];
        for (source, from, to) in ways {
            let name = scenario.flow_name(source);
            of_way(&mut quantities, &name, &analysis, from, to);
        }
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

fn of_application(quantities: &mut Quantities, name: &str, analysis: &RunAnalysis) {
    let counters = |point| {
        let mut points = analysis.points.iter();
        points.find(|it| it.point == point).map(|it| it.counters)
    };
    let (sent, back) = (counters(TracePoint::T1), counters(TracePoint::T8));
    let mut count = |quantity: &str, count: Option<u64>| {
        quantities.insert(format!("{name}.messages.{quantity}"), count.into());
    };
    count("published", sent.map(|it| it.messages));
    count("lost", analysis.lost());
    count("missed", back.map(|it| it.missed));
    count("repeated", back.map(|it| it.repeated));
    count("out_of_order", back.map(|it| it.reordered));
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

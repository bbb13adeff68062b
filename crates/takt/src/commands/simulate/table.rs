//! Results for people.

use takt_scenario::{
    Application, ApplicationId, Flow, FlowSource, Measure, Receiver, Scenario, Variant,
};
use takt_sim::{DropRates, Extremes, Options, Results, Summary, Time};

use super::{heading, model_name};
use crate::output;

pub(super) fn print(variant: &Variant, options: &Options, results: &Results) {
    let scenario = &variant.scenario;
    output::line(heading(variant));
    output::line(format!(
        "{} cycles, {} of them at each end not counted; seed {}, model {}, {} simulated, times in \u{b5}s",
        options.simulation.cycles,
        options.simulation.trim,
        options.simulation.seed,
        model_name(options.model),
        seconds(results.simulated),
    ));
    for (index, application) in scenario.applications.iter().enumerate() {
        of_application(scenario, results, ApplicationId(index), application);
    }
    for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
        if let FlowSource::Cross(_) = flow.source {
            output::line("");
            head(&scenario.flow_name(flow.source));
            if measured(scenario, Measure::OneWayDelay) {
                summary("one way", &statistics.one_way.delay);
            }
            if measured(scenario, Measure::Drops) {
                let (sent, lost) = (statistics.sent, statistics.all_lost());
                output::line(format!("  drops  {} of {sent}", share(lost, sent)));
            }
        }
    }
}

fn measured(scenario: &Scenario, measure: Measure) -> bool {
    scenario.measure.contains(&measure)
}

fn of_application(
    scenario: &Scenario,
    results: &Results,
    id: ApplicationId,
    application: &Application,
) {
    let Some(statistics) = results.applications.get(id.0) else {
        return;
    };
    output::line("");
    head(&application.name);
    let is_loopback = matches!(application.receiver, Receiver::Loopback(_));
    if is_loopback && measured(scenario, Measure::RoundTripTime) {
        summary("round trip", &statistics.round_trip.delay);
    }
    if is_loopback && measured(scenario, Measure::Jitter) {
        summary("  jitter", &statistics.round_trip.jitter);
    }
    let flows = scenario.flows().iter().zip(&results.flows);
    for (flow, statistics) in flows.filter(|(flow, _)| is_of(flow, id)) {
        let back = matches!(flow.source, FlowSource::Return(_));
        let way = if back { "one way back" } else { "one way" };
        if measured(scenario, Measure::OneWayDelay) {
            summary(way, &statistics.one_way.delay);
            for (port, hop) in flow.ports.iter().zip(&statistics.hops) {
                extremes(&format!("  {}", scenario.port_name(*port)), hop);
            }
        }
        if measured(scenario, Measure::Jitter) {
            summary("  jitter", &statistics.one_way.jitter);
        }
        if measured(scenario, Measure::InterFrameSpacing) {
            summary("  inter-frame spacing", &statistics.spacing);
        }
    }
    if measured(scenario, Measure::Drops) {
        output::line(format!(
            "  drops  {}",
            drops(scenario, results, id, is_loopback)
        ));
    }
    if measured(scenario, Measure::Counters) {
        let counters = &statistics.counters;
        output::line(format!(
            "  counters  missed {}, repeated {}, out of order {}",
            counters.missed, counters.repeated, counters.out_of_order
        ));
    }
}

fn is_of(flow: &Flow, application: ApplicationId) -> bool {
    matches!(flow.source, FlowSource::Publish(id) | FlowSource::Return(id) if id == application)
}

fn drops(scenario: &Scenario, results: &Results, id: ApplicationId, is_loopback: bool) -> String {
    let rates = DropRates::new(scenario, results, id);
    let share = |count| share(count, rates.published);
    let mut text = format!("dP {}", share(rates.publisher));
    if is_loopback {
        text += &format!(", dL {}", share(rates.loopback));
    }
    for (port, count) in rates.bridges.iter().filter(|bridge| bridge.1 > 0) {
        text += &format!(", {} {}", scenario.port_name(*port), share(*count));
    }
    text + &format!(", d\u{3a3} {} of {}", share(rates.all()), rates.published)
}

const WIDTH: usize = 30;

fn head(name: &str) {
    output::line(format!(
        "{name:<WIDTH$} {:>9} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}",
        "COUNT", "MIN", "MEDIAN", "MEAN", "P99", "P99.9", "MAX"
    ));
}

fn summary(what: &str, summary: &Summary) {
    row(what, &summary.extremes, |percent| {
        summary.percentile(percent)
    });
}

fn extremes(what: &str, extremes: &Extremes) {
    row(what, extremes, |_| None);
}

fn row(what: &str, extremes: &Extremes, percentile: impl Fn(f64) -> Option<Time>) {
    let columns = [
        extremes.least(),
        percentile(50.0),
        extremes.mean(),
        percentile(99.0),
        percentile(99.9),
        extremes.most(),
    ];
    let columns = columns.map(|time| format!(" {:>11}", time.map_or(String::new(), micros)));
    let line = format!("  {what:<28} {:>9}{}", extremes.count, columns.concat());
    output::line(line.trim_end());
}

/// Microseconds, to the nanosecond.
pub(super) fn micros(time: Time) -> String {
    let nanoseconds = time.as_nanoseconds();
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

fn seconds(time: Time) -> String {
    let micros = time.as_nanoseconds() / 1000;
    format!("{}.{:06} s", micros / 1_000_000, micros % 1_000_000)
}

fn share(count: u64, of: u64) -> String {
    let percent = 100.0 * count as f64 / of.max(1) as f64;
    format!("{count} ({percent:.4} %)")
}

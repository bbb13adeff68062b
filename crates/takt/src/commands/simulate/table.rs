//! Results for people.

use takt_scenario::{
    Application, ApplicationId, Flow, FlowSource, Measure, Receiver, Scenario, Variant,
};
use takt_sim::{DropRates, Extremes, FlowStatistics, Options, Results, Summary, Time};

use super::{heading, model_name};
use crate::output;

pub(super) fn print(variant: &Variant, options: &Options, results: &Results) {
    let scenario = &variant.scenario;
    output::line(heading(variant));
    output::line(format!(
        "{} cycles{}, {} of them at each end not counted; seed {}, model {}, {} simulated, times in \u{b5}s",
        options.simulation.cycles,
        options
            .duration
            .map_or(String::new(), |end| format!(" or until {}", seconds(end))),
        options.simulation.trim,
        options.simulation.seed,
        model_name(options.model),
        seconds(results.simulated),
    ));
    let table = Table {
        scenario,
        results,
        width: width(scenario),
    };
    for (index, application) in scenario.applications.iter().enumerate() {
        table.of_application(ApplicationId(index), application);
    }
    for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
        if let FlowSource::Cross(_) = flow.source {
            output::line("");
            table.head(&scenario.flow_name(flow.source));
            table.way("one way", flow, statistics);
            if table.measured(Measure::Drops) {
                let (sent, lost) = (statistics.sent, statistics.all_lost());
                output::line(format!("  drops  {} of {sent}", share(lost, sent)));
            }
        }
    }
}

/// Of the first column: names of ports stand four places in.
fn width(scenario: &Scenario) -> usize {
    let flows = scenario.flows().iter();
    let ports = flows.flat_map(|flow| &flow.ports);
    let ports = ports.map(|port| 4 + scenario.port_name(*port).chars().count());
    let flows = scenario.flows().iter();
    let names = flows.map(|flow| scenario.flow_name(flow.source).chars().count());
    ports.chain(names).max().unwrap_or(0).max(30)
}

struct Table<'a> {
    scenario: &'a Scenario,
    results: &'a Results,
    width: usize,
}

impl Table<'_> {
    fn measured(&self, measure: Measure) -> bool {
        self.scenario.measure.contains(&measure)
    }

    fn of_application(&self, id: ApplicationId, application: &Application) {
        let (scenario, results) = (self.scenario, self.results);
        let Some(statistics) = results.applications.get(id.0) else {
            return;
        };
        output::line("");
        self.head(&application.name);
        let is_loopback = matches!(application.receiver, Receiver::Loopback(_));
        if is_loopback && self.measured(Measure::RoundTripTime) {
            self.summary("round trip", &statistics.round_trip.delay);
        }
        if is_loopback && self.measured(Measure::Jitter) {
            self.summary("  jitter", &statistics.round_trip.jitter);
        }
        let flows = scenario.flows().iter().zip(&results.flows);
        for (flow, statistics) in flows.filter(|(flow, _)| is_of(flow, id)) {
            let back = matches!(flow.source, FlowSource::Return(_));
            let way = if back { "one way back" } else { "one way" };
            self.way(way, flow, statistics);
        }
        if self.measured(Measure::Drops) {
            output::line(format!(
                "  drops  {}",
                drops(scenario, results, id, is_loopback)
            ));
        }
        if self.measured(Measure::Counters) {
            let counters = &statistics.counters;
            output::line(format!(
                "  counters  missed {}, repeated {}, out of order {}",
                counters.missed, counters.repeated, counters.out_of_order
            ));
        }
    }

    fn way(&self, way: &str, flow: &Flow, statistics: &FlowStatistics) {
        if self.measured(Measure::OneWayDelay) {
            self.summary(way, &statistics.one_way.delay);
            for (port, hop) in flow.ports.iter().zip(&statistics.hops) {
                self.row(
                    &format!("  {}", self.scenario.port_name(*port)),
                    hop,
                    |_| None,
                );
            }
        }
        if self.measured(Measure::Jitter) {
            self.summary("  jitter", &statistics.one_way.jitter);
        }
        if self.measured(Measure::InterFrameSpacing) {
            self.summary("  inter-frame spacing", &statistics.spacing);
        }
    }

    fn head(&self, name: &str) {
        let width = self.width;
        output::line(format!(
            "{name:<width$} {:>9} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}",
            "COUNT", "MIN", "MEDIAN", "MEAN", "P99", "P99.9", "MAX"
        ));
    }

    fn summary(&self, what: &str, summary: &Summary) {
        self.row(what, &summary.extremes, |percent| {
            summary.percentile(percent)
        });
    }

    fn row(&self, what: &str, extremes: &Extremes, percentile: impl Fn(f64) -> Option<Time>) {
        let columns = [
            extremes.least(),
            percentile(50.0),
            extremes.mean(),
            percentile(99.0),
            percentile(99.9),
            extremes.most(),
        ];
        let columns = columns.map(|time| format!(" {:>11}", time.map_or(String::new(), micros)));
        let width = self.width - 2;
        let line = format!("  {what:<width$} {:>9}{}", extremes.count, columns.concat());
        output::line(line.trim_end());
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

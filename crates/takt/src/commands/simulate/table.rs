//! Results for people.

use takt_figures::{Column, Report, Table};
use takt_scenario::{
    Application, ApplicationIndex, Flow, FlowSource, Measure, Scenario, ScenarioVariant,
};
use takt_sim::{Delays, DropRates, Extremes, FlowStatistics, Results, RunOptions, Summary, Time};
use takt_statistics::Quantile;

use super::names::{heading, model_name};

pub(super) fn print(
    variant: &ScenarioVariant,
    options: &RunOptions,
    results: &Results,
    report: &mut Report<impl FnMut(String)>,
) {
    let scenario = &variant.scenario;
    report.line(heading(variant));
    report.line(format!(
        "{} cycles{}, {} of them at each end not counted; seed {}, model {}, {} simulated",
        options.simulation.cycles,
        options
            .duration
            .map_or(String::new(), |end| format!(" or until {}", seconds(end))),
        options.simulation.trim,
        options.simulation.seed,
        model_name(options.model),
        seconds(results.simulated),
    ));
    report.line("");
    let times = ["min", "median", "mean", "p99", "p99.9", "max"];
    let times = times.map(|name| Column::number(name).unit("\u{b5}s"));
    let columns = [Column::text("measure"), Column::number("count")];
    let mut sections = Sections {
        scenario,
        results,
        table: Table::new(columns.into_iter().chain(times)),
    };
    for (index, application) in scenario.applications.iter().enumerate() {
        sections.of_application(ApplicationIndex(index), application);
    }
    for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
        if let FlowSource::Cross(_) = flow.source {
            sections.begin(&scenario.flow_name(flow.source));
            sections.way("one way", flow, statistics);
            if sections.measured(Measure::Drops) {
                let (sent, lost) = (statistics.sent, statistics.all_lost());
                let drops = format!("  drops  {} of {sent}", share(lost, sent));
                sections.table.text(drops);
            }
        }
    }
    report.table(&sections.table);
}

/// Table of a variant, with a section for each application and each flow of cross traffic.
struct Sections<'a> {
    scenario: &'a Scenario,
    results: &'a Results,
    table: Table,
}

impl Sections<'_> {
    fn measured(&self, measure: Measure) -> bool {
        self.scenario.measure.contains(&measure)
    }

    fn begin(&mut self, name: &str) {
        if !self.table.is_empty() {
            self.table.text("");
        }
        self.table.text(name);
    }

    fn of_application(&mut self, id: ApplicationIndex, application: &Application) {
        let (scenario, results) = (self.scenario, self.results);
        let Some(statistics) = results.applications.get(id.0) else {
            return;
        };
        self.begin(&application.name);
        let is_loopback = application.receiver.loopback().is_some();
        if is_loopback && self.measured(Measure::RoundTripTime) {
            self.round_trip("wire round trip", &statistics.round_trip);
            let from_first_bit = &statistics.round_trip_from_first_bit;
            // Without a wait at the first port, both are the same. No round trip is longer from the first bit, so equal sums, which
            // extremes contain, mean that all are equal.
            if from_first_bit.delay.extremes != statistics.round_trip.delay.extremes {
                self.round_trip("  from the first bit", from_first_bit);
            }
            self.round_trip("application round trip", &statistics.application_round_trip);
        } else if is_loopback && self.measured(Measure::Jitter) {
            self.summary("wire round trip jitter", &statistics.round_trip.jitter);
        }
        let flows = scenario.flows().iter().zip(&results.flows);
        let receivers = application.receiver.nodes();
        for (flow, statistics) in flows.filter(|(flow, _)| is_of(flow, id)) {
            let to = scenario
                .ports
                .get(flow.ports.last().map_or(0, |port| port.0));
            let to = to.and_then(|port| scenario.nodes.get(port.to.0));
            match (flow.source, to) {
                (FlowSource::Return(_), _) => self.way("one way back", flow, statistics),
                (_, Some(node)) if receivers.len() > 1 => {
                    self.way(&format!("one way to {}", node.name), flow, statistics);
                }
                _ => self.way("one way", flow, statistics),
            }
        }
        if self.measured(Measure::Drops) {
            let drops = drops(scenario, results, id, is_loopback);
            self.table.text(format!("  drops  {drops}"));
        }
        if self.measured(Measure::Counters) {
            let counters = statistics.all_counters();
            self.table.text(format!(
                "  counters  missed {}, repeated {}, out of order {}",
                counters.missed, counters.repeated, counters.out_of_order
            ));
        }
    }

    fn round_trip(&mut self, kind: &str, delays: &Delays) {
        self.summary(kind, &delays.delay);
        if self.measured(Measure::Jitter) {
            self.summary("  jitter", &delays.jitter);
        }
    }

    fn way(&mut self, way: &str, flow: &Flow, statistics: &FlowStatistics) {
        if self.measured(Measure::OneWayDelay) {
            self.summary(way, &statistics.one_way.delay);
            for (port, hop) in flow.ports.iter().zip(&statistics.hops) {
                let port = format!("  {}", self.scenario.port_name(*port));
                self.row(&port, hop, |_| None);
            }
        }
        if self.measured(Measure::Jitter) {
            self.summary("  jitter", &statistics.one_way.jitter);
        }
        if self.measured(Measure::InterFrameSpacing) {
            self.summary("  inter-frame spacing", &statistics.spacing);
        }
    }

    fn summary(&mut self, measure: &str, summary: &Summary) {
        self.row(measure, &summary.extremes, |quantile| {
            summary.quantile(quantile)
        });
    }

    fn row(
        &mut self,
        measure: &str,
        extremes: &Extremes,
        quantile: impl Fn(Quantile) -> Option<Time>,
    ) {
        let times = [
            extremes.least(),
            quantile(Quantile::MEDIAN),
            extremes.mean(),
            quantile(Quantile::P99),
            quantile(Quantile::P99_9),
            extremes.most(),
        ];
        let cells = [format!("  {measure}"), extremes.count.to_string()];
        let times = times.map(|time| time.map_or(String::new(), micros));
        self.table.row(cells.into_iter().chain(times));
    }
}

fn is_of(flow: &Flow, application: ApplicationIndex) -> bool {
    flow.source.application() == Some(application)
}

fn drops(
    scenario: &Scenario,
    results: &Results,
    id: ApplicationIndex,
    is_loopback: bool,
) -> String {
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

/// Returns microseconds with a resolution of a nanosecond.
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

//! Quantities of a simulation.

use serde_json::Value;
use takt_scenario::{ApplicationIndex, Scenario};
use takt_sim::{Delays, DropRates, Results, Summary, Time};
use takt_statistics::Quantile;

use crate::row::Quantities;

/// Returns the quantities of all applications, and of all flows.
pub(crate) fn of_simulation(scenario: &Scenario, results: &Results) -> Quantities {
    let mut quantities = Quantities::new();
    let applications = scenario.applications.iter().zip(&results.applications);
    for (index, (application, statistics)) in applications.enumerate() {
        let rates = DropRates::new(scenario, results, ApplicationIndex(index));
        let name = &application.name;
        let mut count = |quantity: &str, count: u64| {
            quantities.insert(format!("{name}.{quantity}"), count.into());
        };
        count("messages.published", statistics.published);
        count("messages.lost", rates.all());
        let counters = statistics.all_counters();
        count("messages.missed", counters.missed);
        count("messages.repeated", counters.repeated);
        count("messages.out_of_order", counters.out_of_order);
        if application.receiver.loopback().is_some() {
            delays(&mut quantities, name, "round_trip", &statistics.round_trip);
            let from_first_bit = &statistics.round_trip_from_first_bit;
            let kind = "round_trip_from_first_bit";
            delays(&mut quantities, name, kind, from_first_bit);
            let application = &statistics.application_round_trip;
            delays(&mut quantities, name, "application_round_trip", application);
        }
    }
    for (flow, statistics) in scenario.flows().iter().zip(&results.flows) {
        let name = scenario.flow_name(flow.source);
        let mut count = |quantity: &str, count: u64| {
            quantities.insert(format!("{name}.{quantity}"), count.into());
        };
        count("frames.sent", statistics.sent);
        count("frames.received", statistics.received);
        count("frames.lost", statistics.all_lost());
        delays(&mut quantities, &name, "one_way", &statistics.one_way);
        summary(&mut quantities, &name, "spacing", &statistics.spacing);
    }
    quantities
}

fn delays(quantities: &mut Quantities, name: &str, kind: &str, delays: &Delays) {
    summary(quantities, name, kind, &delays.delay);
    let kind = format!("{kind}_jitter");
    summary(quantities, name, &kind, &delays.jitter);
}

fn summary(quantities: &mut Quantities, name: &str, kind: &str, summary: &Summary) {
    let extremes = &summary.extremes;
    let times = [
        ("min_ns", extremes.least()),
        ("mean_ns", extremes.mean()),
        ("median_ns", summary.quantile(Quantile::MEDIAN)),
        ("p99_ns", summary.quantile(Quantile::P99)),
        ("p99_9_ns", summary.quantile(Quantile::P99_9)),
        ("max_ns", extremes.most()),
    ];
    let count = format!("{name}.{kind}.count");
    quantities.insert(count, extremes.count.into());
    for (statistic, time) in times {
        quantities.insert(format!("{name}.{kind}.{statistic}"), nanoseconds(time));
    }
}

/// Returns nanoseconds as a number, exact to the picosecond.
fn nanoseconds(time: Option<Time>) -> Value {
    time.map_or(Value::Null, |time| {
        (time.as_picoseconds() as f64 / 1000.0).into()
    })
}

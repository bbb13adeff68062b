//! Quantities of a simulation.

use serde_json::Value;
use takt_scenario::{ApplicationIndex, ApplicationReceiver, FlowSource, Scenario};
use takt_sim::{Delays, DropRates, Results, Summary, Time};
use takt_statistics::Quantile;

use super::times;
use crate::row::Quantities;

/// Returns the quantities of all applications, and of all flows.
pub(crate) fn of_simulation(scenario: &Scenario, results: &Results) -> Quantities {
    let mut quantities = Quantities::new();
    times::add_cycles(&mut quantities, scenario);
    let applications = scenario.applications.iter().zip(&results.applications);
    for (index, (application, statistics)) in applications.enumerate() {
        let rates = DropRates::new(scenario, results, ApplicationIndex(index));
        let name = &application.name;
        let mut count = |quantity: &str, count: u64| {
            quantities.insert(format!("{name}.{quantity}"), count.into());
        };
        count("messages.published", statistics.published);
        count("messages.lost", rates.all());
        count("messages.missed", statistics.counters.missed);
        count("messages.repeated", statistics.counters.repeated);
        count("messages.out_of_order", statistics.counters.out_of_order);
        if let ApplicationReceiver::Loopback(_) = application.receiver {
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
        // It is of applications only.
        if !matches!(flow.source, FlowSource::Cross(_)) {
            let from_first_bit = &statistics.one_way_from_first_bit;
            delays(
                &mut quantities,
                &name,
                "one_way_from_first_bit",
                from_first_bit,
            );
        }
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
        extremes.least(),
        extremes.mean(),
        summary.quantile(Quantile::MEDIAN),
        summary.quantile(Quantile::P99),
        summary.quantile(Quantile::P99_9),
        extremes.most(),
    ];
    let times = times.map(nanoseconds);
    times::add(quantities, name, kind, extremes.count, times);
}

/// Returns nanoseconds as a number, exact to the picosecond.
fn nanoseconds(time: Option<Time>) -> Value {
    time.map_or(Value::Null, |time| {
        (time.as_picoseconds() as f64 / 1000.0).into()
    })
}

//! Quantities of a simulation.

use serde_json::Value;
use takt_scenario::{ApplicationIndex, ApplicationReceiver, FlowSource, PortIndex, Scenario};
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
        // Ports of bridges on the way there come first.
        let there = scenario.flows().iter();
        let there = there.filter(|it| it.source == FlowSource::Publish(ApplicationIndex(index)));
        let there: usize = there.map(|flow| flow.ports.len().saturating_sub(1)).sum();
        let lost = |bridges: &[(PortIndex, u64)]| bridges.iter().map(|bridge| bridge.1).sum();
        let (there, back) = rates.bridges.split_at_checked(there).unwrap_or_default();
        count("messages.lost_at_publisher", rates.publisher);
        count("messages.lost_at_bridges", lost(there));
        count("messages.lost_at_loopback", rates.loopback);
        count("messages.lost_at_bridges_back", lost(back));
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

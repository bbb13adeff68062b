//! Quantities of a simulation.

use serde_json::Value;
use takt_scenario::{ApplicationIndex, FlowSource, PortIndex, Scenario};
use takt_sim::{ApplicationStatistics, Counters, Delays, DropRates, Results, Summary, Time};
use takt_statistics::Quantile;

use super::times;
use crate::row::Quantities;

/// Returns the quantities of all applications, and of all flows.
pub(crate) fn of_simulation(scenario: &Scenario, results: &Results) -> Quantities {
    let mut quantities = Quantities::new();
    times::add_cycles(&mut quantities, scenario);
    let applications = scenario.applications.iter().zip(&results.applications);
    for (index, (application, statistics)) in applications.enumerate() {
        let index = ApplicationIndex(index);
        let rates = DropRates::new(scenario, results, index);
        let name = &application.name;
        let mut count = |quantity: &str, count: u64| {
            quantities.insert(format!("{name}.{quantity}"), count.into());
        };
        count("messages.published", statistics.published);
        count("messages.lost", rates.all());
        let places = places(scenario, index, &rates);
        count("messages.lost_at_publisher", rates.publisher);
        count("messages.lost_at_bridges", places.there);
        count("messages.lost_at_loopback", rates.loopback);
        count("messages.lost_at_bridges_back", places.back);
        received(&mut quantities, name, &statistics.all_counters());
        for (source, counters) in receivers(index, statistics) {
            let name = scenario.flow_name(source);
            let flows = scenario.flows().iter().zip(&results.flows);
            let lost = flows.filter(|(flow, _)| flow.source == source);
            let lost: u64 = lost.map(|(_, of_flow)| of_flow.all_lost()).sum();
            for (quantity, count) in [("published", statistics.published), ("lost", lost)] {
                quantities.insert(format!("{name}.messages.{quantity}"), count.into());
            }
            received(&mut quantities, &name, counters);
        }
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

/// Messages that were lost at the ports of bridges.
struct LostAtBridges {
    there: u64,
    back: u64,
}

/// Returns the losses at bridges, on the ways to all receivers and on the way back.
fn places(scenario: &Scenario, index: ApplicationIndex, rates: &DropRates) -> LostAtBridges {
    let ways = scenario.flows().iter().map(|flow| match flow.source {
        // The first port is that of the Publisher.
        FlowSource::Publish(id) if id == index => flow.own_ports().len().saturating_sub(1),
        FlowSource::Branch(id, _) if id == index => flow.own_ports().len(),
        _ => 0,
    });
    // Ports on the ways there come first.
    let there: usize = ways.sum();
    let lost = |bridges: &[(PortIndex, u64)]| bridges.iter().map(|bridge| bridge.1).sum();
    let (there, back) = rates.bridges.split_at_checked(there).unwrap_or_default();
    LostAtBridges {
        there: lost(there),
        back: lost(back),
    }
}

/// Returns the counters of each receiver with the flow to it, if there are several.
fn receivers(
    index: ApplicationIndex,
    statistics: &ApplicationStatistics,
) -> impl Iterator<Item = (FlowSource, &Counters)> {
    let first = (FlowSource::Publish(index), &statistics.counters);
    let first = (!statistics.further.is_empty()).then_some(first);
    let further = (1..).zip(&statistics.further);
    let further = further.map(move |(at, counters)| (FlowSource::Branch(index, at), counters));
    first.into_iter().chain(further)
}

fn received(quantities: &mut Quantities, name: &str, counters: &Counters) {
    for (quantity, count) in [
        ("missed", counters.missed),
        ("repeated", counters.repeated),
        ("out_of_order", counters.out_of_order),
    ] {
        quantities.insert(format!("{name}.messages.{quantity}"), count.into());
    }
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

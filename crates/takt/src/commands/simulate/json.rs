//! Results for programs. Times are in nanoseconds, with picoseconds after the point.

use serde_json::{Map, Value, json};
use takt_scenario::{ApplicationIndex, Flow, FlowSource, Scenario, ScenarioVariant};
use takt_sim::{
    ApplicationStatistics, Counters, Delays, DropRates, Extremes, FlowStatistics, Loopback,
    Results, RunOptions, Summary, Time,
};
use takt_statistics::Quantile;

use super::names::model_name;

pub(super) fn results(variant: &ScenarioVariant, options: &RunOptions, results: &Results) -> Value {
    let scenario = &variant.scenario;
    let mut object = head(variant, options);
    let flows = scenario.flows().iter().zip(&results.flows);
    let flows: Vec<Value> = flows
        .map(|(flow, statistics)| of_flow(scenario, flow, statistics))
        .collect();
    let applications = (0..scenario.applications.len())
        .map(|index| of_application(scenario, results, ApplicationIndex(index)));
    object.insert(
        "simulated_ns".to_owned(),
        nanoseconds(Some(results.simulated)),
    );
    object.insert("events".to_owned(), results.events.into());
    object.insert("applications".to_owned(), applications.collect());
    object.insert("flows".to_owned(), flows.into());
    object.into()
}

/// Returns the scenario and the options of the simulation.
pub(super) fn head(variant: &ScenarioVariant, options: &RunOptions) -> Map<String, Value> {
    let settings = variant
        .settings
        .iter()
        .map(|(parameter, value)| (parameter.clone(), value.clone().into()));
    let loopback = match options.loopback {
        Loopback::All => "all",
        Loopback::Latest => "latest",
    };
    let fields = [
        ("scenario", variant.scenario.name.clone().into()),
        ("settings", Value::Object(settings.collect())),
        ("seed", options.simulation.seed.into()),
        ("cycles", options.simulation.cycles.into()),
        ("trim", options.simulation.trim.into()),
        ("duration_ns", nanoseconds(options.duration)),
        ("model", model_name(options.model).into()),
        ("loopback", loopback.into()),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn of_application(scenario: &Scenario, results: &Results, id: ApplicationIndex) -> Value {
    let (Some(application), Some(statistics)) = (
        scenario.applications.get(id.0),
        results.applications.get(id.0),
    ) else {
        return Value::Null;
    };
    let rates = DropRates::new(scenario, results, id);
    let share = |count: u64| count as f64 / rates.published.max(1) as f64;
    let bridges = rates
        .bridges
        .iter()
        .map(|(port, count)| json!({ "port": scenario.port_name(*port), "count": count }));
    let mut object = json!({
        "name": application.name,
        "published": statistics.published,
        "drops": {
            "publisher": rates.publisher,
            "loopback": rates.loopback,
            "bridges": bridges.collect::<Vec<_>>(),
            "all": rates.all(),
            "d_p": share(rates.publisher),
            "d_l": share(rates.loopback),
            "d_sum": share(rates.all()),
        },
        "counters": of_counters(&statistics.all_counters()),
        "overwritten": statistics.overwritten,
    });
    let Some(fields) = object.as_object_mut() else {
        return Value::Null;
    };
    let receivers = application.receiver.nodes();
    if receivers.len() > 1 {
        let each = receivers.iter().zip(each_counters(statistics));
        let each = each.map(|(node, counters)| {
            let node = scenario.nodes.get(node.0).map(|node| node.name.as_str());
            json!({ "node": node, "counters": of_counters(counters) })
        });
        fields.insert("subscribers".to_owned(), each.collect());
    }
    if application.receiver.loopback().is_some() {
        let kinds = [
            ("round_trip", &statistics.round_trip),
            (
                "round_trip_from_first_bit",
                &statistics.round_trip_from_first_bit,
            ),
            ("application_round_trip", &statistics.application_round_trip),
        ];
        fields.extend(kinds.map(|(name, delays)| (name.to_owned(), of_delays(delays))));
    }
    object
}

/// Returns the counters of each receiver.
fn each_counters(statistics: &ApplicationStatistics) -> impl Iterator<Item = &Counters> {
    std::iter::once(&statistics.counters).chain(&statistics.further)
}

fn of_counters(counters: &Counters) -> Value {
    json!({
        "missed": counters.missed,
        "repeated": counters.repeated,
        "out_of_order": counters.out_of_order,
    })
}

fn of_flow(scenario: &Scenario, flow: &Flow, statistics: &FlowStatistics) -> Value {
    let hops = flow.ports.iter().zip(&statistics.hops).map(|(port, hop)| {
        let mut object = extremes(hop);
        object.insert("port".to_owned(), scenario.port_name(*port).into());
        Value::Object(object)
    });
    let lost = statistics.lost.iter().map(|lost| {
        json!({ "port": scenario.port_name(lost.port), "reason": lost.reason.name(), "count": lost.count })
    });
    json!({
        "name": scenario.flow_name(flow.source),
        "kind": match flow.source {
            FlowSource::Publish(_) | FlowSource::Branch(..) => "publish",
            FlowSource::Return(_) => "return",
            FlowSource::Cross(_) => "cross_traffic",
        },
        "sent": statistics.sent,
        "received": statistics.received,
        "one_way": of_delays(&statistics.one_way),
        "inter_frame_spacing": summary(&statistics.spacing),
        "hops": hops.collect::<Vec<_>>(),
        "lost": lost.collect::<Vec<_>>(),
    })
}

fn of_delays(delays: &Delays) -> Value {
    json!({ "delay": summary(&delays.delay), "jitter": summary(&delays.jitter) })
}

fn summary(summary: &Summary) -> Value {
    let mut object = extremes(&summary.extremes);
    for (name, quantile) in [
        ("median_ns", Quantile::MEDIAN),
        ("p99_ns", Quantile::P99),
        ("p99_9_ns", Quantile::P99_9),
    ] {
        object.insert(name.to_owned(), nanoseconds(summary.quantile(quantile)));
    }
    object.into()
}

fn extremes(extremes: &Extremes) -> Map<String, Value> {
    let fields = [
        ("count", extremes.count.into()),
        ("min_ns", nanoseconds(extremes.least())),
        ("mean_ns", nanoseconds(extremes.mean())),
        ("max_ns", nanoseconds(extremes.most())),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns nanoseconds as a number. It has enough digits to be exact.
pub(super) fn nanoseconds(time: Option<Time>) -> Value {
    time.map_or(Value::Null, |time| {
        (time.as_picoseconds() as f64 / 1000.0).into()
    })
}

//! Comparisons for programs. Times are in nanoseconds, bounds in picoseconds.

use serde_json::{Map, Value, json};

use crate::comparison::{
    ComparedBound, ComparedRun, LossShares, OneWayComparison, Requirement, RoundTripComparison,
    TimeSummary,
};
use crate::entries::Entry;

/// Returns one kind of round trip of an application.
pub(crate) fn of(
    run: &ComparedRun,
    entry: &Entry<'_>,
    trip: &RoundTripComparison,
    requirements: &[Requirement],
) -> Value {
    let description = &run.description;
    let case = entry.case;
    let settings = case.settings.iter();
    let settings = settings.map(|(name, value)| (name.clone(), value.as_str().into()));
    let reasons = run.not_comparable.iter().map(ToString::to_string);
    let measured = trip.measured.as_ref();
    let simulated = trip.simulated.as_ref();
    json!({
        "directory": run.directory.display().to_string(),
        "scenario": description.scenario,
        "backend": description.backend,
        "host": description.host,
        "case": case.directory,
        "settings": Value::Object(settings.collect()),
        "seed": case.seed,
        "messages": case.messages,
        "trim": case.trim,
        "application": entry.application.name,
        "hops": entry.application.hops,
        "payload": entry.application.payload,
        "round_trip": trip.kind.name(),
        "sent_stamp": case.sent_stamp,
        "not_comparable": reasons.collect::<Vec<_>>(),
        "bound": bound(&trip.bound),
        "simulated": simulated.map(|it| times(&it.delay, it.jitter.as_ref())),
        "simulated_longest_ns": simulated.map(|it| it.longest),
        "simulation_above_bound": trip.is_simulation_above(),
        "measured": measured.map(|it| times(&it.delay, it.jitter.as_ref())),
        "longest_ns": trip.longest.first().map(|it| it.nanos),
        "longest_counter": trip.longest.first().map(|it| it.counter),
        "delays": trip.count,
        "above_bound": trip.above_bound,
        "is_error": run.is_comparable() && trip.above_bound > 0 || trip.is_simulation_above(),
        "resolution_ns": trip.resolution,
        "one_way": entry.application.one_way.iter().map(|way| one_way(run, way)).collect::<Vec<_>>(),
        "assumptions_broken_by_linux": case.broken,
        "losses": {
            "simulated": losses(&entry.application.simulated_losses),
            "measured": losses(&entry.application.measured_losses),
        },
        "requirements": requirements.iter().map(|it| requirement(it, entry)).collect::<Vec<_>>(),
    })
}

fn one_way(run: &ComparedRun, way: &OneWayComparison) -> Value {
    let measured = way.measured.as_ref();
    json!({
        "name": way.name,
        "bound": bound(&way.bound),
        "simulated": way.simulated.as_ref().map(|it| times(&it.delay, it.jitter.as_ref())),
        "simulated_longest_ns": way.simulated.map(|it| it.longest),
        "measured": measured.map(|it| times(&it.delay, it.jitter.as_ref())),
        "longest_ns": way.longest.map(|it| it.nanos),
        "longest_counter": way.longest.map(|it| it.counter),
        "delays": way.count,
        "above_bound": way.above_bound,
        "resolution_ns": way.resolution,
        "is_error": run.is_comparable() && way.above_bound > 0 || way.is_simulation_above(),
    })
}

fn bound(bound: &ComparedBound) -> Value {
    match bound {
        ComparedBound::Finite(picos) => json!({ "picos": picos }),
        ComparedBound::Infinite(reason) => json!({ "infinite": reason }),
        ComparedBound::Unknown(reason) => json!({ "unknown": reason }),
    }
}

fn times(delay: &TimeSummary, jitter: Option<&TimeSummary>) -> Value {
    json!({ "delay": summary(delay), "jitter": jitter.map(summary) })
}

fn summary(of: &TimeSummary) -> Value {
    json!({
        "count": of.count,
        "min_ns": of.min,
        "p1_ns": of.p1,
        "p25_ns": of.p25,
        "median_ns": of.median,
        "mean_ns": of.mean,
        "p75_ns": of.p75,
        "p99_ns": of.p99,
        "p99_9_ns": of.p99_9,
        "p99_999_ns": of.p99_999,
        "max_ns": of.max,
    })
}

fn losses(of: &LossShares) -> Value {
    json!({
        "messages": of.messages,
        "publisher": of.publisher,
        "way_there": of.way_there,
        "loopback": of.loopback,
        "way_back": of.way_back,
        "all": of.all,
    })
}

fn requirement(requirement: &Requirement, entry: &Entry<'_>) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), requirement.name.into());
    let applies = requirement.applies(entry.application);
    object.insert("applies".to_owned(), applies.into());
    let verdicts = requirement.judge(entry.application).into_iter();
    let verdicts = verdicts.filter(|_| applies).map(|it| {
        json!({
            "quantity": it.quantity,
            "answer": it.answer,
            "unit": it.unit,
            "limit": it.limit,
            "value": it.value,
            "margin": it.margin,
            "passes": it.passes(),
        })
    });
    object.insert("verdicts".to_owned(), verdicts.collect());
    object.into()
}

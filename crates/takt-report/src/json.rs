//! Comparisons for programs. Times are in nanoseconds, bounds in picoseconds.

use serde_json::{Map, Value, json};
use takt_lab::EndRecord;

use crate::comparison::{
    ComparedApplication, ComparedBound, ComparedDelay, ComparedRun, LongDelay, LossShares,
    OneWayComparison, Requirement, RoundTripComparison, TimeSummary, worst_during,
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
    let mut value = json!({
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
        "capture_clocks": case.capture_clocks,
        "not_comparable": reasons.collect::<Vec<_>>(),
        "one_way": entry.application.one_way.iter().map(|way| one_way(run, way)).collect::<Vec<_>>(),
        "assumptions_broken_by_linux": case.broken,
        "ends": entry.application.ends.iter().map(end).collect::<Vec<_>>(),
        "losses": {
            "simulated": losses(&entry.application.simulated_losses),
            "measured": losses(&entry.application.measured_losses),
        },
        "requirements": requirements.iter().map(|it| requirement(it, entry)).collect::<Vec<_>>(),
    });
    add(&mut value, delay(run, &trip.delay));
    add(
        &mut value,
        json!({ "simulation_above_bound": trip.delay.is_simulation_above() }),
    );
    let late = late(entry.application, &trip.delay.longest);
    add(&mut value, json!({ "late_threads": late }));
    value
}

/// Returns the longest delays during which a thread was late, with the causes.
fn late(application: &ComparedApplication, delays: &[LongDelay]) -> Vec<Value> {
    let late = delays.iter().filter_map(|delay| {
        let late = worst_during(&application.late_wake_ups, delay)?;
        let causes = late.wake_up.causes.iter();
        let causes = causes.map(|it| json!({ "cause": it.text, "ns": it.nanos }));
        Some(json!({
            "counter": delay.counter,
            "delay_ns": delay.nanos,
            "end": late.end,
            "late_ns": late.wake_up.nanos,
            "causes": causes.collect::<Vec<_>>(),
        }))
    });
    late.collect()
}

/// Returns the numbers of messages of an end, by their fate.
fn end(of: &EndRecord) -> Value {
    json!({
        "end": of.end,
        "cycles": of.cycles,
        "overruns": of.overruns,
        "attempts": of.attempts,
        "not_made": of.unmade,
        "without_room": of.overflowed,
        "sent": of.sent,
        "send_errors": of.send_errors,
        "received": of.received,
        "refused": of.refused,
    })
}

fn one_way(run: &ComparedRun, way: &OneWayComparison) -> Value {
    let mut value = json!({ "name": way.name });
    add(&mut value, delay(run, &way.delay));
    value
}

/// Returns the members of a round trip and of one way alike.
fn delay(run: &ComparedRun, delay: &ComparedDelay) -> Value {
    let (measured, simulated) = (delay.measured.as_ref(), delay.simulated.as_ref());
    json!({
        "bound": bound(&delay.bound),
        "simulated": simulated.map(|it| times(&it.delay, it.jitter.as_ref())),
        "simulated_longest_ns": simulated.map(|it| it.longest),
        "measured": measured.map(|it| times(&it.delay, it.jitter.as_ref())),
        "longest_ns": delay.longest.first().map(|it| it.nanos),
        "longest_counter": delay.longest.first().map(|it| it.counter),
        "delays": delay.count,
        "above_bound": delay.above_bound,
        "is_error": run.is_comparable() && delay.above_bound > 0 || delay.is_simulation_above(),
        "resolution_ns": delay.clock_margin.map(|_| delay.resolution),
        "clock_margin_ns": delay.clock_margin,
        "is_decidable": delay.is_decidable(),
    })
}

/// Adds the members of `more` to an object.
fn add(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
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

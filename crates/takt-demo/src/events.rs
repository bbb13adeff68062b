//! Output of the demonstration for programs: one JSON object in each line.

use serde_json::{Map, Value, json};
use takt_app::{Endpoint, ProviderEntry};
use takt_ua::{DateTime, StatusCode};

use crate::gauge::Gauge;
use crate::latency::LatencySummary;

/// Returns the event with the endpoints of all applications.
pub(crate) fn ready(registry: &str, endpoints: &[String], providers: &[ProviderEntry]) -> Value {
    let texts = |all: &[Endpoint]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    let providers = providers
        .iter()
        .map(|it| json!({"name": it.name, "endpoints": texts(&it.endpoints)}));
    json!({
        "event": "ready",
        "name": registry,
        "endpoints": endpoints,
        "providers": providers.collect::<Vec<_>>(),
    })
}

/// Returns the event with the current values, and the times of Reads by scheme in microseconds.
pub(crate) fn values<'a>(
    values: impl Iterator<Item = (&'a str, &'a Gauge)>,
    times: &[(&'static str, Result<LatencySummary, StatusCode>)],
) -> Value {
    let times: Map<String, Value> = times
        .iter()
        .map(|(scheme, outcome)| ((*scheme).to_owned(), time(outcome)))
        .collect();
    json!({
        "event": "values",
        "values": values.map(|(node, gauge)| value(node, gauge)).collect::<Vec<_>>(),
        "readTimeUs": times,
    })
}

fn value(node: &str, gauge: &Gauge) -> Value {
    let (value, status) = match gauge.last() {
        Ok(value) => (Some(value), value.status_code()),
        Err(status) => (None, *status),
    };
    let inner = value.and_then(|value| value.value.as_ref());
    let time = value.and_then(|value| value.source_timestamp);
    json!({
        "node": node,
        "value": inner.map(takt_ua::json::to_value),
        "unit": gauge.unit(),
        "status": status.to_string(),
        "sourceTimestamp": time.map(DateTime::to_iso8601),
    })
}

fn time(outcome: &Result<LatencySummary, StatusCode>) -> Value {
    let micros = |time: std::time::Duration| time.as_nanos() as f64 / 1e3;
    match outcome {
        Ok(summary) => json!({
            "min": micros(summary.min),
            "median": micros(summary.median),
            "p99": micros(summary.p99),
            "max": micros(summary.max),
        }),
        Err(status) => json!({"status": status.to_string()}),
    }
}

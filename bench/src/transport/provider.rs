//! Methods and callbacks of a Provider: inline, and on its worker threads, as a client sees them over shared memory.
//!
//! Client and Provider are threads of this process that are not pinned, and wait as they do by default. A row of a worker is
//! compared with the same operation inline, measured in turns.

use std::sync::atomic::AtomicBool;

use takt_app::{Client, ClientError, ClientOptions, Method, Provider, Variable};
use takt_rt::priority::Policy;
use takt_ua::{BuiltInType, NodeId, Variant};

use super::filter::Filter;
use super::row::{Head, Row};
use crate::error::{BenchError, check_interrupt};
use crate::measure::Samples;

const WHAT: &str = "requests to a Provider";
/// Bytes of the value in a response.
const BYTES: usize = 8;
/// Namespace of the Provider.
const NAMESPACE: u16 = 1;

/// Heads of the rows: inline, then on a worker.
const HEADS: [Head; 4] = [
    head("Call inline"),
    head("Call worker"),
    head("Read inline"),
    head("Read worker"),
];

const fn head(service: &'static str) -> Head {
    Head::new("takt", "opc.iox2", service, BYTES)
}

/// Returns true if one of the rows is wanted.
pub(super) fn is_wanted(filter: &Filter) -> bool {
    HEADS.iter().any(|head| filter.matches(&head.label()))
}

/// Measures all operations, in turns.
pub(super) fn measure(
    samples: u64,
    rounds: u32,
    interrupted: &AtomicBool,
) -> Result<Vec<Row>, BenchError> {
    let name = format!("TaktBench-{}", std::process::id());
    let provider = provider(&name)?;
    let endpoint = provider.endpoints().first().cloned();
    let endpoint = endpoint.ok_or_else(|| BenchError::round_trip(WHAT)("no endpoint"))?;
    let client = Client::connect(&endpoint, ClientOptions::named(WHAT));
    let mut client = client.map_err(BenchError::round_trip(WHAT))?;
    let mut durations = [(); HEADS.len()].map(|()| Samples::nanos());
    for _ in 0..rounds {
        for (head, durations) in HEADS.iter().zip(&mut durations) {
            check_interrupt(interrupted)?;
            for _ in 0..samples.div_ceil(u64::from(rounds)) {
                let result = durations.time(|| operate(&mut client, head.service));
                result.map_err(BenchError::round_trip(WHAT))?;
            }
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    for (head, durations) in HEADS.iter().zip(&durations) {
        let row = Row {
            scheduling: Policy::Other.to_string(),
            ..head.row(durations)
        };
        let is_worker = head.service.ends_with("worker");
        rows.push(match rows.last().filter(|_| is_worker) {
            Some(inline) => row.over(inline),
            None => row,
        });
    }
    Ok(rows)
}

/// Starts a Provider with a Method and a callback for each row.
fn provider(name: &str) -> Result<Provider, BenchError> {
    let method = |name: &str| {
        Method::new(name, |_| Ok(vec![Variant::Double(1.0)])).output("Value", BuiltInType::Double)
    };
    let callback = |name: &str| Variable::callback(name, BuiltInType::Double, || 1.0);
    let provider = Provider::builder(name)
        .without_registry()
        .method(method("Call inline").inline())
        .method(method("Call worker"))
        .variable(callback("Read inline").inline())
        .variable(callback("Read worker"))
        .start();
    provider.map_err(BenchError::round_trip(WHAT))
}

fn operate(client: &mut Client, name: &str) -> Result<(), ClientError> {
    let node = NodeId::string(NAMESPACE, name);
    if name.starts_with("Call") {
        let object = NodeId::numeric(NAMESPACE, takt_app::model::provider::OBJECT);
        client.call_method(&object, &node, Vec::new()).map(drop)
    } else {
        client.read_good(&node).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_inline_and_on_a_worker() {
        let rows = measure(4, 2, &AtomicBool::new(false)).unwrap();
        let labels: Vec<String> = rows.iter().map(Row::label).collect();
        assert_eq!(labels, HEADS.map(|head| head.label()));
        for row in &rows {
            assert_eq!(row.percentiles.samples, 4, "{row:?}");
            let inline = row.service.replace("worker", "inline");
            let floor = (row.service != inline).then(|| format!("opc.iox2 {inline}"));
            assert_eq!(row.floor, floor, "{row:?}");
        }
    }
}

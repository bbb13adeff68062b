//! Bounds as JSON.

use serde_json::{Map, Value, json};
use takt_calculus::{Extended, FlowBound, Infinite, QueueBound, Rational};
use takt_scenario::BoundsModel;

use super::row::{Row, whole};

/// Returns one combination of swept values: the delays of a flow as exact fractions of nanoseconds and as whole microseconds, and
/// the ports.
pub(super) fn object(row: &Row) -> Value {
    let settings: Map<String, Value> = row
        .given
        .iter()
        .chain(&row.settings)
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let (flows, queues) = (row.bounds.flows.iter(), &row.bounds.queues);
    let flows = flows.map(|it| flow(it, queues, row.model));
    json!({
        "scenario": row.scenario.name,
        "settings": settings,
        "model": match row.model {
            BoundsModel::Sound => "sound",
            BoundsModel::Paper => "paper",
        },
        "flows": flows.collect::<Vec<_>>(),
        "ports": row.bounds.queues.iter().map(|it| queue(it, row.model)).collect::<Vec<_>>(),
        "assumptions": row.bounds.assumptions,
        "broken_assumptions": row.bounds.broken,
    })
}

fn flow(flow: &FlowBound, queues: &[QueueBound], model: BoundsModel) -> Value {
    // An analysis may find no bound although another one finds one.
    let first_infinite = || {
        let mut passed = flow.queues.iter().filter_map(|queue| queues.get(*queue));
        passed.find_map(|queue| queue.infinite.as_ref())
    };
    let why = flow.infinite.as_ref().or_else(first_infinite);
    let analyses: Map<String, Value> = flow
        .answers
        .iter()
        .map(|(analysis, answer)| {
            let said = match answer {
                Ok(delay) => {
                    let mut object = with_delay(Map::new(), delay, model);
                    let why = why.filter(|_| delay.finite().is_none());
                    object.insert("infinite".to_owned(), infinite(why));
                    Value::Object(object)
                }
                Err(why) => json!({ "not_applicable": why }),
            };
            (analysis.name().to_owned(), said)
        })
        .collect();
    let mut object = Map::new();
    object.insert("flow".to_owned(), flow.name.as_str().into());
    object.insert("round_trip".to_owned(), flow.round_trip.into());
    object = with_delay(object, &flow.delay, model);
    if let Some(delay) = &flow.from_first_bit {
        let delay = with_delay(Map::new(), delay, model);
        object.insert("from_first_bit".to_owned(), delay.into());
    }
    if let Some(delay) = &flow.application_round_trip {
        let delay = with_delay(Map::new(), delay, model);
        object.insert("application_round_trip".to_owned(), delay.into());
    }
    object.insert("jitter_ns".to_owned(), nanos(&flow.jitter));
    object.insert("infinite".to_owned(), infinite(flow.infinite.as_ref()));
    object.insert("analyses".to_owned(), analyses.into());
    object.insert("ports".to_owned(), flow.queues.clone().into());
    object.into()
}

fn queue(queue: &QueueBound, model: BoundsModel) -> Value {
    let mut object = Map::new();
    object.insert("port".to_owned(), queue.port_name.as_str().into());
    object.insert("class".to_owned(), queue.class_name.as_str().into());
    object = with_delay(object, &queue.delay, model);
    object.insert("backlog_bits".to_owned(), exact(&queue.backlog, 1));
    object.insert(
        "backlog_bytes".to_owned(),
        super::table::bytes(&queue.backlog).map_or(Value::Null, Value::from),
    );
    object.insert("utilisation".to_owned(), exact(&queue.utilisation, 1));
    object.insert("infinite".to_owned(), infinite(queue.infinite.as_ref()));
    object.into()
}

fn with_delay(
    mut object: Map<String, Value>,
    delay: &Extended,
    model: BoundsModel,
) -> Map<String, Value> {
    object.insert("delay_ns".to_owned(), nanos(delay));
    let micros = whole(delay, 1_000_000, model).and_then(|micros| micros.parse::<u64>().ok());
    object.insert("delay_us".to_owned(), micros.into());
    object
}

fn nanos(time: &Extended) -> Value {
    exact(time, 1_000_000_000)
}

/// Returns a number as an exact fraction, times a factor; null if it is infinite.
fn exact(number: &Extended, factor: u32) -> Value {
    let number = number
        .finite()
        .map(|number| number * Rational::from(factor));
    number.map_or(Value::Null, |number| number.to_string().into())
}

fn infinite(infinite: Option<&Infinite>) -> Value {
    infinite.map_or(Value::Null, |infinite| {
        json!({
            "port": infinite.port,
            "class": infinite.class,
            "utilisation": infinite.utilisation.as_ref().map_or(Value::Null, |utilisation| exact(utilisation, 1)),
            "reason": infinite.reason,
        })
    })
}

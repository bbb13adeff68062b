//! `takt watch ENDPOINT NODE…`: Values as they change.

use std::time::{Duration, Instant};

use takt_app::Attribute;
use takt_ua::DataValue;

use super::connect::{connect, node};
use crate::arguments::WatchArguments;
use crate::interrupt::Interrupt;
use crate::{explain, output};

pub fn run(arguments: &WatchArguments) -> miette::Result<()> {
    let interrupt = Interrupt::install()?;
    let mut client = connect(&arguments.connect)?;
    let mut wanted = Vec::new();
    for text in &arguments.nodes {
        let node = node(&mut client, text).map_err(|error| explain::client(&error))?;
        wanted.push((node, Attribute::Value));
    }
    let end = arguments.run_for.map(|time| Instant::now() + time);
    let mut shown: Vec<Option<DataValue>> = vec![None; wanted.len()];
    while !interrupt.is_set() && end.is_none_or(|end| Instant::now() < end) {
        match client.read_attributes(&wanted) {
            Ok(values) => {
                for ((text, last), value) in arguments.nodes.iter().zip(&mut shown).zip(values) {
                    if changed(last.as_ref(), &value) {
                        show(text, &value, arguments.connect.json);
                        *last = Some(value);
                    }
                }
            }
            // The server may come back: a watch outlives it.
            Err(error) if error.is_connection() => tracing::warn!("{error}"),
            Err(error) => return Err(explain::client(&error)),
        }
        let left = end.map_or(Duration::MAX, |end| {
            end.saturating_duration_since(Instant::now())
        });
        interrupt.wait(Some(arguments.interval.min(left)));
    }
    Ok(())
}

fn changed(last: Option<&DataValue>, value: &DataValue) -> bool {
    last.is_none_or(|last| last.value != value.value || last.status_code() != value.status_code())
}

fn show(text: &str, value: &DataValue, json: bool) {
    if json {
        output::line(output::data_value_json(text, value));
    } else {
        output::line(format_args!("{text} = {}", output::data_value(value)));
    }
}

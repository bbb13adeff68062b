//! `takt write ENDPOINT NODE VALUE`

use miette::miette;
use serde_json::json;
use takt_app::client::Client;
use takt_ua::json::VALUE_RANK_SCALAR;
use takt_ua::{BuiltInType, NodeId, Variant};

use super::connect::{connect, node};
use crate::arguments::WriteArguments;
use crate::{explain, output};

pub fn run(arguments: &WriteArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let explained = |error| explain::client(&error);
    let node = node(&mut client, &arguments.node).map_err(explained)?;
    let value = parse(&mut client, &node, &arguments.value)?;
    client.write(&node, value.clone()).map_err(explained)?;
    if arguments.connect.json {
        output::line(json!({
            "node": arguments.node,
            "value": takt_ua::json::to_value(&value),
            "status": "Good",
        }));
    } else {
        output::line(format_args!("{} = {}", arguments.node, value));
    }
    Ok(())
}

/// Parses `text` as a value that the Variable `node` can take.
fn parse(client: &mut Client, node: &NodeId, text: &str) -> miette::Result<Variant> {
    let value_type = client
        .value_type(node)
        .map_err(|error| explain::client(&error))?;
    parse_as(text, value_type.built_in_type, value_type.value_rank)
}

/// Parses `text` as a value of a type. For any type, the form decides between number and text.
pub fn parse_as(
    text: &str,
    built_in_type: Option<BuiltInType>,
    value_rank: i32,
) -> miette::Result<Variant> {
    let built_in_type = built_in_type.unwrap_or_else(|| {
        let element = text.trim_start_matches(['[', ' ']);
        let element = element.split([',', ']']).next().unwrap_or_default().trim();
        if element.parse::<i64>().is_ok() {
            BuiltInType::Int64
        } else if element.parse::<f64>().is_ok() {
            BuiltInType::Double
        } else if matches!(element, "true" | "false") {
            BuiltInType::Boolean
        } else {
            BuiltInType::String
        }
    });
    takt_ua::json::parse_variant_of_rank(text, built_in_type, value_rank).map_err(|error| {
        let kind = if value_rank >= 1 { "an array of " } else { "" };
        let message = format!("`{text}` is not {kind}{}: {error}", built_in_type.name());
        match value_rank {
            VALUE_RANK_SCALAR => miette!(message),
            _ => explain::with_help(message, "Arrays are written as JSON: \"[1, 2, 3]\"."),
        }
    })
}

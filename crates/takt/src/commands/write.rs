//! `takt write ENDPOINT NODE VALUE`

use miette::miette;
use serde_json::{Value, json};
use takt_app::client::Client;
use takt_ua::json::VALUE_RANK_SCALAR;
use takt_ua::{BuiltInType, NodeId, Variant};

use super::connect::{connect, node};
use super::described::Described;
use crate::arguments::WriteArguments;
use crate::{explain, output};

pub fn run(arguments: &WriteArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let explained = |error| explain::client(&error);
    let node = node(&mut client, &arguments.node).map_err(explained)?;
    let value_type = client.value_type_as_declared(&node).map_err(explained)?;
    let mut described = Described::default();
    let (data_type, value_rank) = (&value_type.data_type, value_type.value_rank);
    let text = &arguments.value;
    let value = parse_described(&mut client, &mut described, text, data_type, value_rank)?;
    client.write(&node, value.clone()).map_err(explained)?;
    if arguments.connect.json {
        output::line(json!({
            "node": arguments.node,
            "value": described.json(&value, Some(data_type)),
            "status": "Good",
        }));
    } else {
        let value = described.text(&value, Some(data_type));
        output::line(format_args!("{} = {value}", arguments.node));
    }
    Ok(())
}

/// Parses `text` as a value of a DataType of the server: structures and enumerations by their DataTypeDefinition.
pub fn parse_described(
    client: &mut Client,
    described: &mut Described,
    text: &str,
    data_type: &NodeId,
    value_rank: i32,
) -> miette::Result<Variant> {
    let explained = |error| explain::client(&error);
    let cache = described.cache();
    match client.describe_data_types(cache, std::slice::from_ref(data_type)) {
        Err(error) if error.is_connection() => return Err(explained(error)),
        // Simple types need no description.
        _ => {}
    }
    // Subtypes are named in the value.
    // A text that is no JSON names no types.
    let json = serde_json::from_str(text).unwrap_or_default();
    let mut names = Vec::new();
    names_of_types(&json, &mut names);
    if !names.is_empty() {
        let learned = client.describe_structures_named(cache, &names);
        learned.map_err(explained)?;
    }
    let types = described.types();
    let is_described = match types.built_in_type(data_type) {
        Some(BuiltInType::ExtensionObject) => true,
        Some(BuiltInType::Variant) => !names.is_empty(),
        Some(_) => types.is_enumeration(data_type),
        None => false,
    };
    if is_described {
        return takt_ua::json::parse_described(text, types, data_type, value_rank).map_err(
            |error| {
                let kind = if value_rank >= 1 { "an array of " } else { "" };
                let name = types.name(data_type);
                let message = format!("`{}` is not {kind}{name}: {error}", output::printable(text));
                match types.is_enumeration(data_type) {
                    true => miette!(message),
                    false => explain::with_help(
                        message,
                        "Structures are written as JSON, as `takt read --json` shows them.",
                    ),
                }
            },
        );
    }
    let built_in_type = client.built_in_type(data_type).map_err(explained)?;
    parse_as(text, built_in_type, value_rank).map_err(|error| {
        match described.cache().refusal(data_type) {
            Some(reason) if built_in_type == Some(BuiltInType::ExtensionObject) => {
                error.wrap_err(format!("the DataType {data_type} has no fields: {reason}"))
            }
            _ => error,
        }
    })
}

/// Adds the names of structures in a JSON value.
fn names_of_types(json: &Value, names: &mut Vec<String>) {
    match json {
        Value::Array(elements) => {
            for element in elements {
                names_of_types(element, names);
            }
        }
        Value::Object(fields) => {
            if let Some(Value::String(name)) = fields.get("$type") {
                names.push(name.clone());
            }
            for field in fields.values() {
                names_of_types(field, names);
            }
        }
        _ => {}
    }
}

/// Parses `text` as a value of a type. For any type, the form decides between number and text.
pub fn parse_as(
    text: &str,
    built_in_type: Option<BuiltInType>,
    value_rank: i32,
) -> miette::Result<Variant> {
    let built_in_type = built_in_type.unwrap_or_else(|| {
        // The first element of an array decides for all.
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

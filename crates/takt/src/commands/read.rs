//! `takt read ENDPOINT NODE…`

use miette::miette;
use takt_app::{Attribute, ClientError};

use super::connect::{connect, node};
use super::described::{Described, of_attribute};
use crate::arguments::ReadArguments;
use crate::{explain, output};

pub fn run(arguments: &ReadArguments) -> miette::Result<()> {
    let mut client = connect(&arguments.connect)?;
    let mut wanted = Vec::new();
    for text in &arguments.nodes {
        let node = node(&mut client, text).map_err(|error| explain::client(&error))?;
        wanted.push((node, arguments.attribute));
    }
    let values = client
        .read_attributes_within(&wanted, arguments.max_age)
        .map_err(|error| explain::client(&error))?;
    let mut described = Described::default();
    if arguments.attribute == Attribute::Value {
        let values = wanted.iter().zip(&values);
        let values: Vec<_> = values.map(|((node, _), value)| (node, value)).collect();
        described.learn(&mut client, &values);
    }
    let of_attribute = of_attribute(arguments.attribute);
    let mut bad = 0;
    let mut help = None;
    for ((text, value), (node, _)) in arguments.nodes.iter().zip(&values).zip(&wanted) {
        let data_type = of_attribute.as_ref().or_else(|| described.data_type(node));
        if value.status_code().is_bad() {
            bad += 1;
            let error = ClientError::operation(text, value.status_code());
            help = help.or_else(|| explain::advice(&error));
        }
        if arguments.connect.json {
            output::line(described.data_value_json(text, value, data_type));
        } else if arguments.nodes.len() == 1 {
            output::line(described.data_value(value, data_type));
        } else {
            let value = described.data_value(value, data_type);
            output::line(format_args!("{text} = {value}"));
        }
    }
    match bad {
        0 => Ok(()),
        _ => {
            let error = format!("{bad} of {} nodes could not be read", values.len());
            Err(match help {
                Some(help) => explain::with_help(error, help),
                None => miette!("{error}"),
            })
        }
    }
}

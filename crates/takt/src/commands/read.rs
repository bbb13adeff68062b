//! `takt read ENDPOINT NODE…`

use miette::miette;
use takt_app::ClientError;

use super::connect::{connect, node};
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
    let mut bad = 0;
    let mut help = None;
    for (text, value) in arguments.nodes.iter().zip(&values) {
        if value.status_code().is_bad() {
            bad += 1;
            let error = ClientError::operation(text, value.status_code());
            help = help.or_else(|| explain::advice(&error));
        }
        if arguments.connect.json {
            output::line(output::data_value_json(text, value));
        } else if arguments.nodes.len() == 1 {
            output::line(output::data_value(value));
        } else {
            output::line(format_args!("{text} = {}", output::data_value(value)));
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

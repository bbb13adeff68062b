//! `takt tsn clear`.

use serde_json::json;
use takt_tsn::{ClearOutcome, clear, network_namespace};

use super::{advice, system};
use crate::arguments::TsnClearArguments;
use crate::output;

pub(super) fn run(arguments: &TsnClearArguments) -> miette::Result<()> {
    let mut executor = system::executor(&arguments.system);
    let states = system::states(&arguments.system);
    let mut interfaces = arguments.interfaces.clone();
    if interfaces.is_empty() {
        let namespace = network_namespace(&mut executor).map_err(|error| advice::system(&error))?;
        let changed = states.interfaces(&namespace);
        interfaces = changed.map_err(|error| advice::apply(&error.into()))?;
    }
    if interfaces.is_empty() && !arguments.json {
        output::line("nothing to restore");
    }
    let mut failed = None;
    for interface in &interfaces {
        match clear(interface, &mut executor, &states) {
            Ok(outcome) => {
                let restored = matches!(outcome, ClearOutcome::Restored);
                let done = match outcome {
                    ClearOutcome::Restored => "restored",
                    ClearOutcome::Nothing => "nothing to restore",
                };
                output::tell(
                    arguments.json,
                    || json!({"interface": interface, "restored": restored, "error": null}),
                    format_args!("{interface}: {done}"),
                );
            }
            Err(error) => {
                if arguments.json {
                    let error = error.to_string();
                    output::line(
                        json!({"interface": interface, "restored": false, "error": error}),
                    );
                }
                // All interfaces are tried. The last error is that of the command.
                if let Some(earlier) = failed.replace(advice::apply(&error)) {
                    output::error(&earlier);
                }
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

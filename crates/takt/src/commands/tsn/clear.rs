//! `takt tsn clear`.

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
    if interfaces.is_empty() {
        output::line("nothing to restore");
    }
    let mut failed = None;
    for interface in &interfaces {
        match clear(interface, &mut executor, &states) {
            Ok(ClearOutcome::Restored) => output::line(format_args!("{interface}: restored")),
            Ok(ClearOutcome::Nothing) => {
                output::line(format_args!("{interface}: nothing to restore"))
            }
            Err(error) => {
                // All interfaces are tried. The last error is that of the command.
                if let Some(earlier) = failed.replace(advice::apply(&error)) {
                    output::error(&earlier);
                }
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

//! The command line of Takt: one file per command in `commands`, no logic of its own.

#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "a binary has no public interface")]

mod arguments;
mod commands;
#[cfg(feature = "parquet")]
mod delay_file;
mod explain;
mod hex;
mod input_file;
mod output;
mod output_file;
mod scenario_file;
mod secret_file;
mod server_interrupt;

use std::process::ExitCode;

use arguments::{Arguments, Given};
use clap::{CommandFactory, FromArgMatches};

fn main() -> ExitCode {
    let (arguments, given) = parsed().unwrap_or_else(|answer| explained(&answer));
    output::start_tracing(arguments.verbose);
    explain::name_commands();
    match commands::run(arguments.command, &given, arguments.verbose) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Returns the arguments, and the options that are given.
fn parsed() -> Result<(Arguments, Given), clap::Error> {
    let matches = Arguments::command().try_get_matches()?;
    let arguments = Arguments::from_arg_matches(&matches);
    let arguments = arguments.map_err(|error| error.format(&mut Arguments::command()))?;
    Ok((arguments, Given::of(&matches)))
}

/// Prints the answer to a command line without a command: help, the version, or the mistake in it.
fn explained(answer: &clap::Error) -> ! {
    let printed = answer
        .print()
        .and_then(|()| std::io::Write::flush(&mut std::io::stdout()));
    // Help and version are ordinary output: `takt --help | head` ends as every command does whose reader is gone.
    if !answer.use_stderr() {
        output::written(printed);
    }
    std::process::exit(answer.exit_code())
}

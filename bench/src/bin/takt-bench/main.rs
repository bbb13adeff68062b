//! The program behind `takt bench`: benchmarks, each beside the floor of this machine.

#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "a binary has no public interface")]

mod arguments;
mod commands;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

fn main() -> ExitCode {
    // All commands, in the builds that the tests start: a test executable of its own would be linked with all that is measured.
    if cfg!(debug_assertions) {
        arguments::Arguments::command().debug_assert();
    }
    let arguments = arguments::Arguments::try_parse().unwrap_or_else(|answer| {
        let printed = answer.print();
        if !answer.use_stderr() {
            takt_terminal::written(printed);
        }
        std::process::exit(answer.exit_code())
    });
    takt_terminal::start_tracing(arguments.verbose);
    match commands::run(&arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            takt_terminal::error(&error);
            ExitCode::FAILURE
        }
    }
}

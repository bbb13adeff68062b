//! The program behind `takt bench`: benchmarks, each beside the floor of this machine.

#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "a binary has no public interface")]

mod arguments;
mod commands;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
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

//! The command line of Takt: one file per command in `commands`, no logic of its own.

#![allow(unreachable_pub, reason = "a binary has no public interface")]

mod arguments;
mod commands;
mod explain;
mod hex;
mod interrupt;
mod output;
mod scenario_file;

use clap::Parser;

fn main() -> miette::Result<()> {
    let arguments = arguments::Arguments::parse();
    output::start_tracing(arguments.verbose);
    commands::run(arguments.command)
}

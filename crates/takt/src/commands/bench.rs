//! `takt bench …`

use std::sync::atomic::AtomicBool;

use miette::IntoDiagnostic;
use takt_bench::{BenchError, attack, directory, shm, transport};
use takt_rt::interrupt::Interrupt;

use crate::arguments::BenchCommand;
use crate::{explain, output};

pub fn run(command: &BenchCommand) -> miette::Result<()> {
    match command {
        BenchCommand::Transport(options) if options.is_server() => {
            // The process ends with its input, and by signals as usual.
            explained(
                "transport",
                transport::run(options, &AtomicBool::new(false), output::line),
            )
        }
        BenchCommand::Transport(options) => {
            let interrupt = Interrupt::install().into_diagnostic()?;
            explained(
                "transport",
                transport::run(options, &interrupt.flag(), output::line),
            )
        }
        BenchCommand::Attack(options) if options.is_attacker() => explained(
            "attack",
            attack::run(options, &AtomicBool::new(false), output::line),
        ),
        BenchCommand::Attack(options) => {
            let interrupt = Interrupt::install().into_diagnostic()?;
            explained(
                "attack",
                attack::run(options, &interrupt.flag(), output::line),
            )
        }
        BenchCommand::Shm(options) => {
            let interrupt = Interrupt::install().into_diagnostic()?;
            explained("shm", shm::run(options, &interrupt.flag(), output::line))
        }
        BenchCommand::Directory(options) => {
            let interrupt = Interrupt::install().into_diagnostic()?;
            explained(
                "directory",
                directory::run(options, &interrupt.flag(), output::line),
            )
        }
    }
}

/// Adds advice to an error of the command `takt bench NAME`. After an interrupt it ends the process.
fn explained(name: &str, result: Result<(), BenchError>) -> miette::Result<()> {
    match result {
        // This is the exit status that a shell reports after SIGINT.
        Err(BenchError::Interrupted) => std::process::exit(130),
        result => result.map_err(|error| {
            explain::with_help(
                error,
                format!("`takt bench {name} --help` lists the options."),
            )
        }),
    }
}

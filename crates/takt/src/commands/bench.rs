//! `takt bench …`

use std::sync::atomic::AtomicBool;

use takt_bench::transport::{self, BenchError, Options};

use crate::arguments::BenchCommand;
use crate::interrupt::Interrupt;
use crate::{explain, output};

pub fn run(command: &BenchCommand) -> miette::Result<()> {
    match command {
        BenchCommand::Transport(options) => run_transport(options),
    }
}

fn run_transport(options: &Options) -> miette::Result<()> {
    let result = if options.is_server() {
        transport::run(options, &AtomicBool::new(false), output::line)
    } else {
        let interrupt = Interrupt::install()?;
        transport::run(options, &interrupt.flag(), output::line)
    };
    match result {
        // As a shell reports it.
        Err(BenchError::Interrupted) => std::process::exit(130),
        result => result.map_err(|error| {
            explain::with_help(error, "`takt bench transport --help` lists the options.")
        }),
    }
}

//! `takt bench …`

use crate::arguments::BenchCommand;
use crate::{explain, output};

pub fn run(command: &BenchCommand) -> miette::Result<()> {
    match command {
        BenchCommand::Transport(options) => takt_bench::transport::run(options, output::line)
            .map_err(|error| explain::with_help(error, "`takt bench transport --help` lists the options.")),
    }
}

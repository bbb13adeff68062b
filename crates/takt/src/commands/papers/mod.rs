//! `takt papers`: tables and figures of papers.

mod advice;
mod effort;
mod list;
mod report;
mod run;

use crate::arguments::PapersCommand;

pub(super) fn run(command: &PapersCommand) -> miette::Result<()> {
    match command {
        PapersCommand::List(arguments) => list::run(arguments),
        PapersCommand::Run(arguments) => run::run(arguments),
        PapersCommand::Report(arguments) => report::run(arguments),
    }
}

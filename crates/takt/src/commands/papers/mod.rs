//! `takt papers`: tables and figures of papers.

mod advice;
mod list;
mod report;
mod run;

use takt_papers::PaperEffort;

use crate::arguments::PapersCommand;

pub(super) fn run(command: &PapersCommand) -> miette::Result<()> {
    match command {
        PapersCommand::List(arguments) => list::run(arguments),
        PapersCommand::Run(arguments) => run::run(arguments),
        PapersCommand::Report(arguments) => report::run(arguments),
    }
}

/// Returns the effort that two options ask for.
fn effort(quick: bool, messages: Option<u64>) -> PaperEffort {
    match (quick, messages) {
        (true, _) => PaperEffort::Quick,
        (false, Some(messages)) => PaperEffort::Messages(messages),
        (false, None) => PaperEffort::Full,
    }
}

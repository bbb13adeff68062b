//! `takt lab`: scenarios on a network in the Linux kernel.

pub(in crate::commands) mod advice;
mod bundle;
mod collect;
mod events;
mod inside;
mod progress;
mod run;
mod setup;
mod signals;
mod table;
mod uml;

use crate::arguments::LabCommand;

pub fn run(command: &LabCommand) -> miette::Result<()> {
    match command {
        LabCommand::Setup(arguments) => setup::run(arguments),
        LabCommand::Run(arguments) => run::run(arguments),
        LabCommand::Bundle(arguments) => bundle::run(arguments),
        LabCommand::Collect(arguments) => collect::run(arguments),
        LabCommand::Inside(arguments) => inside::run(arguments),
    }
}

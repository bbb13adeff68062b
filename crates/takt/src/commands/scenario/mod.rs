//! `takt scenario`.

mod check;
mod from;
mod new;
mod schema;

use crate::arguments::ScenarioCommand;

pub fn run(command: &ScenarioCommand) -> miette::Result<()> {
    match command {
        ScenarioCommand::New(arguments) => new::run(arguments),
        ScenarioCommand::Check(arguments) => check::run(arguments),
        ScenarioCommand::From(arguments) => from::run(arguments),
        ScenarioCommand::Schema(arguments) => schema::run(arguments),
    }
}

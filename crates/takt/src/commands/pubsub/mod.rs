//! `takt pubsub`: one file per command.

mod config;

use crate::arguments::PubSubCommand;

pub fn run(command: &PubSubCommand) -> miette::Result<()> {
    match command {
        PubSubCommand::Config(command) => config::run(command),
    }
}

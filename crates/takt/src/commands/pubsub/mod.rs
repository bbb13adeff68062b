//! `takt pubsub`: one file per command.

pub(super) mod config;
pub(super) mod running;

use crate::arguments::PubSubCommand;

pub fn run(command: &PubSubCommand) -> miette::Result<()> {
    match command {
        PubSubCommand::Config(command) => config::run(command),
    }
}

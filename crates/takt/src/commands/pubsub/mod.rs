//! `takt pubsub`: one file per command.

pub(super) mod advice;
pub(super) mod config;
mod decode;
mod decoded;
mod dissector;
pub(super) mod keys;
mod render;
pub(super) mod reports;
pub(super) mod running;
pub(super) mod watchdog;

use crate::arguments::PubSubCommand;

pub fn run(command: &PubSubCommand) -> miette::Result<()> {
    match command {
        PubSubCommand::Config(command) => config::run(command),
        PubSubCommand::Decode(arguments) => decode::run(arguments),
        PubSubCommand::Dissector => {
            dissector::run();
            Ok(())
        }
    }
}

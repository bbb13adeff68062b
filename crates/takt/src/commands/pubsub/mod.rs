//! `takt pubsub`: one file per command.

mod capture;
pub(super) mod config;
mod decode;
mod dissector;
mod packet;
mod render;
pub(super) mod running;

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

//! `takt pubsub`: one file per command.

mod capture;
mod decode;
mod dissector;
mod packet;
mod render;

use crate::arguments::PubSubCommand;

pub fn run(command: &PubSubCommand) -> miette::Result<()> {
    match command {
        PubSubCommand::Decode(arguments) => decode::run(arguments),
        PubSubCommand::Dissector => {
            dissector::run();
            Ok(())
        }
    }
}

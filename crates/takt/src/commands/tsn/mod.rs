//! `takt tsn`: queueing disciplines of network interfaces.

mod advice;
mod apply;
mod clear;
mod plan;
mod ports;
mod script;
mod show;
mod system;
mod verify;

use crate::arguments::TsnCommand;

pub fn run(command: &TsnCommand) -> miette::Result<()> {
    match command {
        TsnCommand::Plan(arguments) => plan::run(arguments),
        TsnCommand::Apply(arguments) => apply::run(arguments),
        TsnCommand::Show(arguments) => show::run(arguments),
        TsnCommand::Verify(arguments) => verify::run(arguments),
        TsnCommand::Clear(arguments) => clear::run(arguments),
    }
}

//! One file per command.

mod analyze;
mod bench;
mod bounds;
mod browse;
mod call;
mod clean;
mod completions;
mod connect;
mod control_loop;
mod demo;
mod discover;
mod history;
mod lab;
mod provider;
mod ps;
mod publish;
mod pubsub;
mod read;
mod registry;
mod report;
mod scenario;
mod simulate;
mod subscribe;
mod trust;
mod tsn;
mod user;
mod watch;
mod write;

use crate::arguments::Command;

/// Runs a command. Its log has the level `verbose`, as [`output::start_tracing`](crate::output::start_tracing) has it.
pub fn run(command: Command, verbose: u8) -> miette::Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Registry(arguments) => registry::run(arguments),
        Command::Provider(arguments) => provider::run(&arguments),
        Command::Browse(arguments) => browse::run(&arguments),
        Command::Discover(arguments) => discover::run(&arguments),
        Command::Read(arguments) => read::run(&arguments),
        Command::Write(arguments) => write::run(&arguments),
        Command::Call(arguments) => call::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::History(arguments) => history::run(&arguments),
        Command::Publish(arguments) => publish::run(&arguments),
        Command::Loopback(arguments) => control_loop::loopback(&arguments),
        Command::Subscribe(arguments) => subscribe::run(&arguments),
        Command::Trust(arguments) => trust::run(&arguments),
        Command::User(arguments) => user::run(&arguments),
        Command::Ps(arguments) => ps::run(&arguments),
        Command::Clean(arguments) => clean::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments, verbose),
        Command::PubSub(command) => pubsub::run(&command),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Bounds(arguments) => bounds::run(&arguments),
        Command::Analyze(arguments) => analyze::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Scenario(command) => scenario::run(&command),
        Command::Tsn(command) => tsn::run(&command),
        Command::Lab(command) => lab::run(&command),
        Command::Completions { shell } => completions::run(shell),
    }
}

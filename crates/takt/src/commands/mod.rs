//! One file per command.

mod analyze;
mod bench;
mod bounds;
mod browse;
mod call;
mod campaign;
mod clean;
mod completions;
mod connect;
mod control_loop;
mod demo;
mod described;
mod discover;
mod history;
mod lab;
mod late_causes;
mod launch_check;
mod papers;
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
mod wakeup;
mod watch;
mod write;

use crate::arguments::{
    Command, Given, LaboratoryGroup, OpcUaGroup, OtherGroup, PubSubGroup, ServicesGroup,
};

/// Runs a command. Its log has the level `verbose`, as [`output::start_tracing`](crate::output::start_tracing) has it.
pub fn run(command: Command, given: &Given, verbose: u8) -> miette::Result<()> {
    match command {
        Command::OpcUa(group) => opc_ua(group),
        Command::Services(group) => services(group, given),
        Command::PubSub(group) => pubsub_group(group, given),
        Command::Laboratory(group) => laboratory(group, given),
        Command::Other(group) => other(group, verbose),
    }
}

fn opc_ua(command: OpcUaGroup) -> miette::Result<()> {
    match command {
        OpcUaGroup::Browse(arguments) => browse::run(&arguments),
        OpcUaGroup::Discover(arguments) => discover::run(&arguments),
        OpcUaGroup::Read(arguments) => read::run(&arguments),
        OpcUaGroup::Write(arguments) => write::run(&arguments),
        OpcUaGroup::Call(arguments) => call::run(&arguments),
        OpcUaGroup::Watch(arguments) => watch::run(&arguments),
        OpcUaGroup::History(arguments) => history::run(&arguments),
    }
}

fn services(command: ServicesGroup, given: &Given) -> miette::Result<()> {
    match command {
        ServicesGroup::Demo(arguments) => demo::run(&arguments),
        ServicesGroup::Registry(arguments) => registry::run(arguments),
        ServicesGroup::Provider(arguments) => provider::run(&arguments),
        ServicesGroup::Trust(arguments) => trust::run(&arguments, given),
        ServicesGroup::User(arguments) => user::run(&arguments),
        ServicesGroup::Ps(arguments) => ps::run(&arguments),
        ServicesGroup::Clean(arguments) => clean::run(&arguments),
    }
}

fn pubsub_group(command: PubSubGroup, given: &Given) -> miette::Result<()> {
    match command {
        PubSubGroup::Publish(arguments) => publish::run(&arguments, given),
        PubSubGroup::Subscribe(arguments) => subscribe::run(&arguments, given),
        PubSubGroup::Loopback(arguments) => control_loop::loopback(&arguments),
        PubSubGroup::PubSub(command) => pubsub::run(&command),
    }
}

fn laboratory(command: LaboratoryGroup, given: &Given) -> miette::Result<()> {
    match command {
        LaboratoryGroup::Scenario(command) => scenario::run(&command),
        LaboratoryGroup::Bounds(arguments) => bounds::run(&arguments, given),
        LaboratoryGroup::Simulate(arguments) => simulate::run(&arguments),
        LaboratoryGroup::Tsn(command) => tsn::run(&command),
        LaboratoryGroup::Lab(command) => lab::run(&command),
        LaboratoryGroup::Campaign(command) => campaign::run(&command),
        LaboratoryGroup::Papers(command) => papers::run(&command),
        LaboratoryGroup::WakeUp(arguments) => wakeup::run(&arguments),
        LaboratoryGroup::Analyze(arguments) => analyze::run(&arguments),
        LaboratoryGroup::Report(arguments) => report::run(&arguments),
    }
}

fn other(command: OtherGroup, verbose: u8) -> miette::Result<()> {
    match command {
        OtherGroup::Bench(arguments) => bench::run(&arguments, verbose),
        OtherGroup::Completions { shell } => completions::run(shell),
    }
}

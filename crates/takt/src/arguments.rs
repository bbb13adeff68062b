//! Arguments of the command line, one file for each kind of command.

mod analyze;
mod bench;
mod bounds;
mod campaign;
mod clients;
mod control_loop;
mod disciplines;
mod discover;
mod given;
mod groups;
mod history;
mod host;
mod lab;
mod mqtt;
mod overview;
mod papers;
mod publish;
mod pubsub;
mod pubsub_run;
mod report;
mod scenario;
mod security;
mod security_key;
mod serving;
mod simulate;
mod subscribe;
mod trust;
mod tsn;
mod values;
mod wakeup;
mod watchdog;

use clap::Parser;

pub use analyze::AnalyzeArguments;
pub use bench::BenchArguments;
pub use bounds::BoundsArguments;
pub use campaign::{
    CampaignBackendName, CampaignCheckArguments, CampaignCommand, CampaignMergeArguments,
    CampaignRunArguments, CampaignSummaryArguments,
};
pub use clients::{
    BrowseArguments, CallArguments, ConnectArguments, ConnectionArguments, ReadArguments,
    ReverseArguments, WatchArguments, WriteArguments,
};
pub use control_loop::{ControlLoopArguments, LoopbackArguments, MissReaction, SendingMode};
pub use discover::DiscoverArguments;
pub use given::Given;
pub use groups::{Command, LaboratoryGroup, OpcUaGroup, OtherGroup, PubSubGroup, ServicesGroup};
pub use history::HistoryArguments;
pub use host::{CleanArguments, DemoArguments, GroupArguments, PsArguments};
pub use lab::{
    LabBackend, LabBundleArguments, LabCollectArguments, LabCommand, LabInsideArguments,
    LabRunArguments, LabSetupArguments,
};
pub use mqtt::MqttArguments;
pub use papers::{PapersCommand, PapersListArguments, PapersReportArguments, PapersRunArguments};
pub use publish::PublishArguments;
pub use pubsub::{
    CheckArguments, ConfigCommand, ConfigFormat, ConvertArguments, DecodeArguments, PubSubCommand,
};
pub use pubsub_run::PubSubRunArguments;
pub use report::ReportArguments;
pub use scenario::{
    CheckScenarioArguments, FromArguments, ModelName, NewArguments, ScenarioCommand,
    SchemaArguments, TemplateName,
};
pub use security::{
    ClientSecurityArguments, ConnectionSecurityArguments, ServeSecurityArguments, UserArguments,
    UserCommand,
};
pub use security_key::SecurityKey;
pub use serving::{
    DemoProvider, MirrorArguments, ProviderArguments, RegistryArguments, RegistryCommand,
    RegistryServeArguments,
};
pub use simulate::{SimulateArguments, SimulationLoopback, SimulationModel};
pub use subscribe::SubscribeArguments;
pub use trust::{TrustArguments, TrustCommand, TrustServerArguments};
pub(crate) use values::listening;

pub use tsn::{
    TsnApplyArguments, TsnClearArguments, TsnCommand, TsnOffload, TsnParameters, TsnPlanArguments,
    TsnPortArguments, TsnPreset, TsnShowArguments, TsnSystemArguments, TsnVerifyArguments,
};
pub use wakeup::{LoadKind, WakeUpArguments};
pub use watchdog::WatchdogArguments;

/// Deterministic OPC UA: shared memory on one host, PubSub with TSN between hosts.
#[derive(Debug, Parser)]
#[command(
    name = "takt",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    help_template = overview::template()
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    /// Print more messages on the error output; twice for all.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use clap::CommandFactory;
    use takt_app::Endpoint;

    use super::*;

    /// Options of each command that connects to a server.
    const CONNECTION: [&str; 9] = [
        "security",
        "certificate",
        "private-key",
        "certificates",
        "any-host",
        "user",
        "password-file",
        "user-certificate",
        "token",
    ];

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// Notes each command below `command` that reads a scenario, and whether it can set the scenario's fields.
    fn with_scenario(command: &clap::Command, path: &str, found: &mut Vec<(String, bool)>) {
        let help = |argument: &clap::Arg| argument.get_help().map(ToString::to_string);
        let is_scenario = |argument: &clap::Arg| {
            help(argument).is_some_and(|it| it.to_lowercase().starts_with("scenario file"))
        };
        let has_field = |argument: &clap::Arg| argument.get_long() == Some("field");
        if command.get_arguments().any(is_scenario) || command.get_arguments().any(has_field) {
            found.push((path.to_owned(), command.get_arguments().any(has_field)));
        }
        for below in command.get_subcommands() {
            with_scenario(below, &format!("{path} {}", below.get_name()), found);
        }
    }

    #[test]
    fn each_command_that_reads_a_scenario_sets_its_fields() {
        let mut found = Vec::new();
        with_scenario(&Arguments::command(), "takt", &mut found);
        let without = found.iter().filter(|(_, has_field)| !has_field);
        let without: Vec<&str> = without.map(|(path, _)| path.as_str()).collect();
        // It takes the values from the traces.
        assert_eq!(without, ["takt lab collect"]);
        assert_eq!(found.len(), 11, "{found:?}");
    }

    /// Returns true for an argument with the address of a server. Options such as --endpoint and --key-endpoint are addresses of the
    /// command itself, and --register-at needs no session.
    fn names_a_server(argument: &clap::Arg) -> bool {
        let is_endpoint = argument.get_value_parser().type_id() == TypeId::of::<Endpoint>();
        let is_other = argument
            .get_long()
            .is_some_and(|name| name.ends_with("endpoint") || name == "register-at");
        is_endpoint && !is_other
    }

    /// Notes each command below `command` that names a server, and each of the options that it lacks.
    fn examine(
        command: &clap::Command,
        path: &str,
        found: &mut Vec<String>,
        missing: &mut Vec<String>,
    ) {
        if command.get_arguments().any(names_a_server) {
            found.push(path.to_owned());
            for option in CONNECTION {
                let mut all = command.get_arguments();
                if !all.any(|argument| argument.get_long() == Some(option)) {
                    missing.push(format!("{path} --{option}"));
                }
            }
        }
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name());
            examine(below, &path, found, missing);
        }
    }

    #[test]
    fn each_command_that_names_a_server_has_the_options_of_a_connection() {
        let mut command = Arguments::command();
        command.build();
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        examine(&command, "takt", &mut found, &mut missing);
        assert_eq!(missing, Vec::<String>::new());
        for known in [
            "read",
            "discover",
            "registry forget",
            "trust add",
            "publish",
        ] {
            assert!(found.contains(&format!("takt {known}")), "{found:?}");
        }
    }
}

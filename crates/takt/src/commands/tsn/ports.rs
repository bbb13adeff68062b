//! Ports that arguments name.

use miette::Report;
use takt_scenario::{
    DisciplineDescription, Duration, PortIndex, Rate, ScenarioFile, ScenarioVariant,
};
use takt_tsn::{
    HardwareOffload, PlanOptions, PortInput, PriorityPreset, ScheduleGates, SchedulePicture,
    StandaloneDiscipline, StandalonePort,
};

use crate::arguments::{TsnOffload, TsnParameters, TsnPortArguments, TsnPreset};
use crate::{explain, scenario_file};

/// Ports, and their gates.
pub(super) struct Ports {
    pub(super) inputs: Vec<PortInput>,
    pub(super) picture: SchedulePicture,
    /// Places of the ports in their file, for errors; `None` without a scenario.
    pub(super) places: Option<Places>,
}

/// Scenario of ports, with its text.
pub(super) struct Places {
    pub(super) file: ScenarioFile,
    pub(super) text: String,
    pub(super) variant: ScenarioVariant,
    /// The ports in the order of their inputs.
    pub(super) ports: Vec<PortIndex>,
}

/// Returns the ports that the arguments name.
pub(super) fn ports(arguments: &TsnPortArguments) -> miette::Result<Ports> {
    let mut ports = match &arguments.scenario {
        Some(path) => {
            let (file, text) = scenario_file::read(path)?;
            let file = scenario_file::with_settings(&file, &text, &arguments.settings)?;
            of_scenario(file, text, arguments)?
        }
        None => standalone(arguments)?,
    };
    if let Some(interface) = &arguments.interface {
        match ports.inputs.as_mut_slice() {
            [one] => one.interface.clone_from(interface),
            several => return Err(several_ports(several)),
        }
    }
    Ok(ports)
}

/// Returns the only port that the arguments name, at a named interface.
pub(super) fn one_port(arguments: &TsnPortArguments) -> miette::Result<PortInput> {
    if arguments.interface.is_none() {
        return Err(explain::with_help(
            "no interface is named",
            "Name the network interface of this port with --interface; `ip link` lists the interfaces.",
        ));
    }
    let mut inputs = ports(arguments)?.inputs;
    match inputs.pop() {
        Some(input) if inputs.is_empty() => Ok(input),
        _ => Err(several_ports(&inputs)),
    }
}

fn several_ports(inputs: &[PortInput]) -> Report {
    let names: Vec<String> = inputs.iter().take(8).map(PortInput::name).collect();
    let more = if inputs.len() > names.len() {
        ", …"
    } else {
        ""
    };
    explain::with_help(
        "an interface is one port, but several are named",
        format!(
            "Choose one with --node and --port: {}{more}.",
            names.join(", ")
        ),
    )
}

fn of_scenario(
    file: ScenarioFile,
    text: String,
    arguments: &TsnPortArguments,
) -> miette::Result<Ports> {
    let scenario = file.scenario();
    let index = |name: &str| {
        let names = || {
            scenario
                .nodes
                .iter()
                .map(|node| node.name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let found = scenario.nodes.iter().position(|node| node.name == name);
        found.ok_or_else(|| {
            explain::with_help(
                format!("the scenario has no node `{name}`"),
                format!("Its nodes are {}.", names()),
            )
        })
    };
    let node = arguments.node.as_deref().map(index).transpose()?;
    let to = arguments.port.as_deref().map(index).transpose()?;
    let is_meant = |port: &&PortIndex| {
        let port = &scenario.ports[port.0];
        node.is_none_or(|node| port.node.0 == node) && to.is_none_or(|to| port.to.0 == to)
    };
    let all: Vec<PortIndex> = (0..scenario.ports.len()).map(PortIndex).collect();
    let meant: Vec<PortIndex> = all.iter().filter(is_meant).copied().collect();
    if meant.is_empty() {
        return Err(explain::with_help(
            "the scenario has no such port",
            "--port is the node at the other end of a link of --node.",
        ));
    }
    let inputs = meant
        .iter()
        .filter_map(|port| PortInput::of_scenario(scenario, *port));
    let picture = match node {
        None => SchedulePicture::of_scenario(scenario),
        Some(_) => SchedulePicture::of_ports(scenario, &meant),
    };
    let inputs = inputs.collect();
    let variant = ScenarioVariant {
        settings: Vec::new(),
        scenario: scenario.clone(),
        histogram_files: Vec::new(),
    };
    let places = Places {
        text,
        variant,
        ports: meant,
        file,
    };
    Ok(Ports {
        inputs,
        picture,
        places: Some(places),
    })
}

fn standalone(arguments: &TsnPortArguments) -> miette::Result<Ports> {
    let parameters = &arguments.parameters;
    let discipline = arguments.discipline.ok_or_else(|| {
        let help =
            "Name a scenario file, or --interface and --discipline. See `takt tsn plan --help`.";
        explain::with_help("there is no port to be configured", help)
    })?;
    let port = StandalonePort {
        interface: arguments.interface.clone().unwrap_or_default(),
        rate: parameters.rate.unwrap_or(Rate(1_000_000_000)),
        classes: match parameters.preset {
            None => PriorityPreset::Ieee8021q(parameters.classes.unwrap_or(2)),
            Some(TsnPreset::RealTimePerformance) => PriorityPreset::RealTimePerformance,
            Some(TsnPreset::RealTimePerformanceTable) => PriorityPreset::RealTimePerformanceTable,
            Some(TsnPreset::AtScale) => PriorityPreset::AtScale,
        },
        discipline: {
            check_parameters(discipline.name, parameters)?;
            standalone_discipline(discipline, parameters)?
        },
    };
    let input = port.input();
    let names = || {
        input
            .discipline
            .classes
            .iter()
            .map(|class| class.name.clone())
    };
    let gates = input.discipline.scheduler.gates();
    let gates = gates.map(|taprio| ScheduleGates::new(input.name(), taprio, names()));
    let gates = gates.into_iter().collect();
    Ok(Ports {
        picture: SchedulePicture { ports: gates },
        inputs: vec![input],
        places: None,
    })
}

/// Reports a parameter that the discipline does not have: it would have no effect.
fn check_parameters(discipline: &str, parameters: &TsnParameters) -> miette::Result<()> {
    let is_assisted = parameters.txtime_assist.is_some();
    let has_classes = discipline != "fq_codel";
    let all = [
        ("--classes", parameters.classes.is_some(), has_classes),
        ("--preset", parameters.preset.is_some(), has_classes),
        (
            "--idle-slope",
            parameters.idle_slope.is_some(),
            discipline == "cbs",
        ),
        (
            "--delta",
            parameters.delta.is_some(),
            // With txtime-assist, ETF is below TAPRIO.
            discipline == "etf" || discipline == "taprio" && is_assisted,
        ),
        (
            "--cycle",
            parameters.cycle.is_some(),
            discipline == "taprio",
        ),
        (
            "--window",
            parameters.window.is_some(),
            discipline == "taprio",
        ),
        (
            "--base-time",
            parameters.base_time.is_some(),
            discipline == "taprio",
        ),
        ("--txtime-assist", is_assisted, discipline == "taprio"),
    ];
    match all.iter().find(|(_, given, used)| *given && !used) {
        Some((option, ..)) => Err(explain::with_help(
            format!("{option} has no effect with --discipline {discipline}"),
            "Leave it out, or describe the port in a scenario, where each class has a discipline of its own.",
        )),
        None => Ok(()),
    }
}

fn standalone_discipline(
    discipline: &'static DisciplineDescription,
    parameters: &TsnParameters,
) -> miette::Result<StandaloneDiscipline> {
    let missing = |option: &str, example: &str| {
        explain::with_help(
            format!("--discipline needs {option}"),
            format!("For example {option} {example}."),
        )
    };
    let delta = || parameters.delta.ok_or_else(|| missing("--delta", "200us"));
    Ok(match discipline.name {
        "cbs" => StandaloneDiscipline::Cbs {
            idle_slope: parameters
                .idle_slope
                .ok_or_else(|| missing("--idle-slope", "\"20 Mbit/s\""))?,
        },
        "etf" => StandaloneDiscipline::Etf { delta: delta()? },
        "taprio" => {
            let cycle = parameters.cycle.filter(|cycle| *cycle > Duration::ZERO);
            let cycle = cycle.ok_or_else(|| missing("--cycle", "250us"))?;
            let window = parameters
                .window
                .ok_or_else(|| missing("--window", "62.5us"))?;
            if window > cycle || window == Duration::ZERO {
                return Err(explain::with_help(
                    format!("--window {window} is no part of --cycle {cycle}"),
                    "The window opens at the beginning of each cycle: it must be longer than 0 and no longer than the cycle.",
                ));
            }
            let assist = match parameters.txtime_assist {
                Some(delay) => Some((delay, delta()?)),
                None => None,
            };
            StandaloneDiscipline::Taprio {
                cycle,
                window,
                base_time: parameters.base_time.unwrap_or_default(),
                txtime_assist: assist,
            }
        }
        _ => StandaloneDiscipline::Usual(discipline),
    })
}

/// Returns the options of plans.
pub(super) fn options(arguments: &TsnPortArguments) -> PlanOptions {
    PlanOptions {
        speed: arguments.speed,
        offload: match arguments.offload {
            None => HardwareOffload::AsInScenario,
            Some(TsnOffload::None) => HardwareOffload::None,
            Some(TsnOffload::Full) => HardwareOffload::Full,
        },
        gate_list_length: arguments.gate_list_length,
        queues: arguments.queues,
        vlan_interfaces: arguments.vlan_interfaces,
        bridge: None,
        kernel: None,
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::{Arguments, Command, LaboratoryGroup, TsnCommand};

    fn named(arguments: &[&str]) -> Result<Ports, String> {
        let line = ["takt", "tsn", "plan"].iter().chain(arguments);
        let parsed = Arguments::try_parse_from(line).map_err(|error| error.to_string())?;
        let Command::Laboratory(LaboratoryGroup::Tsn(TsnCommand::Plan(plan))) = parsed.command
        else {
            panic!("another command");
        };
        ports(&plan.port).map_err(|error| error.to_string())
    }

    fn scenario(name: &str) -> String {
        format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"))
    }

    fn names(arguments: &[&str]) -> Vec<String> {
        named(arguments)
            .unwrap()
            .inputs
            .iter()
            .map(PortInput::name)
            .collect()
    }

    #[test]
    fn ports_are_chosen_by_node_and_neighbour() {
        let line = scenario("line.toml");
        assert_eq!(names(&[&line]).len(), 14);
        assert_eq!(names(&[&line, "--field", "topology.hops=2"]).len(), 4);
        let bridge = names(&[&line, "--node", "bridge1"]);
        assert_eq!(
            bridge,
            ["bridge1 \u{2192} host1", "bridge1 \u{2192} bridge2"]
        );
        let one = named(&[
            &line,
            "--node",
            "bridge1",
            "--port",
            "bridge2",
            "--interface",
            "enp3s0",
        ])
        .unwrap();
        assert_eq!(one.inputs[0].interface, "enp3s0");
    }

    #[test]
    fn mistakes_are_explained() {
        let line = scenario("line.toml");
        let message = |arguments: &[&str]| named(arguments).err().unwrap();
        assert_eq!(message(&[]), "there is no port to be configured");
        assert_eq!(
            message(&[&line, "--node", "bridge9"]),
            "the scenario has no node `bridge9`"
        );
        assert_eq!(
            message(&[&line, "--node", "host1", "--port", "host2"]),
            "the scenario has no such port"
        );
        let several = message(&[&line, "--interface", "eth0"]);
        assert_eq!(several, "an interface is one port, but several are named");
        assert_eq!(
            message(&[&line, "--field", "discipline=csb"]),
            "there is no discipline `csb`"
        );
        let cbs = ["--interface", "eth0", "--discipline", "cbs"];
        assert_eq!(message(&cbs), "--discipline needs --idle-slope");
        assert!(
            message(&[&line, "--discipline", "cbs", "--interface", "eth0"])
                .contains("cannot be used with")
        );
    }

    #[test]
    fn options_describe_a_port() {
        let etf = [
            "--interface",
            "eth0",
            "--discipline",
            "etf",
            "--delta",
            "200us",
            "--classes",
            "3",
        ];
        let ports = named(&etf).unwrap();
        assert_eq!(ports.inputs[0].discipline.classes.len(), 3);
        assert!(ports.picture.ports.is_empty());
        let taprio = [
            "--interface",
            "eth0",
            "--discipline",
            "taprio",
            "--cycle",
            "250us",
            "--window",
            "50us",
        ];
        assert_eq!(named(&taprio).unwrap().picture.ports.len(), 1);
    }
}

//! Settings of a case in words, the same for bound, simulation and measurement.

use takt_lab::CaseRecord;
use takt_scenario::{
    Application, Discipline, Distribution, Flow, Node, NodeKind, Pattern, PortIndex, Queue,
    Scenario, Scheduler,
};
use takt_sim::{Loopback, Model, RunOptions};

/// Work that devices did for disciplines in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseOffload {
    /// That of the scenario.
    AsInScenario,
    /// None: ETF gives frames to the device at the txtime less delta, and the kernel has the gates.
    None,
    /// All at the ports of hosts: launch times, gates without txtime-assist, and shapers. Bridges have those of the scenario.
    Full,
}

impl CaseOffload {
    /// Returns the work that the record of a case tells.
    pub(crate) fn of(record: &CaseRecord) -> Self {
        match (record.has_full_offload, record.has_offloads) {
            (true, _) => Self::Full,
            (false, true) => Self::AsInScenario,
            (false, false) => Self::None,
        }
    }
}

/// Returns the scenario as it ran.
pub(crate) fn as_run(scenario: &Scenario, offload: CaseOffload) -> Scenario {
    let mut scenario = scenario.clone();
    let is_offloaded = match offload {
        CaseOffload::AsInScenario => return scenario,
        CaseOffload::None => false,
        CaseOffload::Full => true,
    };
    for port in &mut scenario.ports {
        let node = scenario.nodes.get(port.node.0);
        let is_host = node.is_some_and(|node| node.kind == NodeKind::Host);
        if is_offloaded && !is_host {
            continue;
        }
        if let Scheduler::Taprio(taprio) = &mut port.discipline.scheduler {
            taprio.offload = is_offloaded && taprio.txtime_assist.is_none();
        }
        for class in &mut port.discipline.classes {
            if let Queue::Etf(etf) = &mut class.queue {
                etf.offload = is_offloaded;
            }
        }
    }
    scenario
}

/// Returns names and values of the settings of a scenario and its simulation.
pub(crate) fn of(
    scenario: &Scenario,
    options: &RunOptions,
    offload: CaseOffload,
) -> Vec<(String, String)> {
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
    for application in &scenario.applications {
        add(&application.name, described(application));
    }
    for flow in scenario.flows() {
        if flow.source.application().is_some() {
            add(&scenario.flow_name(flow.source), way(scenario, flow));
        }
    }
    for traffic in &scenario.cross_traffic {
        let pattern = match traffic.pattern {
            Pattern::Constant => "constant".to_owned(),
            Pattern::Poisson => "Poisson".to_owned(),
            Pattern::Burst(frames) => format!("bursts of {frames} frames"),
        };
        let text = format!(
            "cross traffic: {} B of payload, {} on the wire, {pattern}, PCP {}",
            traffic.frame.payload(),
            readable(traffic.rate()),
            traffic.pcp
        );
        add(&traffic.name, text);
    }
    for (ports, discipline) in disciplines(scenario) {
        add(&ports, discipline);
    }
    let rates = scenario.links.iter().map(|link| readable(link.rate));
    add("link rate", once(rates));
    let hosts = scenario.nodes.iter();
    let latencies = hosts.map(|node| latency(&node.wake_up_latency));
    add("wake-up latency of threads", once(latencies));
    let bridges = scenario.nodes.iter();
    let bridges: Vec<&Node> = bridges.filter(|it| it.kind == NodeKind::Bridge).collect();
    if !bridges.is_empty() {
        let delays = bridges.iter().map(|node| {
            let (least, most) = (node.forwarding_delay_least, node.forwarding_delay);
            match least == most {
                true => readable(most),
                false => format!("{} to {}", readable(least), readable(most)),
            }
        });
        add("forwarding delay of bridges", once(delays));
    }
    let clocks = scenario.nodes.iter().map(|node| {
        format!(
            "offset {}, drift {}",
            readable(node.clock.offset),
            node.clock.drift
        )
    });
    add("clocks", once(clocks));
    add("offload of ETF and TAPRIO", offloads(scenario));
    if offload == CaseOffload::Full {
        let shapers = "network cards of the hosts; bridges as hardware";
        add("offload of CBS", shapers.to_owned());
    }
    add(
        "model of the simulation",
        match options.model {
            Model::Linux => "linux".to_owned(),
            Model::Ieee => "ieee".to_owned(),
        },
    );
    add(
        "driver queue",
        format!("{} frame of each class", options.driver_queue),
    );
    add(
        "loopback",
        match options.loopback {
            Loopback::Latest => "sends its latest message in each cycle".to_owned(),
            Loopback::All => "sends all messages".to_owned(),
        },
    );
    settings
}

/// Returns the work that the devices do for disciplines, in words.
fn offloads(scenario: &Scenario) -> String {
    let disciplines = || scenario.ports.iter().map(|port| &port.discipline);
    let launches = disciplines().any(|discipline| {
        let mut queues = discipline.classes.iter().map(|class| &class.queue);
        queues.any(|queue| matches!(queue, Queue::Etf(etf) if etf.offload))
    });
    let gates = disciplines().any(|it| it.scheduler.gates().is_some_and(|it| it.offload));
    match (launches, gates) {
        (false, false) => "none",
        (true, false) => "launch times (ETF)",
        (false, true) => "gates (TAPRIO)",
        (true, true) => "launch times (ETF) and gates (TAPRIO)",
    }
    .to_owned()
}

/// Returns a quantity with the usual sign of microseconds.
fn readable(quantity: impl std::fmt::Display) -> String {
    quantity.to_string().replace(" us", " \u{b5}s")
}

/// Returns different texts, each once, in their order.
fn once(texts: impl Iterator<Item = String>) -> String {
    let mut different: Vec<String> = Vec::new();
    for text in texts {
        if !different.contains(&text) {
            different.push(text);
        }
    }
    different.join("; ")
}

fn described(application: &Application) -> String {
    let phases = application.phases;
    let launch = match application.txtime {
        Some(ahead) => format!("txtime, given {} ahead", readable(ahead)),
        None if application.immediate => "sent as soon as it is made".to_owned(),
        None => "sent by the thread".to_owned(),
    };
    format!(
        "cycle {}, offset {}, phases {} {} {}, {} B of payload, {} B on the wire, PCP {}, {launch}",
        readable(application.cycle),
        readable(application.offset),
        phases.subscriber,
        phases.user,
        phases.publisher,
        application.frame.payload(),
        application.frame.physical(),
        application.pcp
    )
}

fn way(scenario: &Scenario, flow: &Flow) -> String {
    let ports = flow.ports.iter().map(|port| scenario.port_name(*port));
    let count = flow.ports.len();
    let mut names: Vec<String> = ports.collect();
    if count > 3 {
        names.splice(1..count - 1, ["\u{2026}".to_owned()]);
    }
    let hops = if count == 1 { "hop" } else { "hops" };
    format!("{count} {hops}: {}", names.join(", "))
}

/// Returns the different disciplines, each with the ports that have it.
fn disciplines(scenario: &Scenario) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<PortIndex>, String)> = Vec::new();
    for (index, port) in scenario.ports.iter().enumerate() {
        let text = discipline(&port.discipline);
        match groups.iter_mut().find(|(_, known)| *known == text) {
            Some((ports, _)) => ports.push(PortIndex(index)),
            None => groups.push((vec![PortIndex(index)], text)),
        }
    }
    let only = groups.len() == 1;
    let groups = groups.into_iter().map(|(ports, text)| {
        let names = match ports.as_slice() {
            _ if only => "all ports".to_owned(),
            [first] => format!("port {}", scenario.port_name(*first)),
            [first, rest @ ..] => {
                format!(
                    "port {} and {} more",
                    scenario.port_name(*first),
                    rest.len()
                )
            }
            [] => String::new(),
        };
        (names, text)
    });
    groups.collect()
}

fn discipline(discipline: &Discipline) -> String {
    let scheduler = readable(&discipline.scheduler);
    if discipline.scheduler.only_queue().is_some() {
        return scheduler;
    }
    let classes = discipline.classes.iter();
    let classes = classes.map(|class| format!("{}: {}", class.name, readable(&class.queue)));
    let classes: Vec<String> = classes.collect();
    format!("{}: {scheduler} ({})", discipline.name, classes.join("; "))
}

fn latency(latency: &Distribution) -> String {
    match latency {
        Distribution::Histogram(histogram) => format!(
            "histogram of {} wake-ups, {} to {}",
            histogram.total(),
            readable(histogram.least()),
            readable(histogram.most())
        ),
        latency if latency.least() == latency.most() => readable(latency.most()),
        latency => format!(
            "{} to {}",
            readable(latency.least()),
            readable(latency.most())
        ),
    }
}

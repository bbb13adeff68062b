//! Facts about a run for its trace: id, scenario, host, and the disciplines of the port.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use takt_control::ControlReport;
use takt_lab::host::{
    HostFact, HostFiles, PtpState, card_facts, clock_facts, clock_facts_at_end, host_facts,
    ptp_state,
};
use takt_lab::{
    EndRecord, LoopEnd, RunId, ScenarioApplication, ScenarioLoop, TraceNotes, ptp_clock_offset,
};
use takt_link::NetworkCard;
use takt_rt::clock::realtime_nanos;
use takt_rt::tai_offset::clock_status;
use takt_scenario::{ApplicationIndex, FlowSource, Scenario, ScenarioFile};
use takt_tsn::{
    GateMotion, HardwareOffload, PlanOptions, PortInput, SystemExecutor, plan_for_interface,
    search_path, verify,
};

use crate::arguments::ControlLoopArguments;

/// Sockets of ptp4l for questions (linuxptp, `uds_address`).
const PTP_SOCKETS: [&str; 2] = ["/run/ptp4l", "/run/ptp/ptp4l"];

/// Offloads of `takt tsn apply`, and the words for a port that has them as planned.
const OFFLOADS: [(HardwareOffload, &str); 3] = [
    (HardwareOffload::AsInScenario, "as planned"),
    (HardwareOffload::Full, "as planned, full offload"),
    (HardwareOffload::None, "as planned, without offload"),
];

/// Facts that are known before a run begins.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    scenario_digest: String,
    settings: Vec<(String, String)>,
    boot: Option<String>,
    host: Vec<HostFact>,
    /// Number of the network card's clock.
    card_clock: Option<u32>,
}

/// Returns the id of the messages that an end sends, and the time until it may begin.
pub(super) fn run_id(end: LoopEnd, has_trace: bool) -> (RunId, Duration) {
    let now = realtime_nanos();
    match (end, has_trace) {
        // Two runs of a host never begin in the same second.
        (LoopEnd::Publisher, true) => RunId::next(now),
        _ => (RunId::at(now), Duration::ZERO),
    }
}

impl RunFacts {
    /// Reads the facts, if there is to be a trace. `text` is that of the scenario's file.
    pub(super) fn read(
        arguments: &ControlLoopArguments,
        control: &ScenarioLoop,
        end: LoopEnd,
        file: &ScenarioFile,
        text: &str,
    ) -> Self {
        if arguments.trace.is_none() {
            return Self::default();
        }
        let files = HostFiles::of_this_host();
        let mut host = host_facts(&files);
        let mut card_clock = None;
        if let Some(interface) = &arguments.interface
            && let Some(card) = NetworkCard::of(interface)
        {
            host.extend(card_facts(&files, interface, &card));
            card_clock = card.time_stamping.and_then(|it| it.clock);
            let found = disciplines(file.scenario(), control.index(), end, interface);
            host.push(("disciplines".to_owned(), found));
        }
        let of_card = card_clock.and_then(|index| ptp_clock_offset(index).ok());
        host.extend(clock_facts(
            clock_status().as_ref(),
            ptp().as_ref(),
            of_card,
        ));
        Self {
            scenario_digest: TraceNotes::digest_of(text),
            settings: arguments.settings.clone(),
            boot: files.boot(),
            host,
            card_clock,
        }
    }

    /// Returns the description of the trace, when the run has ended.
    pub(super) fn notes(
        mut self,
        run: RunId,
        control: &ScenarioLoop,
        end: LoopEnd,
        application: &ScenarioApplication,
        report: &ControlReport,
    ) -> TraceNotes {
        let of_card = (self.card_clock).and_then(|index| ptp_clock_offset(index).ok());
        self.host
            .extend(clock_facts_at_end(ptp().as_ref(), of_card));
        TraceNotes {
            runs: match end {
                LoopEnd::Publisher => vec![run],
                LoopEnd::Loopback => application.peer_runs.clone(),
            },
            scenario_digest: self.scenario_digest,
            settings: self.settings,
            publisher_ids: control.publisher_ids(),
            boot: self.boot,
            host: self.host,
            end: EndRecord::of(&control.application().name, end, report),
        }
    }
}

/// Compares the disciplines of a port with those of the scenario, with the offloads that `takt tsn apply` has.
fn disciplines(scenario: &Scenario, application: usize, end: LoopEnd, interface: &str) -> String {
    let index = ApplicationIndex(application);
    let source = match end {
        LoopEnd::Publisher => FlowSource::Publish(index),
        LoopEnd::Loopback => FlowSource::Return(index),
    };
    let flow = scenario.flows().iter().find(|it| it.source == source);
    let port = flow.and_then(|flow| flow.ports.first());
    let input = port.and_then(|port| PortInput::of_scenario(scenario, *port));
    let Some(mut input) = input else {
        return "unknown: the scenario has no port for this end".to_owned();
    };
    interface.clone_into(&mut input.interface);
    let mut executor = SystemExecutor::default();
    let mut reason = String::new();
    for (offload, planned) in OFFLOADS {
        let options = PlanOptions {
            offload,
            ..PlanOptions::default()
        };
        let plan = match plan_for_interface(&input, &options, &mut executor) {
            Ok(plan) => plan,
            Err(error) => {
                reason = format!("unknown: {error}");
                continue;
            }
        };
        match verify(&plan, &mut executor) {
            Ok(found) if found.differences.is_empty() => {
                return match found.gates {
                    GateMotion::Unknown(_) => format!("unknown motion of gates, {planned}"),
                    _ => planned.to_owned(),
                };
            }
            Ok(found) if reason.is_empty() => {
                let texts = found.differences.iter().map(ToString::to_string);
                reason = format!("not as planned: {}", texts.collect::<Vec<_>>().join("; "));
            }
            Ok(_) => {}
            Err(error) => reason = format!("unknown: {error}"),
        }
    }
    reason
}

/// Returns the answers of ptp4l, if it runs.
fn ptp() -> Option<PtpState> {
    let socket = PTP_SOCKETS
        .into_iter()
        .find(|path| Path::new(path).exists())?;
    let ask = |question: &str| {
        let output = Command::new("pmc")
            .args(["-u", "-b", "0", "-s", socket, &format!("GET {question}")])
            .env("PATH", search_path())
            .stdin(Stdio::null())
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    ptp_state(
        &ask("TIME_STATUS_NP")?,
        &ask("DEFAULT_DATA_SET")?,
        &ask("PORT_PROPERTIES_NP")?,
    )
}

//! Watch of the flows of a running configuration: refuses messages that the scenario does not have, and reports messages whose
//! times come near the proven ones.

use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value, json};
use takt_app::serve::ServeOptions;
use takt_app::{Provider, flow_variables};
use takt_calculus::Realisation;
use takt_pubsub::monitor::{
    CommonClock, FlowCause, FlowDirection, FlowLog, FlowReport, TimeFigures, WatchedFlow,
    WatchedFlows, WatchedQuantity,
};
use takt_terminal::Screen;
use takt_ua::structures::PubSubConfiguration2DataType;
use takt_watchdog::{WatchError, WatchOptions, watched_flows};

use crate::arguments::WatchdogArguments;
use crate::{explain, scenario_file};

/// The watch of a running command.
pub(in crate::commands) struct Watchdog {
    flows: WatchedFlows,
    log: FlowLog,
    /// Serves the numbers until the command ends.
    _provider: Option<Provider>,
}

impl Watchdog {
    /// Computes the times of the flows of a configuration; `None` without a scenario. `settings` are other values of its fields.
    pub(in crate::commands) fn of(
        arguments: &WatchdogArguments,
        settings: &[(String, String)],
        configuration: &PubSubConfiguration2DataType,
        group: Option<&str>,
    ) -> miette::Result<Option<Self>> {
        let Some(path) = &arguments.scenario else {
            return Ok(None);
        };
        let (file, text) = scenario_file::read(path)?;
        let file = scenario_file::with_settings(&file, &text, settings)?;
        let options = WatchOptions {
            share: arguments.warn_at,
            clocks_within: arguments.clocks_within,
            allow_unproven: arguments.unproven,
            realisation: match arguments.software {
                true => Realisation::Software { driver_queue: 1 },
                false => Realisation::default(),
            },
            names: arguments.flow.clone(),
        };
        let flows = watched_flows(configuration, file.scenario(), &options)
            .map_err(|error| refused(path, &error))?;
        for flow in flows.iter() {
            let description = flow.description();
            for reason in &description.reservations {
                tracing::warn!(
                    "{} ({}): the times are not proven: {reason}",
                    description.name,
                    description.component
                );
            }
        }
        if has_udp(configuration) {
            tracing::info!(
                "VLAN and PCP of opc.udp are those of the network interface, and are not compared with the scenario"
            );
        }
        let provider = arguments.serve.as_deref();
        let provider = provider
            .map(|name| serve(name, &flows, group))
            .transpose()?;
        Ok(Some(Self {
            log: FlowLog::new(&flows),
            flows,
            _provider: provider,
        }))
    }

    /// Returns the flows, for the options of the runtime.
    pub(in crate::commands) fn flows(&self) -> &WatchedFlows {
        &self.flows
    }

    /// Reports flows that came near their bounds since the last check.
    pub(super) fn check(&mut self, screen: &Screen) {
        for report in self.log.due(Instant::now()) {
            // The next table is shown below.
            screen.finish();
            tracing::warn!("{report}. {}", advice(&report));
        }
    }

    /// Returns a line for each flow.
    pub(in crate::commands) fn rows(&self) -> Vec<String> {
        self.flows.iter().map(|flow| row(flow)).collect()
    }

    /// Returns an object for each flow, for programs.
    pub(in crate::commands) fn objects(&self) -> Vec<Value> {
        self.flows.iter().map(|flow| object(flow)).collect()
    }
}

fn has_udp(configuration: &PubSubConfiguration2DataType) -> bool {
    let connections = configuration.connections.iter();
    let mut profiles = connections.map(|connection| connection.transport_profile_uri.as_str());
    profiles.any(|profile| profile.ends_with("pubsub-udp-uadp"))
}

/// Serves the numbers of the flows.
fn serve(name: &str, flows: &WatchedFlows, group: Option<&str>) -> miette::Result<Provider> {
    let provider = Provider::builder(name)
        // The name is given to who asks for the numbers, and there need not be a registry.
        .without_registry()
        .variables(flow_variables(flows))
        .serve(ServeOptions {
            group: group.map(str::to_owned),
            ..ServeOptions::default()
        });
    provider.start().map_err(|error| explain::provider(&error))
}

fn row(flow: &WatchedFlow) -> String {
    let (description, figures) = (flow.description(), flow.figures());
    let mut row = format!(
        "{} ({})  {} messages",
        description.name, description.component, figures.messages
    );
    for time in &figures.times {
        let micros = |time: std::time::Duration| time.as_nanos() as f64 / 1000.0;
        let quantity = time.quantity.name();
        if time.count == 0 {
            row.push_str(&format!("  {quantity} not measured"));
            continue;
        }
        row.push_str(&format!("  {quantity} {:.1}", micros(time.greatest)));
        match (time.proven, time.share()) {
            (Some(proven), Some(share)) => {
                row.push_str(&format!(" of {:.1} µs ({share:.3})", micros(proven)));
            }
            _ => row.push_str(" µs"),
        }
        if time.late > 0 {
            row.push_str(&format!("  {} late", time.late));
        }
    }
    for (count, name) in [
        (figures.missing, "missing"),
        (figures.refused, "refused"),
        (figures.early, "early"),
        (figures.from_the_future, "from the future"),
        (figures.clock_steps, "steps of the clock"),
    ] {
        if count > 0 {
            row.push_str(&format!("  {count} {name}"));
        }
    }
    row
}

fn object(flow: &WatchedFlow) -> Value {
    let (description, figures) = (flow.description(), flow.figures());
    let times = figures.times.iter();
    let times: Map<String, Value> = times
        .map(|time| (time.quantity.name().to_owned(), of_time(time)))
        .collect();
    json!({
        "flow": description.name,
        "component": description.component,
        "direction": match description.direction {
            FlowDirection::Sending => "sending",
            FlowDirection::Receiving => "receiving",
        },
        "clocks": description.clocks.map(|clocks| clocks.name()),
        "messages": figures.messages,
        "missing": figures.missing,
        "refused": figures.refused,
        "early": figures.early,
        "fromTheFuture": figures.from_the_future,
        "clockSteps": figures.clock_steps,
        "greatestShare": figures.greatest_share(),
        "times": times,
        "reservations": description.reservations,
    })
}

fn of_time(time: &TimeFigures) -> Value {
    let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    json!({
        "count": time.count,
        "greatestNs": nanos(time.greatest),
        "provenNs": time.proven.map(nanos),
        "share": time.share(),
        "near": time.near,
        "late": time.late,
    })
}

fn advice(report: &FlowReport) -> &'static str {
    match report.cause {
        FlowCause::Near(WatchedQuantity::Sending) => {
            "The thread that sends is almost as late as the scenario permits: `--why` tells the cause, --priority and --core help."
        }
        FlowCause::Above(WatchedQuantity::Sending) => {
            "The thread that sends is later than the wake_up_latency of its node: `--why` tells the cause, `takt wakeup` measures \
             the latency."
        }
        FlowCause::Near(_) => {
            "`takt bounds` shows the queues that it passes; `takt wakeup` measures the latency of threads."
        }
        FlowCause::Above(WatchedQuantity::Delay)
            if matches!(
                report.flow.description().clocks,
                Some(CommonClock::Stated(_))
            ) =>
        {
            "The clocks differ by more than --clocks-within, or an assumption of the scenario does not hold: a thread is later than \
             its wake_up_latency (`takt wakeup`), or a port is configured differently (`takt tsn verify`)."
        }
        FlowCause::Above(_) => {
            "An assumption of the scenario does not hold: a thread is later than its wake_up_latency (`takt wakeup`), traffic is on \
             the way that the scenario does not have, or a port is configured differently (`takt tsn verify`)."
        }
        FlowCause::Early => {
            "Does another Publisher have the same PublisherId, or is its publishing_interval shorter than the cycle?"
        }
        FlowCause::ClocksDisagree => {
            "`pmc -u -b 0 'GET TIME_STATUS_NP'` shows the offset of a PTP clock."
        }
    }
}

/// Explains why a configuration cannot be watched with a scenario.
fn refused(path: &Path, error: &WatchError) -> miette::Report {
    let scenario = path.display();
    let help = match error {
        WatchError::NoFlow { component, .. } => format!(
            "Add the application to {scenario}, or name the flow: --flow \"{component}=APPLICATION\"."
        ),
        WatchError::UnknownName { .. } => {
            "--flow NAME=APPLICATION has the name of a WriterGroup or DataSetReader, and that of an application of the scenario."
                .to_owned()
        }
        WatchError::SameName { .. } => {
            "Give each WriterGroup and each DataSetReader of a connection a name of its own.".to_owned()
        }
        WatchError::TwoSenders { .. } => format!(
            "Add an application for each WriterGroup to {scenario}, or disable one of them."
        ),
        WatchError::Transport { .. } => {
            "Use opc.eth:// or opc.udp://, or run without --scenario.".to_owned()
        }
        WatchError::Json { .. } => "Use UADP, or run without --scenario.".to_owned(),
        WatchError::Count { .. } => format!(
            "Give all DataSetWriters of the group the same network_message_number, or divide the group and add an application for \
             each part to {scenario}."
        ),
        WatchError::Size { found, .. } => format!(
            "Write payload = \"{found} B\" in {scenario} if the message is right, and look at the new bounds with `takt bounds`."
        ),
        WatchError::NoRoom { headers, .. } => format!(
            "The payload of a frame includes the headers of IP and UDP: write at least payload = \"{} B\" in {scenario}.",
            headers + 1
        ),
        WatchError::Cycle { expected_us, found_us, .. } => format!(
            "Write publishing_interval = \"{expected_us}us\" in the configuration, or cycle = \"{found_us} us\" in {scenario}."
        ),
        WatchError::Tag { vlan, pcp, .. } => format!(
            "Write the address with :{vlan}.{pcp} at its end, or correct vlan and pcp in {scenario}."
        ),
        WatchError::Configuration(_) => {
            "`takt pubsub config check FILE` checks the whole file.".to_owned()
        }
        WatchError::Bounds(_) => {
            "`takt bounds` shows the place; docs/bounds.md describes the modelled parts.".to_owned()
        }
        WatchError::Unproven { .. } => format!(
            "Correct {scenario}: `takt bounds` shows its assumptions, `takt wakeup` measures wake_up_latency, --software proves for \
             gates and shapers of the kernel. --unproven runs nevertheless."
        ),
        _ => "docs/pubsub.md describes the watch.".to_owned(),
    };
    explain::with_help(error, help)
}

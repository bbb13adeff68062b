//! Computation of traces.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Map;
use takt_campaign::{CampaignPlan, CampaignRow};
use takt_scenario::{CampaignBackend, PortIndex};
use takt_sim::{Loopback, Model, RunOptions, Simulation};

use super::curve::{TraceCurve, application};
use super::observer::PortObserver;
use super::{credit, positions, spacing};
use crate::element::PaperElement;
use crate::error::PaperError;
use crate::settings::{SCENARIO, has};
use crate::trace_spec::{PaperTrace, TraceKind};

/// Name of the setting that stands for the trace.
const TRACE: &str = "trace";

/// Name of the setting that stands for the port.
const PORT: &str = "port";

/// A trace that was computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracedCase {
    /// Name of the trace.
    pub name: String,
    /// Kind.
    pub kind: TraceKind,
    /// Quantities, as a row of a campaign.
    pub row: CampaignRow,
    /// Curves.
    pub curves: Vec<TraceCurve>,
    /// Everything that it follows from, besides the version of Takt.
    #[serde(default)]
    pub origin: String,
}

impl TracedCase {
    /// Computes the traces of an element. Seeds are those of the campaigns, so each run gives the same.
    ///
    /// # Errors
    /// A campaign has a mistake, or a trace belongs to none of its cases, or to several; or `interrupt` has ended it.
    pub fn of(
        element: &PaperElement,
        most_messages: Option<u64>,
        interrupt: &AtomicBool,
    ) -> Result<Vec<Self>, PaperError> {
        let traces = element.traces.iter().map(|trace| {
            // The flag carries no data.
            match interrupt.load(Ordering::Relaxed) {
                true => Err(PaperError::Interrupted),
                false => Self::compute(trace, most_messages),
            }
        });
        traces.collect()
    }

    /// Returns true if these are the traces of an element as its files are now.
    pub(crate) fn are_of(
        traces: &[Self],
        element: &PaperElement,
        most_messages: Option<u64>,
    ) -> Result<bool, PaperError> {
        let mut bases: HashMap<&Path, String> = HashMap::new();
        for trace in &element.traces {
            if !bases.contains_key(trace.campaign.as_path()) {
                let plan = CampaignPlan::read(&trace.campaign)?;
                bases.insert(&trace.campaign, plan.base());
            }
        }
        let own = element.traces.iter().map(|trace| {
            let base = bases.get(trace.campaign.as_path());
            origin(trace, base.map_or("", String::as_str), most_messages)
        });
        Ok(own.eq(traces.iter().map(|it| it.origin.clone())))
    }

    fn compute(trace: &PaperTrace, most_messages: Option<u64>) -> Result<Self, PaperError> {
        let plan = CampaignPlan::read(&trace.campaign)?;
        let wrong = |reason: &str| PaperError::Trace {
            name: trace.name.clone(),
            reason: reason.to_owned(),
        };
        let mut cases = plan.cases.iter().filter(|case| {
            let scenario = plan.scenarios.get(case.scenario);
            let scenario = scenario.map_or("", |it| it.name.as_str());
            let value = |name: &str| {
                let mut values = case.values.iter();
                values
                    .find(|(known, _)| known == name)
                    .map(|it| it.1.as_str())
            };
            has(scenario, value, &trace.settings)
        });
        let (Some(case), None) = (cases.next(), cases.next()) else {
            return Err(wrong("its settings are not those of one case"));
        };
        let scenario = plan.scenario_of(case);
        let scenario = scenario.map_err(|error| wrong(&error.to_string()))?;
        let ports = 0..scenario.ports.len();
        let mut ports = ports.map(PortIndex);
        let port = ports.find(|port| scenario.port_name(*port) == trace.port);
        let port = port.ok_or_else(|| wrong(&format!("there is no port `{}`", trace.port)))?;
        let messages = messages(trace, most_messages);
        let mut options = RunOptions::new(&scenario).with_cycles(messages);
        options.simulation.seed = plan.file.seed;
        options.model = match plan.file.ieee_model {
            true => Model::Ieee,
            false => Model::Linux,
        };
        options.loopback = match plan.file.latest_loopback {
            true => Loopback::Latest,
            false => Loopback::All,
        };
        let mut observer = PortObserver::new(port);
        Simulation::new(&scenario, options).run(&mut observer);
        let (mut values, curves) = match trace.kind {
            TraceKind::Spacing => spacing::traced(&scenario, &observer.frames),
            TraceKind::Positions => {
                positions::traced(&scenario, port, &observer.frames, trace.period)
            }
            TraceKind::Credit => {
                let traced = credit::traced(&scenario, port, &observer.frames);
                traced.ok_or_else(|| wrong("the class of the application has no shaper there"))?
            }
        };
        // As rows of campaigns have it: a finding can need a number of messages.
        let published = format!("{}.messages.published", application(&scenario));
        values.insert(published, messages.into());
        let mut settings = Map::new();
        for (name, value) in [(TRACE, &trace.name), (PORT, &trace.port)] {
            settings.insert(name.to_owned(), value.clone().into());
        }
        let own = trace.settings.iter().filter(|it| it.0 != SCENARIO);
        settings.extend(own.map(|(name, value)| (name.clone(), value.clone().into())));
        let scenario = trace.settings.get(SCENARIO).cloned();
        Ok(Self {
            name: trace.name.clone(),
            kind: trace.kind,
            row: CampaignRow {
                case: trace.name.clone(),
                scenario: scenario.unwrap_or_default(),
                settings,
                backend: CampaignBackend::Simulate.name().to_owned(),
                repetition: 1,
                seed: Some(plan.file.seed),
                values,
                measured: false,
                failure: None,
            },
            curves,
            origin: origin(trace, &plan.base(), most_messages),
        })
    }
}

/// Returns the number of messages of a trace.
fn messages(trace: &PaperTrace, most: Option<u64>) -> u64 {
    most.map_or(trace.messages, |most| most.min(trace.messages))
}

/// Returns a text of everything that a trace follows from. `base` is the digest of its campaign.
fn origin(trace: &PaperTrace, base: &str, most_messages: Option<u64>) -> String {
    let PaperTrace {
        name,
        kind,
        settings,
        port,
        period,
        ..
    } = trace;
    let messages = messages(trace, most_messages);
    format!("{base} {name} {kind:?} {settings:?} {port} {period} {messages}")
}

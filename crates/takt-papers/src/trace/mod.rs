//! Traces: a simulation of one case whose frames are observed at a port, for pictures and for quantities that a campaign's row lacks.
//!
//! Each trace makes a row, like one of a campaign. Its settings are those of the trace, with its name as `trace` and its `port`.

mod credit;
mod observer;
mod positions;
mod spacing;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Map;
use takt_campaign::{CampaignPlan, CampaignRow};
use takt_scenario::{CampaignBackend, PortIndex, Scenario};
use takt_sim::{Loopback, Model, RunOptions, Simulation};

use crate::cells::{SCENARIO, has};
use crate::element::PaperElement;
use crate::error::PaperError;

#[cfg(test)]
pub(crate) use credit::{CreditCourse, ShapedFrame, credit};
use observer::{ObservedFrame, PortObserver};

/// Name of the setting that stands for the trace.
const TRACE: &str = "trace";

/// Name of the setting that stands for the port.
const PORT: &str = "port";

/// Most points of a curve.
const MOST_POINTS: usize = 400;

/// Kind of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceKind {
    /// Time between the arrivals of two frames of the first application.
    Spacing,
    /// Positions of the arrivals of each flow in a period.
    Positions,
    /// Credit of the shaper of the first application's class over time.
    Credit,
}

/// A trace of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperTrace {
    /// Name, which is unique in the element.
    pub name: String,
    /// Kind.
    pub kind: TraceKind,
    /// Path of the campaign's file that has the case.
    pub campaign: PathBuf,
    /// Settings that choose the case.
    pub settings: BTreeMap<String, String>,
    /// Port at whose other end frames are observed, as `takt simulate` names it.
    pub port: String,
    /// Number of messages.
    pub messages: u64,
    /// Length of the period in nanoseconds, for positions.
    pub period: f64,
}

/// A curve of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceCurve {
    /// Name of its flow; empty if there is one.
    pub label: String,
    /// Points: microseconds, and a share, a number of frames, or a credit in bits.
    pub points: Vec<(f64, f64)>,
}

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
}

/// Values and curves of a trace.
type Traced = (Map<String, serde_json::Value>, Vec<TraceCurve>);

impl TracedCase {
    /// Computes the traces of an element. Seeds are those of the campaigns, so each run gives the same.
    ///
    /// # Errors
    /// A campaign has a mistake, or a trace belongs to none of its cases, or to several.
    pub fn of(element: &PaperElement, most_messages: Option<u64>) -> Result<Vec<Self>, PaperError> {
        let traces = element.traces.iter();
        traces
            .map(|trace| Self::compute(trace, most_messages))
            .collect()
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
        let messages = most_messages.map_or(trace.messages, |most| most.min(trace.messages));
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
            TraceKind::Positions => positions::traced(&scenario, &observer.frames, trace.period),
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
                failure: None,
            },
            curves,
        })
    }
}

/// Returns the name of the first application.
fn application(scenario: &Scenario) -> &str {
    let first = scenario.applications.first();
    first.map_or("", |it| it.name.as_str())
}

/// Returns every so many points of a long list, with both ends.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate();
    let kept = kept.filter(|(index, _)| index % step == 0 || *index == last);
    kept.map(|(_, point)| point).collect()
}

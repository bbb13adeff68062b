//! Names of the files of a case.

use std::path::PathBuf;

use takt_scenario::{FlowSource, Scenario};

use crate::network::{NetworkPlan, publisher_ids};
use crate::run_directory::RunApplication;
use crate::scenario_loop::LoopEnd;
use crate::trace_name::{subscriber_trace_name, trace_name};

/// Returns the files of the applications. Each way to a Subscriber has its own, with the name of its flow.
pub(super) fn applications(scenario: &Scenario, plan: &NetworkPlan) -> Vec<RunApplication> {
    let flows = scenario.flows().iter();
    let files = flows.filter_map(|flow| {
        let index = flow.source.application()?;
        let application = scenario.applications.get(index.0)?;
        let is_loop = application.receiver.loopback().is_some();
        if let FlowSource::Return(_) = flow.source {
            return None;
        }
        let (publisher_id, loopback_id) = publisher_ids(index.0);
        let capture = |source| plan.capture_of(source).map(PathBuf::from);
        let at_subscriber = || {
            let device = plan.device(plan.flow(flow.source)?.to)?;
            Some(PathBuf::from(&device.capture))
        };
        Some(RunApplication {
            name: scenario.flow_name(flow.source),
            one_way: !is_loop,
            publisher_id,
            loopback_id,
            publisher_trace: trace_name(scenario, &application.name, LoopEnd::Publisher).into(),
            loopback_trace: match is_loop {
                true => trace_name(scenario, &application.name, LoopEnd::Loopback),
                false => subscriber_trace_name(scenario, flow.source),
            }
            .into(),
            publisher_capture: capture(FlowSource::Publish(index)),
            loopback_capture: match is_loop {
                true => capture(FlowSource::Return(index)),
                false => at_subscriber(),
            },
            card_stamps: [false; 2],
        })
    });
    files.collect()
}

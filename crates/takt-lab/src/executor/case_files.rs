//! Names of the files of a case.

use std::path::PathBuf;

use takt_scenario::{ApplicationIndex, FlowSource, Scenario};

use crate::network::{NetworkPlan, publisher_ids};
use crate::run_directory::RunApplication;
use crate::scenario_loop::LoopEnd;
use crate::trace_name::trace_name;

/// Returns the files of the applications.
pub(super) fn applications(scenario: &Scenario, plan: &NetworkPlan) -> Vec<RunApplication> {
    let applications = scenario.applications.iter().enumerate();
    let files = applications.map(|(index, application)| {
        let (publisher_id, loopback_id) = publisher_ids(index);
        let index = ApplicationIndex(index);
        let capture = |source| plan.capture_of(source).map(PathBuf::from);
        RunApplication {
            name: application.name.clone(),
            publisher_id,
            loopback_id,
            publisher_trace: trace_name(scenario, &application.name, LoopEnd::Publisher).into(),
            loopback_trace: trace_name(scenario, &application.name, LoopEnd::Loopback).into(),
            publisher_capture: capture(FlowSource::Publish(index)),
            loopback_capture: capture(FlowSource::Return(index)),
            card_stamps: [false; 2],
        }
    });
    files.collect()
}

//! Names of the files of a case.

use std::path::PathBuf;

use takt_scenario::{ApplicationIndex, FlowSource, Scenario};

use crate::network::{NetworkPlan, file_name, publisher_ids};
use crate::run_directory::RunApplication;
use crate::scenario_loop::LoopEnd;

/// Returns the name of the trace file of an end. It is unique in a case.
pub(super) fn trace_name(scenario: &Scenario, application: &str, end: LoopEnd) -> String {
    let end = match end {
        LoopEnd::Publisher => "publisher",
        LoopEnd::Loopback => "loopback",
    };
    let own = file_name(application);
    let applications = scenario.applications.iter().enumerate();
    let mut alike = applications.filter(|(_, it)| file_name(&it.name) == own);
    let first = alike.next().is_none_or(|(_, it)| it.name == application);
    let index = alike.find(|(_, it)| it.name == application);
    match index.filter(|_| !first) {
        Some((index, _)) => format!("{own}-{index}.{end}.trace"),
        None => format!("{own}.{end}.trace"),
    }
}

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
        }
    });
    files.collect()
}

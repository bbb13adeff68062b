//! Names of trace files in the directory of a case.

use takt_scenario::{FlowSource, Scenario};

use crate::network::file_name;
use crate::scenario_loop::{LoopEnd, SUBSCRIBER};

/// Returns the name of the trace file of an end. It is unique in a case.
pub(crate) fn trace_name(scenario: &Scenario, application: &str, end: LoopEnd) -> String {
    name_of_end(scenario, application, end.name())
}

/// Returns the name of the trace file of a Subscriber, with its number if there are several.
pub(crate) fn subscriber_trace_name(scenario: &Scenario, flow: FlowSource) -> String {
    let application = flow
        .application()
        .and_then(|id| scenario.applications.get(id.0));
    let (name, count) = application.map_or(("", 0), |it| (&it.name, it.receiver.nodes().len()));
    let number = match flow {
        FlowSource::Branch(_, index) => index + 1,
        _ => 1,
    };
    match count {
        0 | 1 => name_of_end(scenario, name, SUBSCRIBER),
        _ => name_of_end(scenario, name, &format!("{SUBSCRIBER}{number}")),
    }
}

fn name_of_end(scenario: &Scenario, application: &str, end: &str) -> String {
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

//! Names of trace files in the directory of a case.

use takt_scenario::Scenario;

use crate::network::file_name;
use crate::scenario_loop::LoopEnd;

/// Returns the name of the trace file of an end. It is unique in a case.
pub(crate) fn trace_name(scenario: &Scenario, application: &str, end: LoopEnd) -> String {
    let end = end.name();
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

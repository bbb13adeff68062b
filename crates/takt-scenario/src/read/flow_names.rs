//! Names of flows. Results have a row for each, so no two are the same.

use std::collections::HashSet;

use crate::document::Table;
use crate::error::Problem;
use crate::{FlowSource, Scenario};

/// Returns flows whose names are those of others. Applications have different names, and yet `a` with the subscriber `b` among several
/// ones, and an application `a → b`, have the same flow.
pub(super) fn problems(scenario: &Scenario, document: &Table) -> Vec<Problem> {
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    for flow in scenario.flows() {
        let name = scenario.flow_name(flow.source);
        if seen.contains(&name) {
            let message = format!("there are two flows named `{name}`");
            let problem = Problem::new(message, place(scenario, document, flow.source));
            let help = "choose another name";
            problems.push(problem.with_help(help));
        }
        seen.insert(name);
    }
    problems
}

/// Returns the place of the name of a flow's application or cross traffic.
fn place(scenario: &Scenario, document: &Table, source: FlowSource) -> std::ops::Range<usize> {
    let (tables, name) = match source {
        FlowSource::Cross(id) => {
            let found = scenario.cross_traffic.get(id.0);
            ("cross_traffic", found.map(|it| &it.name))
        }
        FlowSource::Publish(id) | FlowSource::Return(id) | FlowSource::Branch(id, _) => {
            let found = scenario.applications.get(id.0);
            ("applications", found.map(|it| &it.name))
        }
    };
    let mut tables = document.tables(tables);
    let found = tables.find(|(_, table)| table.text("name") == name.map(String::as_str));
    let item = found.and_then(|(_, table)| table.get("name"));
    item.map_or(0..0, |item| item.span.clone())
}

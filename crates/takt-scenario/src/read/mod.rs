//! Conversion of the document to the scenario. Mistakes are collected: reading continues after each one where possible.

mod discipline;
mod flow_names;
mod groups;
mod network;
mod options;
mod ports;
mod receivers;
mod route;
mod topology;
mod traffic;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use crate::document::{Item, Table};
use crate::error::Problem;
use crate::fields::SCENARIO;
use crate::histogram_files::HistogramFiles;
use crate::model::{Link, Node, NodeIndex};
use crate::{Flow, Scenario};

/// State of reading: the parts of the scenario so far, and the mistakes.
pub(crate) struct Reader<'a> {
    document: &'a Table,
    /// Folder in which relative file names start.
    directory: &'a Path,
    histograms: &'a HistogramFiles,
    problems: Vec<Problem>,
    nodes: Vec<Node>,
    names: HashMap<String, NodeIndex>,
    links: Vec<Link>,
    /// Links at each node, in the order of the file.
    neighbours: Vec<Vec<(NodeIndex, usize)>>,
}

/// Returns the scenario of a document. Histogram files that are not among `histograms` are read, and added to them.
pub(crate) fn scenario(
    document: &Table,
    directory: &Path,
    histograms: &HistogramFiles,
    default_name: &str,
) -> Result<Scenario, Vec<Problem>> {
    let mut problems = Vec::new();
    SCENARIO.check(document, 0..0, &mut problems);
    // What follows takes types and ranges for granted.
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut reader = Reader {
        document,
        directory,
        histograms,
        problems,
        nodes: Vec::new(),
        names: HashMap::new(),
        links: Vec::new(),
        neighbours: Vec::new(),
    };
    let shifts = reader.network();
    let disciplines = reader.disciplines();
    let (applications, mut flows) = reader.applications();
    let (cross_traffic, others) = reader.cross_traffic();
    flows.extend(others);
    reader.check_groups(&applications, &flows);
    // Slopes of shapers follow from flows, and txtimes from the queues of ports.
    let ports = reader.ports(&disciplines, &shifts, &flows);
    let applications = reader.txtimes(applications, &flows, &ports);
    let bounds = reader.bounds();
    let simulation = reader.simulation();
    let measure = reader.measure();
    let sweeps = reader.sweeps();
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let text = |name: &str| document.text(name).map(str::to_owned);
    let scenario = Scenario {
        name: text("name").unwrap_or_else(|| default_name.to_owned()),
        description: text("description").unwrap_or_default(),
        nodes: reader.nodes,
        links: reader.links,
        ports,
        applications,
        cross_traffic,
        bounds,
        simulation,
        measure,
        sweeps,
        flows: flows.into_iter().map(|flow| flow.flow).collect(),
    };
    match flow_names::problems(&scenario, document) {
        problems if problems.is_empty() => Ok(scenario),
        problems => Err(problems),
    }
}

/// A flow and its name.
struct NamedFlow {
    flow: Flow,
    name: String,
}

impl Reader<'_> {
    fn problem(&mut self, message: impl Into<String>, span: &Range<usize>) {
        self.problems.push(Problem::new(message, span.clone()));
    }

    /// Returns the node with a name.
    fn node(&mut self, item: &Item) -> Option<NodeIndex> {
        let name = item.text()?;
        let found = self.names.get(name).copied();
        if found.is_none() {
            let problem = Problem::new(format!("there is no node `{name}`"), item.span.clone());
            let names = self.nodes.iter().map(|node| node.name.as_str());
            self.problems.push(problem.did_you_mean(name, names));
        }
        found
    }

    /// Returns the node that a field names.
    fn node_field(&mut self, table: &Table, field: &str) -> Option<NodeIndex> {
        self.node(table.get(field)?)
    }

    /// Reports names that occur twice.
    fn distinct<'t>(&mut self, what: &str, tables: impl Iterator<Item = &'t Table>) {
        let mut seen = std::collections::HashSet::new();
        for name in tables.filter_map(|table| table.get("name")) {
            if !seen.insert(name.text()) {
                self.problem(format!("there are two {what} of this name"), &name.span);
            }
        }
    }
}

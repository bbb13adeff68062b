//! Conversion of the document to the plant. Mistakes are collected: reading continues after each one where possible.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::fields::{OWN, PLANT};
use super::file::{PlantDevice, PlantFile, PlantMulticast, PlantPath, PlantText, PlantWriterGroup};
use crate::document::{self, Item, Table};
use crate::error::{Problem, ScenarioError};
use crate::histogram_files::HistogramFiles;
use crate::model::{NodeIndex, NodeKind};
use crate::read;
use crate::scenario::Scenario;
use crate::scenario_file::check_lines;

impl PlantFile {
    /// Reads a network file. Histograms in other files are read from the folder of `file_name`.
    ///
    /// # Errors
    /// All mistakes, with line and column.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ScenarioError> {
        let failed = |problems| ScenarioError::new(file_name, text, problems);
        check_lines(text).map_err(|problem| failed(vec![problem]))?;
        let document = document::parse(text).map_err(failed)?;
        let mut problems = Vec::new();
        PLANT.check(&document, 0..0, &mut problems);
        for (key, _) in &document.fields {
            // The general message names similar fields only.
            if ["applications", "sweeps"].contains(&key.name.as_str()) {
                problems.retain(|problem| problem.span != key.span);
                let message = format!("`{}` belongs into a scenario, not here", key.name);
                let problem = Problem::new(message, key.span.clone());
                problems.push(problem.with_help("applications come from the configurations"));
            }
        }
        // What follows takes types and ranges for granted.
        if !problems.is_empty() {
            return Err(failed(problems));
        }
        let path = Path::new(file_name);
        let stem = path.file_stem();
        let stem = stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let network = Table {
            fields: (document.fields.iter())
                .filter(|(key, _)| !OWN.contains(&key.name.as_str()))
                .cloned()
                .collect(),
        };
        // Positions in the network are those in the file.
        let folder = path.parent().unwrap_or(Path::new(""));
        let histograms = HistogramFiles::default();
        let network = read::scenario(&network, folder, &histograms, &stem).map_err(failed)?;
        let mut reader = Reader::new(&document, &network);
        let devices = reader.devices();
        let writer_groups = reader.writer_groups(&devices);
        let paths = reader.paths();
        if !reader.problems.is_empty() {
            return Err(failed(reader.problems));
        }
        Ok(Self {
            name: network.name.clone(),
            devices,
            writer_groups,
            paths,
            multicast: match document.text("multicast") {
                Some("flooded") => PlantMulticast::Flooded,
                _ => PlantMulticast::Filtered,
            },
            network,
            file_name: file_name.to_owned(),
            source: text.to_owned(),
            document,
        })
    }
}

struct Reader<'a> {
    document: &'a Table,
    network: &'a Scenario,
    names: HashMap<&'a str, NodeIndex>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Table, network: &'a Scenario) -> Self {
        let nodes = network.nodes.iter().enumerate();
        Self {
            document,
            network,
            names: nodes
                .map(|(index, node)| (node.name.as_str(), NodeIndex(index)))
                .collect(),
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, message: impl Into<String>, at: &Item) {
        self.problems.push(Problem::new(message, at.span.clone()));
    }

    /// Returns the node that an item names.
    fn node(&mut self, item: Option<&Item>) -> Option<NodeIndex> {
        let item = item?;
        let name = item.text()?;
        let found = self.names.get(name).copied();
        if found.is_none() {
            let problem = Problem::new(format!("there is no node `{name}`"), item.span.clone());
            let names = self.network.nodes.iter().map(|node| node.name.as_str());
            self.problems.push(problem.did_you_mean(name, names));
        }
        found
    }

    fn devices(&mut self) -> Vec<PlantDevice> {
        let document = self.document;
        let mut nodes = HashSet::new();
        let mut devices = Vec::new();
        for (item, table) in document.tables("devices") {
            let Some(node) = self.node(table.get("node")) else {
                continue;
            };
            if let (false, Some(item)) = (nodes.insert(node), table.get("node")) {
                self.problem("there are two devices of this node", item);
            }
            devices.push(PlantDevice {
                node,
                span: item.span.clone(),
                configurations: self.texts(table, "configurations"),
                processing_time: table.quantity("processing_time"),
                vlan: table.integer("vlan"),
                pcp: table.integer("pcp"),
            });
        }
        devices
    }

    /// Returns the texts of a list, each of which occurs once.
    fn texts(&mut self, table: &Table, field: &str) -> Vec<PlantText> {
        let list = table.get(field).map(Item::list).unwrap_or_default();
        let mut texts: Vec<PlantText> = Vec::new();
        for item in list {
            let text = item.text().unwrap_or_default();
            if texts.iter().any(|it| it.text == text) {
                self.problem(format!("`{text}` occurs twice"), item);
            }
            texts.push(PlantText {
                text: text.to_owned(),
                span: item.span.clone(),
            });
        }
        texts
    }

    fn writer_groups(&mut self, devices: &[PlantDevice]) -> Vec<PlantWriterGroup> {
        let document = self.document;
        let mut groups: Vec<PlantWriterGroup> = Vec::new();
        let mut known = HashSet::new();
        for (item, table) in document.tables("writer_groups") {
            let (Some(device), Some(name)) = (self.node(table.get("device")), table.get("name"))
            else {
                continue;
            };
            let text = name.text().unwrap_or_default();
            if !devices.iter().any(|it| it.node == device) {
                let name = self.network.nodes.get(device.0).map_or("", |it| &it.name);
                let message =
                    format!("`{name}` runs no configuration: no entry of `devices` has it");
                self.problem(message, item);
            }
            if !known.insert((device, text)) {
                self.problem("this WriterGroup has an entry already", name);
            }
            groups.push(PlantWriterGroup {
                device,
                name: PlantText {
                    text: text.to_owned(),
                    span: name.span.clone(),
                },
                span: item.span.clone(),
                vlan: table.integer("vlan"),
                pcp: table.integer("pcp"),
                offset: table.quantity("offset"),
                payload: table.quantity("payload"),
                is_left_out: table.boolean("left_out").unwrap_or(false),
            });
        }
        groups
    }

    fn paths(&mut self) -> Vec<PlantPath> {
        let document = self.document;
        let mut paths: Vec<PlantPath> = Vec::new();
        let mut known = HashSet::new();
        for (item, table) in document.tables("paths") {
            let ends = (self.node(table.get("from")), self.node(table.get("to")));
            let (Some(from), Some(to), Some(list)) = (ends.0, ends.1, table.get("path")) else {
                continue;
            };
            let nodes = list.list().iter().map(|item| self.node(Some(item)));
            let Some(nodes) = nodes.collect::<Option<Vec<NodeIndex>>>() else {
                continue;
            };
            if nodes.len() < 2 || nodes.first() != Some(&from) || nodes.last() != Some(&to) {
                self.problem("the path must lead from `from` to `to`", list);
                continue;
            }
            if !known.insert((from, to)) {
                self.problem("there is a path between these nodes already", item);
            }
            self.check_path(&nodes, list);
            paths.push(PlantPath {
                span: item.span.clone(),
                nodes,
            });
        }
        paths
    }

    /// Reports steps of a path that frames cannot take.
    fn check_path(&mut self, nodes: &[NodeIndex], list: &Item) {
        let network = self.network;
        let name = |node: NodeIndex| network.nodes.get(node.0).map_or("", |it| &it.name);
        for (index, pair) in nodes.windows(2).enumerate() {
            let (node, next) = (pair[0], pair[1]);
            let item = list.list().get(index + 1).unwrap_or(list);
            let is_joined = network
                .links
                .iter()
                .any(|link| link.ends == [node, next] || link.ends == [next, node]);
            if nodes[..=index].contains(&next) {
                self.problem(format!("the path passes `{}` twice", name(next)), item);
            } else if !is_joined {
                let message = format!("no link joins `{}` and `{}`", name(node), name(next));
                self.problem(message, item);
            }
            let forwards = network.nodes.get(node.0).map(|it| it.kind) == Some(NodeKind::Bridge);
            if index > 0 && !forwards {
                let message = format!("`{}` is a host, which forwards no frames", name(node));
                self.problem(message, list.list().get(index).unwrap_or(list));
            }
        }
    }
}

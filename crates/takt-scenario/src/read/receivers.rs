//! Receivers of applications, and the flows to them: the ways to several subscribers are a tree, in which bridges replicate frames.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{NamedFlow, Reader};
use crate::document::{Item, Table};
use crate::error::Problem;
use crate::fields::{APPLICATION, RECEIVERS};
use crate::model::{Application, ApplicationIndex, ApplicationReceiver, NodeIndex, PortIndex};
use crate::{Flow, FlowSource, Fork};

/// Returns the way back along the same links.
fn reversed(ports: &[PortIndex]) -> Vec<PortIndex> {
    // Link n has the ports 2 n and 2 n + 1, so they differ in the lowest bit.
    ports
        .iter()
        .rev()
        .map(|port| PortIndex(port.0 ^ 1))
        .collect()
}

/// The ports by which the messages of an application come to each node, with the flow that has each as its own.
#[derive(Default)]
struct Tree {
    into: HashMap<NodeIndex, (PortIndex, FlowSource)>,
    first: Option<PortIndex>,
}

impl Reader<'_> {
    /// Returns the receivers of an application.
    pub(super) fn receiver(&mut self, item: &Item, table: &Table) -> Option<ApplicationReceiver> {
        let (name, item) = self.one_of(APPLICATION.name, item, table, RECEIVERS)?;
        match name {
            "loopback" => Some(ApplicationReceiver::Loopback(self.node(item)?)),
            "subscriber" => Some(ApplicationReceiver::Subscribers(vec![self.node(item)?])),
            _ => self.subscribers(item),
        }
    }

    fn subscribers(&mut self, list: &Item) -> Option<ApplicationReceiver> {
        let mut nodes = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for item in list.list() {
            let place = node_of(item);
            let Some(node) = self.node(place) else {
                continue;
            };
            if !seen.insert(node) {
                let message = format!("`{}` is a subscriber already", self.name(node));
                self.problem(message, &place.span);
            }
            nodes.push(node);
        }
        if list.list().is_empty() {
            let message = "an application needs a subscriber";
            let help = "leave out an application whose messages no node receives, or name the nodes: \
                        subscribers = [\"host2\"]";
            let problem = Problem::new(message, list.span.clone());
            self.problems.push(problem.with_help(help));
        }
        // Flows have the indices of the list, so it is used only if all of it is known.
        (!nodes.is_empty() && nodes.len() == list.list().len())
            .then_some(ApplicationReceiver::Subscribers(nodes))
    }

    /// Returns the flows of an application: to its receivers, and back from a loopback.
    pub(super) fn flows_of(
        &mut self,
        id: ApplicationIndex,
        application: &Application,
        item: &Item,
        table: &Table,
    ) -> Vec<NamedFlow> {
        let flow = |source, ports, fork| NamedFlow {
            flow: Flow {
                source,
                ports,
                fork,
                frame: application.frame,
                pcp: application.pcp,
                interval: application.cycle,
            },
            name: application.name.clone(),
        };
        let publisher = application.publisher;
        let path = table.get("path");
        let back = table.get("return_path");
        if application.receiver.loopback().is_none()
            && let Some(path) = back
        {
            let message = "only an application with a loopback has a way back";
            self.problem(message, &path.span);
        }
        let list = match table.get("subscribers") {
            Some(list) => list.list(),
            None => {
                let receiver = application.receiver.nodes().first().copied();
                let way = receiver.and_then(|to| self.route(publisher, to, path, item));
                let (Some(to), Some(way)) = (receiver, way) else {
                    return Vec::new();
                };
                let back = match (application.receiver.loopback(), back) {
                    (None, _) => None,
                    (Some(_), None) => Some(reversed(&way)),
                    (Some(_), path) => self.route(to, publisher, path, item),
                };
                let there = flow(FlowSource::Publish(id), way, None);
                let back = back.map(|back| flow(FlowSource::Return(id), back, None));
                return std::iter::once(there).chain(back).collect();
            }
        };
        if let Some(path) = path {
            let problem = Problem::new(
                "each of the subscribers has its own path",
                path.span.clone(),
            );
            let help = "write subscribers = [{ node = \"…\", path = […] }]";
            self.problems.push(problem.with_help(help));
        }
        let mut tree = Tree::default();
        let mut flows = Vec::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            let source = match index {
                0 => FlowSource::Publish(id),
                index => FlowSource::Branch(id, index),
            };
            let to = application.receiver.nodes().get(index).copied();
            let path = item.table().and_then(|table| table.get("path"));
            let way = to.and_then(|to| self.route(publisher, to, path, node_of(item)));
            let Some(ports) = way else {
                continue;
            };
            if let Some(fork) = self.branch(&mut tree, source, &ports, path.unwrap_or(item)) {
                flows.push(flow(source, ports, fork));
            }
        }
        flows
    }

    /// Adds the path of a branch to the tree, and returns its place in it. `None` if the paths are no tree, which is reported.
    fn branch(
        &mut self,
        tree: &mut Tree,
        source: FlowSource,
        ports: &[PortIndex],
        place: &Item,
    ) -> Option<Option<Fork>> {
        let first = *ports.first()?;
        if *tree.first.get_or_insert(first) != first {
            let (from, to) = self.ends(first);
            let (_, other) = tree.first.map_or((from, to), |port| self.ends(port));
            let message = format!(
                "the messages leave `{}` by the links to `{}` and to `{}`, but a message is sent once",
                self.name(from),
                self.name(other),
                self.name(to)
            );
            let help = "choose paths with the same first link, or make two applications";
            let problem = Problem::new(message, place.span.clone()).with_help(help);
            self.problems.push(problem);
            return None;
        }
        let mut fork = None;
        for (index, port) in ports.iter().enumerate() {
            let (from, to) = self.ends(*port);
            match tree.into.entry(to) {
                Entry::Vacant(vacant) => {
                    vacant.insert((*port, source));
                }
                // A node that is entered by one port has one path to there.
                Entry::Occupied(known) if known.get().0 == *port => {
                    let of = known.get().1;
                    let shared = index + 1;
                    fork = (of != source).then_some(Fork { of, shared });
                }
                Entry::Occupied(known) => {
                    let (other, _) = self.ends(known.get().0);
                    let message = format!(
                        "the messages come to `{}` from `{}` and from `{}`, so it would forward each twice",
                        self.name(to),
                        self.name(other),
                        self.name(from)
                    );
                    let help = "the paths of an application must be a tree";
                    let problem = Problem::new(message, place.span.clone()).with_help(help);
                    self.problems.push(problem);
                    return None;
                }
            }
        }
        Some(fork)
    }

    /// Returns the node that a port belongs to, and the one at the other end of its link.
    pub(super) fn ends(&self, port: PortIndex) -> (NodeIndex, NodeIndex) {
        let ends = self.links[port.0 / 2].ends;
        (ends[port.0 % 2], ends[1 - port.0 % 2])
    }
}

/// Returns the part of a subscriber in the file that names its node.
fn node_of(item: &Item) -> &Item {
    let node = item.table().and_then(|table| table.get("node"));
    node.unwrap_or(item)
}

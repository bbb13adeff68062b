//! Nodes and links.

use super::Reader;
use crate::document::{Item, Table};
use crate::fields::LATENCY;
use crate::model::{ClockModel, Distribution, Histogram, Link, Node, NodeIndex, NodeKind};
use crate::quantity::{Duration, Length, Rate};

impl Node {
    pub(super) fn new(name: String, kind: NodeKind) -> Self {
        Self {
            name,
            kind,
            forwarding_delay: Duration::ZERO,
            forwarding_delay_least: Duration::ZERO,
            clock: ClockModel::default(),
            wake_up_latency: Distribution::Constant(Duration::ZERO),
        }
    }
}

impl Reader<'_> {
    /// Returns the shift of gates by the topology, for each port; nothing for ports outside it.
    pub(super) fn network(&mut self) -> Vec<Duration> {
        let document = self.document;
        let topology = document.table("topology");
        let hops = topology
            .map(|table| self.topology(table))
            .unwrap_or_default();
        let shift: Option<Duration> = topology.and_then(|table| table.quantity("shift_per_hop"));
        let shift = shift.unwrap_or_default();
        self.distinct("nodes", document.tables("nodes").map(|(_, table)| table));
        let generated = self.nodes.len();
        for (_, table) in document.tables("nodes") {
            self.read_node(table, generated);
        }
        if self.nodes.is_empty() {
            self.problem(
                "a scenario needs nodes: a `topology`, or `nodes` and `links`",
                &(0..0),
            );
        }
        for (item, table) in document.tables("links") {
            self.read_link(item, table);
        }
        self.neighbours = vec![Vec::new(); self.nodes.len()];
        for (index, link) in self.links.iter().enumerate() {
            for (end, other) in [(0, 1), (1, 0)] {
                if let Some(neighbours) = self.neighbours.get_mut(link.ends[end].0) {
                    neighbours.push((link.ends[other], 2 * index + end));
                }
            }
        }
        hops.into_iter()
            .map(|hops| Duration(shift.0.saturating_mul(hops)))
            .collect()
    }

    fn read_node(&mut self, table: &Table, generated: usize) {
        let name = table.text("name").unwrap_or_default();
        let kind = match table.text("kind") {
            Some("bridge") => Some(NodeKind::Bridge),
            Some(_) => Some(NodeKind::Host),
            None => None,
        };
        // Only nodes of the topology may be described again. Other names that occur twice are a mistake.
        let known = self.names.get(name).copied().filter(|id| id.0 < generated);
        let mut node = match known.and_then(|id| self.nodes.get(id.0).cloned()) {
            Some(node) if kind.is_some_and(|kind| kind != node.kind) => {
                if let Some(item) = table.get("kind") {
                    self.problem(
                        "the topology defines this node with the other kind",
                        &item.span,
                    );
                }
                node
            }
            Some(node) => node,
            None => Node::new(name.to_owned(), kind.unwrap_or(NodeKind::Host)),
        };
        if let Some(item) = table.get("forwarding_delay") {
            (node.forwarding_delay_least, node.forwarding_delay) = self.forwarding_delay(table);
            if node.kind == NodeKind::Host {
                self.problem(
                    "a host forwards no frames: use kind = \"bridge\"",
                    &item.span,
                );
            }
        }
        if let Some(clock) = table.table("clock") {
            node.clock = ClockModel {
                offset: clock.quantity("offset").unwrap_or_default(),
                drift: clock.quantity("drift").unwrap_or_default(),
            };
        }
        if let Some(item) = table.get("wake_up_latency") {
            node.wake_up_latency = self.distribution(item);
        }
        match known.and_then(|id| self.nodes.get_mut(id.0)) {
            Some(place) => *place = node,
            None => self.add_node(node),
        }
    }

    fn distribution(&mut self, item: &Item) -> Distribution {
        let Some(table) = item.table() else {
            return Distribution::Constant(item.quantity().unwrap_or_default());
        };
        let range = (table.quantity("least"), table.quantity("most"));
        match (range, table.get("histogram")) {
            ((Some(least), Some(most)), None) => {
                if least > most {
                    self.problem("`least` is greater than `most`", &item.span);
                }
                Distribution::Uniform { least, most }
            }
            ((None, None), Some(histogram)) => match self.histogram(histogram) {
                Ok(histogram) => Distribution::Histogram(histogram),
                Err(message) => {
                    self.problem(message, &histogram.span);
                    Distribution::Constant(Duration::ZERO)
                }
            },
            _ => {
                let message = format!(
                    "{} needs either `least` and `most`, or a `histogram`",
                    LATENCY.name
                );
                self.problem(message, &item.span);
                Distribution::Constant(Duration::ZERO)
            }
        }
    }

    fn histogram(&self, item: &Item) -> Result<Histogram, String> {
        if let Some(name) = item.text() {
            let text = self.histograms.read(self.directory, name)?;
            return Histogram::from_csv(&text).map_err(|error| format!("{name}: {error}"));
        }
        let bin = |item: &Item| -> Result<(Duration, u64), String> {
            let [bound, count] = item.list() else {
                return Err("a bin is a lower bound and a count".to_owned());
            };
            let count = count.value.show().parse().ok();
            let bound = bound.text().and_then(|text| text.parse().ok());
            bound
                .zip(count)
                .ok_or_else(|| "a bin is a lower bound and a count".to_owned())
        };
        let bins = item.list().iter().map(bin).collect::<Result<_, _>>()?;
        Histogram::new(bins).map_err(|error| error.to_string())
    }

    fn read_link(&mut self, item: &Item, table: &Table) {
        let ends: Vec<Option<NodeIndex>> = table
            .get("ends")
            .map(Item::list)
            .unwrap_or_default()
            .iter()
            .map(|end| self.node(end))
            .collect();
        let place = table.get("ends").unwrap_or(item).span.clone();
        match ends.as_slice() {
            [Some(one), Some(other)] if one == other => {
                self.problem("a link must join two different nodes", &place);
            }
            [Some(one), Some(other)] => self.links.push(Link {
                ends: [*one, *other],
                rate: table.quantity("rate").unwrap_or(Rate(1_000_000_000)),
                length: table.quantity::<Length>("length").unwrap_or_default(),
            }),
            // `node` has reported the unknown name.
            [_, _] => {}
            _ => self.problem(format!("a link has two ends, not {}", ends.len()), &place),
        }
    }
}

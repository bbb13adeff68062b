//! Networks of common forms.

use super::Reader;
use crate::document::Table;
use crate::model::{Link, Node, NodeIndex, NodeKind};
use crate::quantity::{Duration, Length, Rate};

impl Reader<'_> {
    /// Makes the nodes and links of the topology. Returns the number of hops before each port, if gates are to be shifted by
    /// these.
    pub(super) fn topology(&mut self, table: &Table) -> Vec<u64> {
        let kind = table.text("kind").unwrap_or_default();
        let allowed: &[&str] = match kind {
            "line" => &["hops"],
            "ring" => &["bridges"],
            "star" => &["hosts"],
            _ => &[],
        };
        for (key, _) in &table.fields {
            let of = match key.name.as_str() {
                "hops" => "line",
                "bridges" => "ring",
                "hosts" => "star",
                _ => continue,
            };
            if !allowed.contains(&key.name.as_str()) {
                let message = format!("`{}` is for {of}; this topology is {kind}", key.name);
                self.problem(message, &key.span);
            }
        }
        let count = |name: &str, usual: usize| table.integer(name).unwrap_or(usual);
        let (bridges, hosts) = match kind {
            "bridged" => (1, 2),
            // `check` has verified that there is a hop at least.
            "line" => (count("hops", 1) - 1, 2),
            "ring" => (count("bridges", 3), count("bridges", 3)),
            "star" => (1, count("hosts", 2)),
            _ => (0, 2),
        };
        let host = |index: usize| NodeIndex(index);
        let bridge = |index: usize| NodeIndex(hosts + index);
        self.generate(table, hosts, bridges);
        let links: Vec<[NodeIndex; 2]> = match kind {
            "ring" => {
                let spokes = (0..bridges).map(|index| [host(index), bridge(index)]);
                let ring = (0..bridges).map(|index| [bridge(index), bridge((index + 1) % bridges)]);
                spokes.chain(ring).collect()
            }
            "star" => (0..hosts).map(|index| [host(index), bridge(0)]).collect(),
            _ => {
                let between = (0..bridges).map(bridge);
                let nodes: Vec<NodeIndex> = std::iter::once(host(0))
                    .chain(between)
                    .chain([host(1)])
                    .collect();
                nodes.windows(2).map(|pair| [pair[0], pair[1]]).collect()
            }
        };
        let rate = table.quantity("rate").unwrap_or(Rate(1_000_000_000));
        let length: Length = table.quantity("length").unwrap_or_default();
        let number = links.len() as u64;
        self.links.extend(links.iter().map(|ends| Link {
            ends: *ends,
            rate,
            length,
        }));
        match (kind, table.get("shift_per_hop")) {
            (_, None) => Vec::new(),
            ("ring", Some(item)) => {
                self.problem("a ring has no first hop to shift gates from", &item.span);
                Vec::new()
            }
            ("star", Some(_)) => (0..number).flat_map(|_| [0, 1]).collect(),
            // A link has two ports, each with the hops before it in its direction.
            _ => (0..number)
                .flat_map(|hop| [hop, number - 1 - hop])
                .collect(),
        }
    }

    fn generate(&mut self, table: &Table, hosts: usize, bridges: usize) {
        let (least, most) = self.forwarding_delay(table);
        for index in 1..=hosts {
            self.add_node(Node::new(format!("host{index}"), NodeKind::Host));
        }
        for index in 1..=bridges {
            self.add_node(Node {
                forwarding_delay: most,
                forwarding_delay_least: least,
                ..Node::new(format!("bridge{index}"), NodeKind::Bridge)
            });
        }
    }

    pub(super) fn add_node(&mut self, node: Node) {
        self.names
            .insert(node.name.clone(), NodeIndex(self.nodes.len()));
        self.nodes.push(node);
    }

    /// Returns the least and the greatest forwarding delay.
    pub(super) fn forwarding_delay(&mut self, table: &Table) -> (Duration, Duration) {
        let Some(item) = table.get("forwarding_delay") else {
            return (Duration::ZERO, Duration::ZERO);
        };
        match item.table() {
            None => {
                let delay = item.quantity().unwrap_or_default();
                (delay, delay)
            }
            Some(range) => {
                let (least, most) = (range.quantity("least"), range.quantity("most"));
                let range = (least.unwrap_or_default(), most.unwrap_or_default());
                if range.0 > range.1 {
                    self.problem("`least` is greater than `most`", &item.span);
                }
                range
            }
        }
    }
}

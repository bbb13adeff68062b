//! Paths through the network.

use std::collections::VecDeque;

use super::Reader;
use crate::document::Item;
use crate::model::{NodeIndex, NodeKind, PortIndex};

impl Reader<'_> {
    /// Returns the ports from one node to another: those of the written path, or of the shortest one. Of several shortest paths
    /// it is the first in the order of the file. Hosts do not forward.
    pub(super) fn route(
        &mut self,
        from: NodeIndex,
        to: NodeIndex,
        path: Option<&Item>,
        place: &Item,
    ) -> Option<Vec<PortIndex>> {
        if from == to {
            let message = format!(
                "source and destination are the same node, `{0}`",
                self.name(from)
            );
            self.problem(message, &place.span);
            return None;
        }
        match path {
            Some(path) => self.explicit(from, to, path),
            None => {
                let found = self.shortest(from, to);
                if found.is_none() {
                    let message = format!(
                        "no path leads from `{}` to `{}`",
                        self.name(from),
                        self.name(to)
                    );
                    self.problem(message, &place.span);
                }
                found
            }
        }
    }

    pub(super) fn name(&self, node: NodeIndex) -> &str {
        self.nodes.get(node.0).map_or("", |node| &node.name)
    }

    fn explicit(&mut self, from: NodeIndex, to: NodeIndex, path: &Item) -> Option<Vec<PortIndex>> {
        let items = path.list();
        let nodes: Vec<NodeIndex> = items
            .iter()
            .map(|item| self.node(item))
            .collect::<Option<_>>()?;
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            let message = format!(
                "the path must lead from `{}` to `{}`",
                self.name(from),
                self.name(to)
            );
            self.problem(message, &path.span);
            return None;
        }
        let mut ports = Vec::new();
        for (index, pair) in nodes.windows(2).enumerate() {
            let [node, next] = [pair[0], pair[1]];
            let item = items.get(index + 1).unwrap_or(path);
            if nodes[..=index].contains(&next) {
                let message = format!("the path passes `{}` twice", self.name(next));
                self.problem(message, &item.span);
                return None;
            }
            if index > 0 && !self.forwards(node) {
                let message = format!("`{}` is a host, which forwards no frames", self.name(node));
                self.problem(message, &items.get(index).unwrap_or(path).span);
                return None;
            }
            let Some((_, port)) = self.neighbours[node.0].iter().find(|(to, _)| *to == next) else {
                let message = format!(
                    "no link joins `{}` and `{}`",
                    self.name(node),
                    self.name(next)
                );
                self.problem(message, &item.span);
                return None;
            };
            ports.push(PortIndex(*port));
        }
        Some(ports)
    }

    fn forwards(&self, node: NodeIndex) -> bool {
        self.nodes
            .get(node.0)
            .is_some_and(|node| node.kind == NodeKind::Bridge)
    }

    fn shortest(&self, from: NodeIndex, to: NodeIndex) -> Option<Vec<PortIndex>> {
        let mut reached: Vec<Option<(NodeIndex, usize)>> = vec![None; self.nodes.len()];
        let mut next = VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            // A path may end at a host, but a host forwards nothing.
            if node != from && !self.forwards(node) {
                continue;
            }
            for (neighbour, port) in &self.neighbours[node.0] {
                if *neighbour != from && reached[neighbour.0].is_none() {
                    reached[neighbour.0] = Some((node, *port));
                    next.push_back(*neighbour);
                }
            }
        }
        let mut ports = Vec::new();
        let mut node = to;
        while node != from {
            let (before, port) = reached[node.0]?;
            ports.push(PortIndex(port));
            node = before;
        }
        ports.reverse();
        Some(ports)
    }
}

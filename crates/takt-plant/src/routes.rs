//! Shortest paths, and whether there is only one.

use std::collections::{HashMap, VecDeque};

use takt_scenario::{NodeIndex, NodeKind, PlantFile, Scenario};

/// Paths of a network. Each search is done once.
pub(crate) struct Routes<'a> {
    network: &'a Scenario,
    /// Neighbours of each node, each once.
    neighbours: Vec<Vec<usize>>,
    /// Written paths.
    written: HashMap<(NodeIndex, NodeIndex), Vec<NodeIndex>>,
    searches: HashMap<NodeIndex, Vec<Reached>>,
}

/// A node in a search.
#[derive(Debug, Clone, Default)]
struct Reached {
    /// Number of links from the source; `None` if no path leads there.
    distance: Option<usize>,
    /// Nodes before it on shortest paths.
    before: Vec<usize>,
}

/// Path from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// The network file has it: all nodes.
    Written(Vec<NodeIndex>),
    /// It is the only shortest path: all nodes.
    Shortest(Vec<NodeIndex>),
    /// Two of the shortest paths.
    Ambiguous([Vec<NodeIndex>; 2]),
    Missing,
}

impl<'a> Routes<'a> {
    pub(crate) fn new(plant: &'a PlantFile) -> Self {
        let network = &plant.network;
        let mut neighbours = vec![Vec::new(); network.nodes.len()];
        for link in &network.links {
            for (one, other) in [(0, 1), (1, 0)] {
                let (one, other) = (link.ends[one].0, link.ends[other].0);
                if let Some(list) = neighbours.get_mut(one)
                    && !list.contains(&other)
                {
                    list.push(other);
                }
            }
        }
        let mut written = HashMap::new();
        // A path is also that of the way back, unless that has its own.
        let ends = |nodes: &[NodeIndex]| Some((*nodes.first()?, *nodes.last()?));
        for path in &plant.paths {
            let back: Vec<NodeIndex> = path.nodes.iter().rev().copied().collect();
            if let Some(ends) = ends(&back) {
                written.insert(ends, back);
            }
        }
        for path in &plant.paths {
            if let Some(ends) = ends(&path.nodes) {
                written.insert(ends, path.nodes.clone());
            }
        }
        Self {
            network,
            neighbours,
            written,
            searches: HashMap::new(),
        }
    }

    /// Returns the neighbours of a node.
    pub(crate) fn neighbours(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let neighbours = self.neighbours.get(node.0).cloned().unwrap_or_default();
        neighbours.into_iter().map(NodeIndex).collect()
    }

    /// Returns the path from one node to another one.
    pub(crate) fn route(&mut self, from: NodeIndex, to: NodeIndex) -> Route {
        if let Some(written) = self.written.get(&(from, to)) {
            return Route::Written(written.clone());
        }
        if !self.searches.contains_key(&from) {
            let search = self.search(from);
            self.searches.insert(from, search);
        }
        let reached = self
            .searches
            .get(&from)
            .map(Vec::as_slice)
            .unwrap_or_default();
        if reached.get(to.0).is_none_or(|it| it.distance.is_none()) {
            return Route::Missing;
        }
        let (first, branch) = path(reached, from.0, to.0, None);
        match branch {
            None => Route::Shortest(first),
            Some(branch) => {
                let (second, _) = path(reached, from.0, to.0, Some(branch));
                Route::Ambiguous([first, second])
            }
        }
    }

    /// Searches from a node, in breadth. Hosts do not forward.
    fn search(&self, from: NodeIndex) -> Vec<Reached> {
        let mut reached = vec![Reached::default(); self.neighbours.len()];
        if let Some(first) = reached.get_mut(from.0) {
            first.distance = Some(0);
        }
        let mut next = VecDeque::from([from.0]);
        while let Some(node) = next.pop_front() {
            let kind = self.network.nodes.get(node).map(|it| it.kind);
            if node != from.0 && kind != Some(NodeKind::Bridge) {
                continue;
            }
            let distance = reached.get(node).and_then(|it| it.distance).unwrap_or(0) + 1;
            for neighbour in self.neighbours.get(node).into_iter().flatten() {
                let Some(it) = reached.get_mut(*neighbour) else {
                    continue;
                };
                if it.distance.is_none() {
                    it.distance = Some(distance);
                    next.push_back(*neighbour);
                }
                if it.distance == Some(distance) {
                    it.before.push(node);
                }
            }
        }
        reached
    }

    /// Returns true if bridges are joined in a circle.
    pub(crate) fn has_loop(&self) -> bool {
        let nodes = &self.network.nodes;
        let mut parents: Vec<usize> = (0..nodes.len()).collect();
        let is_bridge = |node: NodeIndex| {
            nodes
                .get(node.0)
                .is_some_and(|it| it.kind == NodeKind::Bridge)
        };
        self.network.links.iter().any(|link| {
            if !link.ends.iter().all(|end| is_bridge(*end)) {
                return false;
            }
            let [one, other] = link.ends.map(|end| root(&mut parents, end.0));
            if let Some(parent) = parents.get_mut(one) {
                *parent = other;
            }
            one == other
        })
    }
}

/// Returns the node that stands for all that are joined with this one.
fn root(parents: &mut [usize], mut node: usize) -> usize {
    while let Some(parent) = parents.get(node).copied().filter(|parent| *parent != node) {
        let above = parents.get(parent).copied().unwrap_or(parent);
        if let Some(place) = parents.get_mut(node) {
            *place = above;
        }
        node = parent;
    }
    node
}

/// Returns a shortest path, and the last node on it that has several before it. At the node `branch`, the path takes the second
/// of them.
fn path(
    reached: &[Reached],
    from: usize,
    to: usize,
    branch: Option<usize>,
) -> (Vec<NodeIndex>, Option<usize>) {
    let mut nodes = vec![NodeIndex(to)];
    let mut found = None;
    let mut node = to;
    while node != from {
        let before = reached
            .get(node)
            .map(|it| it.before.as_slice())
            .unwrap_or_default();
        if before.len() > 1 && found.is_none() {
            found = Some(node);
        }
        let choice = usize::from(branch == Some(node));
        let Some(next) = before.get(choice) else {
            break;
        };
        node = *next;
        nodes.push(NodeIndex(node));
    }
    nodes.reverse();
    (nodes, found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn plant(network: &str) -> PlantFile {
        let text = format!("version = 1\n{network}");
        PlantFile::parse(&text, "plant.toml").unwrap()
    }

    fn names(plant: &PlantFile, route: &[NodeIndex]) -> String {
        let names = route
            .iter()
            .map(|node| plant.network.nodes[node.0].name.as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn one_path_is_found_and_two_are_reported() {
        let plant = plant("devices = []\ntopology = { kind = \"ring\", bridges = 4 }");
        let mut routes = Routes::new(&plant);
        assert!(routes.has_loop());
        // host1 to host4 are nodes 0 to 3; the bridges follow.
        let Route::Shortest(route) = routes.route(NodeIndex(0), NodeIndex(1)) else {
            panic!("one path is shorter");
        };
        assert_eq!(names(&plant, &route), "host1 bridge1 bridge2 host2");
        let Route::Ambiguous([one, other]) = routes.route(NodeIndex(0), NodeIndex(2)) else {
            panic!("two paths have four links");
        };
        let mut both = [names(&plant, &one), names(&plant, &other)];
        both.sort();
        assert_eq!(
            both,
            [
                "host1 bridge1 bridge2 bridge3 host3",
                "host1 bridge1 bridge4 bridge3 host3",
            ]
        );
    }

    #[test]
    fn a_written_path_is_also_that_of_the_way_back() {
        let plant = plant(
            "devices = []\ntopology = { kind = \"ring\", bridges = 4 }\n\
             paths = [{ from = \"host1\", to = \"host3\", path = [\"host1\", \"bridge1\", \"bridge4\", \"bridge3\", \"host3\"] }]",
        );
        let mut routes = Routes::new(&plant);
        let Route::Written(route) = routes.route(NodeIndex(2), NodeIndex(0)) else {
            panic!("the path is written");
        };
        assert_eq!(names(&plant, &route), "host3 bridge3 bridge4 bridge1 host1");
    }

    #[test]
    fn hosts_do_not_forward_and_lines_have_no_loop() {
        let plant = plant(
            "devices = []\nnodes = [{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }]\n\
             links = [{ ends = [\"a\", \"b\"] }, { ends = [\"b\", \"c\"] }]",
        );
        let mut routes = Routes::new(&plant);
        assert_eq!(routes.route(NodeIndex(0), NodeIndex(2)), Route::Missing);
        assert!(!routes.has_loop());
        assert_eq!(
            routes.neighbours(NodeIndex(1)),
            [NodeIndex(0), NodeIndex(2)]
        );
    }
}

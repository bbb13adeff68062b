//! Frames of WriterGroups on their paths.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use takt_scenario::toml_text::visible;
use takt_scenario::{GroupAddress, NodeIndex, NodeKind, PlantFile, PlantMulticast};

use crate::error::PlantError;
use crate::heard::HeardReader;
use crate::identity::is_multicast;
use crate::notes::Notes;
use crate::receivers::Receivers;
use crate::routes::{Route, Routes};
use crate::sent::SentGroup;

/// Greatest number of receivers of all messages together. The text of a scenario has a line for each.
const MOST_FLOWS: usize = 200_000;

/// The frames of one NetworkMessage of a WriterGroup that leave by one port.
#[derive(Debug)]
pub(crate) struct SentFrames {
    /// Index of the group.
    pub(crate) group: usize,
    /// Number of the NetworkMessage in its interval, from 0.
    pub(crate) message: usize,
    /// Name of the application; unique, and without control characters.
    pub(crate) name: String,
    /// Group of receivers. `None` for one receiver, and for a group that bridges forward to all ports.
    pub(crate) multicast: Option<GroupAddress>,
    pub(crate) destinations: Vec<Destination>,
}

/// A node to which frames go.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    pub(crate) node: NodeIndex,
    /// Path, if the network file has it.
    pub(crate) path: Option<Vec<NodeIndex>>,
    /// Indexes of the readers there.
    pub(crate) readers: BTreeSet<usize>,
    /// Reason why frames go there, if there are no readers.
    pub(crate) reason: &'static str,
}

/// Returns the frames of all groups on their paths.
///
/// # Errors
/// Paths that are missing or ambiguous.
pub(crate) fn sent_frames(
    plant: &PlantFile,
    groups: &[SentGroup<'_>],
    readers: &[HeardReader<'_>],
    receivers: &Receivers,
    notes: &mut Notes,
) -> Result<Vec<SentFrames>, PlantError> {
    let mut routes = Routes::new(plant);
    let mut frames = Vec::new();
    let mut paths = Paths::default();
    // Results name flows of both kinds.
    let others = plant.network.cross_traffic.iter();
    let mut names = Names::default();
    names.used.extend(others.map(|it| it.name.clone()));
    let mut flows = 0;
    for (index, sent) in groups.iter().enumerate() {
        let empty = BTreeMap::new();
        let of_group = receivers.readers.get(index).unwrap_or(&empty);
        let listeners = receivers.listeners.get(index).cloned().unwrap_or_default();
        let nodes = destinations(plant, sent, of_group, listeners, &mut routes);
        let from = sent.instance.node;
        // A frame leaves by one port. A device with several may send it by any of them.
        let mut by_port: BTreeMap<NodeIndex, Vec<Destination>> = BTreeMap::new();
        for mut destination in nodes {
            let next = |path: &[NodeIndex]| path.get(1).copied().unwrap_or(from);
            let port = match routes.route(from, destination.node) {
                Route::Written(path) => {
                    let port = next(&path);
                    destination.path = Some(path);
                    port
                }
                Route::Shortest(path) => {
                    paths.has_shortest = true;
                    next(&path)
                }
                Route::Ambiguous(both) => {
                    paths.ambiguous.insert((from, destination.node), both);
                    continue;
                }
                Route::Missing => {
                    paths.missing.insert((from, destination.node));
                    continue;
                }
            };
            by_port.entry(port).or_default().push(destination);
        }
        if by_port.len() > 1 {
            let message = "its frames leave the device by several ports, each with an application of its own; write the paths that begin \
                           at its network_interface as [[paths]]";
            let origin = sent.place.origin(sent.instance.configuration, &[]);
            notes.warn(origin, &sent.entry, message);
        }
        let node = plant.network.nodes.get(from.0).map_or("", |it| &it.name);
        let base = visible(&format!("{node}/{}", sent.name));
        let node_name = |node: NodeIndex| plant.network.nodes.get(node.0).map_or("", |it| &it.name);
        for message in 0..sent.frames.len() {
            let of_message = match sent.frames.len() {
                1 => base.clone(),
                _ => format!("{base} #{}", message + 1),
            };
            for (port, destinations) in &by_port {
                let wanted = match by_port.len() {
                    1 => of_message.clone(),
                    _ => format!("{of_message} via {}", node_name(*port)),
                };
                let receivers: Vec<&str> =
                    destinations.iter().map(|it| node_name(it.node)).collect();
                flows += destinations.len();
                if flows > MOST_FLOWS {
                    return Err(too_many(plant));
                }
                frames.push(SentFrames {
                    group: index,
                    message,
                    name: names.unique(wanted, &receivers),
                    // The parts of one message would not be forwarded as a message to the group is.
                    multicast: sent.multicast.filter(|_| by_port.len() == 1),
                    destinations: destinations.clone(),
                });
            }
        }
    }
    paths.check(plant, groups, readers)?;
    if paths.has_shortest && routes.has_loop() {
        let place = plant.place("links").or_else(|| plant.place("topology"));
        notes.warn(
            crate::configuration::ValueOrigin {
                file: plant.file_name().to_owned(),
                line: place.map(|place| plant.line(place)),
            },
            "",
            "bridges are joined in a circle: frames are assumed on the shortest paths, but a spanning tree may use other ones; write \
             the true ones as [[paths]]",
        );
    }
    Ok(frames)
}

/// Returns the nodes to which the frames of a group go.
fn destinations(
    plant: &PlantFile,
    sent: &SentGroup<'_>,
    readers: &BTreeMap<NodeIndex, BTreeSet<usize>>,
    mut listeners: BTreeSet<NodeIndex>,
    routes: &mut Routes<'_>,
) -> Vec<Destination> {
    let from = sent.instance.node;
    let mut reason = "listens at the address, and reads none of these messages";
    listeners.extend(readers.keys());
    // Bridges forward groups that no port is registered for to all ports by default (IEEE 802.1Q, 8.8.6; bridge(8), `mcast_flood`).
    let is_unknown = listeners.is_empty();
    let is_flooded =
        plant.multicast == PlantMulticast::Flooded || sent.multicast.is_none() || is_unknown;
    if is_multicast(&sent.address) && is_flooded {
        let nodes = plant.network.nodes.iter().enumerate();
        let hosts = nodes.filter(|(_, node)| node.kind == NodeKind::Host);
        let hosts = hosts.map(|(index, _)| NodeIndex(index));
        // Other networks do not get them.
        listeners.extend(hosts.filter(|host| routes.route(from, *host) != Route::Missing));
        reason = match plant.multicast {
            PlantMulticast::Flooded => "gets the frames because multicast is flooded",
            PlantMulticast::Filtered if is_unknown && sent.multicast.is_some() => {
                "gets the frames because no device listens: bridges forward such groups to all ports"
            }
            PlantMulticast::Filtered => {
                "gets the frames because bridges forward this address to all ports"
            }
        };
    }
    listeners.remove(&from);
    if listeners.is_empty() {
        // The frames are on the first link all the same.
        listeners.extend(routes.neighbours(from));
        reason = "is the next node: no device of the plant receives the frames";
    }
    let destinations = listeners.into_iter().map(|node| Destination {
        node,
        path: None,
        readers: readers.get(&node).cloned().unwrap_or_default(),
        reason,
    });
    destinations.collect()
}

/// Names of applications and flows.
#[derive(Default)]
struct Names {
    used: HashSet<String>,
    /// Next number behind each name that is used already.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// Returns a name for an application with which neither itself nor its flows to several receivers have the name of another one.
    fn unique(&mut self, wanted: String, receivers: &[&str]) -> String {
        let mut name = wanted.clone();
        loop {
            let mut own = vec![name.clone()];
            if receivers.len() > 1 {
                own.extend(receivers.iter().map(|to| format!("{name} \u{2192} {to}")));
            }
            if own.iter().all(|it| !self.used.contains(it)) {
                self.used.extend(own);
                return name;
            }
            let number = self.numbers.entry(wanted.clone()).or_insert(2);
            name = format!("{wanted} ({number})");
            *number += 1;
        }
    }
}

/// Refuses configurations with too many flows.
fn too_many(plant: &PlantFile) -> PlantError {
    let message = format!("the messages have more than {MOST_FLOWS} receivers together");
    let help = "make scenarios of parts of the plant: left_out = true in [[writer_groups]] leaves messages out";
    let place = plant.place("devices").unwrap_or(0);
    PlantError::Network(plant.errors_at(vec![(place..place, message, Some(help.to_owned()))]))
}

/// Paths that are not known.
#[derive(Default)]
struct Paths {
    ambiguous: BTreeMap<(NodeIndex, NodeIndex), [Vec<NodeIndex>; 2]>,
    missing: BTreeSet<(NodeIndex, NodeIndex)>,
    has_shortest: bool,
}

impl Paths {
    fn check(
        &self,
        plant: &PlantFile,
        groups: &[SentGroup<'_>],
        readers: &[HeardReader<'_>],
    ) -> Result<(), PlantError> {
        let name = |node: NodeIndex| plant.network.nodes.get(node.0).map_or("", |it| &it.name);
        let place = |node: NodeIndex| {
            let mut devices = plant.devices.iter();
            let device = devices.find(|it| it.node == node);
            device.map_or(0..0, |it| it.span.clone())
        };
        let shown = |path: &[NodeIndex]| {
            let names: Vec<&str> = path.iter().map(|node| name(*node)).collect();
            names.join(" \u{2192} ")
        };
        let mut mistakes = Vec::new();
        for ((from, to), [one, other]) in &self.ambiguous {
            let message = format!(
                "several shortest paths lead from `{}` to `{}`: {} and {}",
                name(*from),
                name(*to),
                shown(one),
                shown(other)
            );
            let names: Vec<String> = one.iter().map(|node| quoted(name(*node))).collect();
            let help = format!(
                "write the true one: [[paths]] from = {}, to = {}, path = [{}]",
                quoted(name(*from)),
                quoted(name(*to)),
                names.join(", ")
            );
            mistakes.push((place(*from), message, Some(help)));
        }
        for (from, to) in &self.missing {
            let sent = groups.iter().find(|sent| sent.instance.node == *from);
            let heard = readers.iter().find(|heard| heard.node == *to);
            let what = match (sent, heard) {
                (Some(sent), Some(heard)) => {
                    format!(", which '{}' needs for '{}'", sent.entry, heard.entry)
                }
                _ => String::new(),
            };
            let message = format!(
                "no path leads from `{}` to `{}`{}",
                name(*from),
                name(*to),
                visible(&what)
            );
            let help = "join them by [[links]]; hosts do not forward".to_owned();
            mistakes.push((place(*from), message, Some(help)));
        }
        match mistakes.is_empty() {
            true => Ok(()),
            false => Err(PlantError::Network(plant.errors_at(mistakes))),
        }
    }
}

fn quoted(name: &str) -> String {
    takt_scenario::toml_text::quoted(name)
}

//! Groups to which applications send. Bridges forward each group of a VLAN to the same ports, whoever sends it, so applications can
//! share one only if all of their messages go there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{NamedFlow, Reader};
use crate::FlowSource;
use crate::document::{Item, Table};
use crate::error::Problem;
use crate::model::{
    Application, ApplicationIndex, GroupAddress, NodeIndex, NodeKind, PortIndex, default_group,
};

/// Group and VLAN.
type Key = ([u8; 6], u16);

/// Messages of an application: those that it publishes, or those that come back.
type Sent = (ApplicationIndex, bool);

impl Reader<'_> {
    /// Sets the groups of the application with this index.
    pub(super) fn groups(&mut self, application: &mut Application, index: usize, table: &Table) {
        let item = table.get("group");
        application.written_group = item.and_then(|item| self.group(item));
        let written = application.written_group.map(GroupAddress::ethernet);
        application.group = written.unwrap_or(default_group(2 * index + 1));
        application.return_group = default_group(2 * index + 2);
    }

    fn group(&mut self, item: &Item) -> Option<GroupAddress> {
        let text = item.text()?;
        let group = GroupAddress::parse(text);
        if group.is_none() {
            let message = format!(
                "`{text}` is not a group of receivers such as \"01-00-5E-00-54-01\" or \"239.0.0.1\""
            );
            let help = "broadcast and reserved groups are forwarded to all ports or to none";
            let problem = Problem::new(message, item.span.clone());
            self.problems.push(problem.with_help(help));
        }
        group
    }

    /// Reports groups of which a bridge would forward messages to a port that is not on their way.
    pub(super) fn check_groups(&mut self, applications: &[Application], flows: &[NamedFlow]) {
        let mut users: HashMap<Key, BTreeMap<Sent, Vec<&[PortIndex]>>> = HashMap::new();
        for NamedFlow { flow, .. } in flows {
            let id = flow.source.application();
            let Some((id, application)) = id.and_then(|id| Some((id, applications.get(id.0)?)))
            else {
                continue;
            };
            let is_return = matches!(flow.source, FlowSource::Return(_));
            let group = match is_return {
                true => application.return_group,
                false => application.group,
            };
            let of_group = users.entry((group, application.vlan)).or_default();
            let paths = of_group.entry((id, is_return)).or_default();
            paths.push(&flow.ports);
        }
        let is_written = |id: &ApplicationIndex| {
            let application = applications.get(id.0);
            application.is_some_and(|it| it.written_group.is_some())
        };
        // Groups that nobody chose are different for the first 32 767 applications.
        let shared = users.values().filter(|of_group| {
            of_group.len() > 1
                && of_group
                    .keys()
                    .any(|(id, is_return)| !is_return && is_written(id))
        });
        // In the order of the file.
        let mut found: Vec<(Sent, PortIndex, Sent)> = Vec::new();
        for of_group in shared {
            found.extend(self.wrongly_forwarded(of_group));
        }
        found.sort_unstable();
        for ((id, _), port, (other, _)) in found {
            let name = |id: ApplicationIndex| applications.get(id.0).map_or("", |it| &it.name);
            let (bridge, to) = self.ends(port);
            let message = format!(
                "`{}` forwards these messages to `{}` as well, because those of `{}` have the same group and VLAN",
                self.name(bridge),
                self.name(to),
                name(other)
            );
            let help = "choose another group, or name all receivers of the group as subscribers";
            let place = self.place_of(name(id));
            let problem = Problem::new(message, place).with_help(help);
            self.problems.push(problem);
        }
    }

    /// Returns the first port to which some messages of a group are forwarded that are not on their way there: those messages, the
    /// port, and the messages that are on theirs.
    fn wrongly_forwarded(
        &self,
        of_group: &BTreeMap<Sent, Vec<&[PortIndex]>>,
    ) -> Option<(Sent, PortIndex, Sent)> {
        let is_bridge = |node: NodeIndex| {
            let node = self.nodes.get(node.0);
            node.is_some_and(|it| it.kind == NodeKind::Bridge)
        };
        let mut forwarded: BTreeMap<NodeIndex, BTreeMap<PortIndex, Sent>> = BTreeMap::new();
        for (sent, paths) in of_group {
            // The first port is that of the sender, which may be a bridge as well.
            for port in paths.iter().flat_map(|path| *path) {
                let ports = forwarded.entry(self.ends(*port).0).or_default();
                ports.entry(*port).or_insert(*sent);
            }
        }
        for (sent, paths) in of_group {
            let own: BTreeSet<PortIndex> = paths.iter().flat_map(|path| *path).copied().collect();
            // A bridge sends its own messages to all ports of the group, and those of others to all but the one that they come from: a
            // link has the ports 2 n and 2 n + 1.
            let first = paths.iter().filter_map(|path| path.first());
            let sender = first.map(|port| (self.ends(*port).0, None));
            let on_the_way = own.iter();
            let on_the_way =
                on_the_way.map(|port| (self.ends(*port).1, Some(PortIndex(port.0 ^ 1))));
            for (node, back) in sender.chain(on_the_way) {
                let Some(ports) = forwarded.get(&node).filter(|_| is_bridge(node)) else {
                    continue;
                };
                let mut ports = ports.iter();
                let wrong = ports.find(|(port, _)| Some(**port) != back && !own.contains(port));
                if let Some((wrong, other)) = wrong {
                    return Some((*sent, *wrong, *other));
                }
            }
        }
        None
    }

    /// Returns the place of an application's group, or of its name.
    fn place_of(&self, application: &str) -> std::ops::Range<usize> {
        let mut tables = self.document.tables("applications");
        let found = tables.find(|(_, table)| table.text("name") == Some(application));
        let item = found.and_then(|(_, table)| table.get("group").or(table.get("name")));
        item.map_or(0..0, |item| item.span.clone())
    }
}

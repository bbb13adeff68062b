//! Scenario files as a starting point.

use std::fmt::Write;

use crate::discipline::{DisciplineDescription, disciplines};
use crate::quantity::{Duration, Rate, Share};

/// The form of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopologyKind {
    /// Two hosts at one link.
    PointToPoint,
    /// Two hosts with a bridge between them.
    Bridged,
    /// Two hosts with this number of links between them.
    Line(u32),
    /// A ring of this number of bridges, with a host at each.
    Ring(u32),
    /// This number of hosts around a bridge.
    Star(u32),
}

/// The message of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateMessage {
    /// open62541's example with this repeated node count.
    RepeatedNodeCount(u32),
    /// A payload of this number of bytes.
    Payload(u32),
}

/// Parameters of a template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Form of the network.
    pub topology: TopologyKind,
    /// Discipline at all ports, one of [`disciplines`].
    pub discipline: &'static DisciplineDescription,
    /// Share by which the idleSlope of a shaper exceeds that of its flows.
    pub provisioning: Share,
    /// Message of each application.
    pub message: TemplateMessage,
    /// Cycle of each application.
    pub cycle: Duration,
    /// Offset of each application.
    pub offset: Duration,
    /// Rate of each link.
    pub rate: Rate,
    /// True if bounds use the paper's assumptions.
    pub paper: bool,
}

impl Template {
    /// Makes the template of the papers: RNC 2, a cycle of 250 µs and an offset of 150 µs, CBS at all ports, 1 Gbit/s, sound
    /// bounds. With TAPRIO, the cycle is 200 µs and the offset 100 µs.
    pub fn new(topology: TopologyKind, discipline: &'static DisciplineDescription) -> Self {
        Self {
            topology,
            discipline,
            provisioning: Share(0),
            message: TemplateMessage::RepeatedNodeCount(2),
            cycle: discipline.template.cycle,
            offset: discipline.template.offset,
            rate: Rate(1_000_000_000),
            paper: false,
        }
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, to: &mut String) -> std::fmt::Result {
        let (kind, count, last_host) = match self.topology {
            TopologyKind::PointToPoint => ("p2p", String::new(), 2),
            TopologyKind::Bridged => ("bridged", String::new(), 2),
            TopologyKind::Line(hops) => ("line", format!("hops = {hops}\n"), 2),
            // The host that is farthest away.
            TopologyKind::Ring(bridges) => {
                ("ring", format!("bridges = {bridges}\n"), bridges / 2 + 1)
            }
            TopologyKind::Star(hosts) => ("star", format!("hosts = {hosts}\n"), hosts),
        };
        let own = self.discipline;
        let replaced = own.template.hosts_only;
        let usual = match disciplines().find(|it| replaced && it.name == own.template.scheduler) {
            Some(scheduler) => scheduler,
            None => own,
        };
        writeln!(to, "# docs/scenario.md describes all fields.")?;
        writeln!(
            to,
            "version = 1\nname = \"{kind}\"\ndiscipline = \"{}\" # at every port{}\n",
            usual.name,
            if replaced { " but those below" } else { "" }
        )?;
        writeln!(
            to,
            "[topology]\nkind = \"{kind}\"\n{count}rate = \"{}\"",
            self.rate
        )?;
        if !matches!(self.topology, TopologyKind::PointToPoint) {
            writeln!(
                to,
                "forwarding_delay = \"0 us\" # of each bridge, besides its queue"
            )?;
        }
        if let Some(shift) = own.template.shift_per_hop
            && !matches!(self.topology, TopologyKind::Ring(_))
        {
            writeln!(
                to,
                "shift_per_hop = \"{shift}\" # gates open later at each hop"
            )?;
        }
        writeln!(to)?;
        self.write_discipline(usual, to)?;
        if replaced {
            self.write_discipline(own, to)?;
            for host in [1, last_host] {
                writeln!(
                    to,
                    "[[ports]]\nnode = \"host{host}\"\ndiscipline = \"{}\"\n",
                    own.name
                )?;
            }
        }
        writeln!(
            to,
            "[[applications]]\nname = \"control\"\npublisher = \"host1\""
        )?;
        writeln!(
            to,
            "loopback = \"host{last_host}\" # sends each message back: the round trip is measured"
        )?;
        writeln!(
            to,
            "cycle = \"{}\"\noffset = \"{}\" # from the end of a cycle until its messages are sent",
            self.cycle, self.offset
        )?;
        match self.message {
            TemplateMessage::RepeatedNodeCount(count) => writeln!(
                to,
                "repeated_node_count = {count} # {} B",
                32 + 9 * (1 + u64::from(count))
            )?,
            TemplateMessage::Payload(bytes) => writeln!(to, "payload = \"{bytes} B\"")?,
        }
        writeln!(to, "pcp = 3")?;
        writeln!(
            to,
            "\n[bounds]\nmodel = \"{}\"",
            if self.paper { "paper" } else { "sound" }
        )?;
        writeln!(to, "\n[simulation]\nseed = 1\ncycles = 10000")
    }

    fn write_discipline(
        &self,
        discipline: &DisciplineDescription,
        to: &mut String,
    ) -> std::fmt::Result {
        let (name, template) = (discipline.name, &discipline.template);
        let (scheduler, comment) = (template.scheduler, template.comment);
        writeln!(
            to,
            "[disciplines.{name}]\nscheduler = \"{scheduler}\"{comment}"
        )?;
        if let Some(class) = template.class {
            let class = class.replace("{provisioning}", &self.provisioning.to_string());
            writeln!(to, "classes = [ # highest first")?;
            writeln!(to, "    {{ name = \"A\", priorities = [3], {class} }},")?;
            writeln!(to, "    {{ name = \"best effort\" }}, # all other PCPs\n]")?;
        }
        writeln!(to, "{}", template.more)
    }
}

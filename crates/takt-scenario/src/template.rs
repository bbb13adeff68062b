//! Scenario files as a starting point.

use std::fmt::Write;

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

/// The queueing discipline at all ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisciplineKind {
    /// `fq_codel`.
    FqCodel,
    /// `mqprio` alone: strict priority.
    Mqprio,
    /// Credit-Based Shapers below `mqprio`, with this share more than their flows need.
    Cbs(Share),
    /// Earliest TxTime First below `mqprio`.
    Etf,
    /// `taprio` with txtime-assist and ETF below.
    Taprio,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Form of the network.
    pub topology: TopologyKind,
    /// Discipline at all ports.
    pub discipline: DisciplineKind,
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
    pub fn new(topology: TopologyKind, discipline: DisciplineKind) -> Self {
        let micros = |micros: u64| Duration(micros * 1_000_000);
        let (cycle, offset) = match discipline {
            DisciplineKind::Taprio => (micros(200), micros(100)),
            _ => (micros(250), micros(150)),
        };
        Self {
            topology,
            discipline,
            message: TemplateMessage::RepeatedNodeCount(2),
            cycle,
            offset,
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
        // Frames that a bridge forwards have no txtime, so that a bridge has no ETF.
        let usual = match self.discipline {
            DisciplineKind::Etf => DisciplineKind::Mqprio,
            other => other,
        };
        writeln!(
            to,
            "# docs/scenario.md describes all fields; `takt scenario check` checks this file."
        )?;
        writeln!(
            to,
            "version = 1\nname = \"{kind}\"\ndiscipline = \"{}\" # at every port{}\n",
            usual.name(),
            if usual == self.discipline {
                ""
            } else {
                " but those below"
            }
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
        if self.discipline == DisciplineKind::Taprio
            && !matches!(self.topology, TopologyKind::Ring(_))
        {
            writeln!(
                to,
                "shift_per_hop = \"20 us\" # gates open later at each hop"
            )?;
        }
        writeln!(to)?;
        usual.write(to)?;
        if usual != self.discipline {
            self.discipline.write(to)?;
            for host in [1, last_host] {
                writeln!(
                    to,
                    "[[ports]]\nnode = \"host{host}\"\ndiscipline = \"{}\"\n",
                    self.discipline.name()
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
}

impl DisciplineKind {
    fn name(self) -> &'static str {
        match self {
            Self::FqCodel => "fq_codel",
            Self::Mqprio => "mqprio",
            Self::Cbs(_) => "cbs",
            Self::Etf => "etf",
            Self::Taprio => "taprio",
        }
    }

    fn write(self, to: &mut String) -> std::fmt::Result {
        let scheduler = match self {
            Self::FqCodel => {
                return writeln!(
                    to,
                    "[disciplines.fq_codel]\nscheduler = \"fq_codel\" # Linux's default\n"
                );
            }
            Self::Taprio => "taprio",
            _ => "mqprio",
        };
        writeln!(
            to,
            "[disciplines.{}]\nscheduler = \"{scheduler}\"",
            self.name()
        )?;
        let queue = match self {
            Self::Cbs(provisioning) => format!("\"cbs\", provisioning = \"{provisioning}\""),
            Self::Etf | Self::Taprio => "\"etf\", delta = \"150 us\"".to_owned(),
            _ => "\"fifo\"".to_owned(),
        };
        writeln!(to, "classes = [ # highest first")?;
        writeln!(
            to,
            "    {{ name = \"A\", priorities = [3], queue = {queue} }},"
        )?;
        writeln!(to, "    {{ name = \"best effort\" }}, # all other PCPs\n]")?;
        if self == Self::Taprio {
            writeln!(
                to,
                "txtime_assist = \"180 us\" # txtime-delay: more than delta\nentries = ["
            )?;
            writeln!(to, "    {{ gates = [\"A\"], interval = \"40 us\" }},")?;
            writeln!(
                to,
                "    {{ gates = [\"best effort\"], interval = \"60 us\" }},\n]"
            )?;
        }
        writeln!(to)
    }
}

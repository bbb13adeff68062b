//! Text of the scenario, with the file and line of each value as a comment.

use std::fmt::Write;

use takt_scenario::toml_text::{quoted, visible};
use takt_scenario::{ClockModel, Duration, Node, NodeIndex, NodeKind, PlantFile, WrittenTable};

use crate::configuration::PlantConfiguration;
use crate::flow::SentFrames;
use crate::heard::HeardReader;
use crate::notes::Notes;
use crate::sent::SentGroup;
use crate::wake_up::{PROCESSING, WAKE_UP, device_of, later, wake_up};

/// Default of the forwarding delay of a bridge: from 0 to this.
const FORWARDING: Duration = Duration(10_000_000);
/// Default of the length of a link: the longest one of twisted pairs (IEEE 802.3, 40.7).
const LENGTH: &str = "100 m";
const RATE: &str = "1 Gbit/s";
/// Default of the longest frame of other traffic: the longest one of Ethernet.
const OTHER_FRAMES: &str = "1542 B";

/// Writer of a scenario.
pub(crate) struct ScenarioWriter<'a> {
    pub(crate) plant: &'a PlantFile,
    pub(crate) groups: &'a [SentGroup<'a>],
    pub(crate) readers: &'a [HeardReader<'a>],
    pub(crate) frames: &'a [SentFrames],
    pub(crate) notes: &'a mut Notes,
}

impl ScenarioWriter<'_> {
    /// Returns the text of the scenario.
    pub(crate) fn text(&mut self, configurations: &[PlantConfiguration]) -> String {
        let mut parts = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_parts(&mut parts);
        let mut text = String::new();
        let _ = self.write_head(&mut text, configurations);
        text + &parts
    }

    /// Returns `plant.toml:7`.
    pub(crate) fn line(&self, line: usize) -> String {
        format!("{}:{line}", visible(self.plant.file_name()))
    }

    pub(crate) fn node_name(&self, node: NodeIndex) -> &str {
        self.plant
            .network
            .nodes
            .get(node.0)
            .map_or("", |it| &it.name)
    }

    /// Writes what stands before the first table. Assumptions are complete now.
    fn write_head(
        &mut self,
        to: &mut String,
        configurations: &[PlantConfiguration],
    ) -> std::fmt::Result {
        let names: Vec<String> = configurations.iter().map(|it| visible(&it.name)).collect();
        writeln!(
            to,
            "# Made of {} and {}; docs/plant.md describes how.",
            names.join(", "),
            visible(self.plant.file_name())
        )?;
        if !self.notes.assumptions.is_empty() {
            writeln!(to, "# Assumed, because no file states it:")?;
            for assumption in &self.notes.assumptions {
                writeln!(to, "# * {assumption}")?;
            }
        }
        writeln!(to, "version = 1\nname = {}", quoted(&self.plant.name))?;
        for field in ["description", "discipline", "measure"] {
            if let Some((value, line)) = self.plant.written_field(field) {
                writeln!(to, "{field} = {value} # {}", self.line(line))?;
            }
        }
        writeln!(to)
    }

    fn write_parts(&mut self, to: &mut String) -> std::fmt::Result {
        self.general_assumptions();
        for table in self.plant.written_tables("topology") {
            let table = self.with_link_defaults(table, "the topology");
            self.write_table(to, &table)?;
        }
        for index in 0..self.plant.network.nodes.len() {
            self.write_node(to, NodeIndex(index))?;
        }
        for table in self.plant.written_tables("links") {
            let ends = table.fields.iter().find(|(key, _)| key == "ends");
            let subject = ends.map_or_else(String::new, |(_, ends)| {
                let ends = ends.replace('"', "");
                ends.trim_matches(['[', ']']).replace(", ", " \u{2013} ")
            });
            let table = self.with_link_defaults(table, &subject);
            self.write_table(to, &table)?;
        }
        for part in ["disciplines", "ports"] {
            for table in self.plant.written_tables(part) {
                self.write_table(to, &table)?;
            }
        }
        for index in 0..self.frames.len() {
            self.write_frames(to, index)?;
        }
        for table in self.plant.written_tables("cross_traffic") {
            self.write_table(to, &table)?;
        }
        self.write_bounds(to)?;
        for table in self.plant.written_tables("simulation") {
            self.write_table(to, &table)?;
        }
        Ok(())
    }

    fn general_assumptions(&mut self) {
        if self.plant.place("discipline").is_none() {
            self.notes.assume(
                "discipline",
                "all other ports",
                "fq_codel",
                "write `discipline`, or [[ports]]",
            );
        }
        if self.plant.place("multicast").is_none() {
            self.notes.assume(
                "multicast",
                "the bridges",
                "filtered",
                "bridges send multicast frames only towards devices that listen; without filters, write multicast = \"flooded\"",
            );
        }
    }

    /// Adds rate and length of links that have none.
    fn with_link_defaults(&mut self, mut table: WrittenTable, subject: &str) -> WrittenTable {
        for (field, value, advice) in [
            ("rate", RATE, "write it in [[links]] or [topology]"),
            (
                "length",
                LENGTH,
                "write it in [[links]] or [topology]; a signal takes 5 ns per metre",
            ),
        ] {
            if table.fields.iter().all(|(key, _)| key != field) {
                self.notes.assume(field, subject, value, advice);
                let value = format!("{} # assumed", quoted(value));
                table.fields.push((field.to_owned(), value));
            }
        }
        table
    }

    fn write_table(&self, to: &mut String, table: &WrittenTable) -> std::fmt::Result {
        writeln!(to, "{} # {}", table.heading, self.line(table.line))?;
        for (key, value) in &table.fields {
            writeln!(to, "{key} = {value}")?;
        }
        writeln!(to)
    }

    fn write_node(&mut self, to: &mut String, index: NodeIndex) -> std::fmt::Result {
        let plant = self.plant;
        let Some(node) = plant.network.nodes.get(index.0) else {
            return Ok(());
        };
        let line = plant.line(plant.node_place(&node.name));
        writeln!(to, "[[nodes]] # {}", self.line(line))?;
        writeln!(to, "name = {}", quoted(&node.name))?;
        let is_bridge = node.kind == NodeKind::Bridge;
        writeln!(
            to,
            "kind = \"{}\"",
            if is_bridge { "bridge" } else { "host" }
        )?;
        if is_bridge {
            let (range, by) = match plant.node_field(&node.name, "forwarding_delay") {
                Some(place) => (
                    (node.forwarding_delay_least, node.forwarding_delay),
                    self.line(plant.line(place)),
                ),
                None => {
                    self.notes.assume(
                        "forwarding_delay",
                        &node.name,
                        &format!("{} to {FORWARDING}", Duration::ZERO),
                        "write it in [[nodes]]: the data sheet of the bridge has it, from the last bit until the next queue",
                    );
                    ((Duration::ZERO, FORWARDING), "assumed".to_owned())
                }
            };
            let (least, most) = range;
            writeln!(
                to,
                "forwarding_delay = {{ least = \"{least}\", most = \"{most}\" }} # {by}"
            )?;
        }
        if node.clock != ClockModel::default() {
            let by = plant.node_field(&node.name, "clock").unwrap_or(0);
            writeln!(
                to,
                "clock = {{ offset = \"{}\", drift = \"{}\" }} # {}",
                node.clock.offset,
                node.clock.drift,
                self.line(plant.line(by))
            )?;
        }
        self.write_wake_up(to, index, node)?;
        writeln!(to)
    }

    /// Writes the latency of threads: from a timer until the message is in the queue of the port.
    fn write_wake_up(
        &mut self,
        to: &mut String,
        index: NodeIndex,
        node: &Node,
    ) -> std::fmt::Result {
        let plant = self.plant;
        let device = device_of(plant, index);
        let (latency, place) = wake_up(plant, index);
        let by = match place {
            Some(place) => self.line(plant.line(place)),
            // Nothing runs on this node.
            None if device.is_none() => return Ok(()),
            None => {
                self.notes.assume(
                    "wake_up_latency",
                    &node.name,
                    &format!("{} to {WAKE_UP}", Duration::ZERO),
                    "measure it as docs/wakeup.md describes, and write it in [[nodes]]: wake_up_latency = { histogram = \"FILE.csv\" }",
                );
                "assumed".to_owned()
            }
        };
        let processing = match device {
            None => None,
            Some(device) => Some(match device.processing_time {
                Some(time) => (time, self.line(plant.line(device.span.start))),
                None => {
                    self.notes.assume(
                        "processing_time",
                        &node.name,
                        &PROCESSING.to_string(),
                        "write it in [[devices]]: the longest time from the wake-up of the thread until the message is in the queue",
                    );
                    (PROCESSING, "assumed".to_owned())
                }
            }),
        };
        let time = processing.as_ref().map_or(Duration::ZERO, |it| it.0);
        write!(to, "wake_up_latency = {} # {by}", later(&latency, time))?;
        match processing {
            Some((time, by)) => writeln!(to, ", with processing_time {time}, {by}"),
            None => writeln!(to),
        }
    }

    fn write_bounds(&mut self, to: &mut String) -> std::fmt::Result {
        let written = self.plant.written_tables("bounds").into_iter().next();
        match &written {
            Some(table) => writeln!(to, "[bounds] # {}", self.line(table.line))?,
            None => writeln!(to, "[bounds]")?,
        }
        let fields = written.map(|it| it.fields).unwrap_or_default();
        for (key, value) in &fields {
            writeln!(to, "{key} = {value}")?;
        }
        if fields.iter().all(|(key, _)| key != "lower_priority") {
            self.notes.assume(
                "bounds.lower_priority",
                "all ports",
                OTHER_FRAMES,
                "write it in [bounds]: the longest frame on the wire of traffic that no file has, below all classes",
            );
            writeln!(to, "lower_priority = \"{OTHER_FRAMES}\" # assumed")?;
        }
        writeln!(to)
    }
}

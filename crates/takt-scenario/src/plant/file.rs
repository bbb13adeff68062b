//! A plant as its network file describes it.

use std::ops::Range;

use crate::document::{Item, Table};
use crate::error::{Problem, ScenarioError};
use crate::model::NodeIndex;
use crate::quantity::{Duration, Size};
use crate::scenario::Scenario;

/// A network, and the devices that run PubSub configurations.
#[derive(Debug, Clone)]
pub struct PlantFile {
    /// Name; by default that of the file.
    pub name: String,
    /// The network: a scenario without applications.
    pub network: Scenario,
    /// Devices, each with another node.
    pub devices: Vec<PlantDevice>,
    /// Properties of WriterGroups.
    pub writer_groups: Vec<PlantWriterGroup>,
    /// Paths, at most one from one node to another.
    pub paths: Vec<PlantPath>,
    /// Ports to which bridges send multicast frames.
    pub multicast: PlantMulticast,
    pub(super) file_name: String,
    pub(super) source: String,
    pub(super) document: Table,
}

/// Ports to which bridges send multicast frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantMulticast {
    /// Those towards devices that listen at the address: by static entries or MMRP (IEEE 802.1Q, 8.8 and 10.9), or by IGMP
    /// snooping.
    Filtered,
    /// All.
    Flooded,
}

/// A text of a network file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantText {
    /// The text.
    pub text: String,
    /// Position in bytes.
    pub span: Range<usize>,
}

/// A node that runs configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantDevice {
    /// The node.
    pub node: NodeIndex,
    /// Position of the table, in bytes.
    pub span: Range<usize>,
    /// Names of configurations, each once.
    pub configurations: Vec<PlantText>,
    /// Longest time from the wake-up of a thread until its message is in the queue of the port.
    pub processing_time: Option<Duration>,
    /// VLAN of messages whose address has none.
    pub vlan: Option<u16>,
    /// Priority Code Point of messages whose address has none.
    pub pcp: Option<u8>,
}

/// Properties of a WriterGroup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantWriterGroup {
    /// Node whose configuration has it.
    pub device: NodeIndex,
    /// Name of the WriterGroup.
    pub name: PlantText,
    /// Position of the table, in bytes.
    pub span: Range<usize>,
    /// VLAN, if the address has none.
    pub vlan: Option<u16>,
    /// Priority Code Point, if the address has none.
    pub pcp: Option<u8>,
    /// Offset in the publishing interval, if the configuration has none.
    pub offset: Option<Duration>,
    /// Payload of its longest frame.
    pub payload: Option<Size>,
    /// True if its messages are not in the scenario.
    pub is_left_out: bool,
}

/// The path of frames from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantPath {
    /// Position of the table, in bytes.
    pub span: Range<usize>,
    /// All nodes; at least two.
    pub nodes: Vec<NodeIndex>,
}

impl PlantFile {
    /// Returns the name of the file.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.source
    }

    /// Returns the line of a position in bytes, from 1.
    #[must_use]
    pub fn line(&self, place: usize) -> usize {
        let before = self.source.as_bytes().get(..place).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Returns mistakes at positions of the file: each with its message, and an instruction.
    #[must_use]
    pub fn errors_at(
        &self,
        mistakes: Vec<(Range<usize>, String, Option<String>)>,
    ) -> ScenarioError {
        let problems = mistakes.into_iter().map(|(span, message, help)| {
            let problem = Problem::new(message, span);
            match help {
                Some(help) => problem.with_help(help),
                None => problem,
            }
        });
        ScenarioError::new(&self.file_name, &self.source, problems.collect())
    }

    /// Returns the position in bytes of a node's field, in `nodes`, or in the topology that makes the node; `None` if the file
    /// does not have it.
    #[must_use]
    pub fn node_field(&self, node: &str, field: &str) -> Option<usize> {
        let mut nodes = self.document.tables("nodes");
        let own = nodes.find(|(_, table)| table.text("name") == Some(node));
        let own = own.map(|(_, table)| table);
        if let Some(place) = own.and_then(|table| table.place(field)) {
            return Some(place);
        }
        // A table that states the kind describes a further node, which the topology does not make.
        if own.is_some_and(|table| table.get("kind").is_some()) {
            return None;
        }
        self.document.table("topology")?.place(field)
    }

    /// Returns the position in bytes at which a node is described: its own table, or the topology.
    #[must_use]
    pub fn node_place(&self, node: &str) -> usize {
        let mut nodes = self.document.tables("nodes");
        let own = nodes.find(|(_, table)| table.text("name") == Some(node));
        let own = own.and_then(|(_, table)| table.place("name"));
        own.or_else(|| self.place("topology")).unwrap_or(0)
    }

    /// Returns the position in bytes of a field at the beginning of the file, or of a part of it: `bounds.lower_priority`.
    #[must_use]
    pub fn place(&self, path: &str) -> Option<usize> {
        match path.split_once('.') {
            Some((table, field)) => self.document.table(table)?.place(field),
            None => self.document.place(path),
        }
    }
}

impl Table {
    /// Returns the position of a field's name.
    fn place(&self, field: &str) -> Option<usize> {
        let mut fields = self.fields.iter();
        let found: Option<&(_, Item)> = fields.find(|(key, _)| key.name == field);
        found.map(|(key, _)| key.span.start)
    }
}

//! Positions of the parts of a scenario in its file, for errors that are found after the file is read.

use std::ops::Range;

use crate::document::{Item, Key, Table};
use crate::error::{Problem, ScenarioError};
use crate::model::PortIndex;
use crate::scenario::{FlowSource, Scenario};
use crate::scenario_file::{ScenarioFile, ScenarioVariant, said_with};

/// A part of a scenario that its file describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The queueing discipline of a port.
    Discipline(PortIndex),
    /// A class of the discipline of a port.
    Class {
        /// The port.
        port: PortIndex,
        /// Index of the class in the discipline.
        class: usize,
    },
    /// An entry of the gates of a port's discipline.
    GateEntry {
        /// The port.
        port: PortIndex,
        /// Index of the entry, from 0.
        entry: usize,
    },
    /// An application or cross traffic.
    Flow(FlowSource),
}

impl ScenarioFile {
    /// Returns an error at a part of one of the variants of this file, with line and column.
    pub fn error_at(
        &self,
        variant: &ScenarioVariant,
        part: Part,
        message: impl Into<String>,
    ) -> ScenarioError {
        let span = span(&self.document, &variant.scenario, part);
        let problem = Problem::new(message, span.unwrap_or_default());
        let error = self.error(problem);
        match variant.settings.as_slice() {
            [] => error,
            settings => said_with(error, settings, self.sweeps()),
        }
    }
}

/// Returns the position of the name of a part. Where the file does not name the discipline, it is the field that selects it.
fn span(document: &Table, scenario: &Scenario, part: Part) -> Option<Range<usize>> {
    match part {
        Part::Discipline(port) => {
            let name = &scenario.ports.get(port.0)?.discipline.name;
            match discipline(document, name) {
                Some((key, _)) => Some(key.span.clone()),
                None => Some(document.get("discipline")?.span.clone()),
            }
        }
        Part::Class { port, class } => {
            let resolved = &scenario.ports.get(port.0)?.discipline;
            let class = resolved.classes.get(class)?;
            discipline(document, &resolved.name)
                .and_then(|(_, item)| named(item.table()?, "classes", &class.name))
                // The class of Linux's default discipline is in no file.
                .or_else(|| span(document, scenario, Part::Discipline(port)))
        }
        Part::GateEntry { port, entry } => {
            let resolved = &scenario.ports.get(port.0)?.discipline;
            discipline(document, &resolved.name)
                .and_then(|(_, item)| item.table()?.tables("entries").nth(entry))
                .and_then(|(_, entry)| Some(entry.get("interval")?.span.clone()))
                .or_else(|| span(document, scenario, Part::Discipline(port)))
        }
        Part::Flow(
            FlowSource::Publish(id) | FlowSource::Return(id) | FlowSource::Branch(id, _),
        ) => {
            let application = scenario.applications.get(id.0)?;
            named(document, "applications", &application.name)
        }
        Part::Flow(FlowSource::Cross(id)) => {
            let traffic = scenario.cross_traffic.get(id.0)?;
            named(document, "cross_traffic", &traffic.name)
        }
    }
}

/// Returns the key and the value of a discipline.
fn discipline<'d>(document: &'d Table, name: &str) -> Option<&'d (Key, Item)> {
    let fields = &document.table("disciplines")?.fields;
    fields.iter().find(|(key, _)| key.name == name)
}

/// Returns the position of the name of an element of a list.
fn named(table: &Table, list: &str, name: &str) -> Option<Range<usize>> {
    let mut names = table
        .tables(list)
        .filter_map(|(_, element)| element.get("name"));
    let found = names.find(|item| item.text() == Some(name))?;
    Some(found.span.clone())
}

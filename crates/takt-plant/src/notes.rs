//! Assumptions and warnings, in the order in which they come up.

use std::fmt;

use takt_scenario::toml_text::visible;

use crate::configuration::ValueOrigin;

/// A value that no file states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantAssumption {
    /// Field of the network file that states it.
    pub field: &'static str,
    /// Nodes, links and WriterGroups that have it; without control characters.
    pub subjects: Vec<String>,
    /// Assumed value.
    pub value: String,
    /// Place for the value, and how to find it out.
    pub advice: &'static str,
}

/// Part of a configuration that is probably not as it was meant, or that the scenario does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantWarning {
    /// Place of the part.
    pub origin: ValueOrigin,
    /// Name of the part, from the outside in: `UDP/Fast/Spindle`; without control characters. Empty for a file.
    pub entry: String,
    /// Description.
    pub message: String,
}

impl PlantAssumption {
    /// Returns the assumption and its advice in one line.
    #[must_use]
    pub fn with_advice(&self) -> String {
        format!("{self}: {}", self.advice)
    }
}

/// Assumptions and warnings.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) assumptions: Vec<PlantAssumption>,
    pub(crate) warnings: Vec<PlantWarning>,
}

impl Notes {
    /// Notes an assumption. Subjects with the same value share one.
    pub(crate) fn assume(
        &mut self,
        field: &'static str,
        subject: &str,
        value: &str,
        advice: &'static str,
    ) {
        let mut known = self.assumptions.iter_mut();
        match known.find(|it| it.field == field && it.value == value) {
            Some(known) => known.subjects.push(visible(subject)),
            None => self.assumptions.push(PlantAssumption {
                field,
                subjects: vec![visible(subject)],
                value: value.to_owned(),
                advice,
            }),
        }
    }

    pub(crate) fn warn(&mut self, origin: ValueOrigin, entry: &str, message: impl Into<String>) {
        self.warnings.push(PlantWarning {
            origin,
            entry: visible(entry),
            message: visible(&message.into()),
        });
    }
}

/// Writes `wake_up_latency of press, robot = 0 us to 100 us`.
impl fmt::Display for PlantAssumption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More names would hide the value.
        const SHOWN: usize = 6;
        let Self {
            field,
            subjects,
            value,
            ..
        } = self;
        let shown = subjects.get(..SHOWN).unwrap_or(subjects).join(", ");
        let more = match subjects.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        write!(formatter, "{field} of {shown}{more} = {value}")
    }
}

impl fmt::Display for PlantWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            origin,
            entry,
            message,
        } = self;
        match entry.as_str() {
            "" => write!(formatter, "{origin}: {message}"),
            entry => write!(formatter, "{origin}: {entry}: {message}"),
        }
    }
}

//! Schedulers, which select between the classes of a port: one file for each. A new one is a file, a variant, a row of
//! [`SCHEDULERS`], and an arm of each `match` here.

mod fq_codel;
mod mqprio;
mod taprio;

use std::fmt;
use std::ops::Range;

pub use fq_codel::FqCodelParameters;
pub use taprio::{GateEntry, Taprio};

use super::description::{self, DisciplineDescription};
use super::limit::Limit;
use crate::document::Table;
use crate::error::Problem;
use crate::quantity::Duration;
use crate::shape::FieldsOfKind;

/// Selection between the classes of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheduler {
    /// `fq_codel`: no classes; flows take turns, and frames are dropped from a queue that does not drain. The default of most
    /// distributions.
    FqCodel(FqCodelParameters),
    /// `mqprio`: the highest class with a frame that may be sent.
    Mqprio,
    /// `taprio`: the same among the classes with open gates.
    Taprio(Taprio),
}

/// Schedulers, in the order of the reference.
pub(super) static SCHEDULERS: [DisciplineDescription; 3] = [
    fq_codel::DESCRIPTION,
    mqprio::DESCRIPTION,
    taprio::DESCRIPTION,
];

/// Names of the schedulers in the file.
pub(super) const NAMES: [&str; SCHEDULERS.len()] = description::names(&SCHEDULERS);

/// Fields of a discipline that only one scheduler has.
pub(crate) const FIELDS: [FieldsOfKind; SCHEDULERS.len()] = description::fields(&SCHEDULERS);

impl Default for Scheduler {
    /// Returns the default of Linux.
    fn default() -> Self {
        Self::FqCodel(FqCodelParameters::default())
    }
}

/// Returns true if a scheduler in the file has classes.
pub(crate) fn has_classes(kind: &str) -> bool {
    let mut known = SCHEDULERS.iter();
    known
        .find(|description| description.name == kind)
        .is_none_or(|description| description.template.class.is_some())
}

impl Scheduler {
    /// Reads the scheduler of a discipline. `classes` are the names of its classes, highest first, and `span` is its place.
    pub(crate) fn read(
        kind: &str,
        table: &Table,
        classes: &[&str],
        span: &Range<usize>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        match kind {
            "fq_codel" => Self::FqCodel(FqCodelParameters::read(table)),
            "taprio" => Self::Taprio(Taprio::read(table, classes, span, problems)),
            // The check of the fields has refused all other names.
            _ => Self::Mqprio,
        }
    }

    /// Returns the capacity of the only queue of a scheduler without classes; `None` if there are classes.
    pub fn only_queue(&self) -> Option<Limit> {
        match self {
            Self::FqCodel(parameters) => Some(Limit::Frames(parameters.limit)),
            Self::Mqprio | Self::Taprio(_) => None,
        }
    }

    /// Returns the schedule of gates, if there is one.
    pub fn gates(&self) -> Option<&Taprio> {
        match self {
            Self::Taprio(taprio) => Some(taprio),
            Self::FqCodel(_) | Self::Mqprio => None,
        }
    }

    pub(crate) fn gates_mut(&mut self) -> Option<&mut Taprio> {
        match self {
            Self::Taprio(taprio) => Some(taprio),
            Self::FqCodel(_) | Self::Mqprio => None,
        }
    }

    /// Returns the delay of txtime-assist, if there is one.
    pub fn txtime_assist(&self) -> Option<Duration> {
        self.gates()?.txtime_assist
    }
}

/// Shows the kind with its most important parameters.
impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FqCodel(_) => f.write_str("fq_codel"),
            Self::Mqprio => f.write_str("mqprio"),
            Self::Taprio(taprio) => taprio.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_read_as_its_kind() {
        for name in NAMES {
            let nothing = Table::default();
            let scheduler = Scheduler::read(name, &nothing, &[], &(0..0), &mut Vec::new());
            let scheduler = scheduler.to_string();
            assert!(scheduler.starts_with(name), "{name} is read as {scheduler}");
        }
    }
}

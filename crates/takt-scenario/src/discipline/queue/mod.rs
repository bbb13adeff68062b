//! Queues of classes: one file for each kind. A new kind is a file, a variant, a row of [`QUEUES`], and an arm of each `match` here.

mod cbs;
mod etf;
mod fifo;

use std::fmt;

pub use cbs::{CbsParameters, ReservedAbove, ShapedTraffic, ShaperNumber};
pub use etf::EtfParameters;

use super::description::{self, DisciplineDescription};
use super::limit::Limit;
use crate::document::{Item, Table, Value};
use crate::error::Problem;
use crate::shape::FieldsOfKind;
pub(crate) use cbs::{CbsFields, by_fast_clock};

/// Queue of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Queue {
    /// First in, first out, until the class's turn; frames beyond the capacity are dropped.
    Fifo(Limit),
    /// First in, first out, while the credit is not negative (Credit-Based Shaper, IEEE 802.1Q, 8.6.8.2).
    Cbs(CbsParameters),
    /// Ordered by the txtime of each frame (`etf`).
    Etf(EtfParameters),
}

/// Queues of classes, in the order of the reference.
pub(super) static QUEUES: [DisciplineDescription; 3] =
    [fifo::DESCRIPTION, cbs::DESCRIPTION, etf::DESCRIPTION];

/// Names of the queues in the file.
pub(super) const NAMES: [&str; QUEUES.len()] = description::names(&QUEUES);

/// Fields of a class that only one kind of queue has.
pub(crate) const FIELDS: [FieldsOfKind; QUEUES.len()] = description::fields(&QUEUES);

/// Queue as it is written in the file.
pub(crate) enum WrittenQueue {
    /// A queue that is the same at each port.
    Complete(Queue),
    /// A Credit-Based Shaper, with slopes and credits of its own at each port.
    Shaped(CbsFields),
}

impl WrittenQueue {
    /// Reads the queue of a class. `assisted` is true below `taprio` with txtime-assist.
    pub(crate) fn read(
        kind: &str,
        item: &Item,
        table: &Table,
        assisted: bool,
        problems: &mut Vec<Problem>,
    ) -> Self {
        match kind {
            "cbs" => Self::Shaped(CbsFields::read(item, table, problems)),
            "etf" => Self::Complete(Queue::Etf(EtfParameters::read(table, assisted))),
            _ => Self::Complete(Queue::Fifo(Limit::read(table))),
        }
    }
}

impl Queue {
    /// Returns the queue of a kind with the default of each parameter; a FIFO queue if it needs a parameter or is not known.
    pub(super) fn with_defaults(kind: &str) -> Self {
        let nothing = Item {
            span: 0..0,
            value: Value::Table(Table::default()),
        };
        let table = Table::default();
        match WrittenQueue::read(kind, &nothing, &table, false, &mut Vec::new()) {
            WrittenQueue::Complete(queue) => queue,
            WrittenQueue::Shaped(fields) => Self::Fifo(fields.limit),
        }
    }

    /// Returns the parameters of the shaper, if there is one.
    pub fn shaper(&self) -> Option<&CbsParameters> {
        match self {
            Self::Cbs(parameters) => Some(parameters),
            Self::Fifo(_) | Self::Etf(_) => None,
        }
    }

    /// Returns the parameters of a queue that keeps frames until their txtime.
    pub fn launch(&self) -> Option<&EtfParameters> {
        match self {
            Self::Etf(parameters) => Some(parameters),
            Self::Fifo(_) | Self::Cbs(_) => None,
        }
    }

    /// Returns true if frames without a txtime of their socket are dropped.
    pub fn needs_txtime(&self) -> bool {
        self.launch().is_some_and(|etf| !etf.skip_sock_check)
    }
}

/// Shows the kind with its most important parameters.
impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fifo(_) => f.write_str("fifo"),
            Self::Cbs(parameters) => parameters.fmt(f),
            Self::Etf(parameters) => parameters.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_read_as_its_kind() {
        for name in NAMES.into_iter().filter(|name| *name != "cbs") {
            let queue = Queue::with_defaults(name).to_string();
            assert!(queue.starts_with(name), "{name} is read as {queue}");
        }
    }
}

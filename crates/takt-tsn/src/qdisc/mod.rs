//! Queueing disciplines as `tc` knows them: one file for each, with its parameters in the units of `tc`, its words, and its way
//! back from `tc -j`. A new discipline is a file, a variant, and an arm of each `match` here.

mod cbs;
mod class_map;
mod etf;
mod fifo;
mod fq_codel;
pub(crate) mod json;
mod offload;
mod taprio;
mod words;

use std::fmt;

pub use cbs::ShaperNumbers;
pub use class_map::{ClassMap, SOCKET_PRIORITIES};
pub use etf::LaunchNumbers;
pub use offload::HardwareOffload;
pub use taprio::{GateMode, GateSchedule, WIRE_OVERHEAD};

use serde_json::Value;
use takt_scenario::{FqCodelParameters, Limit, Queue, Scheduler};

use crate::derivation::Derivation;

/// Handle of a discipline: the number before the colon, which `tc` writes in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QdiscHandle(pub u16);

impl fmt::Display for QdiscHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:", self.0)
    }
}

/// Place of a discipline: the root of the interface, or a class of another discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QdiscParent {
    /// The interface.
    Root,
    /// A class: handle of the discipline and number of the class, from 1.
    Class(QdiscHandle, u16),
}

impl fmt::Display for QdiscParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("root"),
            Self::Class(handle, minor) => write!(f, "parent {handle}{minor:x}"),
        }
    }
}

/// A discipline at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// Handle.
    pub handle: QdiscHandle,
    /// Place.
    pub parent: QdiscParent,
    /// Kind with parameters.
    pub kind: QdiscKind,
}

/// Kind of a discipline, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QdiscKind {
    /// `fq_codel`.
    FqCodel(FqCodelParameters),
    /// `mqprio` without hardware offload of the map (`hw 0`).
    Mqprio(ClassMap),
    /// `taprio`.
    Taprio(GateSchedule),
    /// `cbs`.
    Cbs(ShaperNumbers),
    /// `etf` with CLOCK_TAI.
    Etf(LaunchNumbers),
    /// `pfifo`: a queue for this number of frames.
    Pfifo(u64),
    /// `bfifo`: a queue for this number of bytes of L2 frames.
    Bfifo(u64),
}

impl QdiscKind {
    /// Returns the discipline of a scheduler without classes, with the origins of its parameters. `None` for one with classes, whose
    /// map and gates depend on the interface.
    pub(crate) fn without_classes(scheduler: &Scheduler) -> Option<(Self, Vec<Derivation>)> {
        match scheduler {
            Scheduler::FqCodel(parameters) => {
                let derivations = fq_codel::derivations(parameters);
                Some((Self::FqCodel(parameters.clone()), derivations))
            }
            Scheduler::Mqprio | Scheduler::Taprio(_) => None,
        }
    }

    /// Returns the discipline of a class's queue, with the origins of its parameters. For a shaper, which depends on the port, it is
    /// the queue below.
    pub(crate) fn of_queue(
        queue: &Queue,
        class: &str,
        offload: HardwareOffload,
    ) -> (Self, Derivation) {
        let fifo = |limit: Limit| {
            let kind = match limit {
                Limit::Frames(frames) => Self::Pfifo(frames),
                Limit::Bytes(bytes) => Self::Bfifo(bytes.0),
            };
            (kind, fifo::derivation(class, limit))
        };
        match queue {
            Queue::Fifo(limit) => fifo(*limit),
            Queue::Cbs(shaper) => fifo(shaper.limit),
            Queue::Etf(etf) => {
                let (numbers, derivation) = LaunchNumbers::of_queue(etf, offload);
                (Self::Etf(numbers), derivation)
            }
        }
    }

    /// Returns the name for `tc`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::FqCodel(_) => "fq_codel",
            Self::Mqprio(_) => "mqprio",
            Self::Taprio(_) => "taprio",
            Self::Cbs(_) => "cbs",
            Self::Etf(_) => "etf",
            Self::Pfifo(_) => "pfifo",
            Self::Bfifo(_) => "bfifo",
        }
    }

    /// Returns the parameters as the words of a `tc` command. Each text is an option with its values, so that lines can
    /// be wrapped between them.
    pub fn phrases(&self) -> Vec<String> {
        match self {
            Self::FqCodel(parameters) => fq_codel::phrases(parameters),
            Self::Mqprio(map) => {
                let mut phrases = map.phrases();
                phrases.push("hw 0".to_owned());
                phrases
            }
            Self::Taprio(schedule) => schedule.phrases(),
            Self::Cbs(shaper) => shaper.phrases(),
            Self::Etf(etf) => etf.phrases(),
            Self::Pfifo(limit) | Self::Bfifo(limit) => fifo::phrases(*limit),
        }
    }

    /// Returns names and values of all parameters, as the kernel keeps them, for comparisons.
    pub fn parameters(&self) -> Vec<(String, String)> {
        match self {
            Self::FqCodel(parameters) => fq_codel::parameters(parameters),
            Self::Mqprio(map) => words::pairs(&map.phrases()),
            Self::Taprio(schedule) => schedule.parameters(),
            Self::Etf(etf) => etf.parameters(),
            Self::Cbs(_) | Self::Pfifo(_) | Self::Bfifo(_) => words::pairs(&self.phrases()),
        }
    }

    /// Reads the options of `tc -j` for a discipline of this name. `overhead` is that of the size table. `None` for a discipline that
    /// Takt does not know, and for invalid options.
    pub(crate) fn read(name: &str, options: &Value, overhead: u32) -> Option<Self> {
        Some(match name {
            "fq_codel" => Self::FqCodel(fq_codel::read(options)),
            "mqprio" => Self::Mqprio(ClassMap::read(options)?),
            "taprio" => Self::Taprio(GateSchedule::read(options, overhead)?),
            "cbs" => Self::Cbs(ShaperNumbers::read(options)?),
            "etf" => Self::Etf(LaunchNumbers::read(options)?),
            "pfifo" => Self::Pfifo(json::number(options, "limit")?),
            "bfifo" => Self::Bfifo(json::number(options, "limit")?),
            _ => return None,
        })
    }

    /// Returns the map of classes, if the kind has classes for priorities.
    pub fn class_map(&self) -> Option<&ClassMap> {
        match self {
            Self::Mqprio(map) => Some(map),
            _ => self.gates().map(|schedule| &schedule.map),
        }
    }

    /// Returns the schedule of gates, if there is one.
    pub fn gates(&self) -> Option<&GateSchedule> {
        match self {
            Self::Taprio(schedule) => Some(schedule),
            _ => None,
        }
    }

    /// Returns the words of a `tc` command before the name of the kind.
    pub fn size_table(&self) -> String {
        self.gates()
            .map_or_else(String::new, GateSchedule::size_table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_and_classes_are_hexadecimal() {
        assert_eq!(QdiscHandle(0x100).to_string(), "100:");
        let class = QdiscParent::Class(QdiscHandle(0x8001), 10);
        assert_eq!(class.to_string(), "parent 8001:a");
    }

    #[test]
    fn three_classes_as_words_of_tc() {
        let map = ClassMap {
            classes: [2, 2, 1, 0, 2, 2, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2],
            queues: vec![1, 1, 2],
        };
        assert_eq!(
            QdiscKind::Mqprio(map).phrases().join(" "),
            "num_tc 3 map 2 2 1 0 2 2 0 1 2 2 2 2 2 2 2 2 queues 1@0 1@1 2@2 hw 0"
        );
    }
}

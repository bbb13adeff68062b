//! Reasons why there is no plan.

use takt_scenario::{Duration, Rate};

/// Part of a port's discipline that Linux does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedPart {
    /// The discipline itself.
    Discipline,
    /// An entry of its gates, from 0.
    Entry(usize),
    /// A class, from 0.
    Class(usize),
}

impl LimitedPart {
    /// Returns the place in words, with a space behind it.
    fn words(self) -> String {
        match self {
            Self::Discipline => String::new(),
            Self::Entry(number) => format!("entry {}: ", number + 1),
            Self::Class(number) => format!("class {}: ", number + 1),
        }
    }
}

/// A number that Linux refuses, or takes for another one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}`{field}` is {given}, but Linux takes {limit} ({place})", part.words())]
pub struct KernelLimit {
    /// Part with the number.
    pub part: LimitedPart,
    /// Name of the field of the scenario.
    pub field: &'static str,
    /// The number, with its unit.
    pub given: String,
    /// The numbers that Linux takes, in words.
    pub limit: String,
    /// File and function of the kernel with the limit.
    pub place: &'static str,
    /// Advice for another number.
    pub fix: String,
}

/// Reason why a port cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A name that Linux does not accept for an interface.
    #[error(
        "`{0}` is no name of a network interface: 1 to 15 bytes, without `/` and white space, not beginning with `-`"
    )]
    InterfaceName(String),
    /// A time that is no whole number of nanoseconds.
    #[error("{field} is {time}, but Linux counts whole nanoseconds")]
    Nanoseconds {
        /// Name of the field.
        field: &'static str,
        /// Time.
        time: Duration,
    },
    /// A gate that is open for longer than `tc` can say.
    #[error("an entry of {0} is too long: an interval has at most 4.29 s")]
    Interval(Duration),
    /// More reserved than the interface can send.
    #[error("class `{class}` reserves {idle_slope}, but the interface sends at {speed}")]
    IdleSlope {
        /// Name of the class.
        class: String,
        /// Reserved rate.
        idle_slope: Rate,
        /// Speed of the interface.
        speed: Rate,
    },
    /// A number beyond a limit of the kernel.
    #[error(transparent)]
    Limit(Box<KernelLimit>),
    /// More transmit queues than have handles.
    #[error("a plan has at most 1024 transmit queues, not {0}")]
    ManyQueues(u16),
    /// Fewer transmit queues than classes.
    #[error("{classes} classes need as many transmit queues, but the interface has {queues}")]
    Queues {
        /// Number of classes.
        classes: usize,
        /// Number of queues.
        queues: u16,
    },
}

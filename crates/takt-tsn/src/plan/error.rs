//! Reasons why there is no plan.

use takt_scenario::{Duration, Rate};

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
    /// Fewer transmit queues than classes.
    #[error("{classes} classes need as many transmit queues, but the interface has {queues}")]
    Queues {
        /// Number of classes.
        classes: usize,
        /// Number of queues.
        queues: u16,
    },
}

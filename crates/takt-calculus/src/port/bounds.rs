//! Results of the analyses of ports.

use super::ClassService;
use super::delays::QueueDelays;
use super::network::QueueId;
use crate::Rational;
use crate::curve::{Curve, Extended};

/// Parameters of the search for a fixed point, if there are cyclic dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedPoint {
    /// Grid to whose multiples delays are rounded up, in seconds; it doubles after every eight rounds.
    pub grid: Rational,
    /// Maximum number of rounds. Delays that still grow after them count as infinite. After every eight rounds, delays that
    /// grow for ever count as infinite as well.
    pub rounds: u32,
    /// Number of queues on all paths together, above which delays are rounded up to the grid without cyclic dependencies, too: in
    /// large networks exact fractions become long. Analyses of single streams then use the lines above steps.
    pub exact_up_to: usize,
}

impl Default for FixedPoint {
    /// Returns a grid of 1 ns, 256 rounds, and exact delays without cyclic dependencies for up to 2 000 queues on paths.
    fn default() -> Self {
        Self {
            grid: Rational::from_parts(1.into(), 1_000_000_000u32.into()),
            rounds: 256,
            exact_up_to: 2_000,
        }
    }
}

/// Reasons why a bound is infinite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unbounded {
    /// Arrivals that exceed the service in the long run.
    #[error(
        "{queue}: {arrival_rate:?} bit/s arrive in the long run, {service_rate:?} bit/s are served"
    )]
    Overload {
        /// The queue.
        queue: QueueId,
        /// Long-term rate of the arrivals.
        arrival_rate: Extended,
        /// Long-term rate of the minimum service.
        service_rate: Extended,
    },
    /// Delays that depend on each other in a circle, without a common bound that could be found.
    #[error("{queue}: delays depend on each other in a cycle and still grow after {rounds} rounds")]
    NoFixedPoint {
        /// The queue.
        queue: QueueId,
        /// Number of rounds through the circle.
        rounds: u32,
        /// Factor, at least 1, by which high delays grow at least from round to round. `None` if the rounds ended before
        /// endless growth was found.
        growth: Option<Rational>,
    },
}

/// The bounds of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueBounds {
    /// Arrivals of all streams together.
    pub arrival: Curve,
    /// Service of the queue.
    pub service: ClassService,
    /// The longest time from a frame's arrival to its last bit on the link, in seconds.
    pub delay: Extended,
    /// The same for each stream.
    pub(crate) delays: QueueDelays,
    /// Greatest number of bits that wait or are being sent.
    pub backlog: Extended,
    /// Long-term rate of the arrivals divided by that of the service; 0 if nothing arrives.
    pub utilisation: Extended,
    /// Reason why the delay is infinite.
    pub unbounded: Option<Unbounded>,
}

/// The bounds of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamBounds {
    /// The longest time from the arrival at its first step to the end of its last, in seconds.
    pub delay: Extended,
    /// The longest time less the least: the greatest difference between the delays of two frames, in seconds.
    pub jitter: Extended,
    /// The least time, in seconds.
    pub best_case: Rational,
    /// Reason why the delay is infinite.
    pub unbounded: Option<Unbounded>,
}

/// The bounds of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortBounds {
    /// Bounds of each class of each port.
    pub queues: Vec<Vec<QueueBounds>>,
    /// Bounds of each stream.
    pub streams: Vec<StreamBounds>,
    /// Number of rounds through cyclic dependencies until nothing grew; 0 if there are none.
    pub rounds: u32,
    /// Jitters of each stream, at each queue of its path: the variation of the delay to there.
    pub(crate) jitters: Vec<Vec<Extended>>,
}

impl PortBounds {
    /// Returns the bounds of a queue.
    pub fn queue(&self, queue: QueueId) -> Option<&QueueBounds> {
        self.queues.get(queue.port)?.get(queue.class)
    }
}

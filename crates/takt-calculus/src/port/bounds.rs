//! What the analyses of ports answer.

use super::ClassService;
use super::network::QueueId;
use crate::Rational;
use crate::curve::{Curve, Extended};

/// How a fixed point is looked for, if there are cyclic dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedPoint {
    /// Delays are rounded up to a multiple of this, in seconds; it doubles after every eight rounds.
    pub grid: Rational,
    /// After so many rounds what still grows counts as infinite.
    pub rounds: u32,
    /// If paths have more queues than this, all together, delays are rounded up to the grid where there are no cyclic dependencies, too: in large networks
    /// exact fractions become long. Analyses of streams one by one then take the lines above steps.
    pub exact_up_to: usize,
}

impl Default for FixedPoint {
    /// 1 ns, 256 rounds, and exact delays without cyclic dependencies for up to 2 000 queues on paths.
    fn default() -> Self {
        Self {
            grid: Rational::from_parts(1.into(), 1_000_000_000u32.into()),
            rounds: 256,
            exact_up_to: 2_000,
        }
    }
}

/// Why a bound is infinite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unbounded {
    /// More arrives in the long run than is served.
    #[error(
        "{queue}: {arrival_rate:?} bit/s arrive in the long run, {service_rate:?} bit/s are served"
    )]
    Overload {
        /// The queue.
        queue: QueueId,
        /// What arrives.
        arrival_rate: Extended,
        /// What is served at least.
        service_rate: Extended,
    },
    /// Delays that depend on each other in a circle have no common bound that could be found.
    #[error(
        "{queue}: delays depend on each other in a circle, and after {rounds} rounds still grow"
    )]
    NoFixedPoint {
        /// The queue.
        queue: QueueId,
        /// How often the circle was passed.
        rounds: u32,
    },
}

/// The bounds of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueBounds {
    /// What arrives there, all streams together.
    pub arrival: Curve,
    /// What it is served.
    pub service: ClassService,
    /// The longest time from a frame's arrival to its last bit on the link, in seconds.
    pub delay: Extended,
    /// What waits or is being sent at most, in bits.
    pub backlog: Extended,
    /// What arrives in the long run divided by what is served; 0 if nothing arrives.
    pub utilisation: Extended,
    /// Why the delay is infinite.
    pub unbounded: Option<Unbounded>,
}

/// The bounds of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamBounds {
    /// The longest time from the arrival at its first step to the end of its last, in seconds.
    pub delay: Extended,
    /// The longest time less the least: by how much two frames' delays can differ, in seconds.
    pub jitter: Extended,
    /// The least time, in seconds.
    pub best_case: Rational,
    /// Why the delay is infinite.
    pub unbounded: Option<Unbounded>,
}

/// The bounds of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortBounds {
    /// Of each port and class.
    pub queues: Vec<Vec<QueueBounds>>,
    /// Of each stream.
    pub streams: Vec<StreamBounds>,
    /// How often cyclic dependencies were passed until nothing grew; 0 if there are none.
    pub rounds: u32,
    /// Of each stream and queue of its path, how much the delay to there varies.
    pub(crate) jitters: Vec<Vec<Extended>>,
}

impl PortBounds {
    /// The bounds of a queue.
    pub fn queue(&self, queue: QueueId) -> Option<&QueueBounds> {
        self.queues.get(queue.port)?.get(queue.class)
    }
}

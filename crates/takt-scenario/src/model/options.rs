//! Options of bounds, simulations and measurements.

use crate::Frame;

/// Options of `takt bounds`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundsOptions {
    /// Assumptions.
    pub model: BoundsModel,
    /// Analyses; the smallest of their bounds holds. Not empty.
    pub analyses: Vec<Analysis>,
    /// Longest frame of lower priority.
    pub lower_priority: LowerPriority,
}

/// Assumptions of a bound; `docs/bounds.md` derives both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BoundsModel {
    /// Assumptions that hold.
    #[default]
    Sound,
    /// Assumptions of "Assessment of OPC UA PubSub at Scale using TSN Infrastructure and Network Calculus".
    Paper,
}

/// Analysis of network calculus: a way from curves to bounds. Each bound holds where the analysis applies, so that the smallest
/// one is the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Analysis {
    /// Total Flow Analysis (TFA): the sum of the queues' delays. Holds for all queues, on circles, and where frames overtake each
    /// other between queues.
    TotalFlow,
    /// Total Flow Analysis with line shaping (TFA++): frames that come over one link are limited by the link.
    TotalFlowShaped,
    /// Separate Flow Analysis (SFA): the service that the other streams leave at each queue, as one server, with the arrivals of
    /// [`Analysis::TotalFlowShaped`]. A stream's own frames must keep their order between queues.
    SeparateFlow,
    /// Pay Multiplexing Only Once (PMOO), for strict servers that send in any order. Applies to a stream with one queue: frames
    /// become complete between queues, and a strict server is no longer strict behind such a place.
    PayMultiplexingOnlyOnce,
    /// Polynomial-size linear programme (PLP) of the queues on and before a stream's path, which must be FIFO. Frames of a class
    /// must keep their order from one port to the next.
    PolynomialLinearProgram,
    /// Bounds from the windows of the gates for which each frame waits, where applications and gates have one clock.
    Schedule,
}

impl Analysis {
    /// All analyses.
    pub const ALL: [Self; 6] = [
        Self::TotalFlow,
        Self::TotalFlowShaped,
        Self::SeparateFlow,
        Self::PayMultiplexingOnlyOnce,
        Self::PolynomialLinearProgram,
        Self::Schedule,
    ];

    /// Returns the name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::TotalFlow => "tfa",
            Self::TotalFlowShaped => "tfa++",
            Self::SeparateFlow => "sfa",
            Self::PayMultiplexingOnlyOnce => "pmoo",
            Self::PolynomialLinearProgram => "plp",
            Self::Schedule => "schedule",
        }
    }

    /// Returns the analysis with a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|analysis| analysis.name() == name)
    }
}

/// Longest frame of lower priority that can occupy a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LowerPriority {
    /// The longest frame of the scenario's flows there.
    Declared,
    /// That frame or this one, whichever is longer: networks also carry traffic that is not in the scenario.
    AtMost(Frame),
}

/// Options of `takt simulate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SimulationOptions {
    /// Seed of the random numbers: the same seed gives the same run.
    pub seed: u64,
    /// Cycles of each application. Not 0.
    pub cycles: u64,
    /// Cycles at the beginning and at the end that are not counted; less than half of all.
    pub trim: u64,
}

/// A quantity that is measured or simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Time from publishing to the return.
    RoundTripTime,
    /// Time from one node to the next.
    OneWayDelay,
    /// Variation of delays.
    Jitter,
    /// Time between a frame and the next at one place.
    InterFrameSpacing,
    /// Frames lost at each node.
    Drops,
    /// Counters of missed and repeated messages.
    Counters,
}

impl Measure {
    /// All measures.
    pub const ALL: [Self; 6] = [
        Self::RoundTripTime,
        Self::OneWayDelay,
        Self::Jitter,
        Self::InterFrameSpacing,
        Self::Drops,
        Self::Counters,
    ];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::RoundTripTime => "round_trip_time",
            Self::OneWayDelay => "one_way_delay",
            Self::Jitter => "jitter",
            Self::InterFrameSpacing => "inter_frame_spacing",
            Self::Drops => "drops",
            Self::Counters => "counters",
        }
    }

    /// Returns the measure with a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }
}

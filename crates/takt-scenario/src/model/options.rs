//! What is asked of a scenario.

use crate::Frame;

/// What `takt bounds` takes into account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundsOptions {
    /// The assumptions.
    pub model: BoundsModel,
    /// The analyses; the least of their bounds is the answer. Not empty.
    pub analyses: Vec<Analysis>,
    /// What may be in the way of a class besides what the scenario says.
    pub lower_priority: LowerPriority,
}

/// The assumptions of a bound; `docs/bounds.md` derives both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BoundsModel {
    /// Those that hold.
    #[default]
    Sound,
    /// Those of "Assessment of OPC UA PubSub at Scale using TSN Infrastructure and Network Calculus".
    Paper,
}

/// Analysis of network calculus: a way from curves to bounds. Each bound holds where the analysis applies, so that the smallest one is the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Analysis {
    /// Total Flow Analysis (TFA): the sum of the queues' delays. Holds for all queues, on circles, and where frames overtake each other between queues.
    TotalFlow,
    /// Total Flow Analysis with line shaping (TFA++): frames that come over one link are no more than the link lets through.
    TotalFlowShaped,
    /// Separate Flow Analysis (SFA): the service that the other streams leave at each queue, as one server, with the arrivals of
    /// [`Analysis::TotalFlowShaped`]. A stream's own frames must keep their order between queues.
    SeparateFlow,
    /// Pay Multiplexing Only Once (PMOO), for strict servers that send in any order. Applies to a stream with one queue: frames are put together between
    /// queues, and a strict server with that behind it is not strict.
    PayMultiplexingOnlyOnce,
    /// Polynomial-size linear programme (PLP) of the queues on and before a stream's path, which must be FIFO. Frames of a class must keep their
    /// order from one port to the next.
    PolynomialLinearProgram,
    /// Windows of the gates for which each frame waits, where applications and gates have one clock.
    Schedule,
}

impl Analysis {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::TotalFlow,
        Self::TotalFlowShaped,
        Self::SeparateFlow,
        Self::PayMultiplexingOnlyOnce,
        Self::PolynomialLinearProgram,
        Self::Schedule,
    ];

    /// Its name in files and on the command line.
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

    /// The analysis of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|analysis| analysis.name() == name)
    }
}

/// Which frame of lower priority a port can be busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LowerPriority {
    /// The longest that a flow of the scenario has there.
    Declared,
    /// That one or this one, whichever is longer: there is always something that nobody wrote down.
    AtMost(Frame),
}

/// What `takt simulate` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SimulationOptions {
    /// What random numbers begin with: the same seed, the same run.
    pub seed: u64,
    /// Cycles of each application. Not 0.
    pub cycles: u64,
    /// Cycles at the beginning and at the end that are not counted; less than half of all.
    pub trim: u64,
}

/// What is measured or simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// From publishing to the return.
    RoundTripTime,
    /// From one node to the next.
    OneWayDelay,
    /// How delays vary.
    Jitter,
    /// Between a frame and the next at one place.
    InterFrameSpacing,
    /// Frames lost at each node.
    Drops,
    /// Counters in messages that were missed, or that came again.
    Counters,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::RoundTripTime,
        Self::OneWayDelay,
        Self::Jitter,
        Self::InterFrameSpacing,
        Self::Drops,
        Self::Counters,
    ];

    /// Its name in files.
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

    /// The measure of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }
}

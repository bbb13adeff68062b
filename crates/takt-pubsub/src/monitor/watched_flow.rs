//! Flows and their numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::watched_time::{TimeFigures, WatchedQuantity, WatchedTime, add};

/// Direction of a flow, seen from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowDirection {
    /// A WriterGroup sends it.
    Sending,
    /// A DataSetReader receives it.
    Receiving,
}

/// Reason why the clocks of sender and receiver are known to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommonClock {
    /// Both are on this host, and read one clock.
    SameHost,
    /// The user states that they differ by at most this time, for example because PTP measures it. Nothing checks it but
    /// messages that arrive before they were sent.
    Stated(Duration),
}

impl CommonClock {
    /// Returns the greatest difference of the clocks.
    #[must_use]
    pub const fn error(self) -> Duration {
        match self {
            Self::SameHost => Duration::ZERO,
            Self::Stated(error) => error,
        }
    }

    /// Returns the name for programs: `sameHost` or `stated`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameHost => "sameHost",
            Self::Stated(_) => "stated",
        }
    }
}

/// A flow with the times that are proven for it.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowDescription {
    /// Name of the flow where its times were proven, for example that of an application of a scenario.
    pub name: String,
    /// Component: `CONNECTION/GROUP` of a WriterGroup, `CONNECTION/READER` of a DataSetReader.
    pub component: String,
    /// Direction.
    pub direction: FlowDirection,
    /// Length of its longest message in bytes, with headers and signature. Longer ones are refused.
    pub longest_message: usize,
    /// Cycle: one message is sent in each.
    pub cycle: Duration,
    /// False if messages are not sent in each cycle, but when values change or events occur. Then the time between two of them says
    /// nothing, and is not measured.
    pub is_cyclic: bool,
    /// Longest [`WatchedQuantity::Delay`], with the greatest difference of the clocks; `None` if nothing is proven.
    pub delay: Option<Duration>,
    /// Longest [`WatchedQuantity::Interval`]; `None` if nothing is proven.
    pub interval: Option<Duration>,
    /// Longest [`WatchedQuantity::Sending`]; `None` if nothing is proven.
    pub sending: Option<Duration>,
    /// Reason why delays can be measured; `None` if nobody knows whether the clocks agree. Then no delay is measured.
    pub clocks: Option<CommonClock>,
    /// Reasons why the proven times may not hold here, in words.
    pub reservations: Vec<String>,
    /// Share of a proven time from which on a message counts as near its bound, for example 0.8.
    pub share: f64,
}

/// Numbers of a flow at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowFigures {
    /// Number of its NetworkMessages that were sent, or of its DataSetMessages that were accepted.
    pub messages: u64,
    /// Number of missing messages, according to sequence numbers.
    pub missing: u64,
    /// Number of messages that were refused because they are too long.
    pub refused: u64,
    /// Number of messages that came earlier after the one before than cycle and jitter permit: more are sent than in one cycle.
    pub early: u64,
    /// Number of messages that arrived before they were sent: the clocks do not agree as stated.
    pub from_the_future: u64,
    /// Number of times that the clock of this host was set. Delays are not measured while messages arrive that were made before.
    pub clock_steps: u64,
    /// Each measured quantity.
    pub times: Vec<TimeFigures>,
}

impl FlowFigures {
    /// Returns the greatest share of a proven time.
    #[must_use]
    pub fn greatest_share(&self) -> Option<f64> {
        let shares = self.times.iter().filter_map(TimeFigures::share);
        shares.reduce(f64::max)
    }

    /// Returns the number of times above their bounds.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.times.iter().map(|time| time.late).sum()
    }
}

/// A flow that is watched. One thread counts; any thread reads the numbers, without a lock.
#[derive(Debug)]
pub struct WatchedFlow {
    description: FlowDescription,
    pub(super) cycle: u64,
    /// Greatest difference of the clocks, in nanoseconds.
    pub(super) clock_error: i64,
    messages: AtomicU64,
    missing: AtomicU64,
    refused: AtomicU64,
    early: AtomicU64,
    from_the_future: AtomicU64,
    clock_steps: AtomicU64,
    pub(super) delay: Option<WatchedTime>,
    pub(super) interval: Option<WatchedTime>,
    pub(super) sending: Option<WatchedTime>,
}

impl WatchedFlow {
    /// Creates a flow without messages.
    #[must_use]
    pub fn new(description: FlowDescription) -> Self {
        let share = description.share;
        let is_receiving = description.direction == FlowDirection::Receiving;
        let has_delay = is_receiving && description.clocks.is_some();
        let time = |exists: bool, quantity, proven| {
            exists.then(|| WatchedTime::new(quantity, proven, share))
        };
        let error = description.clocks.map_or(Duration::ZERO, |it| it.error());
        Self {
            cycle: u64::try_from(description.cycle.as_nanos()).unwrap_or(u64::MAX),
            clock_error: i64::try_from(error.as_nanos()).unwrap_or(i64::MAX),
            messages: AtomicU64::new(0),
            missing: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            early: AtomicU64::new(0),
            from_the_future: AtomicU64::new(0),
            clock_steps: AtomicU64::new(0),
            delay: time(has_delay, WatchedQuantity::Delay, description.delay),
            interval: time(
                is_receiving && description.is_cyclic,
                WatchedQuantity::Interval,
                description.interval,
            ),
            sending: time(!is_receiving, WatchedQuantity::Sending, description.sending),
            description,
        }
    }

    /// Returns its description.
    #[must_use]
    pub const fn description(&self) -> &FlowDescription {
        &self.description
    }

    /// Returns its numbers now.
    #[must_use]
    pub fn figures(&self) -> FlowFigures {
        // The numbers are read one by one, and need not be of the same moment.
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let times = [&self.delay, &self.interval, &self.sending];
        FlowFigures {
            messages: load(&self.messages),
            missing: load(&self.missing),
            refused: load(&self.refused),
            early: load(&self.early),
            from_the_future: load(&self.from_the_future),
            clock_steps: load(&self.clock_steps),
            times: times
                .into_iter()
                .flatten()
                .map(WatchedTime::figures)
                .collect(),
        }
    }

    #[inline]
    pub(super) fn count(&self, messages: u64, missing: u64) {
        add(&self.messages, messages);
        add(&self.missing, missing);
    }

    #[cold]
    pub(super) fn count_refused(&self) {
        add(&self.refused, 1);
    }

    #[cold]
    pub(super) fn count_early(&self) {
        add(&self.early, 1);
    }

    #[cold]
    pub(super) fn count_from_the_future(&self) {
        add(&self.from_the_future, 1);
    }

    #[cold]
    pub(super) fn count_clock_step(&self) {
        add(&self.clock_steps, 1);
    }
}

/// The flows of a configuration. Clones have the same flows.
#[derive(Debug, Clone, Default)]
pub struct WatchedFlows {
    flows: Vec<Arc<WatchedFlow>>,
}

impl WatchedFlows {
    /// Creates flows from their descriptions.
    #[must_use]
    pub fn new(descriptions: impl IntoIterator<Item = FlowDescription>) -> Self {
        let flows = descriptions.into_iter().map(WatchedFlow::new);
        Self {
            flows: flows.map(Arc::new).collect(),
        }
    }

    /// Returns the flows.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<WatchedFlow>> {
        self.flows.iter()
    }

    /// Returns the number of flows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Returns the flow of a component.
    #[must_use]
    pub fn of(&self, direction: FlowDirection, component: &str) -> Option<&Arc<WatchedFlow>> {
        self.flows.iter().find(|flow| {
            let description = flow.description();
            description.direction == direction && description.component == component
        })
    }

    /// Returns the flow with the greatest share of a proven time, and this share.
    #[must_use]
    pub fn greatest(&self) -> Option<(&Arc<WatchedFlow>, f64)> {
        let shares = self.flows.iter().filter_map(|flow| {
            let share = flow.figures().greatest_share()?;
            Some((flow, share))
        });
        shares.reduce(|first, second| if second.1 > first.1 { second } else { first })
    }

    /// Returns the number of times above their bounds, of all flows.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.flows.iter().map(|flow| flow.figures().late()).sum()
    }
}

//! Observers of each sample of an analysis.

use crate::interval::TraceInterval;

/// Delay of a message in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelaySample {
    /// Interval.
    pub interval: TraceInterval,
    /// Counter of the message.
    pub counter: u64,
    /// Time at the beginning of the interval, in nanoseconds since 1970, UTC.
    pub began: i64,
    /// Delay in nanoseconds.
    pub nanos: i64,
    /// False if the message is left out at an end of the run.
    pub is_counted: bool,
}

/// Receiver of all samples of an analysis, in the order in which the messages arrive at the end of each interval.
pub trait SampleObserver {
    /// Takes a delay, also of messages that are left out at the ends of the run. Negative delays of one clock are left out.
    fn delay(&mut self, sample: &DelaySample);
}

/// An observer that ignores all samples.
impl SampleObserver for () {
    fn delay(&mut self, _: &DelaySample) {}
}

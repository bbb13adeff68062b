//! Quantities of a run.

use std::path::PathBuf;

use takt_control::TracePoint;

use crate::counters::CounterStatistics;
use crate::interval::TraceInterval;
use crate::sent_stamp::SentStamp;
use crate::source::RunFileFormat;
use crate::statistics::ExactStatistics;

/// Quantities of a run (`docs/analysis.md`).
#[derive(Debug)]
pub struct RunAnalysis {
    /// Files.
    pub files: Vec<RunFile>,
    /// Number of counters that are left out at each end.
    pub trim: u64,
    /// First counter that is not left out.
    pub first_counter: u64,
    /// Last counter that is not left out.
    pub last_counter: u64,
    /// Number of messages of which a record exists.
    pub messages: u64,
    /// Losses; `None` if they are unknown, because a file is damaged or has lost records.
    pub losses: Option<Vec<PointLoss>>,
    /// Trace points without a record of messages that were seen at a later one.
    pub missing_records: Vec<(TracePoint, u64)>,
    /// Number of records that came more than a window of 131 072 counters late. They are not counted elsewhere.
    pub late_records: u64,
    /// Quantities at each trace point.
    pub points: Vec<PointQuantities>,
    /// Quantities of each interval.
    pub intervals: Vec<IntervalQuantities>,
}

impl RunAnalysis {
    /// Returns the number of all lost messages.
    #[must_use]
    pub fn lost(&self) -> Option<u64> {
        let losses = self.losses.as_ref()?;
        Some(losses.iter().map(|loss| loss.count).sum())
    }

    /// Returns the time at which the round trip on the wire begins, that of T2; `None` without a capture at the Publisher's port.
    #[must_use]
    pub fn sent_stamp(&self) -> Option<SentStamp> {
        let mut points = self.points.iter();
        points
            .find(|it| it.point == TracePoint::T2)
            .and_then(|it| it.sent_stamp)
    }
}

/// File of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Path.
    pub path: PathBuf,
    /// Format.
    pub format: RunFileFormat,
    /// Its trace points, with their numbers of records.
    pub points: Vec<(TracePoint, u64)>,
    /// Number of records that were lost because the memory was full.
    pub lost: u64,
    /// Number of packets of a capture that have no message with a counter.
    pub skipped: u64,
    /// Step of the times in nanoseconds: 1000 for a capture with microseconds.
    pub step_nanos: u64,
    /// True if the clock of a network card made the times. Otherwise, it is the clock of the system.
    pub has_card_stamps: bool,
    /// Damage behind the records that were read.
    pub damage: Option<String>,
    /// Description of a trace file: names and values.
    pub description: Vec<(String, String)>,
}

/// Messages that were lost between two trace points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointLoss {
    /// Last trace point at which the messages were seen.
    pub after: TracePoint,
    /// Next trace point of the files.
    pub before: TracePoint,
    /// Number of messages.
    pub count: u64,
}

/// Quantities at a trace point.
#[derive(Debug)]
pub struct PointQuantities {
    /// Trace point.
    pub point: TracePoint,
    /// Time that the records of T2 and T6 are; `None` at the other trace points.
    pub sent_stamp: Option<SentStamp>,
    /// Messages; missed, repeated and reordered counters.
    pub counters: CounterStatistics,
    /// Inter-frame spacing, in nanoseconds.
    pub spacing: ExactStatistics,
    /// Number of times before the time of the record before, in the whole file: the clock was set back.
    pub clock_steps: u64,
}

impl PointQuantities {
    /// Returns how often the clock went back there, for people.
    #[must_use]
    pub fn set_back(&self) -> String {
        let (count, point) = (self.clock_steps, self.point);
        format!("the clock was set back {count} times at {point:?}")
    }
}

/// Quantities of an interval.
#[derive(Debug)]
pub struct IntervalQuantities {
    /// Interval.
    pub interval: TraceInterval,
    /// Delay, in nanoseconds.
    pub delay: ExactStatistics,
    /// Jitter: difference of the delays of messages that arrived one after the other, in nanoseconds.
    pub jitter: ExactStatistics,
    /// Number of negative delays. Those of one clock are impossible without a step of the clock, and not counted in
    /// `delay`.
    pub negative: u64,
    /// Number of messages of `delay` whose application round trip is known.
    pub with_round_trip: u64,
    /// Number of those whose delay is longer than their round trip, which no part of it can be.
    pub beyond_round_trip: u64,
}

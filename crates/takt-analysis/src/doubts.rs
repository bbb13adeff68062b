//! Parts of a run that cannot be true, or that make a quantity doubtful.

use takt_control::TracePoint::{self, T1, T2, T5, T6};

use crate::interval::TraceInterval;
use crate::quantities::{IntervalQuantities, RunAnalysis};

/// Longest plausible time from the thread to the port without launch times, in nanoseconds, if no answer tells a limit: longer ones come
/// from two clocks, whose times have another beginning.
const LONGEST_SENDING: i64 = 1_000_000_000;

/// Number of cycles within which the launch time of a message is: it is made in one cycle, and leaves in the next one.
const CYCLES_TO_LAUNCH: i64 = 2;

/// Delays of an interval that no message can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImpossibleDelays {
    /// Interval.
    pub interval: TraceInterval,
    /// Number of delays that are negative: the message was at the end before it was at the beginning.
    pub negative: u64,
    /// Least of them, in nanoseconds, if the clocks of two hosts were compared.
    pub least_nanos: Option<i64>,
    /// Number of times from the thread to the port that are too long.
    pub long: u64,
    /// Limit of these times in nanoseconds; `None`: the application round trip of each message.
    pub limit_nanos: Option<i64>,
    /// Number of times that were compared with the limit.
    pub limited: u64,
    /// Number of all delays, negative ones included.
    pub count: u64,
}

impl ImpossibleDelays {
    /// Returns true if most of the delays are impossible: then they are no accident of a few messages.
    #[must_use]
    pub const fn are_most(&self) -> bool {
        self.negative.saturating_add(self.long) > self.count / 2 || self.long > self.limited / 2
    }

    /// Returns them; `None` if all delays of an interval are possible. `margin` is the known difference of the clocks of two hosts in
    /// nanoseconds, by which delays between hosts may be negative; `limit` that of times from the thread to the port, without answers.
    fn of(quantities: &IntervalQuantities, margin: i64, limit: i64) -> Option<Self> {
        let IntervalQuantities {
            interval, delay, ..
        } = quantities;
        let crosses = interval.crosses_hosts();
        let mut found = Self {
            interval: *interval,
            negative: 0,
            least_nanos: delay.min().filter(|least| crosses && *least < 0),
            long: 0,
            limit_nanos: None,
            limited: quantities.with_round_trip,
            count: delay.count(),
        };
        if crosses {
            delay.for_each(|nanos, count| {
                found.negative += if nanos < -margin { count } else { 0 };
            });
        } else {
            // Negative delays of one clock are not among the others.
            found.negative = quantities.negative;
            found.count += quantities.negative;
        }
        let is_sending = matches!((interval.from, interval.to), (T1, T2) | (T5, T6));
        if is_sending && found.limited > 0 {
            found.long = quantities.beyond_round_trip;
        } else if is_sending {
            (found.limit_nanos, found.limited) = (Some(limit), delay.count());
            if delay.max().is_some_and(|longest| longest > limit) {
                delay.for_each(|nanos, count| {
                    found.long += if nanos > limit { count } else { 0 };
                });
            }
        }
        (found.negative > 0 || found.long > 0).then_some(found)
    }

    /// Returns the number of times that are too long, with their limit, for people; `None` if there are none.
    #[must_use]
    pub fn too_long(&self) -> Option<String> {
        let (long, limited) = (self.long, self.limited);
        let limit = match self.limit_nanos {
            None => "longer than the round trip of their message".to_owned(),
            Some(nanos) => format!("above {} s", nanos as f64 / 1e9),
        };
        (long > 0).then(|| format!("{long} of {limited} times are {limit}"))
    }
}

impl RunAnalysis {
    /// Returns the intervals with delays that no message can have: negative ones, and times from the thread to the port that are longer
    /// than the round trip of their message. Without answers, their limit is 1 s, or two cycles. Delays between hosts may be negative by
    /// `margin_nanos`, the known difference of their clocks.
    #[must_use]
    pub fn impossible_delays(&self, margin_nanos: u64) -> Vec<ImpossibleDelays> {
        let margin = i64::try_from(margin_nanos).unwrap_or(i64::MAX);
        let intervals = self.intervals.iter();
        let found = intervals.filter_map(|it| {
            // A capture in microseconds rounds the end down.
            let rounding = self.step_at(it.interval.to).saturating_sub(1);
            let limit = self.longest_sending(it.interval.from);
            ImpossibleDelays::of(it, margin.saturating_add(rounding), limit)
        });
        found.collect()
    }

    /// Returns the step of the times at a trace point, in nanoseconds.
    fn step_at(&self, point: TracePoint) -> i64 {
        let mut files = self.files.iter();
        let file = files.find(|it| it.points.iter().any(|(found, _)| *found == point));
        let step = file.map_or(1, |file| file.step_nanos);
        i64::try_from(step).unwrap_or(i64::MAX)
    }

    /// Returns the limit of times from the thread to the port without answers, in nanoseconds: with launch times, a message waits in the
    /// queueing discipline until the next cycle.
    fn longest_sending(&self, thread: TracePoint) -> i64 {
        let mut files = self.files.iter();
        let file = files.find(|it| it.points.iter().any(|(found, _)| *found == thread));
        let mut lines = file.into_iter().flat_map(|file| &file.description);
        let cycle = lines.find(|(name, _)| name == "cycle_ns");
        let cycle = cycle.and_then(|(_, nanos)| nanos.parse::<i64>().ok());
        let cycles = cycle.map_or(0, |cycle| cycle.saturating_mul(CYCLES_TO_LAUNCH));
        cycles.max(LONGEST_SENDING)
    }

    /// Returns what makes quantities doubtful, for people: files that are not complete, records that are missing in the middle, times
    /// that cannot be.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for file in &self.files {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            if let Some(damage) = &file.damage {
                lines.push(format!("{name} was not read to its end: {damage}"));
            }
            if file.lost > 0 {
                let lost = file.lost;
                lines.push(format!(
                    "{name} lacks {lost} trace points, because the memory was full"
                ));
            }
        }
        if self.losses.is_none() {
            lines.push("Losses are unknown, because files are not complete.".to_owned());
        }
        for (point, count) in &self.missing_records {
            lines.push(format!(
                "{count} messages have no record at {point:?}, but at a later trace point: its file lost them"
            ));
        }
        for it in self.impossible_delays(0) {
            let (name, count) = (it.interval.name, it.count);
            let (from, to) = (it.interval.from, it.interval.to);
            if it.negative > 0 {
                let reason = match (it.interval.crosses_hosts(), it.least_nanos) {
                    (true, Some(least)) => {
                        let micros = least.unsigned_abs() as f64 / 1e3;
                        format!("the clocks differ by more than {micros:.3} \u{b5}s")
                    }
                    _ => "the clock was set back, a capture rounds its times down, or both files have different clocks".to_owned(),
                };
                lines.push(format!(
                    "{} of {count} times are negative, {from:?} to {to:?}, {name}: {reason}",
                    it.negative
                ));
            }
            if let Some(long) = it.too_long() {
                lines.push(format!(
                    "{long}, {from:?} to {to:?}, {name}: both files have different clocks, or the clock was set"
                ));
            }
        }
        for point in self.points.iter().filter(|it| it.clock_steps > 0) {
            lines.push(point.set_back());
        }
        if self.late_records > 0 {
            let late = self.late_records;
            lines.push(format!("{late} records came too late to be matched"));
        }
        lines
    }
}

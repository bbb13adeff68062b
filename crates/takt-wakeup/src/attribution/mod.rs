//! Attribution of the time between a planned start and the return of the thread to causes. Sans-io: events go in.

mod cause;
mod processor;
#[cfg(test)]
mod tests;
mod timeline;

use std::collections::{BTreeMap, VecDeque};

pub use cause::{Cause, CauseShare, WhileLate};

use self::timeline::Segment;
use crate::trace::event::TraceEntry;
use crate::trace::formats::Formats;
use crate::trace::page::TracePage;

/// Greatest number of events that are kept for each processor.
const MOST_ENTRIES: usize = 200_000;

/// Kind of a lateness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LateKind {
    /// The thread slept, and woke up late: from its planned start until it ran again.
    WakeUp,
    /// The thread was still busy at its next start: from its last wake-up until it slept again.
    Overrun,
}

impl LateKind {
    /// Returns the name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WakeUp => "wakeUp",
            Self::Overrun => "overrun",
        }
    }
}

/// Lateness that is to be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateInterval {
    /// Id of the thread (`gettid`).
    pub thread: u32,
    /// Number of the cycle.
    pub cycle: u64,
    /// Kind.
    pub kind: LateKind,
    /// Beginning of the lateness: nanoseconds of CLOCK_MONOTONIC.
    pub begin: u64,
    /// End of the lateness: nanoseconds of CLOCK_MONOTONIC.
    pub end: u64,
}

/// Explained lateness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Lateness. The end of an overrun is the time at which the thread slept again, if the trace has it.
    pub interval: LateInterval,
    /// Causes, the longest first. Their times add up to the length of the interval.
    pub shares: Vec<CauseShare>,
}

impl Explanation {
    /// Returns the length of the interval, in nanoseconds.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.interval.end.saturating_sub(self.interval.begin)
    }

    /// Returns the cause with the longest share; `None` for an interval without length.
    #[must_use]
    pub fn main_cause(&self) -> Option<Cause> {
        self.shares.first().map(|share| share.cause)
    }
}

/// System calls of the watched threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchedCalls {
    /// Any: their events are recorded, too.
    #[default]
    Any,
    /// None but the sleep until the next cycle. Such a thread is in its sleep, or returns from it.
    OnlySleep,
}

/// Recorded events of all processors, as far as they are needed.
#[derive(Debug, Default)]
pub struct EventHistory {
    processors: BTreeMap<u32, VecDeque<TraceEntry>>,
    /// Time before which events were lost on some processor, in nanoseconds.
    whole_from: u64,
    calls: WatchedCalls,
}

impl EventHistory {
    /// Creates an empty history of threads with these system calls.
    #[must_use]
    pub fn new(calls: WatchedCalls) -> Self {
        Self {
            calls,
            ..Self::default()
        }
    }

    /// Adds a page of `trace_pipe_raw` of a processor; `long` is the size in bytes of a `long` of the kernel. Returns the number of
    /// events in it that are used.
    pub fn add_page(
        &mut self,
        formats: &Formats,
        processor: u32,
        bytes: &[u8],
        long: usize,
    ) -> usize {
        let Some(page) = TracePage::new(bytes, long) else {
            return 0;
        };
        if page.is_after_loss() {
            self.lose(processor, page.nanos());
        }
        let mut count = 0;
        for record in page {
            if let Some(entry) = formats.entry(record.nanos, processor, record.data) {
                self.add(entry);
                count += 1;
            }
        }
        count
    }

    /// Adds an event. Those of a processor come in the order of their times.
    pub fn add(&mut self, entry: TraceEntry) {
        let entries = self.processors.entry(entry.processor).or_default();
        entries.push_back(entry);
        if entries.len() > MOST_ENTRIES {
            entries.pop_front();
            let first = entries.front().map_or(entry.nanos, |it| it.nanos);
            self.whole_from = self.whole_from.max(first);
        }
    }

    /// Notes that events of a processor before a time were lost.
    pub fn lose(&mut self, processor: u32, until: u64) {
        self.processors.remove(&processor);
        self.whole_from = self.whole_from.max(until);
    }

    /// Forgets events before a time.
    pub fn forget_before(&mut self, nanos: u64) {
        for entries in self.processors.values_mut() {
            let kept = entries.iter().position(|it| it.nanos >= nanos);
            entries.drain(..kept.unwrap_or(entries.len()));
        }
    }

    /// Explains latenesses, in their order. Times that the events do not cover are [`Cause::Unknown`].
    #[must_use]
    pub fn explain(&self, intervals: &[LateInterval]) -> Vec<Explanation> {
        if intervals.is_empty() {
            return Vec::new();
        }
        let all = self.processors.values().flatten();
        let mut entries: Vec<TraceEntry> = all
            .filter(|entry| entry.nanos >= self.whole_from)
            .copied()
            .collect();
        // The order of events of one processor stays.
        entries.sort_by_key(|entry| entry.nanos);
        let mut lines: BTreeMap<u32, Vec<Segment>> = BTreeMap::new();
        let explain = |interval: &LateInterval| {
            let line = lines.entry(interval.thread);
            let line = line.or_insert_with(|| {
                timeline::of(
                    interval.thread,
                    &entries,
                    self.calls == WatchedCalls::OnlySleep,
                )
            });
            explained(*interval, line)
        };
        intervals.iter().map(explain).collect()
    }
}

/// Explains a lateness by the time line of its thread.
fn explained(mut interval: LateInterval, line: &[Segment]) -> Explanation {
    interval.end = interval.end.max(interval.begin);
    let first = line.partition_point(|segment| segment.end <= interval.begin);
    let within = line.get(first..).unwrap_or_default();
    let last = within.partition_point(|segment| segment.begin < interval.end);
    let within = within.get(..last).unwrap_or_default();
    if interval.kind == LateKind::Overrun {
        let awake = within.iter().rposition(|segment| segment.sleep.is_none());
        let asleep = within.get(awake.map_or(0, |place| place + 1));
        // The sleep behind the work is no part of it. Without any work before it, the trace does not have the beginning.
        if let Some(asleep) = asleep.filter(|_| awake.is_some()) {
            interval.end = interval.end.min(asleep.begin.max(interval.begin));
        }
    }
    let mut shares: Vec<CauseShare> = Vec::new();
    let mut add = |cause, nanos| {
        let known = shares.iter_mut().find(|share| share.cause == cause);
        match known {
            Some(share) => share.nanos += nanos,
            None if nanos > 0 => shares.push(CauseShare { cause, nanos }),
            None => {}
        }
    };
    let mut done = interval.begin;
    for segment in within {
        let (begin, end) = (segment.begin.max(done), segment.end.min(interval.end));
        if begin >= end {
            continue;
        }
        add(Cause::Unknown, begin - done);
        let cause = match (segment.sleep, interval.kind) {
            (Some(number), LateKind::Overrun) => Cause::SystemCall(number),
            _ => segment.cause,
        };
        add(cause, end - begin);
        done = end;
    }
    add(Cause::Unknown, interval.end.saturating_sub(done));
    shares.sort_by(|a, b| b.nanos.cmp(&a.nanos).then(a.cause.cmp(&b.cause)));
    Explanation { interval, shares }
}

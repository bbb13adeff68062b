//! Attribution of the time between a planned start and the return of the thread to causes. Sans-io: events go in.

mod cause;
mod level;
mod pieces;
mod processor;
#[cfg(test)]
mod tests;
mod thread_line;

use std::collections::{BTreeMap, HashMap, VecDeque};

pub use cause::{Cause, CauseShare, WhileLate};
use takt_rt::late::{LateInterval, LateKind};

use self::pieces::{Piece, Processors};
use self::processor::{KnownThreads, Work};
use self::thread_line::ThreadLine;
use crate::trace::event::{TraceEntry, TraceEvent};
use crate::trace::formats::Formats;
use crate::trace::page::TracePage;

/// Greatest number of events that wait until they are replayed, for each processor. Its buffer holds fewer.
const MOST_WAITING: usize = 200_000;

/// Greatest number of changes that are kept of all processors together, and of all threads together: some 50 MB.
const MOST_CHANGES: usize = 1 << 20;

/// Least and greatest number of changes that are kept of one of them.
const LEAST_OF_ONE: usize = 1000;
const MOST_OF_ONE: usize = 50_000;

/// Greatest number of threads whose names are kept.
const MOST_NAMES: usize = 10_000;

/// Returns the greatest number of changes that are kept of one of so many.
fn share(count: usize) -> usize {
    (MOST_CHANGES / count.max(1)).clamp(LEAST_OF_ONE, MOST_OF_ONE)
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

/// Event, or the beginning or end of a time of which events of the processor are lost.
#[derive(Debug, Clone, Copy)]
enum Item {
    Entry(TraceEntry),
    Lost,
    Found,
}

/// Time lines of all processors, and of the threads that are watched.
#[derive(Debug, Default)]
pub struct EventHistory {
    calls: WatchedCalls,
    /// Items that are not replayed yet, of each processor in the order of their times.
    waiting: BTreeMap<u32, VecDeque<(u64, Item)>>,
    /// Time up to which the items are replayed.
    replayed: u64,
    processors: Processors,
    threads: HashMap<u32, ThreadLine>,
    names: KnownThreads,
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

    /// Keeps the time line of this thread, too (`gettid`). It begins with the next event.
    pub fn watch(&mut self, thread: u32) {
        let only_sleeps = self.calls == WatchedCalls::OnlySleep;
        let line = self.threads.entry(thread);
        line.or_insert_with(|| ThreadLine::new(thread, only_sleeps));
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
        self.push(entry.processor, entry.nanos, Item::Entry(entry));
    }

    /// Notes that events of a processor before a time were lost, since the last event that was added.
    pub fn lose(&mut self, processor: u32, until: u64) {
        let items = self.waiting.get(&processor);
        let last = items
            .and_then(|items| items.back())
            .map(|(nanos, _)| *nanos);
        let from = last.unwrap_or(0).max(self.replayed);
        self.push(processor, from, Item::Lost);
        self.push(processor, until.max(from), Item::Found);
    }

    /// Returns true if an event of a processor at this time or later was added since the last replay: all earlier ones were, too.
    #[must_use]
    pub fn has_all_until(&self, processor: u32, nanos: u64) -> bool {
        let items = self.waiting.get(&processor);
        let last = items.and_then(VecDeque::back);
        last.is_some_and(|(last, _)| *last >= nanos)
    }

    fn push(&mut self, processor: u32, nanos: u64, item: Item) {
        let items = self.waiting.entry(processor).or_default();
        let last = items.back().map_or(0, |(nanos, _)| *nanos);
        if nanos < last {
            // The clock went back, or the trace is damaged: the order of the events is known, the times between them are not.
            items.extend([(last, Item::Lost), (last, Item::Found)]);
        }
        items.push_back((nanos.max(last), item));
        while items.len() > MOST_WAITING {
            // The oldest give way to the note of their loss, which begins with the first of them.
            match items.front_mut() {
                Some((_, Item::Lost)) => {
                    items.remove(1);
                }
                Some((_, first)) => *first = Item::Lost,
                None => return,
            }
            if let Some((_, next)) = items.get_mut(1) {
                *next = Item::Found;
            }
        }
    }

    /// Replays the events up to a time, in nanoseconds of CLOCK_MONOTONIC: those of all processors up to it have been added.
    pub fn replay(&mut self, until: u64) {
        let mut items: Vec<(u64, u32, Item)> = Vec::new();
        for (processor, waiting) in &mut self.waiting {
            let later = waiting.partition_point(|(nanos, _)| *nanos <= until);
            let due = waiting.drain(..later);
            items.extend(due.map(|(nanos, item)| (nanos, *processor, item)));
        }
        // The order of items of one processor stays.
        items.sort_by_key(|(nanos, ..)| *nanos);
        let known = self.replayed;
        for (nanos, processor, item) in items {
            if nanos < known {
                self.doubt(processor);
            }
            self.take(nanos.max(self.replayed), processor, item);
            self.replayed = self.replayed.max(nanos);
        }
        self.replayed = self.replayed.max(until);
    }

    /// Notes that an event of a processor came too late: after a time up to which all were said to be there.
    fn doubt(&mut self, processor: u32) {
        let most = share(self.threads.len());
        if let Some(line) = self.processors.get_mut(&processor) {
            line.doubt(Work::Unknown);
        }
        let lines = self.threads.values_mut();
        let lines = lines.filter(|line| line.may_be_on(processor));
        lines.for_each(|line| line.doubt(most));
    }

    fn take(&mut self, nanos: u64, processor: u32, item: Item) {
        let of_processor = share(self.processors.len());
        let of_thread = share(self.threads.len());
        let line = self.processors.entry(processor).or_default();
        let threads = &mut self.threads;
        let mut entry = match item {
            Item::Lost => {
                line.lose(nanos, of_processor);
                let lines = threads.values_mut();
                lines.for_each(|it| it.lose(processor, nanos, of_thread));
                return;
            }
            Item::Found => {
                let lines = threads.values_mut();
                lines.for_each(|it| it.found(nanos, of_thread));
                return;
            }
            Item::Entry(entry) => entry,
        };
        entry.nanos = nanos;
        if let TraceEvent::Switch { previous, next, .. } = entry.event {
            if self.names.len() > MOST_NAMES {
                self.names.clear();
            }
            self.names.extend([previous, next].map(|it| (it.id, it)));
        }
        line.take(&entry, &self.names, of_processor);
        let concerned = match entry.event {
            TraceEvent::Switch { previous, next, .. } => [previous.id, next.id],
            TraceEvent::Waking { thread, .. } | TraceEvent::Migrate { thread, .. } => [thread; 2],
            _ => [entry.thread; 2],
        };
        let [first, second] = concerned;
        for id in [Some(first), (second != first).then_some(second)] {
            if let Some(line) = id.and_then(|id| threads.get_mut(&id)) {
                line.take(&entry, of_thread);
            }
        }
    }

    /// Explains latenesses, in their order, as far as the events are replayed. Times that they do not cover, and threads that are not
    /// watched, are [`Cause::Unknown`].
    #[must_use]
    pub fn explain(&self, intervals: &[LateInterval]) -> Vec<Explanation> {
        let explain = |interval: &LateInterval| {
            let mut interval = *interval;
            interval.end = interval.end.max(interval.begin);
            let line = self.threads.get(&interval.thread);
            let times = [interval.begin, interval.end];
            let pieces = line.map(|line| {
                let (thread, kind) = (interval.thread, interval.kind);
                pieces::of(line, thread, &self.processors, kind, times)
            });
            explained(interval, &pieces.unwrap_or_default())
        };
        intervals.iter().map(explain).collect()
    }
}

/// Explains a lateness by its parts.
fn explained(mut interval: LateInterval, pieces: &[Piece]) -> Explanation {
    if interval.kind == LateKind::Overrun {
        let awake = pieces.iter().rposition(|piece| !piece.is_sleep);
        let asleep = pieces.get(awake.map_or(0, |place| place + 1));
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
    for piece in pieces {
        let (begin, end) = (piece.begin.max(done), piece.end.min(interval.end));
        if begin >= end {
            continue;
        }
        add(Cause::Unknown, begin - done);
        add(piece.cause, end - begin);
        done = end;
    }
    add(Cause::Unknown, interval.end.saturating_sub(done));
    shares.sort_by(|a, b| b.nanos.cmp(&a.nanos).then(a.cause.cmp(&b.cause)));
    Explanation { interval, shares }
}

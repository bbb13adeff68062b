//! Time line of a processor: its work between two events.

use std::collections::{HashMap, VecDeque};

use crate::trace::event::{KernelName, KernelThread, TraceEntry, TraceEvent, Vector};

/// Deepest nesting of interrupts that is kept; damaged traces may nest more.
const DEEPEST: usize = 16;

/// Interrupt or softirq above a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Interrupt(KernelName),
    Vector(Vector),
    Softirq(u8),
    /// An interrupt whose beginning is not recorded.
    Hidden,
}

/// Work of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Level(Level),
    Idle,
    Thread(KernelThread),
    /// A thread whose name and priority are not known.
    Nameless(u32),
    Unknown,
}

/// Names and priorities of threads by their ids, as the last event had them.
pub(super) type KnownThreads = HashMap<u32, KernelThread>;

/// Piece of a time line: the work from `begin` to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WorkPiece {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) work: Work,
    /// True if the processor has had no event since the time from which the pieces are wanted.
    pub(super) is_before_events: bool,
}

/// Time line of a processor.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessorLine {
    /// Id of the current thread. The name of the idle thread is not needed.
    current: Option<u32>,
    levels: Vec<Level>,
    /// Works with their beginnings, in the order of their times. Each lasts until the next one.
    works: VecDeque<(u64, Work)>,
}

impl ProcessorLine {
    /// Takes the next event of this processor. At most `most` works are kept.
    pub(super) fn take(&mut self, entry: &TraceEntry, known: &KnownThreads, most: usize) {
        if self.current != Some(entry.thread) {
            if self.current.is_some()
                && let Some((_, last)) = self.works.back_mut()
            {
                // A switch since the last event is not recorded, and the trace does not tell its time.
                *last = Work::Unknown;
            }
            self.current = Some(entry.thread);
            self.levels.clear();
        }
        match entry.event {
            TraceEvent::Switch { next, .. } => {
                // No thread changes within an interrupt.
                self.levels.clear();
                self.current = Some(next.id);
            }
            TraceEvent::Interrupt { name } => self.enter(Level::Interrupt(name)),
            TraceEvent::VectorBegin(vector) => self.enter(Level::Vector(vector)),
            TraceEvent::Softirq(number) => self.enter(Level::Softirq(number)),
            TraceEvent::InterruptEnd => self.leave(|it| matches!(it, Level::Interrupt(_))),
            TraceEvent::VectorEnd(vector) => self.leave(|it| *it == Level::Vector(vector)),
            TraceEvent::SoftirqEnd(number) => self.leave(|it| *it == Level::Softirq(number)),
            _ => self.compare(entry),
        }
        let work = match (self.levels.last(), self.current) {
            (Some(level), _) => Work::Level(*level),
            (None, Some(0)) => Work::Idle,
            (None, Some(id)) => known
                .get(&id)
                .map_or(Work::Nameless(id), |it| Work::Thread(*it)),
            (None, None) => Work::Unknown,
        };
        self.push(entry.nanos, work, most);
    }

    /// Notes that events from a time on are lost.
    pub(super) fn lose(&mut self, nanos: u64, most: usize) {
        self.current = None;
        self.levels.clear();
        self.push(nanos, Work::Unknown, most);
    }

    fn push(&mut self, nanos: u64, work: Work, most: usize) {
        match self.works.back_mut() {
            Some((_, last)) if *last == work => return,
            Some((begin, last)) if *begin >= nanos => *last = work,
            _ => self.works.push_back((nanos, work)),
        }
        while self.works.len() > most {
            self.works.pop_front();
        }
    }

    /// Returns the works from `begin` to `end`, without gaps.
    pub(super) fn pieces(&self, begin: u64, end: u64) -> impl Iterator<Item = WorkPiece> {
        let after = self.works.partition_point(|(from, _)| *from <= begin);
        let first = match after.checked_sub(1).and_then(|place| self.works.get(place)) {
            Some((_, work)) => *work,
            // It is forgotten, or was never recorded.
            None => Work::Unknown,
        };
        let later = self.works.range(after..).copied();
        let later = later.take_while(move |(from, _)| *from < end);
        let beginnings = std::iter::once((begin, first)).chain(later.clone());
        let ends = later.map(|(from, _)| from).chain([end]);
        let pieces = beginnings.zip(ends).enumerate();
        pieces.map(|(index, ((begin, work), end))| WorkPiece {
            begin,
            end,
            work,
            is_before_events: index == 0,
        })
    }

    fn enter(&mut self, level: Level) {
        if self.levels.len() < DEEPEST {
            self.levels.push(level);
        }
    }

    fn leave(&mut self, is_it: impl Fn(&Level) -> bool) {
        match self.levels.iter().rposition(is_it) {
            Some(place) => self.levels.truncate(place),
            // Its beginning was lost.
            None => self.levels.clear(),
        }
    }

    /// Compares the levels with the flags of an event that begins and ends none.
    fn compare(&mut self, entry: &TraceEntry) {
        match (
            entry.in_interrupt || entry.in_softirq,
            self.levels.is_empty(),
        ) {
            (false, _) => self.levels.clear(),
            (true, true) => self.levels.push(Level::Hidden),
            (true, false) => {}
        }
    }
}

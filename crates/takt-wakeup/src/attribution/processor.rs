//! Time line of a processor: its work between two events.
//!
//! Each event tells also the state before it, by its thread, its flags and its kind. The time since the event before has a known work only
//! if both agree. Otherwise a beginning, an end or a switch between them is not recorded, and the work is unknown.

use std::collections::{HashMap, VecDeque};

use super::level::{Level, Levels};
use crate::trace::event::{KernelThread, TraceEntry, TraceEvent};

/// Greatest number of threads that were preempted within a softirq and are remembered.
const MOST_PREEMPTED: usize = 64;

/// Id of the idle thread of each processor.
const IDLE: u32 = 0;

/// Work of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Level(Level),
    /// The idle thread, with the number of the idle state if it is recorded.
    Idle(Option<u32>),
    Thread(KernelThread),
    /// A thread whose name and priority are not known.
    Nameless(u32),
    /// First the idle thread and then this one: the switch between them is not recorded.
    IdleThen(u32),
    /// First that thread and then this one: the same.
    ThreadThen(KernelThread, u32),
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
    levels: Levels,
    /// Idle state, while the idle thread is in it.
    idle_state: Option<u32>,
    /// Threads that were preempted within a softirq, which kernels with PREEMPT_RT allow, with it.
    preempted: VecDeque<(u32, Level)>,
    /// Time of the last event.
    last: u64,
    /// Works with their beginnings, in the order of their times. Each lasts until the next one.
    works: VecDeque<(u64, Work)>,
}

impl ProcessorLine {
    /// Takes the next event of this processor. At most `most` works are kept.
    pub(super) fn take(&mut self, entry: &TraceEntry, known: &KnownThreads, most: usize) {
        if self.current != Some(entry.thread) {
            // A switch since the last event is not recorded, and the trace does not tell its time.
            if let Some(before) = self.current {
                if let Some(level) = self.levels.last() {
                    self.doubt_level(level);
                }
                let known = known.get(&before).filter(|_| self.levels.is_empty());
                self.doubt(match known {
                    _ if before == IDLE && self.levels.is_empty() => Work::IdleThen(entry.thread),
                    Some(before) => Work::ThreadThen(*before, entry.thread),
                    None => Work::Unknown,
                });
            }
            self.current = Some(entry.thread);
            self.levels.clear();
            self.idle_state = None;
        }
        let level = self.levels.last();
        if !self.levels.agree(entry) {
            if let Some(level) = level {
                self.doubt_level(level);
            }
            self.doubt(Work::Unknown);
        }
        match entry.event {
            TraceEvent::Switch { previous, next, .. } => {
                self.preempted.retain(|(id, _)| *id != previous.id);
                self.preempted
                    .extend(self.levels.softirq().map(|it| (previous.id, it)));
                if self.preempted.len() > MOST_PREEMPTED {
                    self.preempted.pop_front();
                }
                self.levels.clear();
                let goes_on = self.preempted.iter().find(|(id, _)| *id == next.id);
                if let Some((_, level)) = goes_on {
                    self.levels.enter(*level);
                }
                self.current = Some(next.id);
                self.idle_state = None;
            }
            TraceEvent::IdleState(state) => {
                self.idle_state = state.filter(|_| entry.thread == IDLE);
            }
            _ => self.levels.take(&entry.event),
        }
        if !self.levels.is_empty() {
            // An interrupt ends most idle states. If it does not, the trace does not tell it.
            self.idle_state = None;
        }
        let work = match (self.levels.last(), self.current) {
            (Some(level), _) => Work::Level(level),
            (None, Some(IDLE)) => Work::Idle(self.idle_state),
            (None, Some(id)) => known
                .get(&id)
                .map_or(Work::Nameless(id), |it| Work::Thread(*it)),
            (None, None) => Work::Unknown,
        };
        self.last = entry.nanos;
        self.push(entry.nanos, work, most);
    }

    /// Notes that events from a time on are lost.
    pub(super) fn lose(&mut self, nanos: u64, most: usize) {
        self.current = None;
        self.levels.clear();
        self.preempted.clear();
        self.idle_state = None;
        self.last = nanos;
        self.push(nanos, Work::Unknown, most);
    }

    /// Notes that the work since the last event is another one than this event told.
    pub(super) fn doubt(&mut self, work: Work) {
        self.push(self.last, work, usize::MAX);
    }

    /// Notes that this level may have ended long ago.
    fn doubt_level(&mut self, level: Level) {
        let works = self.works.iter_mut().rev();
        let levels = works.take_while(|(_, work)| matches!(work, Work::Level(_)));
        for (_, work) in levels.filter(|(_, work)| *work == Work::Level(level)) {
            *work = Work::Unknown;
        }
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
}

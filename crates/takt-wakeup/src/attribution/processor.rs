//! State of a processor: what it does between two events.

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
    Unknown,
}

/// State of a processor.
#[derive(Debug, Clone, Default)]
pub(super) struct Processor {
    current: Option<KernelThread>,
    levels: Vec<Level>,
}

impl Processor {
    /// Returns the work between the last event and the next one.
    pub(super) fn work(&self) -> Work {
        match (self.levels.last(), self.current) {
            (Some(level), _) => Work::Level(*level),
            (None, Some(thread)) if thread.id == 0 => Work::Idle,
            (None, Some(thread)) => Work::Thread(thread),
            (None, None) => Work::Unknown,
        }
    }

    /// Returns true if this thread is the current one, also below an interrupt.
    pub(super) fn runs(&self, thread: u32) -> bool {
        self.current.is_some_and(|it| it.id == thread)
    }

    /// Takes the next event of this processor.
    pub(super) fn take(&mut self, entry: &TraceEntry) {
        if self.current.is_some_and(|it| it.id != entry.thread) {
            // A switch was lost. Name and priority of the thread are not known.
            self.current = None;
            self.levels.clear();
        }
        match entry.event {
            TraceEvent::Switch { next, .. } => {
                // No thread changes within an interrupt.
                self.levels.clear();
                self.current = Some(next);
            }
            TraceEvent::Interrupt { name } => self.enter(Level::Interrupt(name)),
            TraceEvent::VectorBegin(vector) => self.enter(Level::Vector(vector)),
            TraceEvent::Softirq(number) => self.enter(Level::Softirq(number)),
            TraceEvent::InterruptEnd => self.leave(|it| matches!(it, Level::Interrupt(_))),
            TraceEvent::VectorEnd(vector) => self.leave(|it| *it == Level::Vector(vector)),
            TraceEvent::SoftirqEnd(number) => self.leave(|it| *it == Level::Softirq(number)),
            _ => self.compare(entry),
        }
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

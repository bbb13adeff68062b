//! Interrupts and softirqs above the thread of a processor.

use crate::trace::event::{KernelName, TraceEntry, TraceEvent, Vector};

/// Deepest nesting that is kept; damaged traces may nest more.
const DEEPEST: usize = 16;

/// Interrupt or softirq above a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Interrupt(KernelName),
    Vector(Vector),
    Softirq(u8),
    /// An interrupt whose beginning is not recorded.
    HiddenInterrupt,
    /// A softirq whose beginning is not recorded.
    HiddenSoftirq,
}

impl Level {
    fn is_softirq(&self) -> bool {
        matches!(self, Self::Softirq(_) | Self::HiddenSoftirq)
    }

    fn is_interrupt(&self) -> bool {
        !self.is_softirq()
    }

    /// Returns true for the level that an event ends.
    fn ends_with(&self, event: &TraceEvent) -> bool {
        match (self, event) {
            (Self::Interrupt(_), TraceEvent::InterruptEnd) => true,
            (Self::Vector(one), TraceEvent::VectorEnd(other)) => one == other,
            (Self::Softirq(one), TraceEvent::SoftirqEnd(other)) => one == other,
            _ => false,
        }
    }
}

/// Levels of a processor, the lowest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels(Vec<Level>);

impl Levels {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn last(&self) -> Option<Level> {
        self.0.last().copied()
    }

    /// Returns the softirq.
    pub(super) fn softirq(&self) -> Option<Level> {
        self.0.iter().copied().find(Level::is_softirq)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn enter(&mut self, level: Level) {
        if self.0.len() < DEEPEST {
            self.0.push(level);
        }
    }

    /// Makes the levels those before an event. Returns false if they were others: a beginning or an end before the event is not recorded.
    pub(super) fn agree(&mut self, entry: &TraceEntry) -> bool {
        let event = &entry.event;
        let ends = matches!(
            event,
            TraceEvent::InterruptEnd | TraceEvent::VectorEnd(_) | TraceEvent::SoftirqEnd(_)
        );
        let mut is_same = !ends || self.0.last().is_some_and(|it| it.ends_with(event));
        let length = self.0.len();
        match event {
            // The kernel keeps interrupts off within interrupts. The flag is that of the new one.
            TraceEvent::VectorBegin(_) => self.0.retain(Level::is_softirq),
            // A device may be an interrupt controller for others.
            TraceEvent::Interrupt { .. } => self.0.retain(|it| !matches!(it, Level::Vector(_))),
            TraceEvent::InterruptEnd | TraceEvent::VectorEnd(_) => {}
            _ if entry.in_interrupt => {
                if !self.0.iter().any(Level::is_interrupt) {
                    self.enter(Level::HiddenInterrupt);
                    is_same = false;
                }
            }
            _ => self.0.retain(Level::is_softirq),
        }
        is_same &= self.0.len() >= length;
        let length = self.0.len();
        match event {
            // One softirq comes after the other. The flag holds also between them.
            TraceEvent::Softirq(_) => self.0.retain(|it| !matches!(it, Level::Softirq(_))),
            TraceEvent::SoftirqEnd(_) => {}
            _ if entry.in_softirq => {
                if self.softirq().is_none() {
                    self.0.insert(0, Level::HiddenSoftirq);
                    self.0.truncate(DEEPEST);
                    is_same = false;
                }
            }
            _ => self.0.retain(Level::is_interrupt),
        }
        is_same && self.0.len() >= length
    }

    /// Takes an event with which the levels agree.
    pub(super) fn take(&mut self, event: &TraceEvent) {
        match event {
            TraceEvent::Interrupt { name } => self.enter(Level::Interrupt(*name)),
            TraceEvent::VectorBegin(vector) => self.enter(Level::Vector(*vector)),
            TraceEvent::Softirq(number) => {
                self.0.retain(|it| *it != Level::HiddenSoftirq);
                self.enter(Level::Softirq(*number));
            }
            TraceEvent::InterruptEnd | TraceEvent::VectorEnd(_) | TraceEvent::SoftirqEnd(_) => {
                match self.0.iter().rposition(|it| it.ends_with(event)) {
                    Some(place) => self.0.truncate(place),
                    None if matches!(event, TraceEvent::SoftirqEnd(_)) => self.0.clear(),
                    // Its beginning is not recorded. The softirq below it goes on.
                    None => self.0.retain(Level::is_softirq),
                }
            }
            _ => {}
        }
    }
}

//! Time line of a thread: its states, and the processors on which it runs or will run.

use std::collections::VecDeque;

use crate::system_call_names::SLEEP;
use crate::trace::event::{KernelPriority, Left, TraceEntry, TraceEvent};

/// State of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Unknown,
    Waiting(Left),
    Runnable { is_moved: bool },
    Running,
}

/// System call of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Unknown,
    None,
    Number(i64),
}

/// Wake-up of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WokenUp {
    /// Processor whose interrupt or thread woke it up.
    pub(super) by: u32,
    /// True for an interrupt or a softirq, as that of a timer.
    pub(super) in_interrupt: bool,
}

/// Time in which nothing about the thread changes. It lasts until the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) begin: u64,
    pub(super) state: State,
    /// Processor on which the thread runs, on which it ran last, or to which it was moved.
    pub(super) place: Option<u32>,
    pub(super) call: Call,
    pub(super) has_fault: bool,
    /// Wake-up at the end of the step.
    pub(super) woken: Option<WokenUp>,
}

/// Time line of a thread.
#[derive(Debug, Clone)]
pub(super) struct ThreadLine {
    thread: u32,
    /// True if the thread is in its sleep in each system call.
    only_sleeps: bool,
    /// Priority, as the last event had it.
    pub(super) priority: Option<KernelPriority>,
    /// State after the last event.
    now: Step,
    /// Earlier steps.
    steps: VecDeque<Step>,
}

impl ThreadLine {
    /// Creates the time line of a thread of which nothing is known.
    pub(super) fn new(thread: u32, only_sleeps: bool) -> Self {
        Self {
            thread,
            only_sleeps,
            priority: None,
            now: Step {
                begin: 0,
                state: State::Unknown,
                place: None,
                call: match only_sleeps {
                    true => Call::Number(SLEEP),
                    false => Call::Unknown,
                },
                has_fault: false,
                woken: None,
            },
            steps: VecDeque::new(),
        }
    }

    /// Takes an event that concerns the thread. At most `most` steps are kept.
    pub(super) fn take(&mut self, entry: &TraceEntry, most: usize) {
        let is_own = entry.thread == self.thread;
        let mut next = self.now;
        match entry.event {
            TraceEvent::Switch { next: to, .. } if to.id == self.thread => {
                self.priority = Some(to.priority);
                self.runs(entry.processor, &mut next);
            }
            TraceEvent::Switch { previous, left, .. } if previous.id == self.thread => {
                self.priority = Some(previous.priority);
                // The kernel waits for a page without regard to signals: a thread that sleeps has its page.
                next.has_fault &= left != Left::Sleeping;
                next.place = Some(entry.processor);
                next.state = match left {
                    Left::Preempted => State::Runnable { is_moved: false },
                    left => State::Waiting(left),
                };
            }
            // A thread that is woken up before it has left its processor runs on.
            TraceEvent::Waking { thread, place } if self.is_waiting(thread) => {
                self.now.woken = Some(WokenUp {
                    by: entry.processor,
                    in_interrupt: entry.in_interrupt || entry.in_softirq,
                });
                next.state = State::Runnable { is_moved: false };
                next.place = place.or(next.place);
            }
            // It waits on, and will be on that processor when it is woken up.
            TraceEvent::Migrate { thread, to } if self.is_waiting(thread) => {
                self.now.place = Some(to);
                return;
            }
            TraceEvent::Migrate { thread, to }
                if thread == self.thread && self.now.state != State::Running =>
            {
                next.state = State::Runnable { is_moved: true };
                next.place = Some(to);
            }
            TraceEvent::SystemCall(number) if is_own => {
                self.runs(entry.processor, &mut next);
                next.has_fault = false;
                next.call = Call::Number(number);
            }
            TraceEvent::SystemCallEnd(_) if is_own => {
                self.runs(entry.processor, &mut next);
                next.has_fault = false;
                next.call = Call::None;
            }
            TraceEvent::PageFault if is_own => {
                self.runs(entry.processor, &mut next);
                next.has_fault = true;
            }
            _ => return,
        }
        self.step(next, entry.nanos, most);
    }

    /// Notes that events of a processor are lost from a time on: those of the thread may be among them.
    pub(super) fn lose(&mut self, processor: u32, nanos: u64, most: usize) {
        if self.now.place.is_some_and(|place| place != processor) {
            return;
        }
        let mut next = self.now;
        next.state = State::Unknown;
        next.has_fault = false;
        if !self.only_sleeps {
            next.call = Call::Unknown;
        }
        self.step(next, nanos, most);
    }

    /// Notes that no event is lost from a time on. What is not known before may be known after it.
    pub(super) fn found(&mut self, nanos: u64, most: usize) {
        if self.now.state == State::Unknown {
            self.push(self.now, nanos, most);
        }
    }

    /// Changes the next step to a running thread.
    fn runs(&mut self, processor: u32, next: &mut Step) {
        if matches!(self.now.state, State::Runnable { .. }) && self.now.place != Some(processor) {
            // Its move is not recorded, so that the place of its waiting is not known.
            self.now.place = None;
        }
        next.state = State::Running;
        next.place = Some(processor);
    }

    fn step(&mut self, next: Step, nanos: u64, most: usize) {
        let Step { begin, woken, .. } = self.now;
        let is_same = Step {
            begin,
            woken,
            ..next
        } == self.now;
        if !is_same {
            self.push(next, nanos, most);
        }
    }

    fn push(&mut self, next: Step, nanos: u64, most: usize) {
        let begin = nanos.max(self.now.begin);
        self.steps.push_back(self.now);
        self.now = Step {
            begin,
            woken: None,
            ..next
        };
        while self.steps.len() > most {
            self.steps.pop_front();
        }
    }

    /// Returns true for the id of this thread, if it does not run and could not.
    fn is_waiting(&self, thread: u32) -> bool {
        let is_waiting = matches!(self.now.state, State::Waiting(_) | State::Unknown);
        thread == self.thread && is_waiting
    }

    /// Returns the steps from `begin` to `end`, each with its part of this time. The first ones may be forgotten.
    pub(super) fn steps(&self, begin: u64, end: u64) -> impl Iterator<Item = (Step, u64, u64)> {
        let after = self.steps.partition_point(|step| step.begin <= begin);
        let steps = self.steps.range(after.saturating_sub(1)..);
        let all = steps.chain(std::iter::once(&self.now));
        let ends = all.clone().skip(1).map(|step| step.begin);
        let ends = ends.chain([u64::MAX]);
        all.zip(ends).filter_map(move |(step, until)| {
            let (from, until) = (step.begin.max(begin), until.min(end));
            (from < until).then_some((*step, from, until))
        })
    }
}

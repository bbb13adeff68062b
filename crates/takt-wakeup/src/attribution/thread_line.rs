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

/// Page fault of the thread. The kernel has no event at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The fault has begun. Since then, the thread has had no event, except that it waited for the page.
    Begun,
    /// The thread lost its processor since the beginning: before or after the end of the fault.
    Perhaps,
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
    pub(super) fault: Fault,
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
    /// Time of the last event.
    last: u64,
    /// Time since which the thread is in its system call, or in none.
    call_since: u64,
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
                fault: Fault::None,
                woken: None,
            },
            last: 0,
            call_since: 0,
            steps: VecDeque::new(),
        }
    }

    /// Takes an event that concerns the thread. At most `most` steps are kept.
    pub(super) fn take(&mut self, entry: &TraceEntry, most: usize) {
        let is_own = entry.thread == self.thread;
        if self.is_contradicted(entry) {
            self.doubt(most);
        }
        if self.has_other_call(entry) {
            self.doubt_call();
        }
        let mut next = self.now;
        match entry.event {
            TraceEvent::Switch { next: to, .. } if to.id == self.thread => {
                self.priority = Some(to.priority);
                self.runs(entry.processor, &mut next);
            }
            TraceEvent::Switch { previous, left, .. } if previous.id == self.thread => {
                self.priority = Some(previous.priority);
                next.fault = match (left, self.now.fault) {
                    // The thread waits for the page.
                    (Left::Blocked, fault) => fault,
                    (Left::Preempted, Fault::Begun | Fault::Perhaps) => Fault::Perhaps,
                    // The kernel waits for a page without regard to signals, and a thread stops on its way back from the kernel.
                    _ => Fault::None,
                };
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
            TraceEvent::Switch { .. } | TraceEvent::Waking { .. } | TraceEvent::Migrate { .. } => {
                return;
            }
            event if is_own => {
                self.runs(entry.processor, &mut next);
                match event {
                    TraceEvent::SystemCall(number) => {
                        self.call_since = entry.nanos;
                        next.call = Call::Number(number);
                        next.fault = Fault::None;
                    }
                    TraceEvent::SystemCallEnd(_) => {
                        self.call_since = entry.nanos;
                        next.call = Call::None;
                        next.fault = Fault::None;
                    }
                    // Interrupts may have faults of their own.
                    TraceEvent::PageFault if !entry.in_interrupt && !entry.in_softirq => {
                        next.fault = Fault::Begun;
                    }
                    _ => {}
                }
            }
            _ => return,
        }
        self.step(next, entry.nanos, most);
        self.last = entry.nanos;
    }

    /// Returns true if the thread cannot have been in its state until this event: the end of the state is not recorded.
    fn is_contradicted(&self, entry: &TraceEntry) -> bool {
        if self.now.state != State::Running {
            return false;
        }
        let is_elsewhere = self.now.place != Some(entry.processor);
        match entry.event {
            TraceEvent::Switch { next, .. } if next.id == self.thread => true,
            TraceEvent::Switch { previous, .. } if previous.id == self.thread => is_elsewhere,
            TraceEvent::Switch { .. } | TraceEvent::Waking { .. } | TraceEvent::Migrate { .. } => {
                false
            }
            _ => is_elsewhere && entry.thread == self.thread,
        }
    }

    /// Returns true if the thread cannot have been in its system call, or in none, until this event: a beginning or an end is not recorded.
    fn has_other_call(&self, entry: &TraceEntry) -> bool {
        if entry.thread != self.thread {
            return false;
        }
        match (entry.event, self.now.call) {
            (TraceEvent::SystemCall(_), Call::Number(_)) => true,
            // A debugger, or the return from a signal handler, may set the number to one that is none.
            (TraceEvent::SystemCallEnd(ended), Call::Number(begun)) => ended >= 0 && ended != begun,
            (TraceEvent::SystemCallEnd(_), Call::None) => true,
            _ => false,
        }
    }

    /// Notes that the thread was in another system call than the last event of one told, or in none.
    fn doubt_call(&mut self) {
        let since = self.call_since;
        let steps = self.steps.iter_mut().rev();
        for step in steps.take_while(|step| step.begin >= since) {
            step.call = Call::Unknown;
        }
        self.now.call = Call::Unknown;
    }

    /// Notes that the state since the last event is another one than this event told.
    pub(super) fn doubt(&mut self, most: usize) {
        if self.now.state != State::Unknown {
            self.push(self.unknown(), self.last, most);
        }
    }

    /// Returns true if events of a processor may be some of the thread.
    pub(super) fn may_be_on(&self, processor: u32) -> bool {
        self.now.place.is_none_or(|place| place == processor)
    }

    /// Returns a step of which nothing is known.
    fn unknown(&self) -> Step {
        Step {
            state: State::Unknown,
            fault: Fault::None,
            call: match self.only_sleeps {
                true => self.now.call,
                false => Call::Unknown,
            },
            ..self.now
        }
    }

    /// Returns true if the system calls of the thread are recorded.
    pub(super) fn has_calls(&self) -> bool {
        !self.only_sleeps
    }

    /// Notes that events of a processor are lost from a time on: those of the thread may be among them.
    pub(super) fn lose(&mut self, processor: u32, nanos: u64, most: usize) {
        if !self.may_be_on(processor) {
            return;
        }
        self.step(self.unknown(), nanos, most);
        self.last = nanos;
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

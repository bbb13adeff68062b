//! Causes of a time: for each part of it, the reason for which the thread ran or did not run.

use std::collections::BTreeMap;

use takt_rt::late::LateKind;

use super::cause::{Cause, WhileLate};
use super::level::Level;
use super::processor::{ProcessorLine, Work, WorkPiece};
use super::thread_line::{Call, Fault, State, Step, ThreadLine};
use crate::system_call_names::is_sleep;
use crate::trace::event::{KernelPriority, Left};

/// Beginning of the names of the kernel's threads that move other threads (`kernel/stop_machine.c`).
const MOVERS: &[u8] = b"migration/";

/// Part of a time with its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) cause: Cause,
    /// True if the thread sleeps until a time.
    pub(super) is_sleep: bool,
}

/// Time lines of all processors by their numbers.
pub(super) type Processors = BTreeMap<u32, ProcessorLine>;

/// Returns the parts of a time of a thread, in their order. Times that the trace does not have are left out or unknown.
pub(super) fn of(
    line: &ThreadLine,
    thread: u32,
    processors: &Processors,
    kind: LateKind,
    [begin, end]: [u64; 2],
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (step, from, until) in line.steps(begin, end) {
        let owner = Owner {
            thread,
            line,
            step: &step,
            kind,
        };
        let is_sleep = owner.is_sleep();
        let plain = |cause| Piece {
            begin: from,
            end: until,
            cause,
            is_sleep,
        };
        let Some(place) = owner.place() else {
            pieces.push(plain(owner.cause_without_place()));
            continue;
        };
        // The beginning of the step decides about later parts of it, too.
        let works = processors.get(&place);
        let works = works
            .into_iter()
            .flat_map(|it| it.pieces(step.begin, until));
        let mut done = from;
        for work in works.filter(|it| it.end > from) {
            pieces.push(Piece {
                begin: work.begin.max(from),
                end: work.end,
                cause: owner.cause(&work),
                is_sleep,
            });
            done = work.end;
        }
        if done < until {
            pieces.push(Piece {
                begin: done,
                ..plain(Cause::Unknown)
            });
        }
    }
    pieces
}

/// Step of a thread.
struct Owner<'a> {
    thread: u32,
    line: &'a ThreadLine,
    step: &'a Step,
    kind: LateKind,
}

impl Owner<'_> {
    /// Returns true if the thread sleeps until a time.
    fn is_sleep(&self) -> bool {
        self.step.state == State::Waiting(Left::Sleeping) && self.is_in_sleep()
    }

    /// Returns true if the thread is in a system call that waits for a time.
    fn is_in_sleep(&self) -> bool {
        self.step.fault == Fault::None
            && matches!(self.step.call, Call::Number(number) if is_sleep(number))
    }

    /// Returns the processor whose work is the cause; `None` if the cause does not depend on one.
    fn place(&self) -> Option<u32> {
        let step = self.step;
        // The end of a wait is not recorded otherwise.
        let woken = step.woken.filter(|_| step.state != State::Running);
        match step.state {
            State::Waiting(_) if self.is_sleep() && self.kind == LateKind::WakeUp => {
                let woken = woken?;
                // Another processor wakes it up with a signal only: the timer is still where the thread went to sleep.
                let is_timer = woken.in_interrupt || step.place == Some(woken.by);
                is_timer.then_some(woken.by)
            }
            // A thread that a timer wakes up was asleep, also if the beginning of the sleep was lost.
            State::Unknown if self.kind == LateKind::WakeUp => {
                woken.filter(|it| it.in_interrupt).map(|it| it.by)
            }
            State::Runnable { .. } | State::Running => step.place,
            State::Unknown | State::Waiting(_) => None,
        }
    }

    fn cause_without_place(&self) -> Cause {
        let State::Waiting(left) = self.step.state else {
            return Cause::Unknown;
        };
        // Without a wake-up, the trace does not have the end of the wait.
        if self.step.woken.is_none() {
            return Cause::Unknown;
        }
        match (left, self.step.call) {
            (Left::Dead | Left::Preempted, _) => Cause::Unknown,
            (Left::Stopped, _) => Cause::Stopped,
            _ if self.step.fault == Fault::Begun => Cause::PageFault,
            _ if self.step.fault == Fault::Perhaps => Cause::Unknown,
            (_, Call::Unknown) => Cause::Unknown,
            (_, Call::None) => Cause::Blocked,
            // A sleep until a time ends with signals. The thread waits for something else.
            (Left::Blocked, Call::Number(number)) if is_sleep(number) => Cause::Blocked,
            // The processor with the timer is not known.
            (Left::Sleeping, Call::Number(number))
                if is_sleep(number) && self.kind == LateKind::WakeUp =>
            {
                Cause::Unknown
            }
            (_, Call::Number(number)) => Cause::SystemCall(number),
        }
    }

    /// Returns the cause while the processor does this work.
    fn cause(&self, piece: &WorkPiece) -> Cause {
        if let Work::Level(level) = piece.work {
            return level_cause(level);
        }
        match self.step.state {
            State::Runnable { is_moved } => self.runnable(piece, is_moved),
            State::Running => self.running(piece.work),
            State::Waiting(_) | State::Unknown => match piece.work {
                Work::Idle(state) => Cause::TimerLate(WhileLate::Idle(state)),
                Work::Thread(thread) => Cause::TimerLate(WhileLate::Thread(thread)),
                _ => Cause::Unknown,
            },
        }
    }

    /// Returns the cause while the thread could run, by the work of the processor on which it waits.
    fn runnable(&self, piece: &WorkPiece, is_moved: bool) -> Cause {
        match piece.work {
            Work::Idle(_) if is_moved => Cause::Migration,
            Work::Idle(_) => Cause::IdleExit,
            Work::IdleThen(next) if next == self.thread && !is_moved => {
                self.and_return(Cause::IdleExitAndReturn)
            }
            // The kernel records a move, so this thread did something else.
            Work::ThreadThen(other, _) if other.name.as_bytes().starts_with(MOVERS) => {
                Cause::Unknown
            }
            Work::ThreadThen(other, next) if next == self.thread && !is_moved => {
                self.and_return(Cause::ThreadAndReturn(other))
            }
            Work::Thread(other) if other.name.as_bytes().starts_with(MOVERS) => Cause::Migration,
            // It has just left this processor and is woken up again.
            Work::Thread(other) if other.id == self.thread => Cause::Unknown,
            Work::Thread(other) => {
                let is_higher = |own| other.priority > own;
                // The processor has not noticed yet that it has another thread, to which it would change.
                match is_moved
                    && piece.is_before_events
                    && self.line.priority.is_some_and(is_higher)
                {
                    true => Cause::Migration,
                    false => Cause::Thread(other),
                }
            }
            Work::IdleThen(_)
            | Work::ThreadThen(..)
            | Work::Nameless(_)
            | Work::Level(_)
            | Work::Unknown => Cause::Unknown,
        }
    }

    /// Returns the cause between the last event of the idle thread, or of another one, and the first event of this thread, without a
    /// recorded switch: the given one, or [`Cause::Unknown`]. This thread could run and has a real-time priority, so that no third one of
    /// a lower priority ran between. It did nothing but return from its system call: the lateness ends before anything else, or the end
    /// of the call is an event.
    fn and_return(&self, cause: Cause) -> Cause {
        let priority = self.line.priority;
        let is_first = priority.is_some_and(KernelPriority::is_real_time);
        let returns = self.line.has_calls() && matches!(self.step.call, Call::Number(_));
        match is_first && (returns || self.kind == LateKind::WakeUp) {
            true => cause,
            false => Cause::Unknown,
        }
    }

    fn running(&self, work: Work) -> Cause {
        match work {
            Work::Thread(thread) if thread.id == self.thread => {}
            Work::Nameless(id) if id == self.thread => {}
            _ => return Cause::Unknown,
        }
        match self.step.call {
            _ if self.step.fault == Fault::Begun => Cause::PageFault,
            _ if self.step.fault == Fault::Perhaps => Cause::Unknown,
            Call::Unknown => Cause::Unknown,
            Call::None => Cause::OwnCode,
            Call::Number(number) if is_sleep(number) => Cause::Return,
            Call::Number(number) => Cause::SystemCall(number),
        }
    }
}

fn level_cause(level: Level) -> Cause {
    match level {
        Level::Interrupt(name) => Cause::Interrupt(name),
        Level::Vector(vector) => Cause::Vector(vector),
        Level::Softirq(number) => Cause::Softirq(number),
        Level::HiddenInterrupt | Level::HiddenSoftirq => Cause::Unknown,
    }
}

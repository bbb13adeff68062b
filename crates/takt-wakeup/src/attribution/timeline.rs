//! Time line of one thread: for each time, the reason for which it ran or did not run.

use std::collections::HashMap;

use super::cause::{Cause, WhileLate};
use super::processor::{Level, Processor, Work};
use crate::system_call_names::{SLEEP, is_sleep};
use crate::trace::event::{Left, TraceEntry, TraceEvent};

/// Beginning of the names of the kernel's threads that move other threads (`kernel/stop_machine.c`).
const MOVERS: &[u8] = b"migration/";

/// Time between two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) cause: Cause,
    /// System call in which the thread sleeps until a time, if it does.
    pub(super) sleep: Option<i64>,
}

/// State of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Waiting(Left),
    Runnable { is_moved: bool },
    Running,
}

/// System call of the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Unknown,
    None,
    Number(i64),
}

struct Replay {
    thread: u32,
    processors: HashMap<u32, Processor>,
    state: State,
    call: Call,
    has_fault: bool,
}

/// Returns the time line of a thread. The events are in ascending order of their times.
pub(super) fn of(thread: u32, entries: &[TraceEntry], only_sleep: bool) -> Vec<Segment> {
    let next = next_places(thread, entries);
    let mut replay = Replay {
        thread,
        processors: HashMap::new(),
        state: State::Unknown,
        call: match only_sleep {
            true => Call::Number(SLEEP),
            false => Call::Unknown,
        },
        has_fault: false,
    };
    let mut segments: Vec<Segment> = Vec::new();
    let after = entries.iter().skip(1).zip(next.iter().skip(1));
    for (entry, (after, next)) in entries.iter().zip(after) {
        replay.take(entry);
        if after.nanos <= entry.nanos {
            continue;
        }
        let (cause, sleep) = replay.cause(*next);
        match segments.last_mut() {
            Some(last) if last.cause == cause && last.sleep == sleep => last.end = after.nanos,
            _ => segments.push(Segment {
                begin: entry.nanos,
                end: after.nanos,
                cause,
                sleep,
            }),
        }
    }
    segments
}

/// Processor of the next event that wakes up the thread, and of the next one that gives it a processor.
#[derive(Debug, Clone, Copy, Default)]
struct Next {
    waking: Option<u32>,
    running: Option<u32>,
}

/// Returns these processors for each event, from that event on.
fn next_places(thread: u32, entries: &[TraceEntry]) -> Vec<Next> {
    let mut next = Next::default();
    let mut all: Vec<Next> = entries
        .iter()
        .rev()
        .map(|entry| {
            match entry.event {
                TraceEvent::Waking { thread: woken } if woken == thread => {
                    next.waking = Some(entry.processor);
                }
                TraceEvent::Switch { next: to, .. } if to.id == thread => {
                    next.running = Some(entry.processor);
                }
                _ => {}
            }
            next
        })
        .collect();
    all.reverse();
    all
}

impl Replay {
    fn take(&mut self, entry: &TraceEntry) {
        self.processors
            .entry(entry.processor)
            .or_default()
            .take(entry);
        let is_own = entry.thread == self.thread;
        match entry.event {
            TraceEvent::Switch { next, .. } if next.id == self.thread => {
                self.state = State::Running;
            }
            TraceEvent::Switch { previous, left, .. } if previous.id == self.thread => {
                // The kernel waits for a page without regard to signals: a thread that sleeps has its page.
                self.has_fault &= left != Left::Sleeping;
                self.state = match left {
                    Left::Preempted => State::Runnable { is_moved: false },
                    left => State::Waiting(left),
                };
            }
            // A thread that is woken up before it has left its processor runs on.
            TraceEvent::Waking { thread } if self.is_off(thread) => {
                self.state = State::Runnable { is_moved: false };
            }
            TraceEvent::Migrate { thread, .. } if self.is_off(thread) => {
                self.state = State::Runnable { is_moved: true };
            }
            TraceEvent::SystemCall(number) if is_own => {
                self.call = Call::Number(number);
                self.runs();
            }
            TraceEvent::SystemCallEnd(_) if is_own => {
                self.call = Call::None;
                self.runs();
            }
            TraceEvent::PageFault if is_own => {
                self.runs();
                self.has_fault = true;
            }
            _ => {}
        }
    }

    /// Returns true for the id of this thread, if it does not run.
    fn is_off(&self, thread: u32) -> bool {
        thread == self.thread && self.state != State::Running
    }

    /// Notes that the thread runs, and that an earlier page fault is over.
    fn runs(&mut self) {
        self.state = State::Running;
        self.has_fault = false;
    }

    /// Returns the cause from the last event to the next one, and the call in which the thread sleeps until a time.
    fn cause(&self, next: Next) -> (Cause, Option<i64>) {
        let work = |place: Option<u32>| {
            let processor = place.and_then(|place| self.processors.get(&place));
            processor.map_or(Work::Unknown, Processor::work)
        };
        let cause = match self.state {
            State::Unknown | State::Waiting(Left::Dead | Left::Preempted) => Cause::Unknown,
            State::Waiting(Left::Stopped) => Cause::Stopped,
            State::Waiting(left @ (Left::Sleeping | Left::Blocked)) => match self.call {
                _ if self.has_fault => Cause::PageFault,
                Call::Unknown => Cause::Unknown,
                Call::None => Cause::Blocked,
                Call::Number(number) if is_sleep(number) => match left {
                    Left::Sleeping => return (timer_late(work(next.waking)), Some(number)),
                    // A sleep until a time ends with signals. The thread waits for something else.
                    _ => Cause::Blocked,
                },
                Call::Number(number) => Cause::SystemCall(number),
            },
            State::Runnable { is_moved } => runnable(work(next.running), is_moved, self.thread),
            State::Running => self.running(),
        };
        (cause, None)
    }

    fn running(&self) -> Cause {
        // The thread runs on one processor only.
        let mut places = self.processors.values();
        let place = places.find(|it| it.runs(self.thread));
        match place.map(Processor::work) {
            Some(Work::Level(level)) => return level_cause(level),
            Some(Work::Thread(_)) => {}
            Some(Work::Idle | Work::Unknown) | None => return Cause::Unknown,
        }
        match self.call {
            _ if self.has_fault => Cause::PageFault,
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
        Level::Hidden => Cause::Unknown,
    }
}

/// Returns the cause while the timer of a thread has not come, by the work of the processor on which it will come.
fn timer_late(work: Work) -> Cause {
    match work {
        Work::Level(level) => level_cause(level),
        Work::Idle => Cause::TimerLate(WhileLate::Idle),
        Work::Thread(thread) => Cause::TimerLate(WhileLate::Thread(thread)),
        Work::Unknown => Cause::Unknown,
    }
}

/// Returns the cause while a thread could run, by the work of the processor on which it will run.
fn runnable(work: Work, is_moved: bool, thread: u32) -> Cause {
    match work {
        Work::Level(level) => level_cause(level),
        Work::Idle if is_moved => Cause::Migration,
        Work::Idle => Cause::IdleExit,
        Work::Thread(other) if other.name.as_bytes().starts_with(MOVERS) => Cause::Migration,
        // It has just left this processor and is woken up again.
        Work::Thread(other) if other.id == thread => Cause::Unknown,
        Work::Thread(other) => Cause::Thread(other),
        Work::Unknown => Cause::Unknown,
    }
}

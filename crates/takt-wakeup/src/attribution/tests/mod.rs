//! Tests of the attribution with traces made by hand, and with any traces.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod idle;
mod unrecorded;

use proptest::prelude::*;

use super::*;
use crate::trace::event::{KernelName, KernelPriority, KernelThread, Left, TraceEvent, Vector};

/// Thread that is late.
const OWN: u32 = 100;

/// System calls.
const SLEEP: i64 = libc::SYS_clock_nanosleep;
const READ: i64 = libc::SYS_read;

fn thread(id: u32, name: &str, priority: i32) -> KernelThread {
    KernelThread {
        id,
        name: KernelName::new(name.as_bytes()),
        priority: KernelPriority(priority),
    }
}

fn own() -> KernelThread {
    thread(OWN, "own", 19)
}

fn idle() -> KernelThread {
    thread(0, "swapper/1", 120)
}

fn other() -> KernelThread {
    thread(200, "other", 9)
}

/// Wake-up of the thread.
fn woken() -> TraceEvent {
    TraceEvent::Waking {
        thread: OWN,
        place: None,
    }
}

/// Explains latenesses when all events are there.
fn explain(history: &mut EventHistory, intervals: &[LateInterval]) -> Vec<Explanation> {
    history.replay(u64::MAX);
    history.explain(intervals)
}

/// Returns a history in which the thread is watched.
fn watched(calls: WatchedCalls) -> EventHistory {
    let mut history = EventHistory::new(calls);
    history.watch(OWN);
    history
}

/// Trace of one processor.
#[derive(Default)]
struct Trace(Vec<TraceEntry>);

impl Trace {
    /// Adds an event at a time; the current thread is `thread`.
    fn at(mut self, nanos: u64, thread: u32, event: TraceEvent) -> Self {
        let in_softirq = matches!(event, TraceEvent::Softirq(_) | TraceEvent::SoftirqEnd(_));
        let in_interrupt = matches!(
            event,
            TraceEvent::Waking { .. }
                | TraceEvent::Interrupt { .. }
                | TraceEvent::InterruptEnd
                | TraceEvent::VectorBegin(_)
                | TraceEvent::VectorEnd(_)
        );
        self.0.push(TraceEntry {
            nanos,
            processor: 1,
            thread,
            in_interrupt,
            in_softirq,
            event,
        });
        self
    }

    /// Says that the last events were within a softirq.
    fn in_softirq(mut self, count: usize) -> Self {
        let last = self.0.iter_mut().rev().take(count);
        last.for_each(|entry| entry.in_softirq = true);
        self
    }

    /// Says that the last event was on another processor.
    fn on(mut self, processor: u32) -> Self {
        self.0.last_mut().unwrap().processor = processor;
        self
    }

    fn switch(self, nanos: u64, previous: KernelThread, left: Left, next: KernelThread) -> Self {
        let event = TraceEvent::Switch {
            previous,
            left,
            next,
        };
        self.at(nanos, previous.id, event)
    }

    /// The thread sleeps from 100 on, and another one has the processor.
    fn asleep(next: KernelThread) -> Self {
        Self::default()
            .at(90, OWN, TraceEvent::SystemCall(SLEEP))
            .switch(100, own(), Left::Sleeping, next)
    }

    /// The timer comes at a time, within the thread `current`.
    fn timer(self, nanos: u64, current: u32) -> Self {
        let timer = Vector::LocalTimer;
        self.at(nanos, current, TraceEvent::VectorBegin(timer))
            .at(nanos + 2, current, woken())
            .at(nanos + 4, current, TraceEvent::VectorEnd(timer))
    }

    /// The thread runs from a time on, and is back in its own code 3 ns later.
    fn back(self, nanos: u64, previous: KernelThread) -> Self {
        self.switch(nanos, previous, Left::Preempted, own()).at(
            nanos + 3,
            OWN,
            TraceEvent::SystemCallEnd(SLEEP),
        )
    }

    fn explained(self, kind: LateKind, begin: u64, end: u64) -> Explanation {
        let mut history = watched(WatchedCalls::Any);
        // The next event of the thread, whatever it is.
        let processor = self.0.last().map_or(1, |it| it.processor);
        let trace = self.at(end + 50, OWN, TraceEvent::SystemCall(SLEEP));
        let trace = trace.on(processor);
        trace.0.into_iter().for_each(|entry| history.add(entry));
        let interval = LateInterval {
            thread: OWN,
            cycle: 1,
            kind,
            begin,
            end,
        };
        explain(&mut history, &[interval]).remove(0)
    }

    /// Returns the shares of a wake-up that was planned at 1000.
    fn shares(self, end: u64) -> Vec<(Cause, u64)> {
        let explanation = self.explained(LateKind::WakeUp, 1000, end);
        let shares = explanation.shares.iter();
        shares.map(|share| (share.cause, share.nanos)).collect()
    }
}

const TIMER: Cause = Cause::Vector(Vector::LocalTimer);

/// A page fault is over when the thread sleeps again, also if no system call of it is recorded.
#[test]
fn a_page_fault_ends_with_the_next_sleep() {
    let mut history = watched(WatchedCalls::OnlySleep);
    let trace = Trace::default()
        .switch(10, idle(), Left::Preempted, own())
        .at(20, OWN, TraceEvent::PageFault)
        .switch(30, own(), Left::Sleeping, idle())
        .timer(1040, 0)
        .switch(1050, idle(), Left::Preempted, own())
        .switch(1100, own(), Left::Sleeping, idle());
    trace.0.into_iter().for_each(|entry| history.add(entry));
    let mut explained = |begin, end| {
        let interval = LateInterval {
            thread: OWN,
            cycle: 1,
            kind: LateKind::WakeUp,
            begin,
            end,
        };
        let shares = explain(&mut history, &[interval]).remove(0).shares;
        let causes = shares.iter().map(|share| share.cause);
        causes.collect::<Vec<_>>()
    };
    assert_eq!(explained(20, 30), [Cause::PageFault]);
    let late = explained(1000, 1060);
    assert!(!late.contains(&Cause::PageFault), "{late:?}");
    assert!(
        late.contains(&Cause::TimerLate(WhileLate::Idle(None))),
        "{late:?}"
    );
}

/// A thread that waits in its sleep for something that no signal ends does not wait for its timer.
#[test]
fn a_wait_that_no_signal_ends_is_no_late_timer() {
    let shares = Trace::default()
        .at(90, OWN, TraceEvent::SystemCall(SLEEP))
        .switch(100, own(), Left::Blocked, idle())
        .timer(1040, 0)
        .back(1050, idle())
        .shares(1060);
    assert!(shares.contains(&(Cause::Blocked, 42)), "{shares:?}");
}

#[test]
fn a_thread_of_higher_priority() {
    let trace = Trace::asleep(other()).timer(1001, 200).back(1500, other());
    assert_eq!(
        trace.shares(1510),
        [
            (Cause::Thread(other()), 495),
            (Cause::OwnCode, 7),
            (TIMER, 4),
            (Cause::Return, 3),
            (Cause::TimerLate(WhileLate::Thread(other())), 1),
        ]
    );
}

#[test]
fn a_late_timer_of_an_idle_processor() {
    let trace = Trace::asleep(idle()).timer(1300, 0).back(1320, idle());
    assert_eq!(
        trace.shares(1323),
        [
            (Cause::TimerLate(WhileLate::Idle(None)), 300),
            (Cause::IdleExit, 16),
            (TIMER, 4),
            (Cause::Return, 3),
        ]
    );
}

#[test]
fn interrupts_and_softirqs_keep_the_timer_away() {
    let name = KernelName::new(b"eth0");
    let trace = Trace::asleep(other())
        .at(900, 200, TraceEvent::Interrupt { name })
        .at(1200, 200, TraceEvent::InterruptEnd)
        .at(1200, 200, TraceEvent::Softirq(3))
        .at(1700, 200, TraceEvent::SoftirqEnd(3))
        .timer(1701, 200)
        .back(1710, other());
    let shares = trace.shares(1713);
    assert_eq!(
        shares[..2],
        [(Cause::Softirq(3), 500), (Cause::Interrupt(name), 200)]
    );
    assert_eq!(shares.iter().map(|it| it.1).sum::<u64>(), 713);
}

#[test]
fn an_interrupt_of_another_processor_while_the_thread_returns() {
    let vector = Vector::CallFunctionSingle;
    let trace = Trace::asleep(idle())
        .timer(1000, 0)
        .switch(1010, idle(), Left::Preempted, own())
        .at(1011, OWN, TraceEvent::VectorBegin(vector))
        .at(1411, OWN, TraceEvent::VectorEnd(vector))
        .at(1413, OWN, TraceEvent::SystemCallEnd(SLEEP));
    let shares = trace.shares(1420);
    assert_eq!(shares[0], (Cause::Vector(vector), 400));
    assert!(shares.contains(&(Cause::Return, 3)), "{shares:?}");
}

#[test]
fn a_stopped_thread() {
    let trace = Trace::asleep(idle())
        // SIGSTOP wakes the thread up, and it stops.
        .at(500, 0, woken())
        .switch(510, idle(), Left::Preempted, own())
        .switch(520, own(), Left::Stopped, idle())
        .at(9000, 0, woken())
        .back(9010, idle());
    let shares = trace.shares(9013);
    assert_eq!(shares[0], (Cause::Stopped, 8000));
}

#[test]
fn a_thread_that_moves() {
    let mover = thread(21, "migration/1", -1);
    let trace = Trace::asleep(idle())
        .timer(1000, 0)
        .at(1005, 0, TraceEvent::Migrate { thread: OWN, to: 1 })
        .switch(1100, idle(), Left::Preempted, mover)
        .back(1200, mover);
    let shares = trace.shares(1203);
    assert_eq!(shares[0], (Cause::Migration, 195), "{shares:?}");
}

#[test]
fn an_overrun_has_the_causes_of_its_whole_cycle() {
    let trace = Trace::asleep(idle())
        .timer(1000, 0)
        .back(1010, idle())
        .at(1100, OWN, TraceEvent::SystemCall(READ))
        .switch(1110, own(), Left::Sleeping, idle())
        .at(1400, 0, woken())
        .switch(1405, idle(), Left::Preempted, own())
        .at(1410, OWN, TraceEvent::SystemCallEnd(READ))
        .at(1500, OWN, TraceEvent::PageFault)
        .switch(1501, own(), Left::Blocked, idle())
        .at(1700, 0, woken())
        .switch(1701, idle(), Left::Preempted, own())
        .at(1710, OWN, TraceEvent::SystemCall(SLEEP))
        .switch(1711, own(), Left::Sleeping, idle())
        .timer(2500, 0)
        .back(2510, idle());
    let explanation = trace.explained(LateKind::Overrun, 1013, 2500);
    assert_eq!(explanation.interval.end, 1711, "the sleep is no part of it");
    let shares: Vec<_> = explanation.shares.iter().collect();
    let of = |cause| {
        let found = shares.iter().find(|share| share.cause == cause);
        found.map_or(0, |share| share.nanos)
    };
    assert_eq!(of(Cause::SystemCall(READ)), 10 + 290 + 5);
    assert_eq!(of(Cause::OwnCode), 87 + 90);
    assert_eq!(of(Cause::PageFault), 1 + 199 + 9);
    assert_eq!(
        shares.iter().map(|it| it.nanos).sum::<u64>(),
        explanation.nanos()
    );
}

#[test]
fn times_without_events_are_unknown() {
    let explanation = Trace::default().explained(LateKind::WakeUp, 1000, 1300);
    assert_eq!(
        explanation.shares,
        [CauseShare {
            cause: Cause::Unknown,
            nanos: 300
        }]
    );
    // The switch to another thread is lost, so that its name is not known.
    let trace = Trace::asleep(idle()).timer(1001, 300).back(1500, other());
    let shares = trace.shares(1503);
    assert!(
        shares
            .iter()
            .all(|(cause, _)| !matches!(cause, Cause::Thread(_))),
        "{shares:?}"
    );
    assert_eq!(shares.iter().map(|it| it.1).sum::<u64>(), 503);
}

#[test]
fn a_thread_that_only_sleeps_needs_no_events_of_system_calls() {
    let trace = Trace::default()
        .switch(100, own(), Left::Sleeping, other())
        .timer(1001, 200)
        .switch(1500, other(), Left::Preempted, own())
        .switch(1600, own(), Left::Sleeping, idle());
    let mut history = watched(WatchedCalls::OnlySleep);
    trace.0.into_iter().for_each(|entry| history.add(entry));
    let interval = LateInterval {
        thread: OWN,
        cycle: 1,
        kind: LateKind::WakeUp,
        begin: 1000,
        end: 1510,
    };
    let explanation = explain(&mut history, &[interval]).remove(0);
    let shares = explanation.shares.iter();
    let shares: Vec<(Cause, u64)> = shares.map(|share| (share.cause, share.nanos)).collect();
    assert_eq!(
        shares,
        [
            (Cause::Thread(other()), 495),
            (Cause::Return, 10),
            (TIMER, 4),
            (Cause::TimerLate(WhileLate::Thread(other())), 1),
        ]
    );
}

/// Returns a late wake-up of the thread that was planned at 1000, with its shares.
fn shares_until(history: &mut EventHistory, end: u64) -> Vec<(Cause, u64)> {
    let interval = LateInterval {
        thread: OWN,
        cycle: 1,
        kind: LateKind::WakeUp,
        begin: 1000,
        end,
    };
    let explanation = explain(history, &[interval]).remove(0);
    let shares = explanation.shares.iter();
    shares.map(|share| (share.cause, share.nanos)).collect()
}

fn add(history: &mut EventHistory, trace: Trace) {
    trace.0.into_iter().for_each(|entry| history.add(entry));
}

#[test]
fn events_before_a_loss_explain_nothing() {
    let mut history = watched(WatchedCalls::Any);
    add(&mut history, Trace::asleep(other()).timer(1001, 200));
    history.lose(1, 1200);
    add(&mut history, Trace::default().back(1500, other()));
    let shares = shares_until(&mut history, 1503);
    // Whether the thread still waited at the end of the loss is not known, nor in which system call it is then.
    assert_eq!(shares[0], (Cause::Unknown, 1503 - 1005), "{shares:?}");
}

/// A loss on a processor on which the thread does not run takes no cause away.
#[test]
fn a_loss_on_another_processor_takes_no_cause() {
    let trace = || Trace::asleep(other()).timer(1001, 200).back(1500, other());
    let mut whole = watched(WatchedCalls::Any);
    add(&mut whole, trace());
    let mut history = watched(WatchedCalls::Any);
    history.add(
        Trace::default()
            .switch(50, idle(), Left::Preempted, idle())
            .on(2)
            .0[0],
    );
    history.lose(2, 1400);
    add(&mut history, trace());
    let shares = shares_until(&mut history, 1503);
    assert!(
        shares.contains(&(Cause::Thread(other()), 495)),
        "{shares:?}"
    );
    assert_eq!(shares, shares_until(&mut whole, 1503));
}

/// A thread that a timer wakes up was asleep, also if the beginning of its sleep was lost.
#[test]
fn a_sleep_whose_beginning_is_lost_ends_with_its_timer() {
    let mut history = watched(WatchedCalls::OnlySleep);
    add(&mut history, Trace::asleep(other()));
    history.lose(1, 900);
    let trace = Trace::default()
        .switch(950, idle(), Left::Preempted, other())
        .timer(1300, 200)
        .back(1310, other());
    add(&mut history, trace);
    let shares = shares_until(&mut history, 1313);
    let late = Cause::TimerLate(WhileLate::Thread(other()));
    assert_eq!(shares[0], (late, 300), "{shares:?}");
}

/// The events of a thread that sleeps long need not be kept, however many others there are.
#[test]
fn a_long_sleep_is_remembered_in_bounded_memory() {
    let mut history = watched(WatchedCalls::Any);
    add(&mut history, Trace::asleep(other()));
    let count = 300_000;
    for number in 0..count {
        let [from, to] = if number % 2 == 0 {
            [other(), idle()]
        } else {
            [idle(), other()]
        };
        let trace = Trace::default().switch(200 + number * 10, from, Left::Preempted, to);
        history.add(trace.0[0]);
        if number % 1000 == 0 {
            history.replay(200 + number * 10);
        }
    }
    let planned = 200 + count * 10;
    add(
        &mut history,
        Trace::default()
            .timer(planned + 70, 200)
            .back(planned + 80, other()),
    );
    let interval = |begin| LateInterval {
        thread: OWN,
        cycle: 1,
        kind: LateKind::WakeUp,
        begin,
        end: planned + 83,
    };
    let late = explain(&mut history, &[interval(planned), interval(150)]);
    let cause = Cause::TimerLate(WhileLate::Thread(other()));
    assert_eq!(late[0].shares[0].cause, cause, "{late:?}");
    // The work of the processor long ago is forgotten.
    assert_eq!(late[1].shares[0].cause, Cause::Unknown, "{late:?}");
    assert_eq!(
        late[1].shares.iter().map(|it| it.nanos).sum::<u64>(),
        late[1].nanos()
    );
}

/// A thread that could run on its old processor, but for another thread, and is moved then.
#[test]
fn a_thread_that_waits_on_its_old_processor_does_not_blame_the_new_one() {
    let busy = thread(300, "busy", 30);
    for (there, cause) in [
        (idle(), Cause::Migration),
        // Its priority is lower than that of the thread: it has not yet noticed the thread.
        (busy, Cause::Migration),
        (other(), Cause::Thread(other())),
    ] {
        let trace = Trace::default()
            .switch(50, idle(), Left::Preempted, there)
            .on(2)
            .at(90, OWN, TraceEvent::SystemCall(SLEEP))
            .switch(100, own(), Left::Sleeping, other())
            .timer(1001, 200)
            .at(1400, 500, TraceEvent::Migrate { thread: OWN, to: 2 })
            .on(3)
            .switch(1420, there, Left::Preempted, own())
            .on(2)
            .at(1423, OWN, TraceEvent::SystemCallEnd(SLEEP))
            .on(2);
        let shares = trace.shares(1423);
        let of = |wanted| {
            let all = shares.iter().filter(|(cause, _)| *cause == wanted);
            all.map(|it| it.1).sum::<u64>()
        };
        let on_old = 1400 - 1005;
        let on_both = if cause == Cause::Thread(other()) {
            20
        } else {
            0
        };
        assert_eq!(of(Cause::Thread(other())), on_old + on_both, "{shares:?}");
        assert_eq!(
            of(cause),
            if on_both == 0 { 20 } else { on_old + 20 },
            "{shares:?}"
        );
        assert_eq!(of(Cause::Unknown), 0, "{shares:?}");
    }
}

/// The processor changed to the thread at a time that the trace does not have: neither of the two threads had it for sure.
#[test]
fn a_switch_that_is_not_recorded_leaves_the_time_between_two_events_unknown() {
    let trace = Trace::asleep(other())
        .timer(1001, 200)
        // From idle to the third thread, of which the trace knows the name.
        .switch(1100, other(), Left::Sleeping, idle())
        .switch(1200, thread(300, "third", 9), Left::Preempted, idle())
        .switch(1300, thread(300, "third", 9), Left::Preempted, own())
        .at(1303, OWN, TraceEvent::SystemCallEnd(SLEEP));
    let shares = trace.shares(1303);
    assert!(shares.contains(&(Cause::Unknown, 200)), "{shares:?}");
    assert!(shares.contains(&(Cause::Thread(other()), 95)), "{shares:?}");
}

/// Any event, of few threads and processors, so that they concern each other.
fn event() -> impl Strategy<Value = TraceEvent> {
    let id = prop_oneof![Just(0_u32), Just(OWN), Just(200)];
    let left = prop_oneof![
        Just(Left::Preempted),
        Just(Left::Sleeping),
        Just(Left::Blocked),
        Just(Left::Stopped),
        Just(Left::Dead),
    ];
    let vector = (0..Vector::ALL.len()).prop_map(|index| Vector::ALL[index].0);
    let call = prop_oneof![Just(SLEEP), Just(READ)];
    let name = KernelName::new(b"eth0");
    prop_oneof![
        (id.clone(), left, id.clone()).prop_map(|(previous, left, next)| TraceEvent::Switch {
            previous: thread(previous, "a", 120),
            left,
            next: thread(next, "b", 19),
        }),
        (id.clone(), prop::option::of(0_u32..3))
            .prop_map(|(thread, place)| TraceEvent::Waking { thread, place }),
        (id, 0_u32..3).prop_map(|(thread, to)| TraceEvent::Migrate { thread, to }),
        Just(TraceEvent::Interrupt { name }),
        Just(TraceEvent::InterruptEnd),
        vector.clone().prop_map(TraceEvent::VectorBegin),
        vector.prop_map(TraceEvent::VectorEnd),
        (0_u8..12).prop_map(TraceEvent::Softirq),
        (0_u8..12).prop_map(TraceEvent::SoftirqEnd),
        Just(TraceEvent::PageFault),
        prop::option::of(0_u32..3).prop_map(TraceEvent::IdleState),
        call.clone().prop_map(TraceEvent::SystemCall),
        call.prop_map(TraceEvent::SystemCallEnd),
    ]
}

proptest! {
    #[test]
    fn shares_add_up_to_the_lateness_in_any_trace(
        events in prop::collection::vec(
            (0_u64..50, 0_u32..3, prop_oneof![Just(0_u32), Just(OWN), Just(200)], any::<[bool; 2]>(), event()),
            0..60,
        ),
        begin in 0_u64..1500,
        length in 0_u64..1500,
        is_overrun in any::<bool>(),
        loss in prop::option::of((0_u32..3, 0_u64..1000)),
        replayed in 0_u64..500,
    ) {
        let mut history = watched(WatchedCalls::Any);
        let mut nanos = 0;
        for (delta, processor, thread, [in_interrupt, in_softirq], event) in events {
            // The clock of a damaged trace may go back.
            nanos = if delta < 3 { nanos - nanos.min(20) } else { nanos + delta };
            history.add(TraceEntry { nanos, processor, thread, in_interrupt, in_softirq, event });
        }
        if let Some((processor, until)) = loss {
            history.lose(processor, until);
        }
        history.replay(replayed);
        let kind = if is_overrun { LateKind::Overrun } else { LateKind::WakeUp };
        let interval = LateInterval { thread: OWN, cycle: 0, kind, begin, end: begin + length };
        let explanation = explain(&mut history, &[interval]).remove(0);
        let sum: u64 = explanation.shares.iter().map(|share| share.nanos).sum();
        prop_assert_eq!(sum, explanation.nanos());
        prop_assert!(explanation.interval.end <= interval.end);
        if !is_overrun {
            prop_assert_eq!(explanation.interval, interval);
        }
        let mut causes: Vec<Cause> = explanation.shares.iter().map(|share| share.cause).collect();
        causes.sort_unstable();
        causes.dedup();
        prop_assert_eq!(causes.len(), explanation.shares.len(), "each cause stands once");
    }
}

//! Processors that idle: idle states, and switches from the idle thread that the kernel does not note.

use super::*;

const LATE: fn(Option<u32>) -> Cause = |state| Cause::TimerLate(WhileLate::Idle(state));

/// The thread has the processor again, but the switch to it is not recorded.
fn without_switch(own: KernelThread) -> Trace {
    Trace::default()
        .switch(100, own, Left::Sleeping, idle())
        .timer(1040, 0)
        .switch(1200, own, Left::Sleeping, idle())
}

fn shares(trace: Trace, end: u64) -> Vec<(Cause, u64)> {
    let mut history = watched(WatchedCalls::OnlySleep);
    add(&mut history, trace);
    shares_until(&mut history, end)
}

#[test]
fn a_switch_from_the_idle_thread_need_not_be_recorded() {
    assert_eq!(
        shares(without_switch(own()), 1060),
        [(LATE(None), 40), (Cause::IdleExitAndReturn, 16), (TIMER, 4),]
    );
}

/// A thread without a real-time priority waits for others, of which the kernel may note nothing.
#[test]
fn a_thread_without_priority_does_not_blame_the_way_out_of_idle() {
    let own = thread(OWN, "own", 120);
    assert_eq!(
        shares(without_switch(own), 1060),
        [(LATE(None), 40), (Cause::Unknown, 16), (TIMER, 4)]
    );
}

/// The kernel notes nothing of another thread but the interrupts above it.
#[test]
fn a_switch_from_another_thread_need_not_be_recorded() {
    let trace = Trace::default()
        .switch(100, own(), Left::Sleeping, other())
        .timer(1040, 200)
        .switch(1200, own(), Left::Sleeping, idle());
    let late = Cause::TimerLate(WhileLate::Thread(other()));
    assert_eq!(
        shares(trace, 1060),
        [
            (late, 40),
            (Cause::ThreadAndReturn(other()), 16),
            (TIMER, 4)
        ]
    );
}

/// In an overrun, the end of the system call is the first event of the thread. Without it, the thread may have run its own code.
#[test]
fn an_overrun_has_a_switch_that_is_not_recorded() {
    let busy = || Trace::asleep(idle()).timer(1000, 0).back(1010, idle());
    let slept = |trace: Trace| {
        let trace = trace.switch(1801, own(), Left::Sleeping, idle());
        let explained =
            trace
                .timer(2500, 0)
                .back(2510, idle())
                .explained(LateKind::Overrun, 1013, 2500);
        let shares = explained.shares.iter();
        let unsure =
            shares.filter(|it| matches!(it.cause, Cause::Unknown | Cause::ThreadAndReturn(_)));
        unsure.map(|it| (it.cause, it.nanos)).collect::<Vec<_>>()
    };
    let in_call = busy()
        .at(1100, OWN, TraceEvent::SystemCall(READ))
        .switch(1110, own(), Left::Sleeping, other())
        .timer(1396, 200)
        .at(1500, OWN, TraceEvent::SystemCallEnd(READ))
        .at(1800, OWN, TraceEvent::SystemCall(SLEEP));
    assert_eq!(slept(in_call), [(Cause::ThreadAndReturn(other()), 100)]);
    let in_own_code = busy()
        .switch(1110, own(), Left::Preempted, other())
        .timer(1396, 200)
        .at(1800, OWN, TraceEvent::SystemCall(SLEEP));
    assert_eq!(slept(in_own_code), [(Cause::Unknown, 400)]);
}

/// A third thread has an interrupt: it had the processor, too.
#[test]
fn a_third_thread_is_seen_by_its_interrupt() {
    let vector = Vector::Reschedule;
    let trace = Trace::default()
        .switch(100, own(), Left::Sleeping, idle())
        .timer(1040, 0)
        .at(1060, 300, TraceEvent::VectorBegin(vector))
        .at(1061, 300, TraceEvent::VectorEnd(vector))
        .switch(1200, own(), Left::Sleeping, idle());
    assert_eq!(
        shares(trace, 1080),
        [
            (LATE(None), 40),
            (Cause::Unknown, 16 + 19),
            (TIMER, 4),
            (Cause::Vector(vector), 1),
        ]
    );
}

/// An interrupt of the thread itself tells that it runs.
#[test]
fn an_interrupt_of_the_thread_is_its_first_event() {
    let vector = Vector::Reschedule;
    let trace = Trace::default()
        .switch(100, own(), Left::Sleeping, idle())
        .timer(1040, 0)
        .at(1060, OWN, TraceEvent::VectorBegin(vector))
        .at(1061, OWN, TraceEvent::VectorEnd(vector))
        .switch(1200, own(), Left::Sleeping, idle());
    assert_eq!(
        shares(trace, 1080),
        [
            (LATE(None), 40),
            (Cause::Return, 19),
            (Cause::IdleExitAndReturn, 16),
            (TIMER, 4),
            (Cause::Vector(vector), 1),
        ]
    );
}

/// The events of Linux's `menu` governor: an entry and an exit of each state.
#[test]
fn a_late_timer_names_the_idle_state() {
    let state = TraceEvent::IdleState;
    let trace = Trace::asleep(idle())
        .at(110, 0, state(Some(1)))
        .at(400, 0, state(None))
        .at(410, 0, state(Some(3)))
        .at(1290, 0, state(None))
        .timer(1300, 0)
        .back(1320, idle());
    let shares = trace.shares(1323);
    assert_eq!(shares[0], (LATE(Some(3)), 290), "{shares:?}");
    assert!(shares.contains(&(LATE(None), 10)), "{shares:?}");
    assert_eq!(LATE(Some(3)).idle_state(), Some(3));
    assert_eq!(
        LATE(Some(3)).to_string(),
        "timer late, processor idle in state 3"
    );
}

/// The recorder has no ends of idle states. The governor `haltpoll` polls in state 0 first, and halts in state 1 then.
#[test]
fn an_idle_state_lasts_until_an_interrupt_or_the_next_state() {
    let state = |state| TraceEvent::IdleState(Some(state));
    let vector = Vector::Reschedule;
    let trace = Trace::asleep(idle())
        .at(110, 0, state(0))
        .at(1200, 0, state(1))
        .at(1500, 0, TraceEvent::VectorBegin(vector))
        .at(1501, 0, TraceEvent::VectorEnd(vector))
        .at(1510, 0, state(0))
        .timer(1600, 0)
        .back(1620, idle());
    let shares = trace.shares(1623);
    assert!(shares.contains(&(LATE(Some(0)), 200 + 90)), "{shares:?}");
    assert!(shares.contains(&(LATE(Some(1)), 300)), "{shares:?}");
    assert!(shares.contains(&(LATE(None), 9)), "{shares:?}");
}

/// A state of the idle thread is none of another thread.
#[test]
fn another_thread_has_no_idle_state() {
    let trace = Trace::asleep(idle())
        .at(110, 0, TraceEvent::IdleState(Some(2)))
        .switch(900, idle(), Left::Preempted, other())
        .switch(1100, other(), Left::Sleeping, idle())
        .timer(1300, 0)
        .back(1320, idle());
    let shares = trace.shares(1323);
    assert_eq!(shares[0], (LATE(None), 200), "{shares:?}");
    let ran = Cause::TimerLate(WhileLate::Thread(other()));
    assert!(shares.contains(&(ran, 100)), "{shares:?}");
}

//! Beginnings, ends and switches that are not recorded: what they hide is unknown, and nobody has the blame of it.

use super::*;

/// Returns the sum of the shares of a cause.
fn of(shares: &[(Cause, u64)], wanted: Cause) -> u64 {
    let all = shares.iter().filter(|(cause, _)| *cause == wanted);
    all.map(|it| it.1).sum()
}

/// Returns the shares of an overrun of the thread, which ran its own code from 1013 on.
fn overrun(trace: Trace) -> Vec<(Cause, u64)> {
    let slept = trace
        .switch(1801, own(), Left::Sleeping, idle())
        .timer(2500, 0)
        .back(2510, idle());
    let explanation = slept.explained(LateKind::Overrun, 1013, 2500);
    assert_eq!(explanation.interval.end, 1801);
    let shares = explanation.shares.iter();
    shares.map(|share| (share.cause, share.nanos)).collect()
}

/// The thread runs its own code from 1013 on.
fn busy() -> Trace {
    Trace::asleep(idle()).timer(1000, 0).back(1010, idle())
}

fn device() -> KernelName {
    KernelName::new(b"eth0")
}

/// The fault may have ended before, so that it does not get the time after the other thread.
#[test]
fn a_page_fault_does_not_outlive_a_preemption() {
    let trace = busy()
        .at(1100, OWN, TraceEvent::PageFault)
        .switch(1105, own(), Left::Preempted, other())
        .switch(1300, other(), Left::Sleeping, own())
        .at(1800, OWN, TraceEvent::SystemCall(SLEEP));
    let shares = overrun(trace);
    assert_eq!(of(&shares, Cause::PageFault), 5, "{shares:?}");
    assert_eq!(of(&shares, Cause::Thread(other())), 195, "{shares:?}");
    assert_eq!(of(&shares, Cause::OwnCode), 87, "{shares:?}");
    assert_eq!(of(&shares, Cause::Unknown), 500, "{shares:?}");
}

/// A thread that waits for its page is still in the fault.
#[test]
fn a_page_fault_goes_on_while_the_thread_waits_for_its_page() {
    let trace = busy()
        .at(1100, OWN, TraceEvent::PageFault)
        .switch(1105, own(), Left::Blocked, other())
        .at(1300, 200, woken())
        .switch(1310, other(), Left::Preempted, own())
        .at(1320, OWN, TraceEvent::SystemCall(SLEEP));
    let shares = overrun(trace);
    assert_eq!(of(&shares, Cause::PageFault), 5 + 195 + 10, "{shares:?}");
}

/// A thread stops on its way back from the kernel: its fault is over.
#[test]
fn a_page_fault_does_not_outlive_a_stop() {
    let trace = busy()
        .at(1100, OWN, TraceEvent::PageFault)
        .switch(1105, own(), Left::Stopped, idle())
        .at(1300, 0, woken())
        .switch(1310, idle(), Left::Preempted, own())
        .at(1800, OWN, TraceEvent::SystemCall(SLEEP));
    let shares = overrun(trace);
    assert_eq!(of(&shares, Cause::PageFault), 5, "{shares:?}");
    assert_eq!(of(&shares, Cause::Stopped), 195, "{shares:?}");
    assert_eq!(of(&shares, Cause::OwnCode), 87 + 490, "{shares:?}");
}

#[test]
fn a_page_fault_of_an_interrupt_is_none_of_the_thread() {
    let vector = Vector::CallFunction;
    let mut trace =
        busy()
            .at(1100, OWN, TraceEvent::VectorBegin(vector))
            .at(1105, OWN, TraceEvent::PageFault);
    trace.0.last_mut().unwrap().in_interrupt = true;
    let trace = trace.at(1110, OWN, TraceEvent::VectorEnd(vector)).at(
        1800,
        OWN,
        TraceEvent::SystemCall(SLEEP),
    );
    let shares = overrun(trace);
    assert_eq!(of(&shares, Cause::PageFault), 0, "{shares:?}");
    assert_eq!(of(&shares, Cause::OwnCode), 87 + 690, "{shares:?}");
}

/// Ends without their beginnings: how long the thread that was interrupted ran before them is not known.
#[test]
fn an_end_without_its_beginning_blames_no_thread() {
    for end in [
        TraceEvent::SoftirqEnd(3),
        TraceEvent::VectorEnd(Vector::Reschedule),
        TraceEvent::InterruptEnd,
    ] {
        let trace = Trace::asleep(other())
            .timer(1001, 200)
            .at(1400, 200, end)
            .back(1500, other());
        let shares = trace.shares(1503);
        assert_eq!(of(&shares, Cause::Thread(other())), 100, "{shares:?}");
        assert_eq!(of(&shares, Cause::Unknown), 395, "{shares:?}");
    }
}

/// Events within a softirq whose beginning is before the recording.
#[test]
fn a_softirq_that_began_before_the_recording_blames_no_thread() {
    let mut history = watched(WatchedCalls::OnlySleep);
    add(&mut history, Trace::asleep(other()));
    history.lose(1, 900);
    let vector = Vector::Reschedule;
    let trace = Trace::default()
        .at(950, 200, TraceEvent::VectorBegin(vector))
        .at(960, 200, TraceEvent::VectorEnd(vector))
        .timer(1300, 200)
        .in_softirq(5)
        .at(1500, 200, TraceEvent::SoftirqEnd(3))
        .back(1510, other());
    add(&mut history, trace);
    let shares = shares_until(&mut history, 1513);
    assert_eq!(of(&shares, Cause::Thread(other())), 10, "{shares:?}");
    let late = Cause::TimerLate(WhileLate::Thread(other()));
    assert_eq!(of(&shares, late), 0, "{shares:?}");
    assert_eq!(of(&shares, TIMER), 4, "{shares:?}");
}

/// Beginnings without their ends: when the interrupt or softirq was over is not known.
#[test]
fn a_beginning_without_its_end_blames_no_interrupt() {
    let name = device();
    for (begin, cause) in [
        (TraceEvent::Softirq(3), Cause::Softirq(3)),
        (TraceEvent::Interrupt { name }, Cause::Interrupt(name)),
        (
            TraceEvent::VectorBegin(Vector::IrqWork),
            Cause::Vector(Vector::IrqWork),
        ),
    ] {
        let begun = || Trace::asleep(other()).timer(1001, 200).at(1100, 200, begin);
        // The next event is the switch, another interrupt, another softirq, or a system call of that thread.
        let vector = Vector::CallFunction;
        for trace in [
            begun(),
            begun().at(1400, 200, TraceEvent::VectorBegin(vector)).at(
                1400,
                200,
                TraceEvent::VectorEnd(vector),
            ),
            begun()
                .at(1400, 200, TraceEvent::Softirq(1))
                .at(1400, 200, TraceEvent::SoftirqEnd(1)),
            begun().at(1400, 200, TraceEvent::SystemCall(READ)),
        ] {
            let shares = trace.back(1500, other()).shares(1503);
            assert_eq!(of(&shares, cause), 0, "{begin:?}: {shares:?}");
            assert!(of(&shares, Cause::Unknown) >= 300, "{shares:?}");
        }
    }
}

/// Two softirqs without the end of the first and the beginning of the second one: neither has the time of both.
#[test]
fn two_softirqs_of_which_an_end_and_a_beginning_lack_are_unknown() {
    let vector = Vector::Reschedule;
    let trace = Trace::asleep(other())
        .timer(1001, 200)
        .at(1100, 200, TraceEvent::Softirq(3))
        .at(1300, 200, TraceEvent::VectorBegin(vector))
        .at(1310, 200, TraceEvent::VectorEnd(vector))
        .in_softirq(2)
        .at(1400, 200, TraceEvent::SoftirqEnd(1))
        .back(1500, other());
    let shares = trace.shares(1503);
    assert_eq!(of(&shares, Cause::Softirq(3)), 0, "{shares:?}");
    assert_eq!(of(&shares, Cause::Softirq(1)), 0, "{shares:?}");
    assert_eq!(of(&shares, Cause::Vector(vector)), 10, "{shares:?}");
    assert_eq!(of(&shares, Cause::Thread(other())), 195, "{shares:?}");
}

/// Kernels with PREEMPT_RT run softirqs in threads, which others preempt.
#[test]
fn a_softirq_goes_on_after_the_preemption_of_its_thread() {
    let handler = thread(300, "irq/9-eth0", 49);
    let trace = Trace::asleep(handler)
        .timer(1001, 300)
        .at(1100, 300, TraceEvent::Softirq(3))
        .switch(1200, handler, Left::Preempted, other())
        .in_softirq(1)
        .switch(1300, other(), Left::Sleeping, handler)
        .at(1400, 300, TraceEvent::SoftirqEnd(3))
        .back(1500, handler);
    let shares = trace.shares(1503);
    assert_eq!(of(&shares, Cause::Softirq(3)), 200, "{shares:?}");
    assert_eq!(of(&shares, Cause::Thread(other())), 100, "{shares:?}");
    assert_eq!(of(&shares, Cause::Thread(handler)), 95 + 100, "{shares:?}");
}

#[test]
fn a_system_call_whose_beginning_is_not_recorded_is_no_own_code() {
    let trace = busy().at(1400, OWN, TraceEvent::SystemCallEnd(READ)).at(
        1800,
        OWN,
        TraceEvent::SystemCall(SLEEP),
    );
    let shares = overrun(trace);
    assert_eq!(of(&shares, Cause::OwnCode), 400, "{shares:?}");
    assert_eq!(of(&shares, Cause::Unknown), 387, "{shares:?}");
}

#[test]
fn a_system_call_whose_end_is_not_recorded_is_unknown() {
    let trace = busy().at(1100, OWN, TraceEvent::SystemCall(READ)).at(
        1800,
        OWN,
        TraceEvent::SystemCall(SLEEP),
    );
    let shares = overrun(trace);
    assert_eq!(of(&shares, Cause::OwnCode), 87, "{shares:?}");
    assert_eq!(of(&shares, Cause::SystemCall(READ)), 0, "{shares:?}");
    assert_eq!(of(&shares, Cause::Unknown), 700, "{shares:?}");
}

/// The thread waited in a system call whose beginning is not recorded.
#[test]
fn a_wait_in_a_system_call_without_its_beginning_is_unknown() {
    let trace = busy()
        .switch(1100, own(), Left::Sleeping, other())
        .at(1400, 200, woken())
        .switch(1405, other(), Left::Preempted, own())
        .at(1410, OWN, TraceEvent::SystemCallEnd(READ))
        .at(1800, OWN, TraceEvent::SystemCall(SLEEP));
    let shares = overrun(trace);
    assert_eq!(of(&shares, Cause::Blocked), 0, "{shares:?}");
    assert_eq!(of(&shares, Cause::OwnCode), 390, "{shares:?}");
}

/// The thread left its processor without a record, and runs on another one.
#[test]
fn a_thread_that_turns_up_on_another_processor_has_not_run_on_the_old_one() {
    let mut trace = busy()
        .switch(1500, idle(), Left::Preempted, own())
        .at(1800, OWN, TraceEvent::SystemCall(SLEEP))
        .switch(1801, own(), Left::Sleeping, idle())
        .timer(2500, 0)
        .back(2510, idle());
    let later = trace.0.iter_mut().filter(|entry| entry.nanos >= 1500);
    later.for_each(|entry| entry.processor = 2);
    let explanation = trace.explained(LateKind::Overrun, 1013, 2500);
    let shares = explanation.shares.iter();
    let shares: Vec<_> = shares.map(|share| (share.cause, share.nanos)).collect();
    assert_eq!(of(&shares, Cause::OwnCode), 0, "{shares:?}");
}

/// The time before a switch that is not recorded is known up to the last event.
#[test]
fn only_the_time_since_the_last_event_is_unknown() {
    let third = thread(300, "third", 9);
    let trace = Trace::asleep(other())
        .timer(1001, 200)
        .at(1300, 200, TraceEvent::SystemCall(READ))
        .switch(1400, third, Left::Preempted, own())
        .at(1403, OWN, TraceEvent::SystemCallEnd(SLEEP));
    let shares = trace.shares(1403);
    assert_eq!(of(&shares, Cause::Thread(other())), 295, "{shares:?}");
    assert_eq!(of(&shares, Cause::Unknown), 100, "{shares:?}");
}

/// The end of an interrupt has an earlier time than its beginning.
#[test]
fn a_clock_that_goes_back_blames_no_interrupt() {
    let name = device();
    let trace = Trace::asleep(other())
        .timer(1001, 200)
        .at(1100, 200, TraceEvent::Interrupt { name })
        .at(1099, 200, TraceEvent::InterruptEnd)
        .back(1500, other());
    let shares = trace.shares(1503);
    assert_eq!(of(&shares, Cause::Interrupt(name)), 0, "{shares:?}");
}

/// An event that comes after its time was explained: how long the thread before it ran is not known.
#[test]
fn an_event_that_comes_too_late_blames_nobody() {
    let mut history = watched(WatchedCalls::OnlySleep);
    add(&mut history, Trace::asleep(other()));
    history.replay(2000);
    let trace = Trace::default()
        .switch(1500, other(), Left::Sleeping, idle())
        .timer(2500, 0)
        .back(2510, idle());
    add(&mut history, trace);
    let shares = shares_until(&mut history, 2513);
    let late = Cause::TimerLate(WhileLate::Thread(other()));
    assert_eq!(of(&shares, late), 0, "{shares:?}");
    // The state is known from then on.
    let idle = shares.iter().find(|it| it.0.kind() == "timerLate");
    assert_eq!(idle.map(|it| it.1), Some(500), "{shares:?}");
}

/// If too many events wait, the oldest are lost: what they changed is not known from the first of them on.
#[test]
fn events_that_give_way_blame_nobody() {
    let mut history = watched(WatchedCalls::OnlySleep);
    add(&mut history, Trace::asleep(other()).timer(1001, 200));
    history.replay(1008);
    add(
        &mut history,
        Trace::default().switch(1010, other(), Left::Sleeping, idle()),
    );
    let count = MOST_WAITING as u64;
    for number in 0..count {
        let nanos = 1_000_000 + number * 10;
        let call = TraceEvent::SystemCall(READ);
        add(&mut history, Trace::default().at(nanos, 0, call));
    }
    let waiting = history.waiting.get(&1).map(VecDeque::len);
    assert_eq!(waiting, Some(MOST_WAITING));
    let end = 1_000_000 + count * 10;
    add(&mut history, Trace::default().back(end, idle()));
    let shares = shares_until(&mut history, end + 3);
    assert_eq!(of(&shares, Cause::Thread(other())), 5, "{shares:?}");
    assert_eq!(of(&shares, Cause::Return), 3, "{shares:?}");
}

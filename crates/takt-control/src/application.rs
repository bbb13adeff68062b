//! Interface of the user's part of a control loop.

use std::ops::ControlFlow;

use takt_link::ReceiveTime;
use takt_pubsub::subscriber::ReceivedDataSet;

/// State of a cycle in which the user's function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlCycle {
    /// Number of the cycle since the base time; it grows by more than one after an overrun.
    pub number: u64,
    /// Beginning of the cycle: nanoseconds of CLOCK_TAI.
    pub start_nanos: i64,
    /// Delay of the thread at the beginning of the cycle, in nanoseconds.
    pub wake_up_latency_nanos: u64,
    /// Number of cycles that were skipped immediately before this one.
    pub skipped: u64,
    /// Number of DataSetMessages that came since the function ran last. Inputs have the values of the last one.
    pub received: u64,
    /// Number of consecutive cycles without a message until now; 0 if there was one.
    pub missed: u64,
    /// True if the reaction to missed messages applies in this cycle.
    pub deadline_missed: bool,
}

/// Received DataSetMessage.
#[derive(Debug)]
pub struct ReceivedMessage<'a> {
    /// Fields and header. The values have been written to their cells.
    pub data_set: &'a ReceivedDataSet<'a>,
    /// Time at which the thread took the message: nanoseconds of CLOCK_TAI.
    pub taken_nanos: i64,
    /// Time at which the kernel or the network card received it, if the link has such times.
    pub link_time: Option<ReceiveTime>,
}

/// Message of a cycle that was handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentMessage {
    /// Number of the cycle in which it was made ([`ControlCycle::number`]). The function may have run again since then: a message
    /// can leave at an offset behind the user's phase of the next cycle.
    pub cycle: u64,
    /// Time before the call of the kernel: nanoseconds of CLOCK_TAI.
    pub handed_over_nanos: i64,
    /// Time at which it is to leave, if the kernel keeps it: nanoseconds of CLOCK_TAI.
    pub launch_nanos: Option<i64>,
    /// Number of NetworkMessages that the kernel took; 0 if it had no room, or the queueing discipline refused them.
    pub messages: usize,
}

/// User's part of a control loop. All methods run on the real-time thread.
pub trait ControlApplication {
    /// Takes note of a message in the subscriber's part of the cycle.
    fn received(&mut self, message: &ReceivedMessage<'_>) {
        let _ = message;
    }

    /// Runs in each cycle at the user's phase: reads inputs, sets outputs. A break ends the loop after the message of this cycle
    /// is sent.
    fn update(&mut self, cycle: &ControlCycle) -> ControlFlow<()>;

    /// Returns false if this cycle has no message. It is asked at the publisher's phase.
    fn publishes(&self) -> bool {
        true
    }

    /// Takes note of a message that was sent.
    fn sent(&mut self, message: &SentMessage) {
        let _ = message;
    }
}

impl<F: FnMut(&ControlCycle) -> ControlFlow<()>> ControlApplication for F {
    fn update(&mut self, cycle: &ControlCycle) -> ControlFlow<()> {
        self(cycle)
    }
}

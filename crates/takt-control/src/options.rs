//! Options of a control loop.

use std::time::Duration;

use takt_link::{KernelQueue, LinkOptions, ReceiveClock};
use takt_rt::real_time::RealTimeOptions;

use crate::deadline::Deadline;
use crate::schedule::{LoopPhases, Sending};

/// Options of a control loop.
#[derive(Debug, Clone)]
pub struct ControlOptions {
    /// Options of the links that the configuration does not have. Launch times are set by [`sending`](Self::sending).
    pub link: LinkOptions,
    /// Times of the parts of a cycle.
    pub phases: LoopPhases,
    /// Time at which messages leave.
    pub sending: Sending,
    /// Room for messages in the kernel, unless the options of the links have it.
    pub kernel_queue: KernelQueue,
    /// Beginning of cycle 0: nanoseconds of CLOCK_TAI. Loops with the same base time and cycle begin their cycles together.
    pub base_time_nanos: i64,
    /// Number of cycles after which the loop ends; `None`: it runs until it is stopped.
    pub cycles: Option<u64>,
    /// Number of further cycles in which the loop only receives, so that the answers to the last messages can come.
    pub drain_cycles: u64,
    /// Time by which a cycle may begin late; a later one is skipped.
    pub start_tolerance: Duration,
    /// Reaction to cycles without a message.
    pub deadline: Deadline,
    /// Real-time settings of the thread.
    pub real_time: RealTimeOptions,
}

impl Default for ControlOptions {
    /// The phases of the papers, messages that leave as soon as they are made, and cycles that begin at whole multiples of the
    /// cycle since 1970.
    fn default() -> Self {
        Self {
            link: LinkOptions {
                receive_times: Some(ReceiveClock::Software),
                ..LinkOptions::default()
            },
            phases: LoopPhases::default(),
            sending: Sending::Immediate,
            kernel_queue: KernelQueue::default(),
            base_time_nanos: 0,
            cycles: None,
            drain_cycles: 0,
            start_tolerance: Duration::ZERO,
            deadline: Deadline::default(),
            real_time: RealTimeOptions::default(),
        }
    }
}

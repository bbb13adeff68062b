//! Latency that is added to that of a thread.

use std::fmt::Debug;

/// Part of a cycle for which the thread wakes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CyclePart {
    /// Begin of receiving.
    Subscriber,
    /// User's function.
    User,
    /// Handing a message to the kernel.
    Publisher,
}

/// Latencies that are added to those of the thread, for virtual machines whose clock stands still while threads work.
pub trait AddedLatency: Debug + Send {
    /// Returns the latency of a part in nanoseconds. `cycle_start` is the beginning of its cycle: nanoseconds of CLOCK_TAI. The
    /// cycle of [`CyclePart::Publisher`] is the one in which the message is made.
    fn nanos(&mut self, part: CyclePart, cycle_start: i64) -> i64;
}

//! Queueing disciplines with the names of Linux (`tc`), and the mechanisms with the names of IEEE 802.1Q.

use crate::quantity::{Credit, Duration, Rate, Size};

/// A discipline: it selects the frame that a port sends next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discipline {
    /// Name in the file.
    pub name: String,
    /// Selection between classes.
    pub scheduler: Scheduler,
    /// Classes, highest first. At least one; each PCP is in one of them. [`Scheduler::FqCodel`] has one.
    pub classes: Vec<TrafficClass>,
}

impl Discipline {
    /// Returns the index of the class for frames of this PCP.
    pub fn class_of(&self, pcp: u8) -> usize {
        class_of(self.classes.iter().map(|class| &class.priorities), pcp)
    }
}

/// Returns the index of the first class that has this PCP, or of the last class.
pub(crate) fn class_of<'a>(
    priorities: impl ExactSizeIterator<Item = &'a Vec<u8>>,
    pcp: u8,
) -> usize {
    let last = priorities.len().saturating_sub(1);
    let mut priorities = priorities;
    let found = priorities.position(|priorities| priorities.contains(&pcp));
    found.unwrap_or(last)
}

/// Selection between the classes of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheduler {
    /// `fq_codel`: no classes; flows take turns, and frames are dropped from a queue that does not drain. The default of most
    /// distributions.
    FqCodel(FqCodelParameters),
    /// `mqprio`: the highest class with a frame that may be sent.
    Mqprio,
    /// `taprio`: the same among the classes with open gates.
    Taprio(Taprio),
}

/// Parameters of `fq_codel`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FqCodelParameters {
    /// Maximum number of frames in all queues together.
    pub limit: u64,
    /// Number of queues that flows are hashed to.
    pub flows: u64,
    /// Bytes that a queue may send in its turn.
    pub quantum: Size,
    /// Acceptable standing delay.
    pub target: Duration,
    /// Time for which the delay must exceed the target before a frame is dropped.
    pub interval: Duration,
    /// Maximum number of bytes in all queues together.
    pub memory_limit: Size,
    /// True if frames that support it are marked instead of dropped. Frames of OPC UA do not.
    pub ecn: bool,
}

impl Default for FqCodelParameters {
    /// Returns the defaults of Linux.
    fn default() -> Self {
        Self {
            limit: 10_240,
            flows: 1024,
            quantum: Size(1514),
            target: Duration(5_000_000_000),
            interval: Duration(100_000_000_000),
            memory_limit: Size(32 << 20),
            ecn: true,
        }
    }
}

/// A schedule of gates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taprio {
    /// Beginning of a cycle, by the node's clock, including the port's shift. Cycles also extend before it.
    pub base_time: Duration,
    /// Length of a cycle: the sum of the entries' intervals.
    pub cycle_time: Duration,
    /// Entries of a cycle, in order. At least one.
    pub entries: Vec<GateEntry>,
    /// Delay of txtime-assist (`flags 0x1`, `txtime-delay`). There are no gates then: each frame gets a txtime at which its gate
    /// would be open, at least this much from now, and ETF below sends it then.
    pub txtime_assist: Option<Duration>,
    /// Guard band: a time at the end of each window in which no frame begins. Besides, a frame only begins if it ends before the
    /// window does. A gate that never closes has no guard band.
    pub guard_band: Duration,
}

/// A part of the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateEntry {
    /// Classes whose gates are open: bit 0 is [`Discipline::classes`]`[0]`, the highest.
    pub gates: u8,
    /// Length of the entry.
    pub interval: Duration,
}

impl GateEntry {
    /// Returns true if the gate of a class is open.
    pub fn is_open(self, class: usize) -> bool {
        class < 8 && self.gates >> class & 1 == 1
    }
}

impl Taprio {
    /// Returns the windows of a class in one cycle: opening time after the cycle's beginning, and length. Entries that follow one
    /// another with the gate open are one window. A window that continues in the next cycle begins in this one. A gate that never
    /// closes is one window as long as the cycle. With txtime-assist each entry is a window, since a frame's txtime and its end
    /// are in one entry.
    pub fn windows(&self, class: usize) -> Vec<(Duration, Duration)> {
        let joined = self.txtime_assist.is_none();
        let mut windows: Vec<(Duration, Duration)> = Vec::new();
        let mut start = Duration::ZERO;
        for entry in &self.entries {
            if entry.is_open(class) {
                match windows.last_mut() {
                    Some(last) if last.0.plus(last.1) == start && joined => {
                        last.1 = last.1.plus(entry.interval)
                    }
                    _ => windows.push((start, entry.interval)),
                }
            }
            start = start.plus(entry.interval);
        }
        if let [(Duration::ZERO, first), .., last] = windows.as_mut_slice()
            && last.0.plus(last.1) == start
            && joined
        {
            last.1 = last.1.plus(*first);
            windows.remove(0);
        }
        windows
    }
}

/// A traffic class of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrafficClass {
    /// Name, unique in a discipline.
    pub name: String,
    /// PCPs of its frames.
    pub priorities: Vec<u8>,
    /// Queue of its frames.
    pub queue: Queue,
}

/// Queue of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Queue {
    /// First in, first out, until the class's turn.
    Fifo {
        /// Capacity; further frames are dropped.
        limit: Limit,
    },
    /// First in, first out, while the credit is not negative (Credit-Based Shaper, IEEE 802.1Q, 8.6.8.2).
    Cbs {
        /// Gain of credit while frames wait. Not 0: a class that reserves nothing at a port has a [`Queue::Fifo`] there.
        idle_slope: Rate,
        /// Loss of credit while a frame is sent, as a positive number: by default the link's rate less idleSlope.
        send_slope: Rate,
        /// Highest credit, in bytes, as for `tc`; of frames on the wire.
        hi_credit: Credit,
        /// Lowest credit, in bytes, as for `tc`; of frames on the wire.
        lo_credit: Credit,
        /// Capacity; further frames are dropped.
        limit: Limit,
    },
    /// Ordered by the txtime of each frame (`etf`).
    Etf {
        /// Time before the txtime at which a frame is given to the hardware.
        delta: Duration,
        /// True if the txtime is a deadline: frames are sent before it, as soon as possible.
        deadline_mode: bool,
        /// True if frames without a txtime of their socket are accepted, as below `taprio` with txtime-assist.
        skip_sock_check: bool,
        /// True if the hardware waits for the txtime. Otherwise frames leave delta before it.
        offload: bool,
    },
}

/// Capacity of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Number of frames.
    Frames(u64),
    /// Number of bytes of L2 frames, by the kernel's length.
    Bytes(Size),
}

impl Default for Limit {
    /// Returns Linux's `txqueuelen`.
    fn default() -> Self {
        Self::Frames(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taprio(gates: &[u8]) -> Taprio {
        let entries = gates.iter().map(|gates| GateEntry {
            gates: *gates,
            interval: Duration(10),
        });
        Taprio {
            base_time: Duration::ZERO,
            cycle_time: Duration(10 * gates.len() as u64),
            entries: entries.collect(),
            txtime_assist: None,
            guard_band: Duration::ZERO,
        }
    }

    #[test]
    fn windows_are_joined() {
        let windows = |gates: &[u8], class| -> Vec<(u64, u64)> {
            let windows = taprio(gates).windows(class);
            windows
                .into_iter()
                .map(|(at, long)| (at.0, long.0))
                .collect()
        };
        assert_eq!(windows(&[1, 2, 2, 1], 0), [(30, 20)]);
        assert_eq!(windows(&[1, 2, 2, 1], 1), [(10, 20)]);
        assert_eq!(windows(&[1, 2, 1, 2], 0), [(0, 10), (20, 10)]);
        assert_eq!(windows(&[1, 1], 0), [(0, 20)]);
        assert_eq!(windows(&[1, 1], 1), []);
        assert_eq!(windows(&[1, 2], 8), []);
        let mut assisted = taprio(&[1, 1, 2, 1]);
        assisted.txtime_assist = Some(Duration(5));
        let at: Vec<u64> = assisted.windows(0).iter().map(|(at, _)| at.0).collect();
        assert_eq!(at, [0, 10, 30]);
    }
}

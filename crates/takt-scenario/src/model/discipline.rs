//! Queueing disciplines, as Linux has them (`tc`) and IEEE 802.1Q calls what they do.

use crate::quantity::{Credit, Duration, Rate, Size};

/// What decides which frame a port sends next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discipline {
    /// The name in the file.
    pub name: String,
    /// What chooses between classes.
    pub scheduler: Scheduler,
    /// The classes, highest first. At least one; each PCP is in one of them. [`Scheduler::FqCodel`] has one.
    pub classes: Vec<TrafficClass>,
}

impl Discipline {
    /// The index of the class that frames of this PCP are in.
    pub fn class_of(&self, pcp: u8) -> usize {
        class_of(self.classes.iter().map(|class| &class.priorities), pcp)
    }
}

/// Index of the first class that has this PCP, or of the last class.
pub(crate) fn class_of<'a>(
    priorities: impl ExactSizeIterator<Item = &'a Vec<u8>>,
    pcp: u8,
) -> usize {
    let last = priorities.len().saturating_sub(1);
    let mut priorities = priorities;
    let found = priorities.position(|priorities| priorities.contains(&pcp));
    found.unwrap_or(last)
}

/// What chooses between the classes of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheduler {
    /// `fq_codel`: no classes; flows take turns, and a queue that does not drain is shortened. The default of most distributions.
    FqCodel(FqCodel),
    /// `mqprio`: the highest class that has a frame to send, and may, sends it.
    Mqprio,
    /// `taprio`: the same among the classes whose gates are open.
    Taprio(Taprio),
}

/// The parameters of `fq_codel`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FqCodel {
    /// Frames in all queues together.
    pub limit: u64,
    /// Queues that flows are hashed to.
    pub flows: u64,
    /// What a queue may send in its turn.
    pub quantum: Size,
    /// The delay that is acceptable as a standing one.
    pub target: Duration,
    /// How long the delay must have been more before a frame is dropped.
    pub interval: Duration,
    /// Bytes in all queues together.
    pub memory_limit: Size,
    /// Whether frames that can be are marked instead of dropped. OPC UA's cannot.
    pub ecn: bool,
}

impl Default for FqCodel {
    /// As in Linux.
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
    /// When a cycle begins, by the node's clock; the port's shift is in it. Cycles are also before it.
    pub base_time: Duration,
    /// How long a cycle is: the sum of the entries' intervals.
    pub cycle_time: Duration,
    /// What happens in a cycle, in order. At least one.
    pub entries: Vec<GateEntry>,
    /// `flags 0x1`: gates are not there; each frame gets the time at which its gate would be open, at least this much from now (`txtime-delay`),
    /// and ETF below sends it then.
    pub txtime_assist: Option<Duration>,
    /// A time at the end of each window in which no frame begins. Besides, a frame only begins if it ends before the window does. A gate that
    /// never closes has no such time.
    pub guard_band: Duration,
}

/// A part of the cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateEntry {
    /// The classes whose gates are open: bit 0 is [`Discipline::classes`]`[0]`, the highest.
    pub gates: u8,
    /// How long.
    pub interval: Duration,
}

impl GateEntry {
    /// Whether the gate of a class is open.
    pub fn is_open(self, class: usize) -> bool {
        class < 8 && self.gates >> class & 1 == 1
    }
}

impl Taprio {
    /// The windows of a class in one cycle: when each opens after the cycle's beginning, and how long it stays open. Entries that follow one
    /// another with the gate open are one window; one that goes on in the next cycle begins in this one. A gate that never closes is one
    /// window as long as the cycle. With txtime-assist each entry is a window, since a frame's time and end are in one entry.
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
    /// Its name, of which there is one in a discipline.
    pub name: String,
    /// The PCPs of its frames.
    pub priorities: Vec<u8>,
    /// Where its frames wait.
    pub queue: Queue,
}

/// Where the frames of a class wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Queue {
    /// In order, until the class's turn.
    Fifo {
        /// What it holds; more is dropped.
        limit: Limit,
    },
    /// In order, until the credit is not negative (Credit-Based Shaper, IEEE 802.1Q, 8.6.8.2).
    Cbs {
        /// What the credit gains while frames wait. Not 0: a class that reserves nothing at a port has a [`Queue::Fifo`] there.
        idle_slope: Rate,
        /// What it loses while one is sent, as a positive number: the link's rate less idleSlope, unless said otherwise.
        send_slope: Rate,
        /// The most credit, in bytes, as for `tc`; of frames on the wire.
        hi_credit: Credit,
        /// The least credit, in bytes, as for `tc`; of frames on the wire.
        lo_credit: Credit,
        /// What it holds; more is dropped.
        limit: Limit,
    },
    /// By the time at which each frame wants to be sent (`etf`).
    Etf {
        /// How long before that time a frame is given to the hardware.
        delta: Duration,
        /// Whether the time is a deadline: frames are sent before it, as soon as they can be.
        deadline_mode: bool,
        /// Whether frames without a time of their socket's own are taken, as below `taprio` with txtime-assist.
        skip_sock_check: bool,
        /// Whether the hardware waits for the time. Otherwise frames leave delta before it.
        offload: bool,
    },
}

/// What a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// This many frames.
    Frames(u64),
    /// This many bytes of L2 frames, as the kernel counts them.
    Bytes(Size),
}

impl Default for Limit {
    /// Linux's `txqueuelen`.
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

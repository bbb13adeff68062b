//! Events that tell why a thread ran late.

use std::fmt;

/// Name of a thread or an interrupt as the kernel has it: bytes up to the first zero, which may be any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct KernelName {
    bytes: [u8; Self::LONGEST],
}

impl KernelName {
    /// Longest name that is kept, in bytes. Those of threads have 15 (`TASK_COMM_LEN`).
    pub const LONGEST: usize = 24;

    /// Keeps the beginning of a name, up to the first zero.
    #[must_use]
    pub fn new(name: &[u8]) -> Self {
        let mut bytes = [0; Self::LONGEST];
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        for (place, byte) in bytes.iter_mut().zip(name) {
            *place = *byte;
        }
        Self { bytes }
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .split(|byte| *byte == 0)
            .next()
            .unwrap_or_default()
    }
}

impl fmt::Display for KernelName {
    /// Writes the name as text. A program may give its threads any name, so control characters and bytes that are not ASCII are
    /// escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.as_bytes() {
            match byte {
                b' '..=b'~' => write!(f, "{}", char::from(*byte))?,
                byte => write!(f, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Priority of a thread in the kernel's own numbers (`include/linux/sched/prio.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelPriority(pub i32);

impl KernelPriority {
    /// Returns true for SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
    #[must_use]
    pub const fn is_real_time(self) -> bool {
        self.0 < 100
    }
}

impl fmt::Display for KernelPriority {
    /// Writes the priority as users set it: `priority 80` of SCHED_FIFO or SCHED_RR, or the nice value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // The stopper threads have the same priority; sched_stop is above all.
            ..0 => f.write_str("above all priorities"),
            priority @ 0..100 => write!(f, "priority {}", 99 - priority),
            priority => write!(f, "nice {}", priority.saturating_sub(120)),
        }
    }
}

/// Thread on a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelThread {
    /// Id of the thread; 0 is the idle thread of each processor.
    pub id: u32,
    /// Name.
    pub name: KernelName,
    /// Priority.
    pub priority: KernelPriority,
}

impl fmt::Display for KernelThread {
    /// Writes name, id and priority.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.id, self.priority)
    }
}

/// Reason for which a thread left its processor (`prev_state` of `sched_switch`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Another thread took the processor from a thread that could go on.
    Preempted,
    /// The thread sleeps until something wakes it up.
    Sleeping,
    /// The thread waits for something that no signal ends, such as a disk or a lock of the kernel.
    Blocked,
    /// A signal or a debugger stopped the thread.
    Stopped,
    /// The thread ended.
    Dead,
}

impl Left {
    /// Bits of `prev_state` (`include/linux/sched.h`, `TASK_REPORT`).
    const BITS: [(i64, Self); 4] = [
        (0x04 | 0x08, Self::Stopped),
        (0x10 | 0x20, Self::Dead),
        (0x02, Self::Blocked),
        // Also parked and idle threads of the kernel.
        (0x01 | 0x40 | 0x80, Self::Sleeping),
    ];

    /// Returns the reason of a `prev_state`.
    #[must_use]
    pub fn of_state(state: i64) -> Self {
        let found = Self::BITS.iter().find(|(bits, _)| state & bits != 0);
        found.map_or(Self::Preempted, |(_, left)| *left)
    }
}

/// Interrupt between processors or of the processor itself (`irq_vectors` of x86).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vector {
    /// Timer of the processor.
    LocalTimer,
    /// Request of another processor to choose a thread anew.
    Reschedule,
    /// Call of a function by another processor, for example to forget mappings of memory.
    CallFunction,
    /// The same, to one processor.
    CallFunctionSingle,
    /// Work that an interrupt left for later.
    IrqWork,
    /// Interrupt of the platform.
    Platform,
}

impl Vector {
    /// All vectors, with the name of their events without `_entry` and `_exit`.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::LocalTimer, "local_timer"),
        (Self::Reschedule, "reschedule"),
        (Self::CallFunction, "call_function"),
        (Self::CallFunctionSingle, "call_function_single"),
        (Self::IrqWork, "irq_work"),
        (Self::Platform, "x86_platform_ipi"),
    ];

    /// Returns the name of its events.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(vector, _)| *vector == self)
            .map_or("", |it| it.1)
    }
}

/// Names of softirqs by number (`include/linux/interrupt.h`).
pub const SOFTIRQS: [&str; 10] = [
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEvent {
    /// A processor changes to another thread.
    Switch {
        /// Thread that ran.
        previous: KernelThread,
        /// Reason for which it left the processor.
        left: Left,
        /// Thread that runs from now on.
        next: KernelThread,
    },
    /// A thread is woken up.
    Waking {
        /// Id of the thread.
        thread: u32,
        /// Processor on which it ran last, or to which it was moved since then (`target_cpu`).
        place: Option<u32>,
    },
    /// A thread is moved to another processor.
    Migrate {
        /// Id of the thread.
        thread: u32,
        /// New processor.
        to: u32,
    },
    /// An interrupt of a device begins.
    Interrupt {
        /// Name of its handler.
        name: KernelName,
    },
    /// The interrupt of a device ends.
    InterruptEnd,
    /// An interrupt of the processor begins.
    VectorBegin(Vector),
    /// The interrupt of the processor ends.
    VectorEnd(Vector),
    /// A softirq begins, with its number.
    Softirq(u8),
    /// The softirq ends.
    SoftirqEnd(u8),
    /// The idle thread enters an idle state, with its number, or leaves it.
    IdleState(Option<u32>),
    /// The current thread has a page fault.
    PageFault,
    /// The current thread calls the kernel, with the number of the system call.
    SystemCall(i64),
    /// The system call ends.
    SystemCallEnd(i64),
}

/// Event with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEntry {
    /// Time: nanoseconds of CLOCK_MONOTONIC.
    pub nanos: u64,
    /// Processor on which it happened.
    pub processor: u32,
    /// Id of the thread that ran there.
    pub thread: u32,
    /// True within an interrupt (`TRACE_FLAG_HARDIRQ` of `common_flags`). The event at the beginning of one may have either value.
    pub in_interrupt: bool,
    /// True within a softirq (`TRACE_FLAG_SOFTIRQ`).
    pub in_softirq: bool,
    /// The event.
    pub event: TraceEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_strangers_command_no_terminal() {
        let name = KernelName::new(b"a\x1b[2J\n\xffb c\0rest");
        assert_eq!(name.to_string(), "a\\x1b[2J\\x0a\\xffb c");
        assert_eq!(KernelName::new(&[b'x'; 100]).as_bytes().len(), 24);
        assert_eq!(KernelName::new(b"").to_string(), "");
    }

    #[test]
    fn priorities_are_those_that_users_set() {
        let shown = |priority| KernelPriority(priority).to_string();
        assert_eq!(shown(19), "priority 80");
        assert_eq!(shown(120), "nice 0");
        assert_eq!(shown(101), "nice -19");
        assert_eq!(shown(-1), "above all priorities");
        assert_eq!(shown(i32::MIN), "above all priorities");
    }

    #[test]
    fn states_are_those_of_the_kernel() {
        for (state, left) in [
            (0, Left::Preempted),
            (0x100, Left::Preempted),
            (1, Left::Sleeping),
            (2, Left::Blocked),
            (4, Left::Stopped),
            (8, Left::Stopped),
            (0x20, Left::Dead),
            (0x82, Left::Blocked),
        ] {
            assert_eq!(Left::of_state(state), left, "{state}");
        }
    }
}

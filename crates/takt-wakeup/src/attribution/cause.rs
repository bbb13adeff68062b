//! Causes of late wake-ups.

use std::fmt;

use crate::system_call_names::system_call_name;
use crate::trace::event::{KernelName, KernelThread, SOFTIRQS, Vector};

/// State of a processor whose timer is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WhileLate {
    /// The processor idled: the way out of the idle state took long, or a hypervisor ran something else. The kernel cannot tell these apart.
    /// The number is that of the idle state (`/sys/devices/system/cpu/cpuN/cpuidle/stateN`), if the kernel recorded it.
    Idle(Option<u32>),
    /// The processor ran a thread: with interrupts off, or a hypervisor ran something else. The kernel cannot tell these apart.
    Thread(KernelThread),
}

/// Cause for which a thread did not run, or ran too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The interrupt of the timer came late.
    TimerLate(WhileLate),
    /// The processor left its idle state and changed to the thread.
    IdleExit,
    /// The same, and then the thread returned from its sleep or another system call: the kernel noted no switch between them.
    IdleExitAndReturn,
    /// Another thread had the processor.
    Thread(KernelThread),
    /// The same, and then the thread returned from its sleep or another system call: the kernel noted no switch between them.
    ThreadAndReturn(KernelThread),
    /// Interrupt of a device.
    Interrupt(KernelName),
    /// Interrupt of the processor or of another processor.
    Vector(Vector),
    /// Softirq, with its number.
    Softirq(u8),
    /// The thread had a page fault. The kernel has no event at its end: the share ends with the next event of the thread, or when another
    /// thread takes the processor.
    PageFault,
    /// The thread moved to another processor.
    Migration,
    /// The thread ran its own code.
    OwnCode,
    /// The thread was in this system call.
    SystemCall(i64),
    /// The thread returned from its sleep: it had the processor, and was still in the kernel.
    Return,
    /// A signal or a debugger stopped the thread.
    Stopped,
    /// The thread waited in the kernel, neither in a system call that waits nor in its sleep.
    Blocked,
    /// The trace does not tell it.
    Unknown,
}

impl Cause {
    /// Returns the kind in one word, for programs.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::TimerLate(_) => "timerLate",
            Self::IdleExit => "idleExit",
            Self::IdleExitAndReturn => "idleExitAndReturn",
            Self::Thread(_) => "thread",
            Self::ThreadAndReturn(_) => "threadAndReturn",
            Self::Interrupt(_) | Self::Vector(_) => "interrupt",
            Self::Softirq(_) => "softirq",
            Self::PageFault => "pageFault",
            Self::Migration => "migration",
            Self::OwnCode => "ownCode",
            Self::SystemCall(_) => "systemCall",
            Self::Return => "return",
            Self::Stopped => "stopped",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the thread that the cause names.
    #[must_use]
    pub const fn thread(&self) -> Option<&KernelThread> {
        match self {
            Self::Thread(thread)
            | Self::ThreadAndReturn(thread)
            | Self::TimerLate(WhileLate::Thread(thread)) => Some(thread),
            _ => None,
        }
    }

    /// Returns the idle state of the processor, if the cause names it.
    #[must_use]
    pub const fn idle_state(&self) -> Option<u32> {
        match self {
            Self::TimerLate(WhileLate::Idle(state)) => *state,
            _ => None,
        }
    }

    /// Returns the name of the thread, interrupt, softirq or system call, escaped for terminals.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        Some(match self {
            Self::Thread(thread)
            | Self::ThreadAndReturn(thread)
            | Self::TimerLate(WhileLate::Thread(thread)) => thread.name.to_string(),
            Self::Interrupt(name) => name.to_string(),
            Self::Vector(vector) => vector.name().to_owned(),
            Self::Softirq(number) => softirq_name(*number),
            Self::SystemCall(number) => call_name(*number),
            _ => return None,
        })
    }
}

fn softirq_name(number: u8) -> String {
    let name = SOFTIRQS.get(usize::from(number));
    name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

fn call_name(number: i64) -> String {
    system_call_name(number).map_or_else(|| format!("number {number}"), str::to_owned)
}

impl fmt::Display for Cause {
    /// Writes the cause for people. Names of the kernel are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimerLate(WhileLate::Idle(None)) => f.write_str("timer late, processor idle"),
            Self::TimerLate(WhileLate::Idle(Some(state))) => {
                write!(f, "timer late, processor idle in state {state}")
            }
            Self::TimerLate(WhileLate::Thread(thread)) => {
                write!(f, "timer late, processor ran {thread}")
            }
            Self::IdleExit => f.write_str("idle exit"),
            Self::IdleExitAndReturn => f.write_str("idle exit and return"),
            Self::Thread(thread) => write!(f, "thread {thread}"),
            Self::ThreadAndReturn(thread) => write!(f, "thread {thread} and return"),
            Self::Interrupt(name) => write!(f, "interrupt {name}"),
            Self::Vector(vector) => write!(f, "interrupt {}", vector.name()),
            Self::Softirq(number) => write!(f, "softirq {}", softirq_name(*number)),
            Self::PageFault => f.write_str("page fault"),
            Self::Migration => f.write_str("migration"),
            Self::OwnCode => f.write_str("own code"),
            Self::SystemCall(number) => write!(f, "system call {}", call_name(*number)),
            Self::Return => f.write_str("return from the sleep"),
            Self::Stopped => f.write_str("stopped by a signal"),
            Self::Blocked => f.write_str("blocked in the kernel"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// Part of a lateness with its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CauseShare {
    /// Cause.
    pub cause: Cause,
    /// Sum of the times for which it was the cause, in nanoseconds.
    pub nanos: u64,
}

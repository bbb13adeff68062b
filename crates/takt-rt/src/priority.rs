//! Priorities and scheduling policies of threads.

use std::fmt;
use std::io;

use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use crate::sched;

/// A scheduling policy of Linux; see `sched(7)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// `SCHED_OTHER`: a fair share of the processor, shared with all threads.
    Other,
    /// `SCHED_FIFO` with a priority from 1 to 99: runs until it waits, or until a thread of higher priority needs the
    /// core.
    ///
    /// A thread of this policy that never waits starves its core; the kernel reserves 5 % of every second for others
    /// (`sched_rt_runtime_us`), in one piece of 50 ms. Threads that it starts inherit the policy.
    Fifo(u8),
}

impl Policy {
    /// Returns the name of the policy, without a priority.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "SCHED_OTHER",
            Self::Fifo(_) => "SCHED_FIFO",
        }
    }

    /// Returns the real-time priority, from 1 to 99, if the policy has one.
    #[must_use]
    pub const fn priority(self) -> Option<u8> {
        match self {
            Self::Other => None,
            Self::Fifo(priority) => Some(priority),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.priority() {
            None => f.write_str(self.name()),
            Some(priority) => write!(f, "{} {priority}", self.name()),
        }
    }
}

/// Error of a policy that could not be read or set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriorityError {
    /// `SCHED_FIFO` has the priorities 1 to 99.
    #[error("SCHED_FIFO {priority} does not exist: priorities go from 1 to 99")]
    OutOfRange {
        /// Requested priority.
        priority: u8,
    },
    /// The user may not use this priority.
    #[error(
        "SCHED_FIFO {priority} is not permitted: the limit of this user is {limit} (RLIMIT_RTPRIO) and CAP_SYS_NICE is missing. \
         Either `sudo setcap cap_sys_nice+ep PROGRAM`, or a line `USER - rtprio {priority}` in /etc/security/limits.conf \
         and a new login, or for a service of systemd `LimitRTPRIO={priority}`, for a container `--cap-add SYS_NICE`"
    )]
    NotPermitted {
        /// Requested priority.
        priority: u8,
        /// The highest priority this user may use; 0 is none.
        limit: u64,
    },
    /// The user is permitted, but the control group of the process has no real-time budget.
    #[error(
        "SCHED_FIFO {priority} is refused although CAP_SYS_NICE is held: the control group has no real-time budget. \
         Raise its cpu.rt_runtime_us, or for a container `--cpu-rt-runtime`"
    )]
    NoBudget {
        /// Requested priority.
        priority: u8,
    },
    /// The system refused for another reason.
    #[error("the thread's scheduling policy could not be read or set")]
    System(#[from] io::Error),
}

/// Sets the policy of the calling thread.
///
/// # Errors
/// [`PriorityError`], which names the missing privilege and the way to get it. The policy of the thread is unchanged
/// then.
pub fn set(policy: Policy) -> Result<(), PriorityError> {
    let (number, priority) = match policy {
        Policy::Other => (sched::OTHER, 0),
        Policy::Fifo(priority @ 1..=99) => (sched::FIFO, priority),
        Policy::Fifo(priority) => return Err(PriorityError::OutOfRange { priority }),
    };
    sched::set(number, priority).map_err(|error| {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return PriorityError::System(error);
        }
        // An unlimited resource is None.
        let limit = getrlimit(Resource::Rtprio).current.unwrap_or(99);
        let capable =
            capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_NICE));
        if capable || limit >= u64::from(priority) {
            PriorityError::NoBudget { priority }
        } else {
            PriorityError::NotPermitted { priority, limit }
        }
    })
}

/// Returns the policy of the calling thread; `None` for one that [`Policy`] does not represent (`SCHED_RR`,
/// `SCHED_DEADLINE`, …).
///
/// # Errors
/// [`PriorityError::System`], in a sandbox that forbids the call.
pub fn get() -> Result<Option<Policy>, PriorityError> {
    let (number, priority) = sched::get()?;
    Ok(match number {
        sched::OTHER => Some(Policy::Other),
        sched::FIFO => Some(Policy::Fifo(priority)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifo_and_back_or_a_helpful_error() {
        std::thread::spawn(|| {
            assert_eq!(get().unwrap(), Some(Policy::Other));
            match set(Policy::Fifo(1)) {
                Ok(()) => {
                    assert_eq!(get().unwrap(), Some(Policy::Fifo(1)));
                    set(Policy::Other).unwrap();
                }
                Err(error @ PriorityError::NotPermitted { .. }) => {
                    let text = error.to_string();
                    assert!(
                        text.contains("cap_sys_nice") && text.contains("rtprio 1"),
                        "{text}"
                    );
                }
                Err(PriorityError::NoBudget { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
            assert_eq!(get().unwrap(), Some(Policy::Other));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn priorities_out_of_range() {
        for priority in [0, 100, 255] {
            let error = set(Policy::Fifo(priority)).unwrap_err();
            assert!(
                matches!(error, PriorityError::OutOfRange { .. }),
                "{error:?}"
            );
        }
    }

    #[test]
    fn shows_like_chrt() {
        assert_eq!(Policy::Fifo(50).to_string(), "SCHED_FIFO 50");
        assert_eq!(Policy::Other.to_string(), "SCHED_OTHER");
    }
}

//! A timer that makes the `Readiness` ready at the earliest deadline.
//!
//! A timeout of each wait would have the same effect, but the kernel would arm and disarm a timer for each wait,
//! which takes longer (0.7 µs of a request's 17) than everything else that the server does. This timer is set only
//! when an earlier deadline is added, which is rare: the deadlines of correct connections are an hour away.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// Alarm whose descriptor becomes readable at the earliest of its deadlines.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    /// Time of the alarm, which may be earlier than the next deadline.
    set_for: Option<Instant>,
}

impl Alarm {
    /// Creates an alarm that is not set.
    ///
    /// # Errors
    /// The process has no descriptors left.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self {
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
            set_for: None,
        })
    }

    /// Returns the descriptor, which is readable once the alarm has gone off.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }

    /// Returns the time of the alarm.
    pub fn set_for(&self) -> Option<Instant> {
        self.set_for
    }

    /// Returns whether the alarm is due.
    pub fn is_due(&self, now: Instant) -> bool {
        self.set_for.is_some_and(|at| at <= now)
    }

    /// Makes sure that the alarm goes off at `at` or before.
    pub fn at(&mut self, at: Instant) {
        if self.set_for.is_some_and(|set| set <= at) {
            return;
        }
        self.set_for = Some(at);
        let delay = at.saturating_duration_since(Instant::now());
        // Zero would switch it off.
        let delay = delay.max(Duration::from_nanos(1));
        let spec = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec::try_from(delay).unwrap_or(Timespec {
                tv_sec: i64::from(i32::MAX),
                tv_nsec: 0,
            }),
        };
        // It can only fail for values out of range.
        let set = timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spec);
        debug_assert!(set.is_ok());
    }

    /// Acknowledges the alarm: the remaining deadlines have to be set [again](Self::at).
    pub fn acknowledge(&mut self) {
        self.set_for = None;
        let _ = rustix::io::read(&self.timer, &mut [0_u8; 8]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readiness::{Events, Interest, Readiness};

    #[test]
    fn only_the_earliest_deadline_counts() {
        let readiness = Readiness::new().unwrap();
        let mut alarm = Alarm::new().unwrap();
        readiness.add(alarm.as_fd(), 1, Interest::READ).unwrap();
        let begun = Instant::now();
        alarm.at(begun + Duration::from_secs(3600));
        alarm.at(begun + Duration::from_millis(20));
        alarm.at(begun + Duration::from_secs(60));
        assert!(!alarm.is_due(begun));
        let mut events = Events::with_capacity(1);
        readiness
            .wait(&mut events, Some(Duration::from_secs(10)))
            .unwrap();
        assert_eq!(events.len(), 1);
        assert!(begun.elapsed() >= Duration::from_millis(20));
        assert!(alarm.is_due(Instant::now()));
        alarm.acknowledge();
        assert!(!alarm.is_due(Instant::now()));
        readiness.wait(&mut events, Some(Duration::ZERO)).unwrap();
        assert!(events.is_empty());
        alarm.at(begun);
        readiness
            .wait(&mut events, Some(Duration::from_secs(10)))
            .unwrap();
        assert_eq!(events.len(), 1);
    }
}

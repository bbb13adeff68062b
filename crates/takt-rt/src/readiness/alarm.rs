//! A timer that makes the `Readiness` ready when the earliest deadline has come.
//!
//! A timeout given to each wait would do the same, but the kernel arms and disarms a timer for each of them, which
//! costs more (0.7 µs of a request's 17) than everything else that the server does. This one is set only when an
//! earlier deadline appears, and that is seldom: the deadlines of connections that behave are an hour away.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// Becomes readable when the earliest of the deadlines that it was told has come.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    /// The alarm goes off then, or before.
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

    /// Readable once the alarm has gone off.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }

    /// When the alarm goes off.
    pub fn set_for(&self) -> Option<Instant> {
        self.set_for
    }

    /// Returns whether something is due.
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
        // It can fail only for values that are out of range.
        let set = timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spec);
        debug_assert!(set.is_ok());
    }

    /// The alarm was heard: every deadline that is left has to be told [again](Self::at).
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

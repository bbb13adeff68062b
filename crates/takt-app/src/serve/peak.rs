//! Detection of memory peaks, after which freed memory is returned to the system.

use std::time::{Duration, Instant};

/// Fall of memory in bytes that is required for that.
const FALL: usize = 8 << 20;

/// Delay after the fall: another peak may follow at once, and returning memory takes time.
const PAUSE: Duration = Duration::from_secs(2);

/// Largest memory use since memory was last returned.
#[derive(Debug, Default)]
pub(super) struct Peak {
    highest: usize,
    give_back_at: Option<Instant>,
}

impl Peak {
    /// Notes that `used` bytes are in use. Returns the time at which to [check](Self::is_due) if memory has fallen.
    #[inline]
    pub(super) fn note(&mut self, used: usize) -> Option<Instant> {
        if used > self.highest {
            self.highest = used;
        } else if self.highest - used >= FALL && self.give_back_at.is_none() {
            self.give_back_at = Some(Instant::now() + PAUSE);
        }
        self.give_back_at
    }

    /// Returns whether memory shall be returned now, while `used` bytes are in use; once for each fall.
    pub(super) fn is_due(&mut self, used: usize, now: Instant) -> bool {
        let is_due = self.give_back_at.is_some_and(|at| at <= now);
        if is_due {
            self.give_back_at = None;
            self.highest = used;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_once_after_each_fall() {
        let mut peak = Peak::default();
        assert_eq!(peak.note(FALL - 1), None);
        assert_eq!(peak.note(0), None, "not high enough");
        assert_eq!(peak.note(3 * FALL), None);
        let at = peak.note(FALL).unwrap();
        assert_eq!(peak.note(0), Some(at), "it is known already");
        assert!(!peak.is_due(0, at - Duration::from_millis(1)));
        assert!(peak.is_due(FALL, at));
        assert!(!peak.is_due(FALL, at + PAUSE));
        assert!(peak.note(0).is_some());
    }
}

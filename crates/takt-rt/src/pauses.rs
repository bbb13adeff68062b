//! Pauses between attempts that fail.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Returns a pause that is up to a quarter longer or shorter, at random, so that those who wait for the same thing do not all come
/// back at once.
#[must_use]
pub fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) % 1024;
    let factor = 0.75 + random as f64 / 2048.0;
    pause.mul_f64(factor)
}

/// Pauses that grow: each one is twice as long as the last one, up to a limit.
#[derive(Debug, Clone)]
pub struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pauses {
    /// Returns pauses that begin with `first`, and grow up to `longest`.
    #[must_use]
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    /// Returns the pause after an attempt that failed.
    #[must_use]
    pub fn grow(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Begins with the first pause again, after a success.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_a_quarter() {
        let pause = Duration::from_secs(4);
        let range = Duration::from_secs(3)..=Duration::from_secs(5);
        let pauses: Vec<_> = (0..100).map(|_| jittered(pause)).collect();
        assert!(pauses.iter().all(|pause| range.contains(pause)));
        assert!(pauses.iter().any(|other| *other != pauses[0]));
    }

    #[test]
    fn pauses_grow_until_a_success() {
        let mut pauses = Pauses::new(Duration::from_millis(250), Duration::from_secs(1));
        let mut milliseconds = || pauses.grow().as_millis();
        let grown = [
            milliseconds(),
            milliseconds(),
            milliseconds(),
            milliseconds(),
        ];
        assert_eq!(grown, [250, 500, 1000, 1000]);
        pauses.reset();
        assert_eq!(pauses.grow().as_millis(), 250);
    }
}

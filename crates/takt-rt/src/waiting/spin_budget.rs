//! Learned spinning of the side that waits for a response.

use std::time::{Duration, Instant};

use super::bet::Bet;

/// Waits between two checks of the processor of the server.
const WAITS_PER_CHECK: u32 = 64;
/// Largest share of the time between two waits that a lost spin may take: one sixteenth.
const SHARE: u32 = 16;
/// Longest spin, however rare the waits are. Waking a thread takes up to about as long in a virtual machine.
const LONGEST: Duration = Duration::from_micros(200);

/// Spin budget of a thread that sends a request and waits for its response. It spins while responses come within the budget.
/// Otherwise it sleeps at once, because the server needs the processor on which the thread would spin, or takes longer.
///
/// Rare requests may spin longer: server and memory are cold then, so the response takes longer, and the spins are still a
/// small share of the time.
#[derive(Debug, Clone)]
pub struct SpinBudget {
    least: Duration,
    bet: Bet,
    /// Start of the latest wait.
    last: Option<Instant>,
    /// True while the server runs on the processor of this thread.
    shares_processor: bool,
    waits: u32,
}

impl SpinBudget {
    /// Creates a budget of `least` for each wait, or a sixteenth of the time since the wait before if that is more: up to 200 µs.
    #[must_use]
    pub fn new(least: Duration) -> Self {
        Self {
            least,
            bet: Bet::default(),
            last: None,
            shares_processor: false,
            waits: 0,
        }
    }

    /// Returns the time to spin in the wait that starts at `now`: all of the budget or none of it. Each wait that spins has to be
    /// reported with [`hit`](Self::hit) or [`miss`](Self::miss).
    #[inline]
    pub fn next_wait(&mut self, now: Instant) -> Duration {
        self.waits += 1;
        let last = self.last.replace(now);
        if self.shares_processor {
            Duration::ZERO
        } else if self.bet.is_open() {
            let pause = last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
            // Where the least is more than the longest, it holds.
            (pause / SHARE).min(LONGEST).max(self.least)
        } else {
            self.bet.skip();
            Duration::ZERO
        }
    }

    /// Returns true in every 64th wait: then the caller finds out whether the server is bound to the processor of this
    /// thread, and [says so](Self::share_processor).
    #[inline]
    pub fn is_check_due(&mut self) -> bool {
        let is_due = self.waits >= WAITS_PER_CHECK;
        if is_due {
            self.waits = 0;
        }
        is_due
    }

    /// Sets whether the server is bound to the processor of this thread. Spinning would keep the server from answering, or
    /// end when the system takes the processor away.
    pub fn share_processor(&mut self, shares: bool) {
        self.shares_processor = shares;
    }

    /// Notes a response that came while the thread was spinning.
    #[inline]
    pub fn hit(&mut self) {
        self.bet.win();
    }

    /// Notes a spin that ended without a response.
    pub fn miss(&mut self) {
        self.bet.lose();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stops_spinning_where_no_response_comes() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        let (mut spins, now) = (0, Instant::now());
        for _ in 0..1000 {
            if !budget.next_wait(now).is_zero() {
                spins += 1;
                budget.miss();
            }
        }
        assert!((4..=9).contains(&spins), "{spins}");
    }

    #[test]
    fn a_thread_does_not_spin_on_the_processor_of_its_server() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        let (mut spins, mut checks, now) = (0, 0, Instant::now());
        for _ in 0..640 {
            if budget.is_check_due() {
                checks += 1;
                budget.share_processor(true);
            }
            if !budget.next_wait(now).is_zero() {
                spins += 1;
                budget.hit();
            }
        }
        assert_eq!((spins, checks), (64, 9));
        budget.share_processor(false);
        assert!(!budget.next_wait(now).is_zero());
    }

    #[test]
    fn a_thread_goes_on_spinning_where_responses_come() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        let now = Instant::now();
        for _ in 0..1000 {
            assert_eq!(budget.next_wait(now), Duration::from_micros(20));
            budget.hit();
        }
    }

    #[test]
    fn rare_waits_spin_longer() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        let mut now = Instant::now();
        for (pause, spin) in [(0, 20), (100, 20), (1_000, 62), (10_000, 200), (50, 20)] {
            now += Duration::from_micros(pause);
            assert_eq!(budget.next_wait(now).as_micros(), spin, "after {pause} µs");
        }
        let least = Duration::from_millis(1);
        let mut budget = SpinBudget::new(least);
        assert_eq!(budget.next_wait(now), least);
        assert_eq!(budget.next_wait(now + Duration::from_secs(1)), least);
    }
}

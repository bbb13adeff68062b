//! Learned spinning of the side that waits for a response.

use std::time::Duration;

use super::bet::Bet;

/// Waits between two checks of the processor of the server.
const WAITS_PER_CHECK: u32 = 64;

/// Spin budget of a thread that sends a request and waits for its response. It spins while responses come within the budget.
/// Otherwise it sleeps at once, because the server needs the processor on which the thread would spin, or takes longer.
#[derive(Debug, Clone)]
pub struct SpinBudget {
    most: Duration,
    bet: Bet,
    /// True while the server runs on the processor of this thread.
    shares_processor: bool,
    waits: u32,
}

impl SpinBudget {
    /// Creates a budget of at most `most` for each wait.
    #[must_use]
    pub fn new(most: Duration) -> Self {
        Self {
            most,
            bet: Bet::default(),
            shares_processor: false,
            waits: 0,
        }
    }

    /// Returns the time to spin in the next wait: all of the budget or none of it. Each wait that spins has to be reported with
    /// [`hit`](Self::hit) or [`miss`](Self::miss).
    #[inline]
    pub fn next_wait(&mut self) -> Duration {
        self.waits += 1;
        if self.shares_processor {
            Duration::ZERO
        } else if self.bet.is_open() {
            self.most
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
        let mut spins = 0;
        for _ in 0..1000 {
            if !budget.next_wait().is_zero() {
                spins += 1;
                budget.miss();
            }
        }
        assert!((4..=9).contains(&spins), "{spins}");
    }

    #[test]
    fn a_thread_does_not_spin_on_the_processor_of_its_server() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        let (mut spins, mut checks) = (0, 0);
        for _ in 0..640 {
            if budget.is_check_due() {
                checks += 1;
                budget.share_processor(true);
            }
            if !budget.next_wait().is_zero() {
                spins += 1;
                budget.hit();
            }
        }
        assert_eq!((spins, checks), (64, 9));
        budget.share_processor(false);
        assert!(!budget.next_wait().is_zero());
    }

    #[test]
    fn a_thread_goes_on_spinning_where_responses_come() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        for _ in 0..1000 {
            assert_eq!(budget.next_wait(), Duration::from_micros(20));
            budget.hit();
        }
    }
}

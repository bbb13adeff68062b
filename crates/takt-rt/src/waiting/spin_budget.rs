//! Learned spinning of the side that waits for a response.

use std::time::Duration;

use super::bet::Bet;

/// Spin budget of a thread that sends a request and waits for its response. It spins while responses come within the budget.
/// Otherwise it sleeps at once, because the server needs the processor on which the thread would spin, or takes longer.
#[derive(Debug, Clone)]
pub struct SpinBudget {
    most: Duration,
    bet: Bet,
}

impl SpinBudget {
    /// Creates a budget of at most `most` for each wait.
    #[must_use]
    pub fn new(most: Duration) -> Self {
        Self {
            most,
            bet: Bet::default(),
        }
    }

    /// Returns the time to spin in the next wait: all of the budget or none of it. Each wait that spins has to be reported with
    /// [`hit`](Self::hit) or [`miss`](Self::miss).
    #[inline]
    pub fn next_wait(&mut self) -> Duration {
        if self.bet.is_open() {
            self.most
        } else {
            self.bet.skip();
            Duration::ZERO
        }
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
    fn a_thread_goes_on_spinning_where_responses_come() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        for _ in 0..1000 {
            assert_eq!(budget.next_wait(), Duration::from_micros(20));
            budget.hit();
        }
    }
}

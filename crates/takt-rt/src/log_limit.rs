//! Limit on lines of the log that clients cause.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pause between two lines on average.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of lines that may be logged at once after a rest: clients that fail together have reasons of their own.
const BURST: u32 = 10;

/// Limit of one line per second on average. The next line tells the number of those that were left out.
#[derive(Debug, Default)]
pub struct LogLimit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Time from which on a whole burst may be logged again.
    rested: Option<Instant>,
    left_out: usize,
}

impl LogLimit {
    /// Counts an event. If a line may be logged now, returns the number of events before this one that got none.
    pub fn admit(&self, now: Instant) -> Option<usize> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A token bucket as one point in time: each line moves it on by a pause.
        let rested = state.rested.map_or(now, |rested| rested.max(now)) + PAUSE;
        if rested > now + PAUSE * BURST {
            state.left_out += 1;
            return None;
        }
        state.rested = Some(rested);
        Some(std::mem::take(&mut state.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_burst_one_line_per_second_counts_all_events() {
        let limit = LogLimit::default();
        let start = Instant::now();
        let admitted = |milliseconds| limit.admit(start + Duration::from_millis(milliseconds));
        let lines: Vec<usize> = (0..2500).filter_map(admitted).collect();
        assert_eq!(lines, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 990, 999]);
        assert_eq!(admitted(10_000), Some(499));
        assert_eq!(admitted(20_000), Some(0));
    }
}

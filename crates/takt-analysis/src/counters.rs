//! Missed and repeated counters (`docs/measurements.md`, "Losses").

/// Numbers of counters that came, and of those that did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CounterStatistics {
    /// Number of messages.
    pub messages: u64,
    /// Counters that never came: a counter that is greater by `k` than the one before it counts as `k − 1`.
    pub missed: u64,
    /// Messages with the counter of the message before.
    pub repeated: u64,
    /// Messages with a smaller counter than the message before: reordered, or the sender began again.
    pub reordered: u64,
    last: Option<u64>,
}

impl CounterStatistics {
    /// Takes note of a message; returns true if its counter is new.
    pub fn note(&mut self, counter: u64) -> bool {
        self.messages += 1;
        let is_new = match self.last {
            None => true,
            Some(last) if counter == last => {
                self.repeated += 1;
                false
            }
            // The counter may wrap around: the distance decides.
            Some(last) => match counter.wrapping_sub(last) {
                distance if distance < 1 << 63 => {
                    self.missed += distance - 1;
                    true
                }
                _ => {
                    self.reordered += 1;
                    false
                }
            },
        };
        if is_new {
            self.last = Some(counter);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counters: &[u64]) -> (u64, u64, u64) {
        let mut statistics = CounterStatistics::default();
        for counter in counters {
            statistics.note(*counter);
        }
        assert_eq!(statistics.messages, counters.len() as u64);
        (statistics.missed, statistics.repeated, statistics.reordered)
    }

    #[test]
    fn counters_are_counted_by_hand() {
        assert_eq!(of(&[1, 2, 3]), (0, 0, 0));
        assert_eq!(of(&[10, 10, 11, 11, 11]), (0, 3, 0));
        assert_eq!(of(&[1, 5, 6]), (3, 0, 0));
        // A message that comes too late makes a repeated counter and then a missed one.
        assert_eq!(of(&[1, 2, 2, 4]), (1, 1, 0));
        assert_eq!(of(&[1, 3, 2, 4]), (1, 0, 1));
        assert_eq!(of(&[u64::MAX - 1, u64::MAX, 0, 1]), (0, 0, 0));
        assert_eq!(of(&[u64::MAX, 2]), (2, 0, 0));
    }
}

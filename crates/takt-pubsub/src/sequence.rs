//! Sequence numbers of received messages (OPC 10000-14, 7.2.3).

use std::time::{Duration, Instant};

/// Order of a message, from its sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The message is the next one, after this number of missing messages.
    New {
        /// Number of missing messages.
        missing: u16,
    },
    /// The message was received before, or after newer ones: it is discarded.
    Old,
    /// The Publisher has restarted its count.
    Restarted,
}

/// Latest sequence number of one sender.
#[derive(Debug, Clone, Copy, Default)]
pub struct SequenceNumbers {
    /// The number, and the time after which it is forgotten; `None` for never. To compare times takes less time than to compute an
    /// age.
    latest: Option<(u16, Option<Instant>)>,
}

impl SequenceNumbers {
    /// Returns the order of a number, and remembers it for `forget_after`: later, the Publisher may have restarted.
    pub fn check(&mut self, number: u16, now: Instant, forget_after: Duration) -> Order {
        let order = match self.latest {
            Some((latest, end)) if end.is_none_or(|end| now <= end) => order(latest, number),
            _ => Order::New { missing: 0 },
        };
        if order != Order::Old {
            self.latest = Some((number, now.checked_add(forget_after)));
        }
        order
    }

    /// Returns the order of a keep-alive, which has the number of the next message: the number of missing messages before it, or
    /// that it is older than received messages.
    pub fn check_next(&mut self, next: u16, now: Instant, forget_after: Duration) -> Order {
        let Some((latest, _)) = self.latest else {
            return Order::New { missing: 0 };
        };
        let order = order(latest, next);
        match order {
            // The number itself was not used yet.
            Order::New { .. } => {
                self.latest = Some((next.wrapping_sub(1), now.checked_add(forget_after)));
            }
            Order::Old => {}
            Order::Restarted => self.latest = None,
        }
        order
    }
}

/// Compares numbers, which wrap: up to a quarter of them ahead is newer, a quarter behind is older, any other distance is
/// neither.
fn order(latest: u16, number: u16) -> Order {
    match number.wrapping_sub(latest).wrapping_sub(1) {
        missing @ 0..16_384 => Order::New { missing },
        49_162.. => Order::Old,
        _ => Order::Restarted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_7_2_3_requires() {
        assert_eq!(order(7, 8), Order::New { missing: 0 });
        assert_eq!(order(7, 10), Order::New { missing: 2 });
        assert_eq!(order(65_535, 0), Order::New { missing: 0 });
        assert_eq!(order(7, 7), Order::Old);
        assert_eq!(order(7, 6), Order::Old);
        assert_eq!(order(0, 16_384), Order::New { missing: 16_383 });
        assert_eq!(order(0, 16_385), Order::Restarted);
        assert_eq!(order(0, 49_162), Order::Restarted);
        assert_eq!(order(0, 49_163), Order::Old);
    }

    #[test]
    fn a_publisher_that_was_away_may_begin_anew() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut numbers = SequenceNumbers::default();
        assert_eq!(numbers.check(500, start, second), Order::New { missing: 0 });
        assert_eq!(numbers.check(0, start + second, second), Order::Old);
        let later = start + second * 2;
        assert_eq!(numbers.check(0, later, second), Order::New { missing: 0 });
    }

    #[test]
    fn a_keep_alive_uses_no_number() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let mut numbers = SequenceNumbers::default();
        numbers.check(4, now, second);
        assert_eq!(
            numbers.check_next(5, now, second),
            Order::New { missing: 0 }
        );
        assert_eq!(
            numbers.check_next(5, now, second),
            Order::New { missing: 0 }
        );
        assert_eq!(numbers.check(5, now, second), Order::New { missing: 0 });
        assert_eq!(
            numbers.check_next(8, now, second),
            Order::New { missing: 2 }
        );
        assert_eq!(numbers.check_next(3, now, second), Order::Old);
    }
}

//! Sequence numbers of received messages (OPC 10000-14, 7.2.3).

use std::time::{Duration, Instant};

/// Sequence number of a message, in the width in which its Publisher counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceNumber {
    /// Number of a UADP message.
    UInt16(u16),
    /// Number of a JSON message (OPC 10000-14, 7.2.5.4).
    UInt32(u32),
}

/// Order of a message, from its sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The message is the next one, after this number of missing messages.
    New {
        /// Number of missing messages.
        missing: u32,
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
    latest: Option<(SequenceNumber, Option<Instant>)>,
}

impl SequenceNumber {
    /// Returns the number.
    #[inline]
    pub fn value(self) -> u32 {
        match self {
            Self::UInt16(number) => number.into(),
            Self::UInt32(number) => number,
        }
    }

    fn previous(self) -> Self {
        match self {
            Self::UInt16(number) => Self::UInt16(number.wrapping_sub(1)),
            Self::UInt32(number) => Self::UInt32(number.wrapping_sub(1)),
        }
    }
}

impl SequenceNumbers {
    /// Returns the order of a number, and remembers it for `forget_after`: later, the Publisher may have restarted.
    #[inline]
    pub fn check(&mut self, number: SequenceNumber, now: Instant, forget_after: Duration) -> Order {
        let order = self.order(number, now);
        // An old number does not prolong the time: a Publisher that restarted with lower numbers is accepted in the end.
        if order != Order::Old {
            self.latest = Some((number, now.checked_add(forget_after)));
        }
        order
    }

    /// Returns the order of a keep-alive, which has the number of the next message: the number of missing messages before it, or
    /// that it is older than received messages.
    pub fn check_next(
        &mut self,
        next: SequenceNumber,
        now: Instant,
        forget_after: Duration,
    ) -> Order {
        let order = self.order(next, now);
        if order != Order::Old {
            // The number itself was not used yet.
            self.latest = Some((next.previous(), now.checked_add(forget_after)));
        }
        order
    }

    #[inline]
    fn order(&self, number: SequenceNumber, now: Instant) -> Order {
        match self.latest {
            Some((latest, end)) if end.is_none_or(|end| now <= end) => order(latest, number),
            _ => Order::New { missing: 0 },
        }
    }
}

/// Compares numbers, which wrap: up to a quarter of them ahead is newer, a quarter behind is older, any other distance is
/// neither.
#[inline]
fn order(latest: SequenceNumber, number: SequenceNumber) -> Order {
    match (latest, number) {
        (SequenceNumber::UInt16(latest), SequenceNumber::UInt16(number)) => {
            // The next number has the distance 0: the distance is also the number of missing messages.
            match number.wrapping_sub(latest).wrapping_sub(1) {
                missing @ 0..16_384 => Order::New {
                    missing: missing.into(),
                },
                // This bound is the standard's; three quarters would be 49 152.
                49_162.. => Order::Old,
                _ => Order::Restarted,
            }
        }
        (latest, number) => order_of_uint32(latest.value(), number.value()),
    }
}

fn order_of_uint32(latest: u32, number: u32) -> Order {
    const QUARTER: u32 = 1 << 30;
    const WRAP: u32 = 1 << 16;
    // Only numbers near the wrap count as wrapped. Elsewhere, a smaller number is an old one.
    const NEAR: u32 = 1 << 10;
    let distance = number.wrapping_sub(latest).wrapping_sub(1);
    // Some Publishers count JSON messages in 16 bits, too.
    if (WRAP - NEAR..WRAP).contains(&latest) && number < NEAR {
        return Order::New {
            missing: WRAP - 1 - latest + number,
        };
    }
    match distance {
        missing if missing < QUARTER => Order::New { missing },
        distance if distance >= 3 * QUARTER => Order::Old,
        _ => Order::Restarted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uadp(number: u16) -> SequenceNumber {
        SequenceNumber::UInt16(number)
    }

    #[test]
    fn numbers_are_compared_as_7_2_3_requires() {
        let order = |latest, number| order(uadp(latest), uadp(number));
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
    fn numbers_of_json_are_compared_in_32_bits() {
        let order = |latest, number| {
            order(
                SequenceNumber::UInt32(latest),
                SequenceNumber::UInt32(number),
            )
        };
        for gap in [1, 16_385, 49_163, 65_535, 65_536, 1 << 30] {
            assert_eq!(order(7, 7 + gap), Order::New { missing: gap - 1 });
        }
        assert_eq!(order(7, 8 + (1 << 30)), Order::Restarted);
        assert_eq!(order(u32::MAX, 1), Order::New { missing: 1 });
        assert_eq!(order(70_000, 70_000), Order::Old);
        assert_eq!(order(70_000, 10), Order::Old);
        assert_eq!(order(60_000, 10), Order::Old);
        // A Publisher that counts in 16 bits.
        assert_eq!(order(65_535, 0), Order::New { missing: 0 });
        assert_eq!(order(65_534, 2), Order::New { missing: 3 });
        assert_eq!(order(65_535, 65_536), Order::New { missing: 0 });
        assert_eq!(order(65_535, 65_534), Order::Old);
    }

    #[test]
    fn a_publisher_that_was_away_may_begin_anew() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let new = Order::New { missing: 0 };
        let mut numbers = SequenceNumbers::default();
        assert_eq!(numbers.check(uadp(500), start, second), new);
        assert_eq!(numbers.check(uadp(0), start + second, second), Order::Old);
        let later = start + second * 2;
        assert_eq!(numbers.check(uadp(0), later, second), new);
    }

    #[test]
    fn keep_alives_of_a_publisher_that_was_away_begin_anew() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let new = |missing| Order::New { missing };
        let mut numbers = SequenceNumbers::default();
        numbers.check(uadp(500), start, second);
        assert_eq!(
            numbers.check_next(uadp(0), start + second, second),
            Order::Old
        );
        let later = start + second * 2;
        assert_eq!(numbers.check_next(uadp(0), later, second), new(0));
        assert_eq!(numbers.check_next(uadp(0), later, second), new(0));
        assert_eq!(numbers.check(uadp(1), later, second), new(1));
        // The first message of all may be a keep-alive.
        let mut numbers = SequenceNumbers::default();
        assert_eq!(numbers.check_next(uadp(3), start, second), new(0));
        assert_eq!(numbers.check(uadp(5), start, second), new(2));
    }

    #[test]
    fn a_keep_alive_uses_no_number() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let new = |missing| Order::New { missing };
        let mut numbers = SequenceNumbers::default();
        numbers.check(uadp(4), now, second);
        assert_eq!(numbers.check_next(uadp(5), now, second), new(0));
        assert_eq!(numbers.check_next(uadp(5), now, second), new(0));
        assert_eq!(numbers.check(uadp(5), now, second), new(0));
        assert_eq!(numbers.check_next(uadp(8), now, second), new(2));
        assert_eq!(numbers.check_next(uadp(3), now, second), Order::Old);
    }
}

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
    /// The Publisher has restarted its count, or it has not skipped numbers as it seemed.
    Restarted,
}

/// Number of missing messages from which on a message may be a forged one. If fewer are missing, the true Publisher has caught up
/// after as many messages.
const JUMP: u32 = 16;

/// Latest sequence number of one sender.
#[derive(Debug, Clone, Copy, Default)]
pub struct SequenceNumbers {
    /// The number, and the time after which it is forgotten; `None` for never. To compare times takes less time than to compute an
    /// age.
    latest: Option<(SequenceNumber, Option<Instant>)>,
    /// True if anybody can send messages of the sender.
    is_unprotected: bool,
    /// Numbers before the latest one, if that is the only message behind a jump.
    before: Option<Before>,
}

/// Numbers before a jump.
#[derive(Debug, Clone, Copy)]
struct Before {
    latest: SequenceNumber,
    /// True after a message that continued them.
    is_continued: bool,
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
    /// Returns sequence numbers of messages that are not protected: anybody may have sent them.
    ///
    /// A single message that is 16 or more numbers ahead does not make the next ones old for long: the second one in a row that
    /// continues the numbers before it ends the jump. Protected messages are not treated so: an attacker may hold them back, and
    /// would have older ones accepted.
    pub fn unprotected() -> Self {
        Self {
            is_unprotected: true,
            ..Self::default()
        }
    }

    /// Returns the order of a number, and remembers it for `forget_after`: later, the Publisher may have restarted.
    #[inline]
    pub fn check(&mut self, number: SequenceNumber, now: Instant, forget_after: Duration) -> Order {
        let order = self.order(number, now);
        let order = self.without_jump(order, number, number);
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
        let order = self.without_jump(order, next, next.previous());
        if order != Order::Old {
            // The number itself was not used yet.
            self.latest = Some((next.previous(), now.checked_add(forget_after)));
        }
        order
    }

    /// Returns the order of a number, given that of the latest one; `used` is the last number that its sender has used.
    #[inline]
    fn without_jump(
        &mut self,
        order: Order,
        number: SequenceNumber,
        used: SequenceNumber,
    ) -> Order {
        match order {
            Order::Old => self.order_before_jump(number, used),
            Order::New { missing } if missing >= JUMP && self.is_unprotected => {
                // Numbers that the true sender has not continued yet remain those of the sender.
                if let (None, Some((latest, _))) = (self.before, self.latest) {
                    self.before = Some(Before {
                        latest,
                        is_continued: false,
                    });
                }
                order
            }
            // The sender goes on behind the jump.
            _ => {
                self.before = None;
                order
            }
        }
    }

    #[cold]
    fn order_before_jump(&mut self, number: SequenceNumber, used: SequenceNumber) -> Order {
        let Some(before) = &mut self.before else {
            return Order::Old;
        };
        let continues =
            matches!(order(before.latest, number), Order::New { missing } if missing < JUMP);
        if !continues {
            return Order::Old;
        }
        if !before.is_continued {
            // One such message may be a late one.
            *before = Before {
                latest: used,
                is_continued: true,
            };
            return Order::Old;
        }
        self.before = None;
        Order::Restarted
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

    /// Returns which of these numbers are accepted, one after the other.
    fn accepted(mut numbers: SequenceNumbers, received: &[u16]) -> Vec<u16> {
        let now = Instant::now();
        let mut accepted = received.to_vec();
        accepted.retain(|number| {
            let order = numbers.check(uadp(*number), now, Duration::from_secs(1));
            order != Order::Old
        });
        accepted
    }

    #[test]
    fn a_forged_number_costs_one_message() {
        let numbers = SequenceNumbers::unprotected;
        // A number far ahead, at most that of the 16th message, and several of them.
        for (received, expected) in [
            (&[4, 5, 9000, 6, 7, 8][..], &[4, 5, 9000, 7, 8][..]),
            (&[4, 5, 9000, 6, 8, 9], &[4, 5, 9000, 8, 9]),
            (&[4, 5, 21, 6, 7, 21, 22], &[4, 5, 21, 22]),
            (&[4, 5, 9000, 9900, 6, 7, 8], &[4, 5, 9000, 9900, 7, 8]),
            (&[4, 5, 9000, 6, 7, 9000, 8, 9], &[4, 5, 9000, 7, 9000, 9]),
            (&[65_534, 65_535, 9000, 0, 1], &[65_534, 65_535, 9000, 1]),
        ] {
            assert_eq!(accepted(numbers(), received), expected, "{received:?}");
        }
        // A keep-alive has the number of the next message.
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let mut numbers = numbers();
        numbers.check(uadp(5), now, second);
        let new = |missing| Order::New { missing };
        assert_eq!(numbers.check_next(uadp(9000), now, second), new(8994));
        assert_eq!(numbers.check_next(uadp(6), now, second), Order::Old);
        assert_eq!(numbers.check_next(uadp(6), now, second), Order::Restarted);
        assert_eq!(numbers.check(uadp(6), now, second), new(0));
    }

    /// Lost, late and repeated messages: what is accepted is in order.
    #[test]
    fn late_messages_are_old() {
        let bursts: [(&[u16], &[u16]); 7] = [
            // A network that delivers each message twice, also after a gap.
            (&[4, 4, 5, 5, 90, 90, 91, 91], &[4, 5, 90, 91]),
            // A path that is late by one message, and one that is late by many.
            (&[4, 30, 5, 31, 6, 32, 7, 33, 8, 9], &[4, 30, 31, 32, 33]),
            (&[4, 30, 31, 5, 6, 7, 8, 9, 32], &[4, 30, 31, 32]),
            // Messages that changed places.
            (&[4, 12, 5, 6, 7, 8, 13], &[4, 12, 13]),
            (&[4, 30, 5, 31, 6, 7, 8], &[4, 30, 31]),
            // A Publisher that has restarted, after which nothing is accepted until the time is over.
            (&[400, 401, 0, 1, 2, 3], &[400, 401]),
            (&[400, 500, 501, 0, 1, 2, 3], &[400, 500, 501]),
        ];
        for (received, expected) in bursts {
            let found = accepted(SequenceNumbers::unprotected(), received);
            assert_eq!(found, expected, "{received:?}");
        }
        // Whoever holds back protected messages does not have them accepted later.
        let found = accepted(SequenceNumbers::default(), &[4, 30, 5, 6, 7, 8]);
        assert_eq!(found, [4, 30]);
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

//! Longest delays of a run, out of very many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Largest number of delays that are kept.
const MOST: usize = 400;

/// One long delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LongDelay {
    /// Delay in nanoseconds.
    pub nanos: i64,
    /// Time at its beginning, in nanoseconds since 1970, UTC.
    pub began: i64,
    /// Counter of the message.
    pub counter: u64,
    /// True if the clock of a network card measured it: that may be far from the system clock.
    pub is_of_card: bool,
}

/// Times of one event by the clock of the system, and by that of a network card, which may have another beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockedTimes {
    /// Time of the system, in nanoseconds since 1970, UTC.
    pub system: Option<i64>,
    /// Time of the network card, in nanoseconds since the beginning of its clock.
    pub card: Option<i64>,
}

impl ClockedTimes {
    /// Returns the time by one of the clocks.
    #[must_use]
    pub const fn of(self, is_of_card: bool) -> Option<i64> {
        match is_of_card {
            true => self.card,
            false => self.system,
        }
    }

    /// Notes a time, of which the earliest one stays.
    pub(crate) fn note(&mut self, nanos: i64, is_of_card: bool) {
        let time = match is_of_card {
            true => &mut self.card,
            false => &mut self.system,
        };
        *time = Some(time.map_or(nanos, |earliest| earliest.min(nanos)));
    }
}

/// The longest delays so far.
#[derive(Debug, Default)]
pub(crate) struct LongestDelays {
    heap: BinaryHeap<Reverse<LongDelay>>,
    count: u64,
}

impl LongestDelays {
    pub(crate) fn note(&mut self, delay: LongDelay) {
        self.count += 1;
        // `Reverse` puts the shortest of the kept delays first in the heap.
        if self.heap.len() < MOST {
            self.heap.push(Reverse(delay));
        } else if let Some(mut shortest) = self.heap.peek_mut()
            && shortest.0 < delay
        {
            *shortest = Reverse(delay);
        }
    }

    /// Returns the longest hundredth of all delays, at least 20 and at most 400, the longest first.
    pub(crate) fn finish(self) -> Vec<LongDelay> {
        let wanted = usize::try_from(self.count / 100).unwrap_or(MOST);
        // Ascending in the reversed order means the longest first.
        let longest = self.heap.into_sorted_vec().into_iter();
        let longest = longest.map(|it| it.0);
        longest.take(wanted.clamp(20, MOST)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longest(count: i64) -> Vec<i64> {
        let mut delays = LongestDelays::default();
        for number in 0..count {
            // All numbers below the count, in another order: 7919 is prime.
            let nanos = number * 7919 % count;
            delays.note(LongDelay {
                nanos,
                began: 0,
                counter: 0,
                is_of_card: false,
            });
        }
        delays.finish().iter().map(|it| it.nanos).collect()
    }

    #[test]
    fn the_longest_are_kept() {
        assert!(longest(0).is_empty());
        assert_eq!(longest(3), [2, 1, 0]);
        assert_eq!(longest(1_000), (980..1_000).rev().collect::<Vec<_>>());
        assert_eq!(longest(10_000), (9_900..10_000).rev().collect::<Vec<_>>());
        assert_eq!(
            longest(100_000),
            (99_600..100_000).rev().collect::<Vec<_>>()
        );
    }
}

//! Longest delays at a queue: one for all streams, or one for each where each stream has a queue of its own.

use std::collections::BTreeMap;

use crate::Rational;
use crate::curve::Extended;

/// A stream, and the position of the queue in its path.
pub(super) type Passage = (usize, usize);

/// The longest times from a frame's arrival at a queue to its last bit on the link, in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueDelays {
    /// The longest of all streams.
    longest: Extended,
    /// That of each stream; empty if the longest one holds for all.
    of_streams: BTreeMap<Passage, Extended>,
}

impl QueueDelays {
    /// No delay yet: the least value.
    pub(super) const ZERO: Self = Self::of_all(Extended::ZERO);
    /// No bound for any stream.
    pub(super) const INFINITE: Self = Self::of_all(Extended::Infinity);

    /// Makes one delay for all streams.
    pub(super) const fn of_all(longest: Extended) -> Self {
        Self {
            longest,
            of_streams: BTreeMap::new(),
        }
    }

    /// Makes a delay for each stream.
    pub(super) fn of_each(of_streams: BTreeMap<Passage, Extended>) -> Self {
        let longest = of_streams.values().max().cloned();
        Self {
            longest: longest.unwrap_or(Extended::ZERO),
            of_streams,
        }
    }

    /// Returns the longest delay of all streams.
    pub(crate) fn longest(&self) -> &Extended {
        &self.longest
    }

    /// Returns the longest delay of a stream.
    pub(crate) fn of(&self, passage: Passage) -> &Extended {
        self.of_streams.get(&passage).unwrap_or(&self.longest)
    }

    /// Keeps the delays that were known, and takes those that grew, rounded up to the grid if there is one. Returns
    /// true if one grew.
    pub(super) fn grow_from(&mut self, known: &Self, grid: Option<&Rational>) -> bool {
        let mut has_grown = false;
        self.change(|passage, delay| {
            let known = passage.map_or(&known.longest, |passage| known.of(passage));
            let grown = *delay > *known;
            has_grown |= grown;
            match (delay, grid) {
                // A delay that fell here could rise again in the next round, and the rounds might not end.
                _ if !grown => known.clone(),
                (Extended::Finite(delay), Some(grid)) => Extended::Finite(rounded_up(delay, grid)),
                (delay, _) => delay.clone(),
            }
        });
        has_grown
    }

    /// Lowers each delay to that of another result.
    pub(super) fn lower_to(&mut self, other: &Self) {
        self.change(|passage, delay| {
            let other = passage.map_or(&other.longest, |passage| other.of(passage));
            delay.clone().min(other.clone())
        });
    }

    /// Multiplies each delay by a factor.
    pub(super) fn multiply(&mut self, factor: &Rational) {
        self.change(|_, delay| match delay {
            Extended::Finite(delay) => Extended::Finite(delay * factor),
            delay => delay.clone(),
        });
    }

    /// Replaces each delay; the one of all streams has no passage.
    fn change(&mut self, mut next: impl FnMut(Option<Passage>, &Extended) -> Extended) {
        if self.of_streams.is_empty() {
            self.longest = next(None, &self.longest);
            return;
        }
        let mut longest = Extended::ZERO;
        for (passage, delay) in &mut self.of_streams {
            *delay = next(Some(*passage), delay);
            longest = longest.max(delay.clone());
        }
        self.longest = longest;
    }
}

/// Returns the least multiple of `grid` that is not less than the value.
fn rounded_up(value: &Rational, grid: &Rational) -> Rational {
    // No multiples exist then.
    if *grid <= Rational::ZERO {
        return value.clone();
    }
    grid * Rational::from((value / grid).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finite(value: u32) -> Extended {
        Extended::Finite(value.into())
    }

    fn each(one: u32, other: u32) -> QueueDelays {
        QueueDelays::of_each(BTreeMap::from([
            ((0, 0), finite(one)),
            ((1, 0), finite(other)),
        ]))
    }

    #[test]
    fn delays_grow_and_fall_one_by_one() {
        let grid = Rational::from(4);
        let mut next = each(5, 2);
        assert!(next.grow_from(&each(3, 3), Some(&grid)));
        assert_eq!(next, each(8, 3));
        assert!(!next.grow_from(&each(9, 9), Some(&grid)));
        assert_eq!(next, each(9, 9));
        next.lower_to(&each(10, 4));
        assert_eq!((next.of((0, 0)), next.longest()), (&finite(9), &finite(9)));
        next.multiply(&grid);
        assert_eq!(next, each(36, 16));
    }

    #[test]
    fn one_delay_holds_for_all_streams() {
        let mut next = each(5, 2);
        assert!(!next.grow_from(&QueueDelays::INFINITE, None));
        assert_eq!(*next.of((1, 0)), Extended::Infinity);
        let all = QueueDelays::of_all(finite(7));
        assert_eq!(all.of((3, 1)), &finite(7));
    }
}

//! Random numbers.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers that a seed repeats.
#[derive(Debug, Clone)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u128::try_from(end).unwrap_or(0);
        usize::try_from((u128::from(self.next()) * end) >> 64).unwrap_or(0)
    }

    /// Brings items into a random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use takt_statistics::SortedTimes;

    use super::*;

    fn noise(random: &mut Random, middle: f64, count: usize) -> Vec<f64> {
        let one = |random: &mut Random| middle * (0.9 + 0.2 * random.below(1000) as f64 / 1000.0);
        (0..count).map(|_| one(random)).collect()
    }

    #[test]
    fn intervals_contain_the_true_median_as_often_as_they_say() {
        let mut random = Random::new(1);
        let mut inside = 0;
        for _ in 0..1000 {
            let times = SortedTimes::new(noise(&mut random, 100.0, 200));
            let median = times.median_estimate().unwrap();
            assert!(median.low <= median.value && median.value <= median.high);
            inside += i32::from((median.low..=median.high).contains(&99.95));
        }
        assert!((930..=985).contains(&inside), "{inside}");
    }

    #[test]
    fn orders_are_random_and_repeatable() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..50).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}

//! Statistics: medians with confidence intervals, and ratios of medians.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use takt_report::median_ranks;

/// Number of samples that a bootstrap draws.
const DRAWS: usize = 1000;

/// Value with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Times of one case, in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SortedTimes(Vec<f64>);

impl SortedTimes {
    /// Sorts times.
    #[must_use]
    pub fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    /// Returns the times.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Returns a quantile, `share` between 0 and 1: the smallest time that at least this share does not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.0.len();
        let rank = (share * count as f64).ceil().max(1.0) as usize;
        self.0.get(rank.min(count).checked_sub(1)?).copied()
    }

    /// Returns the median with a 95 % confidence interval of order statistics: the ranks between which the median of the distribution
    /// is, by the normal approximation of the binomial distribution.
    #[must_use]
    pub fn median(&self) -> Option<Estimate> {
        let (low, high) = median_ranks(self.0.len())?;
        Some(Estimate {
            value: self.middle()?,
            low: *self.0.get(low)?,
            high: *self.0.get(high)?,
        })
    }

    fn middle(&self) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        Some(f64::midpoint(
            *self.0.get(last / 2)?,
            *self.0.get(self.0.len() / 2)?,
        ))
    }
}

/// Returns the ratio of the medians of two cases with a 95 % confidence interval of a bootstrap, which draws the rounds and not
/// single requests: requests of one round share the state of the machine. With one round it draws requests.
#[must_use]
pub(crate) fn ratio(above: &[Vec<f64>], below: &[Vec<f64>], seed: u64) -> Option<Estimate> {
    let value = pooled(above)? / pooled(below)?;
    let mut random = Random::new(seed);
    let mut ratios = Vec::with_capacity(DRAWS);
    // Both cases of a round were measured one soon after the other, so that rounds are drawn together.
    let rounds = above.len().min(below.len());
    for _ in 0..DRAWS {
        let (mut drawn_above, mut drawn_below) = (Vec::new(), Vec::new());
        for round in 0..rounds {
            let round = if rounds > 1 {
                random.below(rounds)
            } else {
                round
            };
            draw(&mut random, above.get(round)?, &mut drawn_above);
            draw(&mut random, below.get(round)?, &mut drawn_below);
        }
        let (above, below) = (median_of(&mut drawn_above)?, median_of(&mut drawn_below)?);
        ratios.push(above / below);
    }
    let ratios = SortedTimes::new(ratios);
    Some(Estimate {
        value,
        low: ratios.quantile(0.025)?.min(value),
        high: ratios.quantile(0.975)?.max(value),
    })
}

/// Largest number of requests of a round that a bootstrap draws.
const DRAWN: usize = 200;

/// Draws requests of a round with replacement.
fn draw(random: &mut Random, round: &[f64], into: &mut Vec<f64>) {
    for _ in 0..round.len().min(DRAWN) {
        into.extend(round.get(random.below(round.len())));
    }
}

fn pooled(rounds: &[Vec<f64>]) -> Option<f64> {
    let mut all: Vec<f64> = rounds.iter().flatten().copied().collect();
    median_of(&mut all)
}

fn median_of(times: &mut [f64]) -> Option<f64> {
    let middle = times.len().checked_div(2).filter(|_| !times.is_empty())?;
    let (_, median, _) = times.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median)
}

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
            let median = times.median().unwrap();
            assert!(median.low <= median.value && median.value <= median.high);
            inside += i32::from((median.low..=median.high).contains(&99.95));
        }
        assert!((930..=985).contains(&inside), "{inside}");
    }

    #[test]
    fn the_ratio_of_two_cases_is_in_its_interval() {
        let mut random = Random::new(2);
        let mut rounds =
            |middle| -> Vec<Vec<f64>> { (0..5).map(|_| noise(&mut random, middle, 100)).collect() };
        let (one, other) = (rounds(150.0), rounds(100.0));
        let ratio_of = ratio(&one, &other, 3).unwrap();
        assert!(
            (ratio_of.low..=ratio_of.high).contains(&1.5),
            "{ratio_of:?}"
        );
        assert!(ratio_of.low > 1.3 && ratio_of.high < 1.7, "{ratio_of:?}");
        assert_eq!(ratio(&[], &other, 3), None);
        assert_eq!(ratio(&one, &other, 3), Some(ratio_of));
    }

    #[test]
    fn quantiles_are_samples() {
        let times = SortedTimes::new((1..=100).map(f64::from).collect());
        assert_eq!(times.quantile(0.99), Some(99.0));
        assert_eq!(times.quantile(0.0), Some(1.0));
        assert_eq!(SortedTimes::default().quantile(0.5), None);
        assert_eq!(SortedTimes::default().median(), None);
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

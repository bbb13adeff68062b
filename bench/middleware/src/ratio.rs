//! Ratios of medians with their confidence intervals.

use takt_statistics::{Estimate, Quantile, SortedTimes};

use crate::random::Random;

/// Number of samples that a bootstrap draws.
const DRAWS: usize = 1000;

/// Ends of an interval of 95 %.
const ENDS: [Quantile; 2] = [
    Quantile::parts_per_million(25_000),
    Quantile::parts_per_million(975_000),
];

/// Returns the ratio of the medians of two cases with a 95 % confidence interval of a bootstrap. It draws rounds, because requests of
/// one round share the state of the machine, and as many requests of each drawn round as the round has. With one round it draws requests
/// only.
///
/// The requests are not drawn one by one. The number of drawn requests of a round that are at most as long as the median has a binomial
/// distribution; its normal approximation moves the rank of the median. The time for it hardly depends on the number of requests.
#[must_use]
pub(crate) fn ratio(above: &[Vec<f64>], below: &[Vec<f64>], seed: u64) -> Option<Estimate> {
    // Both cases of a round were measured one soon after the other, so that rounds are drawn together.
    let rounds = above.len().min(below.len());
    let [above, below] = [above, below].map(SortedRounds::new);
    let value = above.all.median()? / below.all.median()?;
    let mut random = Random::new(seed);
    let mut ratios = Vec::with_capacity(DRAWS);
    let mut drawn: Vec<usize> = (0..rounds).collect();
    for _ in 0..DRAWS {
        if rounds > 1 {
            drawn.fill_with(|| random.below(rounds));
        }
        let above = above.drawn_median(&drawn, random.normal())?;
        ratios.push(above / below.drawn_median(&drawn, random.normal())?);
    }
    let ratios = SortedTimes::new(ratios);
    Some(Estimate {
        value,
        low: ratios.quantile(ENDS[0])?.min(value),
        high: ratios.quantile(ENDS[1])?.max(value),
    })
}

/// Times of the rounds of one case.
struct SortedRounds {
    /// Times of each round, in ascending order.
    rounds: Vec<Vec<f64>>,
    /// Times of all rounds, in ascending order.
    all: SortedTimes,
}

impl SortedRounds {
    fn new(rounds: &[Vec<f64>]) -> Self {
        let mut rounds = rounds.to_vec();
        for times in &mut rounds {
            times.sort_unstable_by(f64::total_cmp);
        }
        let all = SortedTimes::new(rounds.iter().flatten().copied().collect());
        Self { rounds, all }
    }

    /// Returns the median of requests that are drawn from these rounds. `normal` is a number of the standard normal distribution.
    fn drawn_median(&self, drawn: &[usize], normal: f64) -> Option<f64> {
        let count: usize = self.drawn(drawn).map(<[f64]>::len).sum();
        let middle = count / 2;
        let median = self.at(drawn, middle)?;
        let deviation = self.variance(drawn, median, count).sqrt();
        let rank = (middle as f64 - normal * deviation).round().max(0.0) as usize;
        self.at(drawn, rank.min(count.checked_sub(1)?))
    }

    /// Returns the variance of the number of drawn requests that are at most as long as the median.
    fn variance(&self, drawn: &[usize], median: f64, count: usize) -> f64 {
        let shorter = |times: &[f64]| times.partition_point(|time| *time < median);
        let equal = |times: &[f64]| times.partition_point(|time| *time <= median) - shorter(times);
        let all_shorter: usize = self.drawn(drawn).map(shorter).sum();
        let all_equal: usize = self.drawn(drawn).map(equal).sum();
        // Half of all requests are below the rank of the median: so many of those that are equal to it.
        let share = (count as f64 / 2.0 - all_shorter as f64) / all_equal.max(1) as f64;
        let of_round = |times: &[f64]| {
            let number = times.len() as f64;
            let below = (shorter(times) as f64 + share * equal(times) as f64) / number;
            number * below * (1.0 - below)
        };
        // A single request is drawn always.
        let rounds = self.drawn(drawn).filter(|times| times.len() > 1);
        rounds.map(of_round).sum::<f64>().max(0.0)
    }

    /// Returns the time of a rank, from 0 on, among those of the drawn rounds together.
    fn at(&self, drawn: &[usize], rank: usize) -> Option<f64> {
        let up_to = |time: f64| -> usize {
            let counts = self.drawn(drawn);
            counts
                .map(|times| times.partition_point(|it| *it <= time))
                .sum()
        };
        let all = self.all.values();
        let place = all.partition_point(|time| up_to(*time) <= rank);
        all.get(place).copied()
    }

    fn drawn<'a>(&'a self, drawn: &'a [usize]) -> impl Iterator<Item = &'a [f64]> {
        let rounds = drawn.iter().filter_map(|round| self.rounds.get(*round));
        rounds.map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Returns rounds whose requests take 0.9 to 1.1 times the middle. The middles of the rounds differ by up to `shift`.
    fn rounds(
        random: &mut Random,
        middle: f64,
        (rounds, count): (usize, usize),
        shift: f64,
    ) -> Vec<Vec<f64>> {
        let mut share = |width: f64| 1.0 + width * (random.below(100_000) as f64 / 50_000.0 - 1.0);
        let mut round = || {
            let middle = middle * share(shift);
            (0..count).map(|_| middle * share(0.1)).collect()
        };
        (0..rounds).map(|_| round()).collect()
    }

    /// Returns the interval of a bootstrap that draws each request.
    fn full(above: &[Vec<f64>], below: &[Vec<f64>], random: &mut Random) -> [f64; 2] {
        let count = above.len();
        let mut ratios = Vec::new();
        for _ in 0..300 {
            let drawn: Vec<usize> = match count {
                1 => vec![0],
                _ => (0..count).map(|_| random.below(count)).collect(),
            };
            let mut median = |rounds: &[Vec<f64>]| {
                let mut times = Vec::new();
                for round in drawn.iter().map(|round| &rounds[*round]) {
                    times.extend((0..round.len()).map(|_| round[random.below(round.len())]));
                }
                let middle = times.len() / 2;
                *times.select_nth_unstable_by(middle, f64::total_cmp).1
            };
            ratios.push(median(above) / median(below));
        }
        let ratios = SortedTimes::new(ratios);
        ENDS.map(|end| ratios.quantile(end).unwrap())
    }

    #[test]
    fn the_ratio_of_two_cases_is_in_its_interval() {
        let mut random = Random::new(2);
        let [one, other] = [150.0, 100.0].map(|middle| rounds(&mut random, middle, (5, 100), 0.0));
        let ratio_of = ratio(&one, &other, 3).unwrap();
        assert!(
            (ratio_of.low..=ratio_of.high).contains(&1.5),
            "{ratio_of:?}"
        );
        assert!(ratio_of.low > 1.3 && ratio_of.high < 1.7, "{ratio_of:?}");
        assert_eq!(ratio(&[], &other, 3), None);
        assert_eq!(ratio(&[Vec::new()], &other, 3), None);
        assert_eq!(ratio(&one, &other, 3), Some(ratio_of));
    }

    #[test]
    fn the_interval_is_as_wide_as_that_of_a_bootstrap_that_draws_each_request() {
        let mut random = Random::new(7);
        for (size, shift) in [
            ((5, 600), 0.0),
            ((5, 600), 0.02),
            ((1, 600), 0.0),
            ((2, 100), 0.0),
            ((5, 20), 0.0),
            ((5, 1), 0.1),
        ] {
            // The mean of several widths: that of one interval is random itself.
            let (mut width, mut full_width) = (0.0, 0.0);
            for seed in 0..3 {
                let one = rounds(&mut random, 150.0, size, shift);
                let other = rounds(&mut random, 100.0, size, shift);
                let ratio = ratio(&one, &other, seed).unwrap();
                let [low, high] = full(&one, &other, &mut random);
                width += ratio.high - ratio.low;
                full_width += high - low;
            }
            let relation = width / full_width;
            assert!(
                (0.75..1.25).contains(&relation),
                "{size:?} {shift}: {relation}"
            );
        }
    }

    #[test]
    fn equal_times_have_no_interval_of_other_times() {
        let one = vec![vec![3.0; 10]; 5];
        let other = vec![vec![2.0; 10]; 5];
        let ratio = ratio(&one, &other, 1).unwrap();
        assert_eq!([ratio.low, ratio.value, ratio.high], [1.5; 3]);
    }
}

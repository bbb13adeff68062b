//! Ratios of medians with their confidence intervals.

use takt_statistics::{Estimate, SortedTimes};

/// Returns the ratio of two cases: the median of the ratios of their rounds, with a confidence interval of order statistics over the
/// rounds. Requests of one round share the state of the machine, so that their number makes no interval narrower. `None` without a
/// round of both.
///
/// Both cases of a round were measured one soon after the other, so that each ratio is that of one round. The interval contains the
/// median of the ratios of all possible rounds, however they are distributed: in 95 % of all cases from six rounds on.
#[must_use]
pub(crate) fn ratio(above: &[Vec<f64>], below: &[Vec<f64>]) -> Option<Estimate> {
    let rounds = above.iter().zip(below);
    let ratios = rounds.filter_map(|(above, below)| {
        let ratio = median(above)? / median(below)?;
        ratio.is_finite().then_some(ratio)
    });
    SortedTimes::new(ratios.collect()).median_estimate()
}

/// Returns the median of all times with the interval of the medians of their rounds; `None` without times.
#[must_use]
pub(crate) fn median_of_rounds(rounds: &[Vec<f64>]) -> Option<Estimate> {
    let medians = rounds.iter().filter_map(|times| median(times));
    let of_rounds = SortedTimes::new(medians.collect()).median_estimate()?;
    let value = SortedTimes::new(rounds.iter().flatten().copied().collect()).median()?;
    Some(Estimate {
        value,
        low: of_rounds.low.min(value),
        high: of_rounds.high.max(value),
        count: of_rounds.count,
    })
}

fn median(times: &[f64]) -> Option<f64> {
    SortedTimes::new(times.to_vec()).median()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::random::Random;

    /// Returns rounds of requests that take 0.9 to 1.1 times the middle of their round. Some of the rounds are far: the host has moved
    /// the processors, and all of their requests take twice as long.
    fn rounds(random: &mut Random, middle: f64, count: usize, far: f64) -> Vec<Vec<f64>> {
        let mut unit = || random.below(1_000_000) as f64 / 1e6;
        let mut round = || {
            let is_far = unit() < far;
            let middle = middle * (0.98 + 0.04 * unit()) * if is_far { 2.0 } else { 1.0 };
            (0..21).map(|_| middle * (0.9 + 0.2 * unit())).collect()
        };
        (0..count).map(|_| round()).collect()
    }

    #[test]
    fn the_ratio_of_two_cases_is_in_its_interval() {
        let mut random = Random::new(2);
        let [one, other] = [150.0, 100.0].map(|middle| rounds(&mut random, middle, 6, 0.0));
        let found = ratio(&one, &other).unwrap();
        assert!(found.low <= 1.5 && found.high >= 1.5, "{found:?}");
        assert!(found.low > 1.3 && found.high < 1.7, "{found:?}");
        assert_eq!(found.count, 6);
        assert_eq!(ratio(&[], &other), None);
        assert_eq!(ratio(&[Vec::new()], &other), None);
    }

    /// The true ratio is the median over many rounds. Intervals that pool the requests of all rounds would miss it in most cases.
    #[test]
    fn intervals_contain_the_true_ratio_as_often_as_they_say() {
        for (count, far) in [(6, 0.0), (6, 0.3), (6, 0.4), (9, 0.3), (20, 0.4)] {
            let mut random = Random::new(11);
            let mut both =
                |count: usize| [150.0, 100.0].map(|middle| rounds(&mut random, middle, count, far));
            let [one, other] = both(4_001);
            let truth = ratio(&one, &other).unwrap().value;
            let mut inside = 0;
            for _ in 0..500 {
                let [one, other] = both(count);
                let found = ratio(&one, &other).unwrap();
                inside += i32::from((found.low..=found.high).contains(&truth));
            }
            assert!(inside >= 470, "{count} rounds, {far} far: {inside}");
        }
    }

    #[test]
    fn intervals_of_medians_respect_rounds() {
        // Half of the requests take 1, and half take 2, but each round has requests of one kind only.
        let bimodal: Vec<Vec<f64>> = (0..8)
            .map(|round| vec![f64::from(1 + round % 2); 500])
            .collect();
        let found = median_of_rounds(&bimodal).unwrap();
        assert_eq!((found.low, found.high, found.count), (1.0, 2.0, 8));
        assert_eq!(median_of_rounds(&[vec![3.0, 1.0, 2.0]]).unwrap().value, 2.0);
        assert_eq!(median_of_rounds(&[]), None);
    }

    #[test]
    fn equal_times_have_no_interval_of_other_times() {
        let one = vec![vec![3.0; 10]; 6];
        let other = vec![vec![2.0; 10]; 6];
        let found = ratio(&one, &other).unwrap();
        assert_eq!([found.low, found.value, found.high], [1.5; 3]);
    }
}

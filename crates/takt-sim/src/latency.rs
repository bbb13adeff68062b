//! Random times, from the distributions of a scenario.

use takt_scenario::Distribution;

use crate::choice::Chooser;
use crate::{Choice, Random, Time};

/// A distribution that times are drawn from.
#[derive(Debug, Clone)]
pub(crate) enum Latency {
    Constant(Time),
    Uniform(Time, Time),
    /// Lower bounds of the bins, each with the sum of all counts up to the end of the bin.
    Histogram(Vec<(Time, u64)>),
    /// A least time, and a part of the rest that an adversary chooses.
    Chosen(Time, Time, Chooser),
}

impl Latency {
    pub(crate) fn new(distribution: &Distribution) -> Self {
        match distribution {
            Distribution::Constant(value) => Self::Constant((*value).into()),
            Distribution::Uniform { least, most } => Self::Uniform((*least).into(), (*most).into()),
            Distribution::Histogram(histogram) => {
                let mut sum = 0;
                let bins = histogram.bins().iter().map(|(bound, count)| {
                    sum += count;
                    ((*bound).into(), sum)
                });
                Self::Histogram(bins.collect())
            }
        }
    }

    /// Makes times between the least and the greatest of a distribution that an adversary chooses.
    pub(crate) fn chosen(distribution: &Distribution, choice: &Choice) -> Self {
        let (least, most) = (distribution.least().into(), distribution.most().into());
        Self::Chosen(least, most, Chooser::new(choice))
    }

    pub(crate) fn draw(&mut self, random: &mut Random) -> Time {
        match self {
            Self::Chosen(least, most, chooser) => *least + chooser.part(*most - *least),
            Self::Constant(value) => *value,
            Self::Uniform(least, most) => random.between(*least, *most),
            Self::Histogram(bins) => {
                let total = bins.last().map_or(0, |bin| bin.1);
                let drawn = random.below(total);
                let bin = bins.partition_point(|(_, sum)| *sum <= drawn);
                let Some((bound, _)) = bins.get(bin) else {
                    return Time::ZERO;
                };
                // The next bin's bound is not part of this bin.
                match bins.get(bin + 1) {
                    Some((next, _)) => random.between(*bound, *next - Time::picoseconds(1)),
                    None => *bound,
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use takt_scenario::Histogram;

    use super::*;

    #[test]
    fn a_histogram_is_drawn_as_it_was_counted() {
        let text = "2 us, 300\n3 us, 0\n5 us, 100\n6 us, 600";
        let histogram = Histogram::from_csv(text).unwrap();
        let mut latency = Latency::new(&Distribution::Histogram(histogram));
        let mut random = Random::new(3, 0);
        let mut counts = [0; 8];
        for _ in 0..10_000 {
            let time = latency.draw(&mut random);
            counts[(time.as_nanoseconds() / 1000) as usize] += 1;
            assert!(time <= Time::microseconds(6));
        }
        // The tolerance is five standard deviations.
        for (bin, expected) in [(2, 3000i32), (3, 0), (4, 0), (5, 1000), (6, 6000)] {
            let deviation: i32 = counts[bin] - expected;
            assert!(
                deviation.abs() <= if expected == 0 { 0 } else { 250 },
                "{counts:?}"
            );
        }
    }

    #[test]
    fn an_adversary_chooses_between_the_least_and_the_greatest() {
        let bounds = Distribution::Uniform {
            least: takt_scenario::Duration(3),
            most: takt_scenario::Duration(5),
        };
        let mut random = Random::new(3, 0);
        let mut latency = Latency::chosen(&bounds, &Choice::First(1));
        assert_eq!(latency.draw(&mut random), Time::picoseconds(5));
        assert_eq!(latency.draw(&mut random), Time::picoseconds(3));
    }

    #[test]
    fn constants_and_uniform_times() {
        let us = takt_scenario::Duration;
        let mut random = Random::new(3, 0);
        let mut constant = Latency::new(&Distribution::Constant(us(7)));
        assert_eq!(constant.draw(&mut random), Time::picoseconds(7));
        let mut uniform = Latency::new(&Distribution::Uniform {
            least: us(3),
            most: us(5),
        });
        let drawn: Vec<_> = (0..100).map(|_| uniform.draw(&mut random)).collect();
        assert_eq!(drawn.iter().min(), Some(&Time::picoseconds(3)));
        assert_eq!(drawn.iter().max(), Some(&Time::picoseconds(5)));
    }
}

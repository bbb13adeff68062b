//! Exact statistics of many samples in limited memory.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use takt_statistics::Quantile;

use crate::page::{BITS, Page};

/// Memory of a page besides its samples, in bytes: its entry in the map, and what the allocator adds.
const PAGE: usize = 80;

/// Memory of the carried samples of a value, in bytes.
const CARRIED: usize = 40;

/// Minimum, mean, maximum and quantiles of samples in nanoseconds.
///
/// Minimum, mean and maximum are exact. Quantiles are exact, too, while the counters fit into the limit of memory: a
/// counter of one byte for each nanosecond of dense ranges, and two bytes for each sample elsewhere. 5·10⁸ samples
/// anywhere within 0.9 s need less than 1 GiB. Beyond the limit, neighbouring nanoseconds share a counter:
/// [`Self::resolution_nanos`] tells how many.
#[derive(Debug, Clone)]
pub struct ExactStatistics {
    count: u64,
    sum: i128,
    min: i64,
    max: i64,
    /// Samples by `value >> shift >> BITS`.
    pages: HashMap<i64, Page, RandomState>,
    /// Samples that the counters of pages cannot hold, by `value >> shift`.
    carried: BTreeMap<i64, u64>,
    /// Memory of pages, in bytes.
    bytes: usize,
    limit: usize,
    shift: u32,
}

impl ExactStatistics {
    /// Largest memory by default, in bytes: 1 GiB.
    pub const MEMORY: usize = 1 << 30;

    /// Creates statistics without samples. `limit` is the largest memory of the counters, in bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            count: 0,
            sum: 0,
            min: i64::MAX,
            max: i64::MIN,
            pages: HashMap::default(),
            carried: BTreeMap::new(),
            bytes: 0,
            limit,
            shift: 0,
        }
    }

    /// Adds a sample, in nanoseconds.
    #[inline]
    pub fn add(&mut self, nanos: i64) {
        self.count += 1;
        self.sum += i128::from(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.insert(nanos >> self.shift, 1);
        if self.memory() > self.limit {
            self.coarsen();
        }
    }

    #[inline]
    fn insert(&mut self, value: i64, count: u64) {
        let number = value >> BITS;
        let place = (value & ((1 << BITS) - 1)) as u16;
        let carried = &mut self.carried;
        let mut carry = |place: u16, count| {
            *carried
                .entry(number << BITS | i64::from(place))
                .or_default() += count;
        };
        let bytes = &mut self.bytes;
        let page = self.pages.entry(number).or_insert_with(|| {
            *bytes += PAGE;
            Page::new()
        });
        let before = page.bytes();
        page.add(place, count, &mut carry);
        // The sum comes first, because a page may become smaller.
        *bytes = *bytes + page.bytes() - before;
    }

    fn memory(&self) -> usize {
        self.bytes + self.carried.len() * CARRIED
    }

    /// Lets twice as many nanoseconds share a counter, until the memory is at most half of the limit.
    #[cold]
    fn coarsen(&mut self) {
        // At the largest shift, all samples are in two pages, and nothing more can be saved.
        // All samples are moved each time. Half of the limit leaves room, so that this stays rare.
        while self.memory() > self.limit / 2 && self.shift < i64::BITS - 1 - BITS {
            self.shift += 1;
            let mut numbers: Vec<i64> = self.pages.keys().copied().collect();
            numbers.sort_unstable();
            let mut pages = std::mem::take(&mut self.pages);
            let carried = std::mem::take(&mut self.carried);
            self.bytes = 0;
            // Each page is freed before the next one is read, so that the memory does not double.
            for number in numbers {
                let page = pages.remove(&number).unwrap_or(Page::new());
                page.for_each(|place, count| {
                    self.insert((number << BITS | i64::from(place)) >> 1, count);
                });
            }
            for (value, count) in carried {
                self.insert(value >> 1, count);
            }
        }
    }

    /// Returns the number of samples.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the smallest sample.
    #[must_use]
    pub fn min(&self) -> Option<i64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest sample.
    #[must_use]
    pub fn max(&self) -> Option<i64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the sum of all samples.
    #[must_use]
    pub const fn sum(&self) -> i128 {
        self.sum
    }

    /// Returns the mean: the exact sum divided by the count, rounded once.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let count = i128::from(self.count);
        let (whole, rest) = (self.sum.checked_div(count)?, self.sum.checked_rem(count)?);
        Some(whole as f64 + rest as f64 / count as f64)
    }

    /// Returns the number of neighbouring nanoseconds that share a counter. Quantiles are exact if it is 1, else at
    /// most this number minus one too small.
    #[must_use]
    pub const fn resolution_nanos(&self) -> u64 {
        1 << self.shift
    }

    /// Returns quantiles by the nearest rank. Without samples there are none.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, quantiles: [Quantile; N]) -> Option<[i64; N]> {
        if self.count == 0 {
            return None;
        }
        let ranks = quantiles.iter().map(|quantile| quantile.rank(self.count));
        let mut wanted: Vec<(u64, usize)> = ranks.zip(0..).collect();
        wanted.sort_unstable();
        let mut wanted = wanted.into_iter().peekable();
        let mut found = [self.max; N];
        let mut numbers: Vec<i64> = self.pages.keys().copied().collect();
        numbers.sort_unstable();
        let mut below = 0;
        for number in numbers {
            let Some(page) = self.pages.get(&number) else {
                continue;
            };
            let values = number << BITS..=(number << BITS | ((1 << BITS) - 1));
            let carried: u64 = self.carried.range(values).map(|(_, count)| count).sum();
            let end = below + page.total() + carried;
            // A page without a wanted rank is counted as a whole, which is much faster.
            if wanted.peek().is_some_and(|(rank, _)| *rank <= end) {
                for (value, count) in values_of(number).zip(page.counts()) {
                    below += count + self.carried.get(&value).copied().unwrap_or(0);
                    while let Some((_, index)) = wanted.next_if(|(rank, _)| *rank <= below) {
                        if let Some(found) = found.get_mut(index) {
                            // The smallest of the neighbours that share a counter may be below all samples.
                            *found = (value << self.shift).max(self.min);
                        }
                    }
                }
            }
            below = end;
        }
        Some(found)
    }

    /// Calls a function with each different sample and its number, in ascending order. If neighbouring nanoseconds share a counter
    /// ([`Self::resolution_nanos`]), the sample is the smallest of them.
    pub fn for_each(&self, mut each: impl FnMut(i64, u64)) {
        let mut numbers: Vec<i64> = self.pages.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let counts = self.pages.get(&number).map(Page::counts);
            for (value, count) in values_of(number).zip(counts.unwrap_or_default()) {
                let count = count + self.carried.get(&value).copied().unwrap_or(0);
                if count > 0 {
                    each((value << self.shift).max(self.min), count);
                }
            }
        }
    }

    /// Returns the number of samples in each of `bins` bins of the same width, in nanoseconds, from `low` on. Samples outside are
    /// in none.
    #[must_use]
    pub fn histogram(&self, low: i64, width: u64, bins: usize) -> Vec<u64> {
        let mut counts = vec![0; bins];
        self.for_each(|value, count| {
            let above = value.checked_sub(low).and_then(|it| u64::try_from(it).ok());
            let bin = above.and_then(|it| it.checked_div(width));
            let bin = bin.and_then(|bin| usize::try_from(bin).ok());
            if let Some(place) = bin.and_then(|bin| counts.get_mut(bin)) {
                *place += count;
            }
        });
        counts
    }
}

/// Returns the values of a page.
fn values_of(page: i64) -> impl Iterator<Item = i64> {
    (0..1 << BITS).map(move |place| page << BITS | place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHARES: [u32; 7] = [0, 1, 250_000, 500_000, 990_000, 999_990, 1_000_000];

    /// The definition, by sorting.
    fn nearest_rank(samples: &mut [i64], parts_per_million: u32) -> i64 {
        samples.sort_unstable();
        let rank = (samples.len() as u128 * u128::from(parts_per_million)).div_ceil(1_000_000);
        samples[(rank.max(1) - 1) as usize]
    }

    fn compare(mut samples: Vec<i64>) {
        let mut statistics = ExactStatistics::with_limit(ExactStatistics::MEMORY);
        for sample in &samples {
            statistics.add(*sample);
        }
        let sum: i128 = samples.iter().map(|sample| i128::from(*sample)).sum();
        assert_eq!(statistics.count(), samples.len() as u64);
        assert_eq!(statistics.sum(), sum);
        assert_eq!(statistics.min(), samples.iter().min().copied());
        assert_eq!(statistics.max(), samples.iter().max().copied());
        let expected = SHARES.map(|share| nearest_rank(&mut samples, share));
        assert_eq!(
            statistics.quantiles(SHARES.map(Quantile::parts_per_million)),
            Some(expected)
        );
        assert_eq!(statistics.resolution_nanos(), 1);
        // `nearest_rank` has sorted the samples.
        let mut all = samples.chunk_by(|one, other| one == other);
        statistics.for_each(|value, count| {
            let same = all.next().unwrap_or_default();
            assert_eq!((Some(&value), count), (same.first(), same.len() as u64));
        });
        assert_eq!(all.next(), None);
    }

    #[test]
    fn a_histogram_counts_samples_from_its_low_end() {
        let mut statistics = ExactStatistics::with_limit(ExactStatistics::MEMORY);
        for sample in [-11, -10, -1, 0, 9, 10, 10, 10_000, i64::MAX, i64::MIN] {
            statistics.add(sample);
        }
        assert_eq!(statistics.histogram(-10, 10, 3), [2, 2, 2]);
        assert_eq!(statistics.histogram(-10, 10, 0), [0; 0]);
        assert_eq!(statistics.histogram(0, 0, 2), [0, 0]);
        let none = ExactStatistics::with_limit(0);
        assert_eq!(none.histogram(0, 1, 2), [0, 0]);
    }

    #[test]
    fn no_samples_have_no_statistics() {
        let statistics = ExactStatistics::with_limit(0);
        assert_eq!(statistics.quantiles([Quantile::MEDIAN]), None);
        assert_eq!((statistics.min(), statistics.max()), (None, None));
        assert_eq!(statistics.mean(), None);
    }

    #[test]
    fn the_mean_has_a_sum_that_does_not_overflow() {
        let mut statistics = ExactStatistics::with_limit(ExactStatistics::MEMORY);
        for sample in [i64::MAX, i64::MAX, i64::MAX - 3] {
            statistics.add(sample);
        }
        assert_eq!(statistics.sum(), 3 * i128::from(i64::MAX) - 3);
        let mut statistics = ExactStatistics::with_limit(ExactStatistics::MEMORY);
        for sample in [1, 2, 4] {
            statistics.add(sample);
        }
        assert_eq!(statistics.mean(), Some(7.0 / 3.0));
    }

    #[test]
    fn a_value_with_many_samples_is_carried_from_lists_and_counters() {
        // Lists of 2048 samples become counters, whose byte overflows several times at once.
        for count in [255, 256, 257, 2048, 2049, 10_000] {
            let mut samples = vec![4095; count];
            samples.extend(vec![-1; 700]);
            samples.extend(vec![4096; 3]);
            compare(samples);
        }
    }

    #[test]
    fn the_greatest_and_the_least_number_have_a_page() {
        compare(vec![i64::MAX, i64::MIN, 0, i64::MAX - 1]);
    }

    #[test]
    fn a_long_generated_series_is_that_of_sorting() {
        let mut state = 1_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let sample = |random: u64| match random % 1000 {
            // A narrow peak, a tail, and rare far values.
            0 => (random >> 20) as i64 % 1_000_000_000 - 500_000_000,
            1..100 => 350_000 + (random >> 20) as i64 % 100_000,
            _ => 350_000 + (random >> 20) as i64 % 300,
        };
        compare((0..400_000).map(|_| sample(random())).collect());
    }

    #[test]
    fn beyond_the_limit_the_resolution_is_told() {
        let mut statistics = ExactStatistics::with_limit(20_000);
        let mut samples: Vec<i64> = (0..20_000).map(|index| index * index - 7).collect();
        for sample in &samples {
            statistics.add(*sample);
        }
        let resolution = statistics.resolution_nanos() as i64;
        assert!(resolution > 1);
        assert!(statistics.memory() <= 20_000, "{}", statistics.memory());
        assert_eq!(statistics.min(), Some(-7));
        assert_eq!(statistics.max(), samples.last().copied());
        let found = statistics.quantiles(SHARES.map(Quantile::parts_per_million));
        let expected = SHARES.map(|share| nearest_rank(&mut samples, share));
        for (found, expected) in found.iter().flatten().zip(expected) {
            assert!(
                (0..resolution).contains(&(expected - found)),
                "{found} {expected}"
            );
        }
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_sorting(
            near in prop::collection::vec(-5000_i64..5000, 1..400),
            far in prop::collection::vec(any::<i64>(), 0..20),
            repeated in 0_usize..600,
        ) {
            let again = near.first().copied().into_iter().cycle().take(repeated);
            compare(near.iter().copied().chain(far).chain(again).collect());
        }

        #[test]
        fn coarse_quantiles_are_within_the_resolution(
            samples in prop::collection::vec(any::<i64>(), 1..200),
            limit in 0_usize..5000,
        ) {
            let mut statistics = ExactStatistics::with_limit(limit);
            for sample in &samples {
                statistics.add(*sample);
            }
            let mut samples = samples;
            let resolution = i128::from(statistics.resolution_nanos());
            let found = statistics.quantiles(SHARES.map(Quantile::parts_per_million));
            let expected = SHARES.map(|share| nearest_rank(&mut samples, share));
            for (found, expected) in found.iter().flatten().zip(expected) {
                let distance = i128::from(expected) - i128::from(*found);
                prop_assert!((0..resolution).contains(&distance));
            }
        }
    }
}

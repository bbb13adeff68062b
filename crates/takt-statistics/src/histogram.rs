//! Quantiles of very many times in little memory.

use hdrhistogram::Histogram;

use crate::quantile::Quantile;

/// Longest time of a [`TimeHistogram`] with a fixed size: one minute. Longer times count as this one.
const LONGEST: u64 = 60_000_000_000;

/// Bin of a [`TimeHistogram`] with its number of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBin {
    /// Shortest time of the bin, in nanoseconds.
    pub lower: u64,
    /// Shortest time of the bin after it, in nanoseconds.
    pub end: u64,
    /// Number of times.
    pub count: u64,
}

/// Times in whole nanoseconds, kept to two or three significant digits. Quantiles are those by the nearest rank, of times that are
/// rounded up to these digits.
#[derive(Debug, Clone)]
pub struct TimeHistogram(Histogram<u32>);

impl TimeHistogram {
    /// Creates an empty histogram that grows with the longest time. It has this number of digits, from 1 to 3; each one more takes
    /// about ten times the memory.
    #[must_use]
    pub fn growing(digits: u8) -> Self {
        #[allow(
            clippy::expect_used,
            reason = "numbers of digits that the histogram has"
        )]
        Self(Histogram::new(digits.clamp(1, 3)).expect("one to three digits"))
    }

    /// Creates an empty histogram for times of up to a minute, with three digits. It allocates no more memory, so that it does not
    /// disturb what is measured.
    #[must_use]
    pub fn of_a_minute() -> Self {
        #[allow(clippy::expect_used, reason = "a range and a precision that exist")]
        Self(Histogram::new_with_max(LONGEST, 3).expect("three digits"))
    }

    /// Adds one time.
    pub fn record(&mut self, nanos: u64) {
        if self.0.record(nanos).is_err() {
            self.0.saturating_record(nanos);
        }
    }

    /// Adds the times of another histogram of the same kind.
    pub fn add(&mut self, others: &Self) {
        // Histograms of one kind have the same range.
        let _ = self.0.add(&others.0);
    }

    /// Returns the number of times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the shortest time; 0 without times.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.0.min()
    }

    /// Returns the longest time; 0 without times.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.0.max()
    }

    /// Returns the arithmetic mean; 0 without times.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// Returns a quantile; 0 without times.
    #[must_use]
    pub fn quantile(&self, quantile: Quantile) -> u64 {
        self.0.value_at_quantile(quantile.share())
    }

    /// Returns the bins with times, in ascending order. Bins between them are empty.
    pub fn bins(&self) -> impl Iterator<Item = TimeBin> {
        self.0.iter_recorded().map(|value| TimeBin {
            lower: self.0.lowest_equivalent(value.value_iterated_to()),
            end: self
                .0
                .highest_equivalent(value.value_iterated_to())
                .saturating_add(1),
            count: value.count_since_last_iteration(),
        })
    }

    /// Returns the distribution: each different time, and the share of times that are at most that long.
    pub fn distribution(&self) -> impl Iterator<Item = (u64, f64)> {
        let mut seen = 0;
        self.0.iter_recorded().map(move |value| {
            seen += value.count_since_last_iteration();
            (value.value_iterated_to(), seen as f64 / self.0.len() as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_two_or_three_digits() {
        let mut all = [
            TimeHistogram::growing(2),
            TimeHistogram::growing(3),
            TimeHistogram::of_a_minute(),
        ];
        for histogram in &mut all {
            assert_eq!(
                (histogram.count(), histogram.quantile(Quantile::P99)),
                (0, 0)
            );
            for micros in 1..=1000 {
                histogram.record(micros * 1000);
            }
            assert_eq!(histogram.count(), 1000);
            let medians = histogram.quantile(Quantile::MEDIAN);
            assert!((500_000..505_000).contains(&medians), "{medians}");
            assert!((990_000..999_999).contains(&histogram.quantile(Quantile::P99)));
        }
        let [coarse, fine, _] = all.map(|it| it.quantile(Quantile::MEDIAN));
        assert!(fine < 500_500 && fine < coarse, "{fine} {coarse}");
    }

    #[test]
    fn longer_times_than_a_minute_count_as_one() {
        let mut histogram = TimeHistogram::of_a_minute();
        histogram.record(u64::MAX);
        assert!(
            histogram.max() < LONGEST + LONGEST / 500,
            "{}",
            histogram.max()
        );
        let mut growing = TimeHistogram::growing(3);
        growing.record(2 * LONGEST);
        assert!(growing.max() >= 2 * LONGEST);
    }

    #[test]
    fn bins_have_all_times_within_their_bounds() {
        let mut histogram = TimeHistogram::of_a_minute();
        let times = [0, 7, 7, 2048, 100_000, 100_049, 1_000_000_000];
        for nanos in times {
            histogram.record(nanos);
        }
        let bins: Vec<TimeBin> = histogram.bins().collect();
        assert!(bins.windows(2).all(|pair| pair[0].end <= pair[1].lower));
        for bin in &bins {
            let within = times
                .iter()
                .filter(|nanos| (bin.lower..bin.end).contains(nanos));
            assert_eq!(within.count() as u64, bin.count, "{bin:?}");
            assert!(bin.end - bin.lower <= 1 + bin.lower / 1000, "{bin:?}");
        }
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 7);
    }

    #[test]
    fn several_series_are_one_distribution() {
        let mut all = TimeHistogram::of_a_minute();
        for micros in [1, 3] {
            let mut series = TimeHistogram::of_a_minute();
            series.record(micros * 1000);
            all.add(&series);
        }
        assert!((all.mean() - 2000.0).abs() < 10.0);
        let shares: Vec<f64> = all.distribution().map(|point| point.1).collect();
        assert_eq!(shares, [0.5, 1.0]);
    }
}

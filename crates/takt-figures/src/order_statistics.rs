//! Confidence intervals of order statistics.

/// Quantile of the standard normal distribution for 95 %.
const Z: f64 = 1.959_964;

/// Returns the indices of the values, in ascending order, between which the median of the distribution is with a confidence of 95 %,
/// by the normal approximation of the binomial distribution; `None` without values. Few values give the smallest and the largest.
#[must_use]
pub fn median_ranks(count: usize) -> Option<(usize, usize)> {
    let last = count.checked_sub(1)?;
    let (middle, half) = (count as f64 / 2.0, Z * (count as f64).sqrt() / 2.0);
    let low = (middle - half).floor() - 1.0;
    let high = (middle + half).ceil();
    Some((low.max(0.0) as usize, (high as usize).min(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_surround_the_median() {
        assert_eq!(median_ranks(0), None);
        assert_eq!(median_ranks(1), Some((0, 0)));
        assert_eq!(median_ranks(3), Some((0, 2)));
        assert_eq!(median_ranks(20), Some((4, 15)));
    }
}

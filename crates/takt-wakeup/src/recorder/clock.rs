//! Relation of CLOCK_TAI to CLOCK_MONOTONIC during a recording.

use takt_rt::clock::{Clock, monotonic_nanos};

/// Greatest number of relations that are kept.
const MOST: usize = 4096;

/// Number of readings of which the quickest counts.
const READINGS: usize = 3;

/// Change in nanoseconds that counts: less is the time between two readings.
const CHANGE: u64 = 1000;

/// Relations of CLOCK_TAI to CLOCK_MONOTONIC: times of CLOCK_MONOTONIC, and by how much CLOCK_TAI was ahead then, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaiOffsets(Vec<(u64, i64)>);

impl TaiOffsets {
    /// Reads both clocks. A reading that changes nothing replaces the one before.
    pub(super) fn read(&mut self) {
        let reading = |_| {
            let (before, tai, after) = (monotonic_nanos(), Clock::Tai.nanos(), monotonic_nanos());
            let middle = before + after.saturating_sub(before) / 2;
            (after.saturating_sub(before), middle, tai)
        };
        if let Some((_, monotonic, tai)) = (0..READINGS).map(reading).min() {
            self.note(monotonic, tai.saturating_sub(monotonic.cast_signed()));
        }
    }

    fn note(&mut self, monotonic: u64, ahead: i64) {
        let before = self.0.iter().rev().take(2);
        let is_same = |(_, other): &(u64, i64)| other.abs_diff(ahead) < CHANGE;
        // Two readings that agree enclose a time without a step.
        if before.clone().count() == 2 && before.clone().all(is_same) || self.0.len() >= MOST {
            self.0.pop();
        }
        self.0.push((monotonic, ahead));
    }

    /// Returns the time of CLOCK_TAI at a time of CLOCK_MONOTONIC, in nanoseconds: between two readings in proportion, before the
    /// first and after the last as these. `None` without readings.
    #[must_use]
    pub fn tai_nanos(&self, monotonic: u64) -> Option<i64> {
        let after = self.0.partition_point(|(time, _)| *time <= monotonic);
        let before = after.checked_sub(1).and_then(|place| self.0.get(place));
        let ahead = match (before, self.0.get(after)) {
            (Some((from, first)), Some((to, second))) => {
                let part = (monotonic - from) as f64 / (to - from) as f64;
                let change = second.saturating_sub(*first) as f64;
                first.saturating_add((change * part) as i64)
            }
            (Some((_, ahead)), None) | (None, Some((_, ahead))) => *ahead,
            (None, None) => return None,
        };
        Some(monotonic.cast_signed().saturating_add(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_two_readings_are_in_proportion() {
        let mut offsets = TaiOffsets::default();
        assert_eq!(offsets.tai_nanos(5), None);
        for (monotonic, ahead) in [
            (1000, 50_000),
            (2000, 50_100),
            (3000, 49_950),
            (4000, 9_050_000),
        ] {
            offsets.note(monotonic, ahead);
        }
        assert_eq!(offsets.0.len(), 3, "{offsets:?}");
        let cases = [
            (0, 50_000),
            (1000, 51_000),
            (3000, 52_950),
            (5000, 9_055_000),
        ];
        for (monotonic, tai) in cases {
            assert_eq!(offsets.tai_nanos(monotonic), Some(tai), "{monotonic}");
        }
        // The clock was set by 9 ms.
        let between = offsets.tai_nanos(3500);
        assert_eq!(between, Some(3500 + 49_950 + (9_050_000 - 49_950) / 2));
    }

    #[test]
    #[cfg(not(miri))]
    fn readings_of_the_clocks_agree() {
        let mut offsets = TaiOffsets::default();
        (0..10).for_each(|_| offsets.read());
        let (monotonic, tai) = (monotonic_nanos(), Clock::Tai.nanos());
        let found = offsets.tai_nanos(monotonic).unwrap_or(0);
        assert!(found.abs_diff(tai) < 1_000_000_000, "{found} {tai}");
    }
}

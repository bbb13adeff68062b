//! Reproducible random numbers, the same on every machine for the same seed: xoshiro256++, integers only.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Time;

/// A stream of random numbers. Each application, bridge and source of cross traffic has one of its own, so that none changes
/// another's.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Makes the stream of this number among those of a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(Self::seed_of(
            seed, stream,
        )))
    }

    /// Returns the 64 bits from which the state of a stream is made, by SplitMix64.
    pub(crate) fn seed_of(seed: u64, stream: u64) -> u64 {
        // The generator's own conversion from 64 bits to its state (SplitMix64) makes neighbouring seeds differ.
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        // The factor is 2⁶⁴ divided by the golden ratio, as in SplitMix64: neighbouring streams differ in many bits.
        seeds.next_u64() ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `end`, or 0 if that is 0. No number is more frequent than another by more than `end` in 2⁶⁴.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a time from `least` to `most`, both included.
    pub fn between(&mut self, least: Time, most: Time) -> Time {
        let span = (most - least).as_picoseconds();
        let span = u64::try_from(span).unwrap_or(0);
        let part = self.below(span.saturating_add(1));
        least + Time::picoseconds(i64::try_from(part).unwrap_or(i64::MAX))
    }

    /// Returns a time of the exponential distribution with this mean. The method is von Neumann's, by comparisons alone: a
    /// logarithm is not the same on every machine.
    pub fn exponential(&mut self, mean: Time) -> Time {
        let mut whole = 0;
        loop {
            let first = self.bits();
            let mut least = first;
            let mut run = 1;
            loop {
                let next = self.bits();
                if next >= least {
                    break;
                }
                least = next;
                run += 1;
            }
            // A descending run of odd length has `first` with the density e^-x. After an even one, the time is a mean longer.
            if run % 2 == 1 {
                let mean = u64::try_from(mean.as_picoseconds()).unwrap_or(0);
                let part = (u128::from(first) * u128::from(mean)) >> 64;
                let time = part + u128::from(mean) * whole;
                return Time::picoseconds(i64::try_from(time).unwrap_or(i64::MAX));
            }
            whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_is_the_same_stream() {
        let numbers = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.bits(), random.bits()]
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
        // The numbers are pinned: a recorded seed means the same in each version.
        assert_eq!(numbers(1, 0), PINNED);
    }

    const PINNED: [u64; 2] = [2_736_766_839_171_971_727, 1_646_259_440_506_682_318];

    #[test]
    fn distributions() {
        let mut random = Random::new(7, 0);
        let count = 20_000;
        let (least, most) = (Time::nanoseconds(100), Time::nanoseconds(300));
        let mut uniform = 0;
        let mut exponential = 0;
        for _ in 0..count {
            let time = random.between(least, most);
            assert!(least <= time && time <= most);
            uniform += time.as_picoseconds();
            exponential += random.exponential(most).as_picoseconds();
        }
        // The tolerance is five standard deviations of the mean.
        assert!((uniform / count - 200_000).abs() < 2_100);
        assert!((exponential / count - 300_000).abs() < 10_700);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.between(most, most), most);
    }
}

//! Transmission times of bytes on a link.

use crate::{NodeClock, Time};

const PICOSECONDS: u64 = 1_000_000_000_000;
const BILLION: i128 = 1_000_000_000;

/// Rate of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRate {
    bits_per_second: u64,
    /// Picoseconds per byte; 0 if that is no whole number.
    picoseconds_per_byte: u64,
    /// Gain of the clock that measures time, in parts per billion.
    drift: i64,
}

impl LineRate {
    /// Makes a rate in bit/s; 0 is taken for 1.
    pub fn new(bits_per_second: u64) -> Self {
        let bits_per_second = bits_per_second.max(1);
        let exact = (8 * PICOSECONDS).is_multiple_of(bits_per_second);
        Self {
            bits_per_second,
            picoseconds_per_byte: if exact {
                8 * PICOSECONDS / bits_per_second
            } else {
                0
            },
            drift: 0,
        }
    }

    /// Returns the rate by a node's clock: bytes take longer by a fast one.
    #[must_use]
    pub fn by(self, clock: NodeClock) -> Self {
        Self {
            drift: clock.drift,
            ..self
        }
    }

    /// Returns the rate in bit/s.
    pub fn bits_per_second(self) -> u64 {
        self.bits_per_second
    }

    /// Returns the time that so many bytes take, rounded up to picoseconds.
    pub fn duration(self, bytes: u32) -> Time {
        let bytes = u64::from(bytes);
        let picoseconds = if self.picoseconds_per_byte == 0 {
            u128::from(bytes * 8)
                .saturating_mul(PICOSECONDS.into())
                .div_ceil(self.bits_per_second.into())
        } else {
            (bytes * self.picoseconds_per_byte).into()
        };
        let picoseconds = match u128::try_from(BILLION + i128::from(self.drift)) {
            Ok(speed) if self.drift != 0 => picoseconds
                .saturating_mul(speed)
                .div_ceil(BILLION.unsigned_abs()),
            _ => picoseconds,
        };
        Time::picoseconds(i64::try_from(picoseconds).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_other_rates() {
        let duration = |rate, bytes| LineRate::new(rate).duration(bytes).as_picoseconds();
        assert_eq!(duration(1_000_000_000, 1542), 12_336_000);
        assert_eq!(duration(100_000_000, 84), 6_720_000);
        assert_eq!(duration(3_000_000_000, 1), 2667);
        assert_eq!(duration(0, 1), 8 * 1_000_000_000_000);
    }

    #[test]
    fn a_fast_clock_counts_more() {
        let by = |drift| {
            let clock = NodeClock {
                offset: Time::ZERO,
                drift,
            };
            let rate = LineRate::new(1_000_000_000).by(clock);
            rate.duration(1250).as_picoseconds()
        };
        assert_eq!(
            [by(0), by(100_000), by(-100_000)],
            [10_000_000, 10_001_000, 9_999_000]
        );
    }
}

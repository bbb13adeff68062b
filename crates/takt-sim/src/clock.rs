//! Clocks of nodes.

use crate::Time;

const BILLION: i128 = 1_000_000_000;

/// A clock that differs from the time by `offset` at the simulation's begin, and gains `drift` parts per billion from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeClock {
    /// Reading of the clock at time 0.
    pub offset: Time,
    /// Gain of the clock, in nanoseconds per second.
    pub drift: i64,
}

impl NodeClock {
    /// Returns the reading of the clock at this time, rounded down to picoseconds.
    pub fn local(self, time: Time) -> Time {
        if self.drift == 0 {
            return time + self.offset;
        }
        let gained = i128::from(time.as_picoseconds()) * i128::from(self.drift);
        time + self.offset + clamp(gained.div_euclid(BILLION))
    }

    /// Returns the first time at which the clock shows at least `local`.
    pub fn global(self, local: Time) -> Time {
        let elapsed = local - self.offset;
        // `Time::MAX` stands for never, by each clock.
        if self.drift == 0 || local == Time::MAX {
            return elapsed;
        }
        let elapsed = i128::from(elapsed.as_picoseconds());
        // A clock that stands still or runs backwards has no such time.
        let speed = (BILLION + i128::from(self.drift)).max(1);
        // t + floor(t d / 10⁹) >= e, for whole t, is t (10⁹ + d) >= 10⁹ e.
        clamp(-(-elapsed * BILLION).div_euclid(speed))
    }
}

fn clamp(picoseconds: i128) -> Time {
    let bounded = picoseconds.clamp(i64::MIN.into(), i64::MAX.into());
    Time::picoseconds(i64::try_from(bounded).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ten_ppm_are_ten_microseconds_in_a_second() {
        let clock = NodeClock {
            offset: Time::microseconds(-3),
            drift: 10_000,
        };
        let second = Time::microseconds(1_000_000);
        assert_eq!(clock.local(Time::ZERO), Time::microseconds(-3));
        assert_eq!(clock.local(second), second + Time::microseconds(7));
        assert_eq!(clock.global(second + Time::microseconds(7)), second);
    }

    proptest! {
        #[test]
        fn global_time_is_the_first_that_shows_the_local_time(offset in -1_000_000_000_000i64..1_000_000_000_000, drift in -100_000i64..100_000, local in 0i64..1 << 50) {
            let clock = NodeClock { offset: Time::picoseconds(offset), drift };
            let local = Time::picoseconds(local);
            let time = clock.global(local);
            prop_assert!(clock.local(time) >= local);
            prop_assert!(clock.local(time - Time::picoseconds(1)) < local);
        }
    }
}

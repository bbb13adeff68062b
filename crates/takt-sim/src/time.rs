//! Points in time and spans of it, in whole picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use takt_scenario::Duration;

/// A point in time, or the span between two, in picoseconds from the simulation's begin, or from 0 of a node's clock; 106 days at
/// most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

impl Time {
    /// The begin of the simulation, or no span.
    pub const ZERO: Self = Self(0);
    /// Later than every other time.
    pub const MAX: Self = Self(i64::MAX);
    /// Earlier than every other time.
    pub const MIN: Self = Self(i64::MIN);

    /// Makes a time of so many picoseconds.
    pub const fn picoseconds(picoseconds: i64) -> Self {
        Self(picoseconds)
    }

    /// Makes a time of so many nanoseconds.
    pub const fn nanoseconds(nanoseconds: i64) -> Self {
        Self(nanoseconds.saturating_mul(1000))
    }

    /// Makes a time of so many microseconds.
    pub const fn microseconds(microseconds: i64) -> Self {
        Self(microseconds.saturating_mul(1_000_000))
    }

    /// Returns the picoseconds.
    pub const fn as_picoseconds(self) -> i64 {
        self.0
    }

    /// Returns the nanoseconds, rounded down, as the kernel's clocks are read.
    pub const fn as_nanoseconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns a multiple of this span.
    #[must_use]
    pub const fn times(self, count: i64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl From<Duration> for Time {
    fn from(duration: Duration) -> Self {
        Self(i64::try_from(duration.picos()).unwrap_or(i64::MAX))
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        // `MAX` stands for never: it stays so when a span is added.
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

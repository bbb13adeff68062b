//! Time at which a message shall leave.

/// Time at which a message shall leave this host: CLOCK_TAI, in nanoseconds since 1970-01-01 TAI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaunchTime(u64);

impl LaunchTime {
    /// Creates a time of CLOCK_TAI, in nanoseconds. Times before 1970 become 1970.
    #[must_use]
    #[inline]
    pub const fn from_tai_nanos(nanos: i64) -> Self {
        Self(if nanos < 0 { 0 } else { nanos as u64 })
    }

    /// Returns the nanoseconds of CLOCK_TAI.
    #[must_use]
    #[inline]
    pub const fn tai_nanos(self) -> u64 {
        self.0
    }
}

//! Id of a run made by hand, which both ends know without a word of the user.

use std::fmt;
use std::time::Duration;

use takt_ua::DateTime;

/// Seconds from 1970-01-01 to 2000-01-01 UTC, where VersionTime begins (OPC 10000-4, VersionTime).
const EPOCH: i64 = 946_684_800;

/// Id of a run: the GroupVersion of the Publisher's messages (OPC 10000-14, 7.2.4.4.2), seconds since 2000-01-01 UTC.
///
/// A Publisher makes its group when it starts, so this is the version of its layout. The loopback learns it from the messages, and
/// captures have it, too. A run with a trace begins with a full second: so each run of a host has an id of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

impl RunId {
    /// Returns the id of a run that begins at this time: nanoseconds since 1970, UTC.
    #[must_use]
    pub fn at(nanos: i64) -> Self {
        let seconds = nanos.div_euclid(1_000_000_000).saturating_sub(EPOCH);
        Self(u32::try_from(seconds.max(1)).unwrap_or(u32::MAX))
    }

    /// Returns the id of a run that begins with the next full second, and the time until then. `nanos` is the present time since
    /// 1970, UTC.
    #[must_use]
    pub fn next(nanos: i64) -> (Self, Duration) {
        let wait = 1_000_000_000 - nanos.rem_euclid(1_000_000_000);
        let wait = Duration::from_nanos(wait.unsigned_abs());
        (Self::at(nanos.saturating_add(1_000_000_000)), wait)
    }
}

/// Writes the number, and the time that it stands for.
impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = EPOCH + i64::from(self.0);
        let time = DateTime::from_unix_nanos(seconds.saturating_mul(1_000_000_000));
        write!(f, "{} ({})", self.0, time.to_iso8601())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30T11:00:00.25Z.
    const NOW: i64 = 1_796_036_400_250_000_000;

    #[test]
    fn an_id_is_the_second_of_the_beginning() {
        assert_eq!(
            RunId::at(NOW).to_string(),
            "849351600 (2026-11-30T11:00:00Z)"
        );
        let (next, wait) = RunId::next(NOW);
        assert_eq!(next.0, RunId::at(NOW).0 + 1);
        assert_eq!(wait, Duration::from_millis(750));
        // A run that begins with a second is not that of the second before.
        assert_eq!(RunId::next(NOW - 250_000_000).1, Duration::from_secs(1));
    }

    #[test]
    fn clocks_that_were_never_set_have_an_id_too() {
        // 0 would mean any version to a DataSetReader.
        assert_eq!(RunId::at(0).0, 1);
        assert_eq!(RunId::at(i64::MIN).0, 1);
        assert_eq!(RunId::at(i64::MAX).0, u32::MAX);
    }
}

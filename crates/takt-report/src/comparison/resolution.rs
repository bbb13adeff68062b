//! Resolution of measured times: by how much a delay may exceed a bound without a verdict.

use std::fmt;

use takt_lab::Backend;
use takt_lab::run_directory::RunDescription;

use super::times::RoundTripKind;

/// Times of the backend `uml` that one reading of its virtual clock takes, in nanoseconds (`docs/lab.md`). The device of a link reads it
/// once for each frame: one way over 1, 3 and 7 links is measured 1, 3 and 7 ns longer than it is simulated.
const READING: i64 = 1;

/// Time by which a timer of the backend `uml` may be late, in nanoseconds. Each link has one. Of 100 to 200 messages, one was 913 or 956
/// ns late.
const TIMER: i64 = 1000;

/// Most time that the thread of an end and its kernel take for readings of the virtual clock, in nanoseconds. 13 were found for both ends
/// of an application round trip, over 1, 3 and 7 links alike.
const END: i64 = 10;

/// Rounding of a delay, in nanoseconds: both of its time stamps are whole nanoseconds, rounded down, so that it can be less than one
/// nanosecond too long.
const ROUNDING: i64 = 1;

/// Resolution of the times of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolution {
    is_virtual: bool,
}

impl Resolution {
    /// Returns the resolution of a run.
    #[must_use]
    pub fn of(run: &RunDescription) -> Self {
        Self {
            is_virtual: run.backend == Backend::Uml.name(),
        }
    }

    /// Returns the nanoseconds by which a delay of one way over this number of links may exceed its bound.
    #[must_use]
    pub fn one_way(self, links: usize) -> i64 {
        self.through(links, 0)
    }

    /// Returns the nanoseconds by which a round trip over this number of links, there and back, may exceed its bound. That on the wire
    /// passes the loopback, that of the application both ends.
    #[must_use]
    pub fn round_trip(self, kind: RoundTripKind, links: usize) -> i64 {
        match kind {
            RoundTripKind::Wire => self.through(links, 1),
            RoundTripKind::Application => self.through(links, 2),
        }
    }

    fn through(self, links: usize, ends: i64) -> i64 {
        let links = i64::try_from(links).unwrap_or(i64::MAX);
        match self.is_virtual {
            true => {
                let of_links = links.saturating_mul(READING + TIMER);
                ROUNDING.saturating_add(of_links.saturating_add(ends * END))
            }
            false => ROUNDING,
        }
    }
}

/// Writes the rule by which a measurement counts as above its bound.
impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ROUNDING} ns for the rounding of time stamps")?;
        if self.is_virtual {
            write!(
                f,
                ", for readings of the virtual clock {READING} ns at each link of the way and {END} ns at each end that a round trip \
                 passes, and for a late timer {TIMER} ns at each link"
            )?;
        }
        f.write_str(". A measurement is above its bound if it exceeds it by at least that")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn resolution(backend: &str) -> Resolution {
        Resolution::of(&RunDescription::new("line", backend, BTreeMap::new(), 0))
    }

    #[test]
    fn only_virtual_clocks_take_time() {
        let real = ["netns", "uml-ready", "hosts"].map(resolution);
        for real in real {
            assert_eq!(real.one_way(7), 1);
            assert_eq!(real.round_trip(RoundTripKind::Application, 14), 1);
        }
        let virtual_time = resolution("uml");
        assert_eq!(virtual_time.one_way(7), 7008);
        assert_eq!(virtual_time.round_trip(RoundTripKind::Wire, 14), 14_025);
        assert_eq!(
            virtual_time.round_trip(RoundTripKind::Application, 14),
            14_035
        );
        assert_eq!(virtual_time.one_way(usize::MAX), i64::MAX);
    }
}

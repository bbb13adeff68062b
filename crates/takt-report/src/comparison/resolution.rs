//! Resolution of measured times: by how much a delay may exceed a bound without a verdict.

use std::fmt;

use takt_lab::run_directory::RunDescription;
use takt_lab::{Backend, CaseRecord, ClockAgreement};

use super::times::RoundTripKind;

/// Times of the backend `uml` that one reading of its virtual clock takes, in nanoseconds (`docs/lab.md`). The device of a link reads it
/// once for each frame: one way over 1, 3 and 7 links is measured 1, 3 and 7 ns longer than it is simulated.
const READING: i64 = 1;

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
    /// Agreement of the clocks of both ends, in the case where it is weakest.
    clocks: ClockAgreement,
    /// True if no case has times of one way.
    has_no_ways: bool,
    /// Step of the times of captures, in nanoseconds.
    captures: i64,
}

impl Resolution {
    /// Returns the resolution of a run.
    #[must_use]
    pub fn of(run: &RunDescription) -> Self {
        let clocks = run.cases.iter().map(|case| run.clocks(case));
        Self {
            is_virtual: run.backend == Backend::Uml.name(),
            clocks: clocks.fold(ClockAgreement::One, ClockAgreement::weaker),
            has_no_ways: !run.cases.iter().any(|case| case.synchronized),
            captures: ROUNDING,
        }
    }

    /// Returns the resolution of a case, whose clocks and captures are known.
    pub(crate) fn of_case(self, clocks: ClockAgreement, record: Option<&CaseRecord>) -> Self {
        let captures = record.map_or(&[][..], |it| &it.captures).iter();
        let captures = captures.map(|it| i64::try_from(it.resolution_nanos).unwrap_or(i64::MAX));
        Self {
            clocks,
            captures: captures.fold(ROUNDING, i64::max),
            ..self
        }
    }

    /// Returns the nanoseconds by which the clocks of both ends differ at most; `None` if nothing tells.
    #[must_use]
    pub fn clock_margin(self) -> Option<i64> {
        let margin = self.clocks.margin_nanos()?;
        Some(i64::try_from(margin).unwrap_or(i64::MAX))
    }

    /// Returns the nanoseconds by which a delay of one way over this number of links may exceed its bound. If nothing tells how far the
    /// clocks of both ends differ, it may by any time.
    #[must_use]
    pub fn one_way(self, links: usize) -> i64 {
        match self.clock_margin() {
            Some(margin) => self.through(links, 0, self.captures).saturating_add(margin),
            None => i64::MAX,
        }
    }

    /// Returns the nanoseconds by which a round trip over this number of links, there and back, may exceed its bound. That on the wire
    /// passes the loopback, that of the application both ends.
    #[must_use]
    pub fn round_trip(self, kind: RoundTripKind, links: usize) -> i64 {
        match kind {
            RoundTripKind::Wire => self.through(links, 1, self.captures),
            RoundTripKind::Application => self.through(links, 2, ROUNDING),
        }
    }

    fn through(self, links: usize, ends: i64, rounding: i64) -> i64 {
        let links = i64::try_from(links).unwrap_or(i64::MAX);
        match self.is_virtual {
            true => {
                let of_links = links.saturating_mul(READING);
                rounding.saturating_add(of_links.saturating_add(ends * END))
            }
            false => rounding,
        }
    }
}

/// Writes the rule by which a measurement counts as above its bound.
impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ROUNDING} ns for the rounding of time stamps")?;
        if self.captures > ROUNDING {
            let captures = self.captures;
            write!(f, ", {captures} ns for those of captures")?;
        }
        if self.is_virtual {
            write!(
                f,
                ", for readings of the virtual clock {READING} ns at each link of the way and {END} ns at each end that a round trip \
                 passes"
            )?;
        }
        let of_clocks = match self.clocks {
            _ if self.has_no_ways => None,
            ClockAgreement::One => None,
            ClockAgreement::Within { margin_nanos } => Some(format!(
                "For one way, the clocks of the hosts differ by {:.3} \u{b5}s at most, as both hosts measured: nearer to the bound, it is \
                 not decidable",
                margin_nanos as f64 / 1e3
            )),
            ClockAgreement::Unknown => Some(
                "One way is not decidable: nothing tells how far the clocks of the hosts differ"
                    .to_owned(),
            ),
        };
        f.write_str(". A measurement is above its bound if it exceeds it by at least that")?;
        match of_clocks {
            Some(text) => write!(f, ". {text}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use takt_lab::CaptureRecord;

    use super::*;

    fn resolution(backend: &str) -> Resolution {
        Resolution::of(&RunDescription::new("line", backend, BTreeMap::new(), 0))
    }

    /// tcpdump rounds to microseconds unless it is told otherwise.
    #[test]
    fn captures_round_by_their_own_step() {
        let capture = CaptureRecord {
            resolution_nanos: 1000,
            ..CaptureRecord::default()
        };
        let record = CaseRecord {
            captures: vec![CaptureRecord::default(), capture],
            ..CaseRecord::default()
        };
        let rounded = resolution("hosts").of_case(ClockAgreement::One, Some(&record));
        assert_eq!(rounded.one_way(1), 1000);
        assert_eq!(rounded.round_trip(RoundTripKind::Wire, 2), 1000);
        assert_eq!(rounded.round_trip(RoundTripKind::Application, 2), 1);
        assert!(
            rounded
                .to_string()
                .contains("1000 ns for those of captures")
        );
    }

    #[test]
    fn only_virtual_clocks_take_time() {
        let real = ["netns", "uml-ready", "hosts"].map(resolution);
        for real in real {
            assert_eq!(real.one_way(7), 1);
            assert_eq!(real.round_trip(RoundTripKind::Application, 14), 1);
        }
        let margin_nanos = 70;
        let within = ClockAgreement::Within { margin_nanos };
        let of_hosts = resolution("hosts").of_case(within, None);
        assert_eq!(of_hosts.one_way(7), 71);
        assert_eq!(of_hosts.round_trip(RoundTripKind::Wire, 14), 1);
        let unknown = of_hosts.of_case(ClockAgreement::Unknown, None);
        assert_eq!(
            (unknown.one_way(7), unknown.clock_margin()),
            (i64::MAX, None)
        );
        let virtual_time = resolution("uml");
        assert_eq!(virtual_time.one_way(7), 8);
        assert_eq!(virtual_time.round_trip(RoundTripKind::Wire, 14), 25);
        assert_eq!(virtual_time.round_trip(RoundTripKind::Application, 14), 35);
        assert_eq!(virtual_time.one_way(usize::MAX), i64::MAX);
    }
}

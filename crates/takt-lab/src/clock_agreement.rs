//! Agreement of the clocks of two ends: what their difference can be at most, as far as the facts of both hosts tell.

use serde::{Deserialize, Serialize};

use crate::host::{
    AT_END, GRANDMASTER, HostFact, PTP_CLOCK, PTP_CLOCK_OFFSET, PTP_OFFSET, STEERED, SYSTEM_CLOCK,
};

/// Agreement of the clocks of two ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockAgreement {
    /// Both ends have one clock.
    One,
    /// Both clocks follow one grandmaster, and differ by no more than this, as both hosts have measured.
    Within {
        /// Sum of the measured offsets of both hosts, in nanoseconds.
        margin_nanos: u64,
    },
    /// Nothing tells how far the clocks differ.
    #[default]
    Unknown,
}

impl ClockAgreement {
    /// Returns the agreement of two hosts by their facts.
    #[must_use]
    pub fn of_hosts(one: &[HostFact], other: &[HostFact]) -> Self {
        let grandmasters = (value(one, GRANDMASTER), value(other, GRANDMASTER));
        let is_shared = matches!(grandmasters, (Some(one), Some(other)) if one == other);
        let errors = (error_nanos(one), error_nanos(other));
        match errors {
            (Some(one), Some(other)) if is_shared => Self::Within {
                margin_nanos: one.saturating_add(other),
            },
            _ => Self::Unknown,
        }
    }

    /// Returns the agreement of the clocks of two network cards by the facts of both ends. Two ends on one host may have one clock. The
    /// facts of two hosts do not name the card whose clock ptp4l steers.
    #[must_use]
    pub(crate) fn of_cards(one: &[HostFact], other: &[HostFact], is_one_host: bool) -> Self {
        match (value(one, PTP_CLOCK), value(other, PTP_CLOCK)) {
            (Some(one), Some(other)) if is_one_host && one == other => Self::One,
            _ => Self::Unknown,
        }
    }

    /// Returns the nanoseconds by which the clocks differ at most: 0 for one clock, `None` if that is not known.
    #[must_use]
    pub const fn margin_nanos(self) -> Option<u64> {
        match self {
            Self::One => Some(0),
            Self::Within { margin_nanos } => Some(margin_nanos),
            Self::Unknown => None,
        }
    }

    /// Returns the weaker one of two agreements.
    #[must_use]
    pub fn weaker(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::One, other) => other,
            (one, Self::One) => one,
            (
                Self::Within { margin_nanos: one },
                Self::Within {
                    margin_nanos: other,
                },
            ) => Self::Within {
                margin_nanos: one.max(other),
            },
        }
    }
}

fn value<'a>(facts: &'a [HostFact], wanted: &str) -> Option<&'a str> {
    let found = facts.iter().find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.as_str())
}

/// Returns the largest offset of a host's system clock from its grandmaster that was measured, in nanoseconds; `None` if a part of it is
/// not known.
fn error_nanos(facts: &[HostFact]) -> Option<u64> {
    let steered = value(facts, STEERED)?;
    let mut errors = Vec::new();
    for when in ["", AT_END] {
        let of = |name: &str| value(facts, &format!("{name}{when}"));
        let offset = nanos_in(of(PTP_OFFSET)?)?;
        // ptp4l steers the clock of the card: that of the system is off by as much as phc2sys leaves.
        let from_card = match steered {
            SYSTEM_CLOCK => 0,
            _ => nanos_in(of(PTP_CLOCK_OFFSET)?)?,
        };
        errors.push(offset.saturating_add(from_card));
    }
    errors.into_iter().max()
}

/// Returns the sum of all numbers of nanoseconds in a text, without their signs: `-37 ns`, or `12 ns, read within 850 ns`.
fn nanos_in(text: &str) -> Option<u64> {
    let words: Vec<&str> = text
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect();
    let numbers = words.windows(2).filter_map(|pair| match pair {
        [number, "ns"] => Some(number.parse::<i64>().ok()),
        _ => None,
    });
    let numbers: Vec<u64> = numbers
        .map(|it| it.map(i64::unsigned_abs))
        .collect::<Option<_>>()?;
    numbers.into_iter().reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(of: &[(&str, &str)]) -> Vec<HostFact> {
        let facts = of.iter();
        facts
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn host(offsets: [&str; 2], card: Option<[&str; 2]>) -> Vec<HostFact> {
        let steered = match card {
            Some(_) => "clock of the network card",
            None => SYSTEM_CLOCK,
        };
        let mut found = facts(&[
            (GRANDMASTER, "a"),
            (STEERED, steered),
            (PTP_OFFSET, offsets[0]),
            ("PTP offset at the end", offsets[1]),
        ]);
        if let Some([begin, end]) = card {
            found.extend(facts(&[
                (PTP_CLOCK_OFFSET, begin),
                ("PTP clock offset at the end", end),
            ]));
        }
        found
    }

    #[test]
    fn the_margin_is_the_sum_of_the_largest_offsets_of_both_hosts() {
        let grandmaster = host(["0 ns", "0 ns"], None);
        let slave = host(
            ["-37 ns", "12 ns"],
            Some(["-400 ns, read within 50 ns", "20 ns, read within 60 ns"]),
        );
        let margin_nanos = 37 + 400 + 50;
        assert_eq!(
            ClockAgreement::of_hosts(&grandmaster, &slave),
            ClockAgreement::Within { margin_nanos }
        );
    }

    #[test]
    fn a_missing_offset_or_another_grandmaster_leaves_the_margin_unknown() {
        let complete = host(["0 ns", "0 ns"], Some(["1 ns", "1 ns"]));
        for missing in 0..complete.len() {
            let mut facts = complete.clone();
            facts.remove(missing);
            let found = ClockAgreement::of_hosts(&complete, &facts);
            assert_eq!(found, ClockAgreement::Unknown, "{facts:?}");
        }
        let mut other = complete.clone();
        other[0].1 = "b".to_owned();
        assert_eq!(
            ClockAgreement::of_hosts(&complete, &other),
            ClockAgreement::Unknown
        );
        for text in ["", "ns", "x ns", "37 s"] {
            assert_eq!(nanos_in(text), None, "{text}");
        }
        let far = host(["-9223372036854775808 ns", "0 ns"], None);
        let found = ClockAgreement::of_hosts(&far, &far);
        let margin_nanos = 1 << 63;
        assert_eq!(
            found,
            ClockAgreement::Within {
                margin_nanos: u64::saturating_add(margin_nanos, margin_nanos)
            }
        );
    }

    #[test]
    fn cards_have_one_clock_if_it_is_one_device_of_one_host() {
        let card = |device| facts(&[(PTP_CLOCK, device)]);
        let (one, other) = (card("/dev/ptp0"), card("/dev/ptp1"));
        let of = ClockAgreement::of_cards;
        assert_eq!(of(&one, &one, true), ClockAgreement::One);
        assert_eq!(of(&one, &other, true), ClockAgreement::Unknown);
        assert_eq!(of(&one, &one, false), ClockAgreement::Unknown);
        assert_eq!(of(&[], &[], true), ClockAgreement::Unknown);
    }

    #[test]
    fn the_weaker_agreement_counts() {
        let within = |margin_nanos| ClockAgreement::Within { margin_nanos };
        let (one, unknown) = (ClockAgreement::One, ClockAgreement::Unknown);
        assert_eq!(one.weaker(within(5)), within(5));
        assert_eq!(within(5).weaker(within(7)), within(7));
        assert_eq!(within(5).weaker(unknown), unknown);
        assert_eq!(one.weaker(one), one);
        assert_eq!(
            [one, within(5), unknown].map(ClockAgreement::margin_nanos),
            [Some(0), Some(5), None]
        );
    }
}

//! Quantities as exact integers, and as text with their unit: `"250 us"`, `"1 Gbit/s"`, `"1481 B"`.

mod text;

use std::fmt;

use text::{Flaw, Units, parse, quantity_error, write};
pub use text::{QuantityError, QuantityFlaw};

/// A time in picoseconds, the finest resolution of a scenario. One bit at 1 Gbit/s takes 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(pub u64);

/// A time difference in picoseconds, forwards or backwards, for example between a clock and the true time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SignedDuration(pub i64);

/// A rate in bit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(pub u64);

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size(pub u64);

/// The credit of a shaper in bytes, as in `tc`; it can be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Credit(pub i64);

/// The length of a cable in millimetres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Length(pub u64);

/// A fraction in billionths: `"-3%"` is -30 000 000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Share(pub i64);

/// The drift of a clock from the true time, in parts per billion: `"1.5 ppm"` is 1500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Drift(pub i64);

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    pub(crate) const UNITS: Units = &[
        ("s", 1_000_000_000_000),
        ("ms", 1_000_000_000),
        ("us", 1_000_000),
        // Keyboards have the micro sign or the Greek letter, which look the same.
        ("\u{b5}s", 1_000_000),
        ("\u{3bc}s", 1_000_000),
        ("ns", 1000),
        ("ps", 1),
        ("min", 60_000_000_000_000),
    ];

    /// Converts whole microseconds; `None` if that exceeds a `u64` of picoseconds, seven months.
    pub fn from_micros(micros: u64) -> Option<Self> {
        micros.checked_mul(1_000_000).map(Self)
    }

    /// Returns the picoseconds.
    pub fn picos(self) -> u64 {
        self.0
    }

    /// Returns the part of this time that a share is, rounded down to picoseconds; 0 if the share is negative.
    pub fn part(self, share: Share) -> Self {
        let part = i128::from(self.0) * i128::from(share.0) / i128::from(Share::ONE.0);
        Self(u64::try_from(part.max(0)).unwrap_or(u64::MAX))
    }

    /// Returns the sum, or the longest time if the sum exceeds it.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl SignedDuration {
    /// Returns the picoseconds.
    pub fn picos(self) -> i64 {
        self.0
    }
}

impl Rate {
    pub(crate) const UNITS: Units = &[
        ("bit/s", 1),
        ("kbit/s", 1000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
    ];

    /// Returns the bits in a second.
    pub fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Returns the time that so many bytes take, rounded up to picoseconds; the longest time at a rate of 0.
    pub fn duration(self, bytes: u64) -> Duration {
        let Some(rate) = std::num::NonZeroU64::new(self.0) else {
            return Duration(u64::MAX);
        };
        let time = (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(rate.get()));
        Duration(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

impl Size {
    pub(crate) const UNITS: Units = &[
        ("B", 1),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
    ];

    /// Returns the bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl Length {
    pub(crate) const UNITS: Units = &[("m", 1000), ("km", 1_000_000), ("cm", 10), ("mm", 1)];

    /// Returns the propagation delay of a signal: 5 ns per metre, two thirds of the speed of light.
    pub fn propagation(self) -> Duration {
        Duration(self.0.saturating_mul(5))
    }
}

impl Share {
    /// The whole.
    pub const ONE: Self = Self(1_000_000_000);
    pub(crate) const UNITS: Units = &[("%", 10_000_000), ("", 1_000_000_000)];

    /// Returns the billionths.
    pub fn billionths(self) -> i64 {
        self.0
    }
}

impl Drift {
    pub(crate) const UNITS: Units = &[("ppm", 1000), ("ppb", 1)];

    /// Returns the parts per billion.
    pub fn billionths(self) -> i64 {
        self.0
    }
}

macro_rules! quantity {
    ($type:ident, $number:ty, $units:expr, $what:literal, $example:literal) => {
        impl std::str::FromStr for $type {
            type Err = QuantityError;

            fn from_str(text: &str) -> Result<Self, QuantityError> {
                let value = parse(text, $units).and_then(|value| {
                    <$number>::try_from(value).map_err(|_| match value {
                        ..0 if <$number>::MIN == 0 => Flaw::Negative,
                        _ => Flaw::TooGreat,
                    })
                });
                let value = value.map(Self);
                value.map_err(|flaw| quantity_error(text, flaw, $units, $what, $example))
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(f, self.0.into(), $units)
            }
        }
    };
}

quantity!(
    Duration,
    u64,
    Duration::UNITS,
    "time",
    "\"250 us\", \"1.5 ms\" or \"100 ns\""
);
quantity!(
    SignedDuration,
    i64,
    Duration::UNITS,
    "time",
    "\"-20 us\" or \"1.2 us\""
);
quantity!(
    Rate,
    u64,
    Rate::UNITS,
    "rate",
    "\"1 Gbit/s\" or \"100 Mbit/s\""
);
quantity!(Size, u64, Size::UNITS, "size", "\"1481 B\" or \"2 KiB\"");
quantity!(
    Credit,
    i64,
    Size::UNITS,
    "credit",
    "\"153 B\" or \"-1503 B\""
);
quantity!(Length, u64, Length::UNITS, "length", "\"10 m\"");
quantity!(
    Drift,
    i64,
    Drift::UNITS,
    "drift",
    "\"1.5 ppm\" or \"-20 ppb\""
);

impl std::str::FromStr for Share {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let value =
            parse(text, Self::UNITS).and_then(|it| i64::try_from(it).map_err(|_| Flaw::TooGreat));
        let value = value.map(Self);
        value.map_err(|flaw| quantity_error(text, flaw, Self::UNITS, "share", "\"-3%\" or 0.3"))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The decimals of a percentage are hundred-millionths of a percent.
        let (sign, value) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let fraction = format!("{:07}", value % 10_000_000);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        write!(f, "{sign}{}{point}{fraction}%", value / 10_000_000)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_with_units() {
        assert_eq!("250 us".parse(), Ok(Duration(250_000_000)));
        assert_eq!("250\u{b5}s".parse(), Ok(Duration(250_000_000)));
        assert_eq!("31.25 us".parse(), Ok(Duration(31_250_000)));
        assert_eq!("1.5ms".parse(), Ok(Duration(1_500_000_000)));
        assert_eq!("-1.2 us".parse(), Ok(SignedDuration(-1_200_000)));
        assert_eq!("1 Gbit/s".parse(), Ok(Rate(1_000_000_000)));
        assert_eq!("2 KiB".parse(), Ok(Size(2048)));
        assert_eq!(
            "10 m".parse::<Length>().unwrap().propagation(),
            Duration(50_000)
        );
        assert_eq!("-3%".parse(), Ok(Share(-30_000_000)));
        assert_eq!("0.3".parse(), Ok(Share(300_000_000)));
        assert_eq!("1.5 ppm".parse(), Ok(Drift(1500)));
    }

    #[test]
    fn written_in_the_unit_that_fits() {
        assert_eq!(Duration(12_184_000).to_string(), "12.184 us");
        assert_eq!(Duration(250_000_000).to_string(), "250 us");
        assert_eq!(Rate(3_232_000).to_string(), "3.232 Mbit/s");
        assert_eq!(Size(2048).to_string(), "2048 B");
        assert_eq!(SignedDuration(-1_200_000).to_string(), "-1.2 us");
        assert_eq!(Share(-35_000_000).to_string(), "-3.5%");
        assert_eq!(Duration(0).to_string(), "0 s");
    }

    #[test]
    fn invalid_quantities_are_refused() {
        for text in [
            "",
            "250",
            "us",
            "250 uss",
            "-1 us",
            "1e3 us",
            "0.5 ps",
            "1..5 us",
            "5. us",
            ".5 us",
            "99999999999999999999 s",
        ] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    #[test]
    fn sending_takes_time() {
        assert_eq!(Rate(1_000_000_000).duration(1542), Duration(12_336_000));
        assert_eq!(Rate(3).duration(1), Duration(2_666_666_666_667));
        assert_eq!(Rate(0).duration(1), Duration(u64::MAX));
        assert_eq!(
            "250 us"
                .parse::<Duration>()
                .unwrap()
                .part(Share(300_000_000)),
            Duration(75_000_000)
        );
    }

    proptest! {
        #[test]
        fn displayed_quantities_parse_to_the_same(number: u64, signed: i64) {
            prop_assert_eq!(Duration(number).to_string().parse(), Ok(Duration(number)));
            prop_assert_eq!(Rate(number).to_string().parse(), Ok(Rate(number)));
            prop_assert_eq!(Size(number).to_string().parse(), Ok(Size(number)));
            prop_assert_eq!(Length(number).to_string().parse(), Ok(Length(number)));
            prop_assert_eq!(SignedDuration(signed).to_string().parse(), Ok(SignedDuration(signed)));
            prop_assert_eq!(Share(signed).to_string().parse(), Ok(Share(signed)));
            prop_assert_eq!(Drift(signed).to_string().parse(), Ok(Drift(signed)));
        }
    }
}

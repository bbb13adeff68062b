//! Steps of the real-time clock: one table for all tests in which a clock is set.
//!
//! `tests/lab/clock.rs` sets the clock of a machine of its own for Publishers and control loops; `end_to_end/registry/clock.rs` shifts the clock
//! of single processes for history, Sessions, tokens, certificates and keys.

/// A step of the real-time clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep {
    /// Name for messages.
    pub name: &'static str,
    to: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// Seconds from the right time.
    Shift(i64),
    /// Seconds since 1970.
    Date(i64),
}

/// The last second but three that a signed number of 32 bits holds.
const YEAR_2038: i64 = (1 << 31) - 3;

/// A day in 1970: a machine without a battery starts there.
const YEAR_1970: i64 = 86_400;

/// All steps.
pub const STEPS: [ClockStep; 7] = [
    ClockStep {
        name: "20 s back",
        to: Target::Shift(-20),
    },
    ClockStep {
        name: "an hour back",
        to: Target::Shift(-3600),
    },
    ClockStep {
        name: "an hour forward",
        to: Target::Shift(3600),
    },
    ClockStep {
        name: "a day back",
        to: Target::Shift(-86_400),
    },
    ClockStep {
        name: "a day forward",
        to: Target::Shift(86_400),
    },
    ClockStep {
        name: "to the end of 32 bits in 2038",
        to: Target::Date(YEAR_2038),
    },
    ClockStep {
        name: "to 1970",
        to: Target::Date(YEAR_1970),
    },
];

impl ClockStep {
    /// Returns the seconds by which the clock is shifted, if the right time is `now` in seconds since 1970.
    #[must_use]
    pub const fn shift(&self, now: i64) -> i64 {
        match self.to {
            Target::Shift(seconds) => seconds,
            Target::Date(date) => date - now,
        }
    }
}

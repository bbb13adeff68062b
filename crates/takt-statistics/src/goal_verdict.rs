//! Verdicts on goals: what an interval says about a limit.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// Least number of independent values whose smallest and largest are an interval of at least 95 % around the median: with `n` of
/// them, both are on the same side of it in `2 / 2^n` of all cases.
const LEAST: usize = 6;

/// Verdict on a goal. Noise makes an interval wider, and so helps neither side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalVerdict {
    /// The whole interval reaches the goal.
    Shown,
    /// The whole interval misses the goal.
    Refuted,
    /// The goal is within the interval, or there are too few rounds for one.
    Undecided,
}

impl GoalVerdict {
    /// Returns the verdict on the goal that a value is at most `limit`.
    #[must_use]
    pub fn at_most(estimate: &Estimate, limit: f64) -> Self {
        match estimate {
            it if it.count < LEAST => Self::Undecided,
            it if it.high <= limit => Self::Shown,
            it if it.low > limit => Self::Refuted,
            _ => Self::Undecided,
        }
    }

    /// Returns the verdict on the goal that a value is at least `limit`.
    #[must_use]
    pub fn at_least(estimate: &Estimate, limit: f64) -> Self {
        let negative = Estimate {
            value: -estimate.value,
            low: -estimate.high,
            high: -estimate.low,
            ..*estimate
        };
        Self::at_most(&negative, -limit)
    }

    /// Returns the name: `shown`, `refuted` or `undecided`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

impl fmt::Display for GoalVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(low: f64, high: f64, count: usize) -> Estimate {
        Estimate {
            value: f64::midpoint(low, high),
            low,
            high,
            count,
        }
    }

    #[test]
    fn the_whole_interval_decides() {
        use GoalVerdict::{Refuted, Shown, Undecided};
        for (low, high, verdict) in [
            (0.8, 1.0, Shown),
            (0.8, 1.01, Undecided),
            (1.0, 1.2, Undecided),
            (1.01, 1.2, Refuted),
            // A wide interval around a bad value: noise does not help.
            (0.81, 2.66, Undecided),
        ] {
            assert_eq!(GoalVerdict::at_most(&of(low, high, 6), 1.0), verdict);
        }
        assert_eq!(GoalVerdict::at_least(&of(1.0, 1.2, 6), 1.0), Shown);
        assert_eq!(GoalVerdict::at_least(&of(0.9, 1.2, 6), 1.0), Undecided);
        assert_eq!(GoalVerdict::at_least(&of(0.8, 0.9, 6), 1.0), Refuted);
    }

    #[test]
    fn few_rounds_decide_nothing() {
        for limit in [0.1, 10.0] {
            let verdict = GoalVerdict::at_most(&of(0.8, 0.9, 5), limit);
            assert_eq!(verdict, GoalVerdict::Undecided);
        }
    }
}

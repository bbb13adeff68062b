//! Decisions of an adversary: the part of a permitted maximum that happens each time.

use crate::{Random, Time};

/// Number of steps from none to all of it.
const STEPS: i64 = 4;

/// The part that happens each time. In the worst case it is often large first and zero later, or the other way round: delayed
/// frames then meet others that are not.
#[derive(Debug, Clone)]
pub enum Choice {
    /// All of it this number of times, then nothing.
    First(u64),
    /// Nothing this number of times, then all of it.
    Later(u64),
    /// Random parts, from this seed.
    Random(u64),
}

/// State of a [`Choice`].
#[derive(Debug, Clone)]
pub(crate) enum Chooser {
    First(u64),
    Later(u64),
    Random(Random),
}

impl Chooser {
    pub(crate) fn new(choice: &Choice) -> Self {
        match choice {
            Choice::First(times) => Self::First(*times),
            Choice::Later(times) => Self::Later(*times),
            Choice::Random(seed) => Self::Random(Random::new(*seed, 0)),
        }
    }

    /// Returns a part of `whole`.
    pub(crate) fn part(&mut self, whole: Time) -> Time {
        match self {
            Self::First(0) => Time::ZERO,
            Self::First(times) => {
                *times -= 1;
                whole
            }
            Self::Later(0) => whole,
            Self::Later(times) => {
                *times -= 1;
                Time::ZERO
            }
            Self::Random(random) => {
                let steps = i64::try_from(random.below(STEPS.unsigned_abs() + 1)).unwrap_or(0);
                Time::picoseconds(whole.as_picoseconds() / STEPS * steps)
            }
        }
    }
}

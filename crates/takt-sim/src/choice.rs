//! What an adversary decides: how much of something that is allowed happens each time.

use crate::{Random, Time};

/// In how many steps, from none to all of it.
const STEPS: i64 = 4;

/// How much each time. The worst is often much first and nothing later, or the other way round: what was held up meets what is not.
#[derive(Debug, Clone)]
pub enum Choice {
    /// All of it so many times, then nothing.
    First(u64),
    /// Nothing so many times, then all of it.
    Later(u64),
    /// Anything, from this seed on.
    Random(u64),
}

/// A [`Choice`] that is being made.
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

    /// A part of this.
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

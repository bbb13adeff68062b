//! Credit that the rounding of `sch_cbs` takes from a shaper. `docs/bounds.md` derives it.

use crate::Rational;
use crate::curve::{Curve, Extended};

/// Credit that rounding takes from a shaper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Losses {
    /// Rate at which credit is gained, in bit/s.
    pub(super) gained: Rational,
    /// Bits by which the wait for credit advances with each sent frame, at most: the longest frame, or its cost without `slack` if a bit
    /// costs more than one.
    pub(super) longest: Rational,
    /// Bits that each sent frame costs less than its length on the wire, at least.
    pub(super) slack: Rational,
    /// Most frames that come while one waits.
    pub(super) later: Rational,
    /// Most frames in the driver besides the one on the link.
    pub(super) driver_queue: Rational,
}

impl Losses {
    /// Returns the longest time for which a frame waits because of them: each frame that comes takes up to a byte.
    pub(super) fn latency(&self) -> Rational {
        let lost = Rational::from(8) * (&self.driver_queue + &self.later);
        (lost - &self.slack).max(Rational::ZERO) / &self.gained
    }

    /// Returns true if they take more than [`Self::latency`], for a class with frames of this length or longer, these arrivals and this delay.
    pub(super) fn are_more(&self, shortest: &Rational, arrival: &Curve, delay: &Rational) -> bool {
        let allowed = Extended::Finite(&self.later * shortest);
        if arrival.right(delay).0 <= allowed {
            return false;
        }
        // In a long wait many frames are sent, and each costs less than its length.
        let factor = Rational::from(8) * (Rational::ONE + &self.slack / &self.longest);
        let saved = &self.slack * &self.gained / &self.longest * shortest / &factor;
        let Ok(saved) = Curve::leaky_bucket(Rational::ZERO, saved) else {
            return true;
        };
        let Extended::Finite(bits) = arrival.vertical_deviation(&saved) else {
            return true;
        };
        let lost = factor * (bits / shortest + &self.driver_queue);
        lost > self.latency() * &self.gained
    }
}

//! Credit and windows of a class behind gates in one common phase of the cycle: an interval that begins when the gate closes
//! waits for the next window once, and not for credit and then for a window again. `docs/bounds.md` has the proof.

use super::PortError;
use super::gate_curves::Unshaped;
use super::gates::GateControlList;
use crate::Rational;
use crate::curve::Curve;

/// Largest number of windows of a class in a cycle for which the common phase is used: the time grows with the third power.
const MOST_WINDOWS: usize = 4;

impl Unshaped {
    /// Returns the minimum service of the class with a shaper of this idleSlope. `None` if its gate never closes, if it has too
    /// many windows, or if other classes leave less than the idleSlope.
    pub(super) fn in_one_phase(
        &self,
        gates: &GateControlList,
        class: usize,
        idle_slope: &Rational,
        link_rate: &Rational,
    ) -> Result<Option<Curve>, PortError> {
        let few = |missed: &&Vec<_>| missed.len() <= MOST_WINDOWS;
        let Some(missed) = self.missed.as_ref().filter(few) else {
            return Ok(None);
        };
        let link = Curve::rate_latency(link_rate.clone(), Rational::ZERO)?;
        let open = link.residual(&self.taken, &Rational::ZERO);
        let Some(latency) = open.latency_below(idle_slope) else {
            return Ok(None);
        };
        let (gained, _) = gates.while_open(class, idle_slope)?;
        let mut least = gained.later(&latency);
        for missed in missed {
            let end = &missed.time - &latency;
            let before = gates.while_open_before(class, idle_slope, &end);
            let after = missed.service.residual(&self.taken, &Rational::ZERO);
            least = least.minimum(&before.convolution(&after.later(&latency)));
        }
        Ok(Some(least))
    }
}

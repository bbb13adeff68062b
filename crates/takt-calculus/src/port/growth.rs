//! Growth of delays in a circle that has no fixed point: seen early, so that the analysis need not raise them again and again.

use std::collections::BTreeSet;

use super::PortError;
use super::network::{PortNetwork, PortNetworkError, QueueId};
use super::total_flow::Progress;
use crate::Rational;
use crate::curve::{Curve, Extended};

/// Factor by which delays are raised to see their growth in the long run. Delays that high make bursts and shapers' credits
/// insignificant.
const FAR: u32 = 1 << 20;

impl PortNetwork {
    /// Returns the same network with the lines below all arrivals: their long-term rates without bursts.
    fn with_lines_below(&self) -> Result<Self, PortNetworkError> {
        let mut below = self.clone();
        for stream in &mut below.streams {
            if let Some(rate) = stream.arrival.long_term_rate() {
                let line = Curve::leaky_bucket(Rational::ZERO, rate.clone());
                stream.arrival = line.map_err(PortError::from)?;
            }
        }
        Ok(below)
    }
}

impl Progress<'_> {
    /// Returns the factor by which the delays of these queues grow at least from round to round, if they grow for ever: without
    /// the bursts of all streams they are followed by delays that are no shorter, now and in the long run. `docs/bounds.md`
    /// derives that.
    pub(super) fn growth(
        &self,
        circle: &[QueueId],
        growing: &BTreeSet<QueueId>,
    ) -> Result<Option<Rational>, PortNetworkError> {
        let below = self.network.with_lines_below()?;
        let is_growth = |factor: &Rational| *factor >= Rational::ONE;
        let now = self.least_growth(&below, circle, growing, &Rational::ONE)?;
        if now.filter(is_growth).is_none() {
            return Ok(None);
        }
        let far = self.least_growth(&below, circle, growing, &Rational::from(FAR))?;
        Ok(far.filter(is_growth))
    }

    /// Returns the least ratio of the delay that follows at a growing queue to its delay, if the delays of all growing queues
    /// are raised by a factor. `None` if all these delays are infinite.
    fn least_growth(
        &self,
        below: &PortNetwork,
        circle: &[QueueId],
        growing: &BTreeSet<QueueId>,
        factor: &Rational,
    ) -> Result<Option<Rational>, PortNetworkError> {
        let mut raised = Progress {
            network: below,
            shaped: self.shaped,
            states: self.states.clone(),
            jitters: self.jitters.clone(),
        };
        for queue in growing {
            let state = &mut raised.states[queue.port][queue.class];
            state.delays.multiply(factor);
        }
        raised.carry_all_on();
        let mut least: Option<Rational> = None;
        for queue in circle {
            let followed = raised.look(*queue)?;
            let state = &mut raised.states[queue.port][queue.class];
            if growing.contains(queue)
                && let (Extended::Finite(next), Extended::Finite(delay)) =
                    (followed.delays.longest(), state.delays.longest())
                && !delay.is_zero()
            {
                let ratio = next / delay;
                least = Some(least.map_or(ratio.clone(), |least| least.min(ratio)));
            }
            // As in a round, the delays that follow count for the queues after this one.
            match growing.contains(queue) {
                true => *state = followed,
                false => {
                    state.arrival = followed.arrival;
                    state.service = followed.service;
                }
            }
            raised.carry_on(*queue);
        }
        Ok(least)
    }
}

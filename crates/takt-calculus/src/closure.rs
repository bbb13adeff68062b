//! The sub-additive closure: what an arrival curve says in the end. What it permits in a long interval is not more than what it permits in the parts
//! of the interval together.

use crate::Rational;
use crate::curve::{Curve, CurveError, Extended, Piece};
use crate::periodic::{PeriodicCurve, PeriodicError, Repetition, limited};
use crate::periodic_normal::repeats;
use crate::periodic_operations::{PAIRS, convolution_until, cut};

impl Curve {
    /// The greatest sub-additive function that is 0 at 0 and nowhere above this curve: see [`PeriodicCurve::sub_additive_closure`]. It need not end
    /// in a line.
    ///
    /// # Errors
    /// A curve that begins below 0, or a result that is too long.
    pub fn sub_additive_closure(&self) -> Result<PeriodicCurve, PeriodicError> {
        PeriodicCurve::from(self.clone()).sub_additive_closure()
    }
}

impl PeriodicCurve {
    /// The greatest sub-additive function that is 0 at 0 and nowhere above this curve, `inf over n of f ⊗ … ⊗ f` (n times): what an arrival curve
    /// says in the end, and what a window flow control of this curve lets through.
    ///
    /// From when on it repeats itself is not known before. It is computed for a time, and taken if three things prove that it goes on like
    /// that; otherwise for twice the time.
    ///
    /// # Errors
    /// A curve that begins below 0, or a result that is too long.
    pub fn sub_additive_closure(&self) -> Result<Self, PeriodicError> {
        let first = &self.base.pieces[0];
        if first.at < Extended::ZERO {
            return Err(CurveError::Negative("value at 0").into());
        }
        let lowest = match self.lowest_ratio()? {
            Lowest::Line(line) => return Ok(line.into()),
            Lowest::Ratio(lowest) => lowest,
        };
        let increment = &lowest.ratio * &lowest.period;
        let mut rank = lowest.period.clone();
        let mut closure = Curve::constant(Extended::Infinity);
        loop {
            let horizon = Rational::from(2) * (&rank + &lowest.period);
            let own = from_zero(self.unrolled(&horizon)?);
            closure = closure_until(closure.minimum(&own), &horizon)?;
            let goes_on = repeats(
                &closure.advanced(&rank),
                &lowest.period,
                &increment,
                &(&rank + &lowest.period),
            );
            if goes_on && lowest.is_attained_from(&closure, &rank, &own, self)? {
                let repetition = Repetition {
                    rank,
                    period: lowest.period,
                    increment,
                };
                let result = Self::normal(closure, repetition);
                // It is sub-additive for all times: that of two curves of one period shows until twice its end. The greatest one below the curve
                // is therefore not less than it, if it is below the curve.
                if result.vertical_deviation(self)? == Extended::ZERO {
                    return Ok(result);
                }
                rank = horizon;
            } else {
                rank *= Rational::from(2);
            }
            limited(
                Rational::from(closure.pieces.len()),
                PAIRS, // Each of them would be combined with each.
            )?;
        }
    }
}

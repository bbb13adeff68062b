//! The sub-additive closure: all that an arrival curve says. What it permits in a long interval is not more than what it permits in the parts of
//! the interval together.

use crate::Rational;
use crate::curve::{Curve, CurveError, Extended, Piece};
use crate::periodic::{PeriodicCurve, PeriodicError, Repetition};
use crate::periodic_normal::{repeats, trimmed};
use crate::periodic_operations::{convolution_until, cut, least_common_multiple};

/// So often the time is doubled at most. Pieces become too many long before, where each period has some.
const DOUBLINGS: u32 = 24;

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

/// The least `f(t) / t`, which is the closure's long-term rate.
struct Lowest {
    rate: Rational,
    /// A time at which it is reached, or, if it only is in the long run, a period of the curve; or of both a multiple.
    period: Rational,
    /// Whether the curve comes as near to it in the long run as anywhere.
    in_the_long_run: bool,
}

impl PeriodicCurve {
    /// The greatest sub-additive function that is 0 at 0 and nowhere above this curve, the infimum of 0 at 0, f, f ⊗ f, f ⊗ f ⊗ f and so on:
    /// for arrivals, all that this curve says about them.
    ///
    /// From when on it repeats itself is not known before. It is computed up to a time, and taken if it is proven that it goes on like that;
    /// otherwise up to twice that time.
    ///
    /// # Errors
    /// A curve that begins below 0, or a result that is too long or repeats itself too late.
    pub fn sub_additive_closure(&self) -> Result<Self, PeriodicError> {
        let first = &self.base.pieces[0];
        if first.at < Extended::ZERO {
            return Err(CurveError::Negative("value at 0").into());
        }
        // A line behind a burst is sub-additive.
        if first.after == Extended::Infinity
            || self.repetition.is_none() && self.base.pieces.len() == 1
        {
            let mut base = self.base.clone().beginning_at_zero();
            base.pieces.truncate(1);
            return Ok(base.into());
        }
        let lowest = self.lowest()?;
        if first.after == Extended::ZERO && first.slope <= lowest.rate {
            // Parts as short as one likes.
            return Ok(Curve::rate_latency(first.slope.clone(), Rational::ZERO)?.into());
        }
        let mut rank = lowest.period.clone();
        let mut closure = Curve::constant(Extended::Infinity);
        for _ in 0..DOUBLINGS {
            let horizon = Rational::from(2) * (&rank + &lowest.period);
            let own = self.unrolled(&horizon)?;
            closure = closure_until(closure.minimum(&own.clone().beginning_at_zero()), &horizon)?;
            if let Some(result) = self.proven(&closure, &own, &rank, &lowest)? {
                return Ok(result);
            }
            rank *= Rational::from(2);
        }
        Err(PeriodicError::NoPeriod { until: rank })
    }

    fn lowest(&self) -> Result<Lowest, PeriodicError> {
        let last = &self.base.last().start;
        let (period, end) = match &self.repetition {
            Some(repetition) => (&repetition.period, repetition.end()),
            None => (last, last.clone()),
        };
        let seen = self.unrolled(&(&end + period))?;
        // Along a line behind a corner it rises or falls: it is least at a corner, or the limit there from below is.
        let corners = seen.pieces.iter().map(|piece| &piece.start);
        let corners = corners.filter(|time| **time > Rational::ZERO && **time <= end);
        // If there are several, one at which the curve itself is as low, not only just before a jump: the closure repeats itself after that time.
        let ratios = corners.filter_map(|time| {
            let (left, value) = (seen.left(time), seen.value(time));
            let jumps = left < value;
            let least = left.min(value);
            least.finite().map(|least| (least / time, jumps, time))
        });
        let long_run = self.long_term_rate();
        let (rate, jumps, time) = match (ratios.min(), &long_run) {
            (Some(reached), Some(long_run)) if reached.0 <= *long_run => reached,
            (Some(reached), None) => reached,
            _ => {
                return Ok(Lowest {
                    rate: long_run.unwrap_or(Rational::ZERO),
                    period: period.clone(),
                    in_the_long_run: true,
                });
            }
        };
        let in_the_long_run = jumps && long_run.is_some_and(|long_run| long_run == rate);
        let period = match &self.repetition {
            Some(repetition) if in_the_long_run => least_common_multiple(time, &repetition.period),
            _ => time.clone(),
        };
        Ok(Lowest {
            rate,
            period,
            in_the_long_run,
        })
    }

    /// The closure from its values until twice the end of the first period, if it is one with this rank.
    ///
    /// * It repeats itself as long as it is known. Of a curve of this rank and period, that it is sub-additive shows until twice the end of
    ///   the first period. It is therefore nowhere above the greatest one, if it is nowhere above the curve.
    /// * It is nowhere below the greatest one: each of its values in a period can be had from an earlier one that is in a period as well, or with a part of
    ///   the curve behind its own rank. What is a period later then can be had in the same way.
    fn proven(
        &self,
        closure: &Curve,
        own: &Curve,
        rank: &Rational,
        lowest: &Lowest,
    ) -> Result<Option<Self>, PeriodicError> {
        let repetition = Repetition {
            rank: rank.clone(),
            period: lowest.period.clone(),
            increment: &lowest.rate * &lowest.period,
        };
        let (period, end) = (&repetition.period, repetition.end());
        if !repeats(&closure.advanced(rank), period, &repetition.increment, &end) {
            return Ok(None);
        }
        let horizon = &end + period;
        let halved = period / Rational::from(2);
        let part = within(closure, &halved, period);
        let mut later = convolution_until(&within(closure, rank, &horizon), &part, &horizon)?;
        if lowest.in_the_long_run {
            let behind = within(own, &self.rank(period), &horizon);
            later = later.minimum(&convolution_until(&behind, closure, &horizon)?);
        }
        let window = |curve: &Curve| trimmed(curve.advanced(&end), period);
        if window(&later) != window(closure) {
            return Ok(None);
        }
        let result = Self::normal(closure.clone(), repetition);
        let is_below = result.vertical_deviation(self)? == Extended::ZERO;
        Ok(is_below.then_some(result))
    }
}

/// The closure of what a curve that is 0 at 0 is before `horizon`: its square, of that the square, until that is nothing new.
fn closure_until(curve: Curve, horizon: &Rational) -> Result<Curve, PeriodicError> {
    let mut closure = cut(curve, horizon).simplified();
    loop {
        let square = convolution_until(&closure, &closure, horizon)?;
        let square = cut(square, horizon).simplified();
        if square == closure {
            return Ok(closure);
        }
        closure = square;
    }
}

/// Infinite, except from `start` to `end`.
fn within(curve: &Curve, start: &Rational, end: &Rational) -> Curve {
    let outside = |time, at| Piece::new(time, at, Extended::Infinity, Rational::ZERO);
    let mut pieces = Vec::new();
    if *start > Rational::ZERO {
        pieces.push(outside(Rational::ZERO, Extended::Infinity));
    }
    for mut piece in curve.advanced(start).pieces {
        piece.start += start;
        if piece.start < *end {
            pieces.push(piece);
        }
    }
    pieces.push(outside(end.clone(), curve.value(end)));
    Curve { pieces }
}

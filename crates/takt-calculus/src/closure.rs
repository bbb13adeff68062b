//! The sub-additive closure: the tightest form of an arrival curve. An arrival curve permits no more in a long interval than in
//! the parts of the interval together.

use crate::Rational;
use crate::curve::{Curve, CurveError, Extended, Piece};
use crate::periodic::{PeriodicCurve, PeriodicError, Repetition};
use crate::periodic_normal::{repeats, trimmed};
use crate::periodic_operations::{convolution_until, cut, least_common_multiple};

/// Maximum number of times that the computed time is doubled. If each period has corners, the limit on pieces is reached long
/// before.
const DOUBLINGS: u32 = 24;

impl Curve {
    /// Returns the greatest sub-additive function that is 0 at 0 and nowhere above this curve: see
    /// [`PeriodicCurve::sub_additive_closure`]. It need not end in a line.
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
    /// A time at which the ratio is reached. If it is only reached in the long run, a period of the curve. If both apply, a
    /// multiple of both.
    period: Rational,
    /// True if the ratio is also approached in the long run.
    in_the_long_run: bool,
}

impl PeriodicCurve {
    /// Returns the greatest sub-additive function that is 0 at 0 and nowhere above this curve: the infimum of 0 at 0, f, f ⊗ f, f
    /// ⊗ f ⊗ f and so on. For arrivals, it is the tightest bound that follows from this curve.
    ///
    /// The time from which the result is periodic is not known in advance. The result is computed up to some time, and accepted
    /// if it is proven to continue periodically. Otherwise it is computed up to twice that time.
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
            // Splitting the interval into ever shorter parts gives a line without a burst.
            return Ok(Curve::rate_latency(first.slope.clone(), Rational::ZERO)?.into());
        }
        let mut rank = lowest.period.clone();
        let mut closure = Curve::constant(Extended::Infinity);
        for _ in 0..DOUBLINGS {
            let horizon = Rational::from(2) * (&rank + &lowest.period);
            let own = self.unrolled(&horizon)?;
            // The closure up to the last horizon belongs to the longer one as well, and saves steps.
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
        // Along a line behind a corner, the ratio only rises or only falls. Its minimum is therefore at a corner, or the limit
        // from below there.
        let corners = seen.pieces.iter().map(|piece| &piece.start);
        let corners = corners.filter(|time| **time > Rational::ZERO && **time <= end);
        // Of several such corners, one is preferred at which the curve itself is as low, not only its limit just before a jump:
        // the closure is periodic after that time.
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

    /// Returns the closure from its values until twice the end of the first period, if it is proven for this rank.
    ///
    /// * The values are periodic as far as they are known. For a curve of this rank and period, they prove sub-additivity until
    ///   twice the end of the first period. The curve is therefore nowhere above the closure, if it is nowhere above the original curve.
    /// * The curve is nowhere below the closure: each of its values in a period follows from an earlier value that is in a period
    ///   as well, or from a part of the original curve behind its own rank. The value one period later follows in the same way.
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

/// Returns the closure of a curve that is 0 at 0, before `horizon`: the curve is convolved with itself until the result no longer
/// changes.
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

/// Returns the curve from `start` to `end`, infinite elsewhere.
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

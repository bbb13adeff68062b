//! Operations on periodic curves. Each operation determines the rank and the period of its result, computes the result until the
//! end of its first period with the operation on [`Curve`], and declares it periodic from there.

use std::cmp::Ordering;

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};
use crate::periodic::{PeriodicCurve, PeriodicError, Repetition, limited};

/// Maximum number of pairs of pieces that are combined, which takes seconds.
pub(crate) const PAIRS: u32 = 1 << 16;

/// The long-term rates of two curves and, unless both end in lines, a period of both.
struct Pair<'a> {
    low: &'a PeriodicCurve,
    high: &'a PeriodicCurve,
    /// Long-term rate of the lower curve, and of both if the other is `None`.
    rate: Rational,
    /// Difference between the long-term rates of the higher and the lower curve; `None` if the higher becomes infinite.
    more: Option<Rational>,
    /// The least common multiple of the periods.
    common: Rational,
}

impl PeriodicCurve {
    /// Returns the lower of both at each time.
    ///
    /// # Errors
    /// The result is too long.
    pub fn minimum(&self, other: &Self) -> Result<Self, PeriodicError> {
        self.envelope(other, Ordering::Less)
    }

    /// Returns the higher of both at each time.
    ///
    /// # Errors
    /// The result is too long.
    pub fn maximum(&self, other: &Self) -> Result<Self, PeriodicError> {
        self.envelope(other, Ordering::Greater)
    }

    fn envelope(&self, other: &Self, side: Ordering) -> Result<Self, PeriodicError> {
        let Some(pair) = Pair::of(self, other) else {
            return Ok(self.base.envelope(&other.base, side).into());
        };
        let rank = pair.last_rank();
        let (period, rate, from) = match &pair.more {
            None if side == Ordering::Greater => {
                let curve = pair.low.unrolled(&rank)?.maximum(&pair.high.base);
                return Ok(curve.into());
            }
            None => (pair.low.period_or(&pair.common), pair.rate.clone(), rank),
            Some(more) if more.is_zero() => (pair.common.clone(), pair.rate.clone(), rank),
            Some(more) => {
                let (_, most) = pair.low.distance(&pair.low.rank(&pair.common));
                let (least, _) = pair.high.distance(&pair.high.rank(&pair.common));
                let apart = (most - least) / more;
                let (ending, rate) = match side {
                    Ordering::Greater => (pair.high, &pair.rate + more),
                    _ => (pair.low, pair.rate.clone()),
                };
                (ending.period_or(&pair.common), rate, rank.max(apart))
            }
        };
        let repetition = Repetition {
            rank: from,
            increment: &rate * &period,
            period,
        };
        let end = repetition.end();
        let curve = self.unrolled(&end)?.envelope(&other.unrolled(&end)?, side);
        Ok(Self::normal(curve, repetition))
    }

    /// Returns the sum: the arrival curve of two flows together.
    ///
    /// # Errors
    /// The result is too long.
    pub fn sum(&self, other: &Self) -> Result<Self, PeriodicError> {
        let Some(pair) = Pair::of(self, other) else {
            return Ok(self.base.sum(&other.base).into());
        };
        let rank = pair.last_rank();
        let Some(more) = &pair.more else {
            return Ok(pair.low.unrolled(&rank)?.sum(&pair.high.base).into());
        };
        // The sum has the rate of the lower curve, and that of the higher one, which is `more` above it.
        let rate = &pair.rate + &pair.rate + more;
        let repetition = Repetition {
            rank,
            increment: rate * &pair.common,
            period: pair.common.clone(),
        };
        let end = repetition.end();
        let curve = self.unrolled(&end)?.sum(&other.unrolled(&end)?);
        Ok(Self::normal(curve, repetition))
    }

    /// Returns `(f ⊗ g)(t) = inf f(s) + g(t − s)` over 0 ≤ s ≤ t: the service curve of two servers in a row.
    ///
    /// # Errors
    /// The result is too long.
    pub fn convolution(&self, other: &Self) -> Result<Self, PeriodicError> {
        let Some(pair) = Pair::of(self, other) else {
            limited(pairs(&self.base, &other.base), PAIRS)?;
            return Ok(self.base.convolution(&other.base).into());
        };
        let [low, high] = [pair.low, pair.high].map(|curve| curve.rank(&pair.common));
        let (period, rank) = match &pair.more {
            // As long as both parts are behind their ranks, one of them can be longer or shorter by the common period.
            Some(more) if more.is_zero() => (pair.common.clone(), low + high + &pair.common),
            // The part of the higher curve is bounded: a longer one is worse than more of the lower curve.
            Some(more) => {
                let reach = pair.reach(&pair.low.distance(&low).1, more);
                (pair.low.period_or(&pair.common), low + reach)
            }
            None => (
                pair.low.period_or(&pair.common),
                low + &pair.high.base.last().start,
            ),
        };
        let repetition = Repetition {
            rank,
            increment: &pair.rate * &period,
            period,
        };
        let end = repetition.end();
        let (own, other) = (self.unrolled(&end)?, other.unrolled(&end)?);
        Ok(Self::normal(
            convolution_until(&own, &other, &end)?,
            repetition,
        ))
    }

    /// Returns `(f ⊘ g)(t) = sup f(t + u) − g(u)` over u ≥ 0: the arrival curve behind a server of service curve g, for arrivals
    /// by f. Infinite if f outgrows g. `other` must be finite at 0.
    ///
    /// # Errors
    /// The result is too long.
    pub fn deconvolution(&self, other: &Self) -> Result<Self, PeriodicError> {
        let Some(pair) = Pair::of(self, other) else {
            limited(pairs(&self.base, &other.base), PAIRS)?;
            return Ok(self.base.deconvolution(&other.base).into());
        };
        if pair.outgrows(self) {
            return Ok(Curve::constant(Extended::Infinity).into());
        }
        let period = self.period_or(&pair.common);
        let repetition = Repetition {
            rank: self.rank(&pair.common),
            increment: &pair.rate * &period,
            period,
        };
        // The supremum is reached before some u: after a common period, or after g has grown by more than f can.
        let (last, end) = (pair.last_rank(), repetition.end());
        let reach = match &pair.more {
            None => last,
            Some(more) => {
                let after_periods = last + &pair.common;
                if more.is_zero() {
                    after_periods
                } else {
                    let most = self.distance(&Rational::ZERO).1;
                    pair.reach(&most, more).min(after_periods)
                }
            }
        };
        let reach = reach.max(repetition.period.clone());
        let own = self.unrolled(&(&end + &reach))?;
        let other = cut(other.unrolled(&reach)?, &reach);
        limited(pairs(&own, &other), PAIRS)?;
        Ok(Self::normal(own.deconvolution(&other), repetition))
    }

    /// Returns the bound on the delay of arrivals by this curve in a FIFO server of service curve `service`: see
    /// [`Curve::horizontal_deviation`].
    ///
    /// # Errors
    /// The time until delays are periodic is too long.
    pub fn horizontal_deviation(&self, service: &Self) -> Result<Extended, PeriodicError> {
        let Some(pair) = Pair::of(self, service) else {
            return Ok(self.base.horizontal_deviation(&service.base));
        };
        if pair.outgrows(self) {
            return Ok(Extended::Infinity);
        }
        let worst = pair.worst();
        let own = held(self.unrolled(&worst)?, &worst);
        let level = &own.last().after;
        // The service must be known until it has reached the arrivals until then.
        let mut reached = worst.clone();
        if let (Some(level), Some(repetition)) = (level.finite(), &service.repetition) {
            reached = reached.max(repetition.end());
            if repetition.increment > Rational::ZERO {
                let (least, _) = service.distance(&Rational::ZERO);
                let time = (level - least) / repetition.rate() + &repetition.period;
                reached = reached.max(time);
            }
        }
        Ok(own.horizontal_deviation(&service.unrolled(&reached)?))
    }

    /// Returns the bound on the backlog of arrivals by this curve in a server of service curve `service`: see
    /// [`Curve::vertical_deviation`].
    ///
    /// # Errors
    /// The time until backlogs are periodic is too long.
    pub fn vertical_deviation(&self, service: &Self) -> Result<Extended, PeriodicError> {
        let Some(pair) = Pair::of(self, service) else {
            return Ok(self.base.vertical_deviation(&service.base));
        };
        if pair.outgrows(self) {
            return Ok(Extended::Infinity);
        }
        let worst = pair.worst();
        let service = cut(service.unrolled(&worst)?, &worst);
        Ok(held(self.unrolled(&worst)?, &worst).vertical_deviation(&service))
    }

    /// Returns the rank of the curve for this period. A line has any period, but a jump where it begins is before the rank.
    pub(crate) fn rank(&self, period: &Rational) -> Rational {
        let last = self.base.last();
        match &self.repetition {
            Some(repetition) => repetition.rank.clone(),
            None if last.at == last.after => last.start.clone(),
            None => &last.start + period,
        }
    }

    fn period_or(&self, any: &Rational) -> Rational {
        let own = self.repetition.as_ref();
        own.map_or(any, |repetition| &repetition.period).clone()
    }
}

impl<'a> Pair<'a> {
    /// Makes the pair; `None` if both end in lines.
    fn of(one: &'a PeriodicCurve, other: &'a PeriodicCurve) -> Option<Self> {
        let common = match (&one.repetition, &other.repetition) {
            (None, None) => return None,
            (Some(one), None) | (None, Some(one)) => one.period.clone(),
            (Some(one), Some(other)) => least_common_multiple(&one.period, &other.period),
        };
        let (one_rate, other_rate) = (one.long_term_rate(), other.long_term_rate());
        let (low, high, rate, more) = match (one_rate, other_rate) {
            (Some(rate), None) => (one, other, rate, None),
            (None, Some(rate)) => (other, one, rate, None),
            (Some(rate), Some(higher)) if rate <= higher => {
                let more = higher - &rate;
                (one, other, rate, Some(more))
            }
            (Some(higher), Some(rate)) => {
                let more = higher - &rate;
                (other, one, rate, Some(more))
            }
            (None, None) => return None,
        };
        Some(Self {
            low,
            high,
            rate,
            more,
            common,
        })
    }

    fn last_rank(&self) -> Rational {
        let rank = self.low.rank(&self.common);
        rank.max(self.high.rank(&self.common))
    }

    /// Returns true if this is the higher one of two curves with different long-term rates.
    fn outgrows(&self, curve: &PeriodicCurve) -> bool {
        let differ = self.more.as_ref().is_none_or(|more| !more.is_zero());
        // The pair borrows both curves, so their addresses tell them apart.
        differ && std::ptr::eq(self.high, curve)
    }

    /// Returns a length `b` of the higher curve's part: from it on, `low(t − b) + high(b)` is not less than `low(t) + high(0)`,
    /// and `low(t + b) − high(b)` is not more than `low(t) − high(0)`, if the lower curve is never more than `most` above its
    /// line.
    fn reach(&self, most: &Rational, more: &Rational) -> Rational {
        let zero = Rational::ZERO;
        let begin = self.high.base.pieces[0].at.finite().cloned();
        let least = self.low.distance(&zero).0 + self.high.distance(&zero).0;
        let reach = (most - least + begin.unwrap_or(Rational::ZERO)) / more;
        reach.max(zero)
    }

    /// Returns a time behind which the higher curve's service causes no longer delay and no greater backlog of the lower curve's
    /// arrivals than before.
    fn worst(&self) -> Rational {
        let last = self.last_rank();
        let Some(more) = &self.more else {
            return last;
        };
        let after_periods = last + &self.common;
        if more.is_zero() {
            return after_periods;
        }
        let zero = Rational::ZERO;
        let apart = (self.low.distance(&zero).1 - self.high.distance(&zero).0) / more;
        apart.max(self.common.clone()).min(after_periods)
    }
}

/// Returns the convolution of both curves before `end`. The result is valid before `end`.
pub(crate) fn convolution_until(
    one: &Curve,
    other: &Curve,
    end: &Rational,
) -> Result<Curve, PeriodicError> {
    let [one, other] = [one, other].map(|curve| cut(curve.clone(), end));
    // About half of the pairs begin behind `end`, and are skipped.
    limited(pairs(&one, &other) / Rational::from(2), PAIRS)?;
    Ok(one.convolution_before(&other, Some(end)))
}

/// Returns the curve before `end`, infinite from there.
pub(crate) fn cut(mut curve: Curve, end: &Rational) -> Curve {
    curve.pieces.retain(|piece| piece.start < *end);
    curve.pieces.push(Piece::new(
        end.clone(),
        Extended::Infinity,
        Extended::Infinity,
        Rational::ZERO,
    ));
    curve
}

/// Returns the curve before `end`, constant from there.
fn held(mut curve: Curve, end: &Rational) -> Curve {
    let level = curve.left(end);
    curve.pieces.retain(|piece| piece.start < *end);
    curve.pieces.push(Piece::new(
        end.clone(),
        level.clone(),
        level,
        Rational::ZERO,
    ));
    curve
}

fn pairs(one: &Curve, other: &Curve) -> Rational {
    let elements = |curve: &Curve| Rational::from(2 * curve.pieces.len());
    elements(one) * elements(other)
}

/// Returns the least common multiple of two numbers, by Euclid's algorithm, which ends for fractions as well.
pub(crate) fn least_common_multiple(one: &Rational, other: &Rational) -> Rational {
    let (mut greater, mut less) = (one.clone(), other.clone());
    while !less.is_zero() {
        let times = Rational::from((&greater / &less).floor());
        let rest = &greater - times * &less;
        (greater, less) = (less, rest);
    }
    one * other / greater
}

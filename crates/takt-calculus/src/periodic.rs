//! Ultimately periodic curves, such as staircases without end.

use crate::Rational;
use crate::curve::{Curve, CurveError, Extended, Piece};

/// Maximum number of pieces of a result. The number of pieces multiplies where the least common multiple of periods is large.
pub(crate) const PIECES: u32 = 1 << 14;

/// Reasons why a curve or result cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodicError {
    /// Parameters without a curve.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// A period that is not positive.
    #[error("the period of a curve is not positive")]
    Period,
    /// A curve that is infinite before its periodic part, or falls there.
    #[error(
        "a curve that is periodic from {rank} on must be finite before {rank} and must not decrease"
    )]
    Repetition {
        /// Time from which it would be periodic.
        rank: Rational,
    },
    /// A sub-additive closure that is not periodic as far as it was computed.
    #[error("the sub-additive closure is not periodic up to {until}")]
    NoPeriod {
        /// Time up to which it was computed, at least.
        until: Rational,
    },
    /// An exact result that is too long, since the periods have only a large common multiple. [`PeriodicCurve::line_above`] and
    /// [`PeriodicCurve::line_below`] give curves without a period that are bounds of it.
    #[error("the exact result has about {pieces} pieces, more than the limit of {limit}")]
    TooLong {
        /// Number of pieces of the result, rounded up.
        pieces: Rational,
        /// Maximum number of pieces.
        limit: u32,
    },
}

/// The periodic part of a curve: `f(t + period) = f(t) + increment` for `t ≥ rank`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// Time from which the curve is periodic.
    pub rank: Rational,
    /// Length of a period.
    pub period: Rational,
    /// Increase in each period.
    pub increment: Rational,
}

impl Repetition {
    pub(crate) fn end(&self) -> Rational {
        &self.rank + &self.period
    }

    pub(crate) fn rate(&self) -> Rational {
        &self.increment / &self.period
    }
}

/// A wide-sense increasing function of time, from 0 on, that is piecewise linear and ultimately pseudo-periodic: in the end it
/// repeats itself, each time higher by the same increment. A [`Curve`] is one that ends in a line.
///
/// The operations are exact: the period of the result, and the time from which it holds, are known before the result is computed
/// (Bouillard and Thiry, An Algorithmic Toolbox for Network Calculus, 2008; Bouillard, Boyer and Le Corronc, Deterministic
/// Network Calculus, 2018, chapter 4). A result that is too long is an error.
#[derive(Debug, Clone)]
pub struct PeriodicCurve {
    /// The function up to the end of the first period, or everywhere, if it ends in a line.
    pub(crate) base: Curve,
    pub(crate) repetition: Option<Repetition>,
}

impl From<Curve> for PeriodicCurve {
    fn from(curve: Curve) -> Self {
        Self {
            base: curve,
            repetition: None,
        }
    }
}

impl PeriodicCurve {
    /// Makes the curve that is `base` until a period after `rank`, and periodic from `rank` on.
    ///
    /// # Errors
    /// A negative rank, a period that is not positive, or a function that would fall or is infinite before it repeats itself.
    pub fn new(base: Curve, repetition: Repetition) -> Result<Self, PeriodicError> {
        let Repetition {
            rank,
            period,
            increment,
        } = &repetition;
        if *rank < Rational::ZERO {
            return Err(CurveError::Negative("rank").into());
        }
        if *period <= Rational::ZERO {
            return Err(PeriodicError::Period);
        }
        if base.left(&repetition.end()) > base.value(rank).plus(increment)
            || base.left(&repetition.end()) == Extended::Infinity
        {
            return Err(PeriodicError::Repetition { rank: rank.clone() });
        }
        Ok(Self::normal(base, repetition))
    }

    /// Makes the staircase `step · ⌈t / period⌉`: one `step` at once in each period.
    ///
    /// # Errors
    /// A negative step, or a period that is not positive.
    pub fn staircase(step: Rational, period: Rational) -> Result<Self, PeriodicError> {
        let base = Curve::leaky_bucket(step.clone(), Rational::ZERO)?;
        let repetition = Repetition {
            rank: Rational::ZERO,
            period,
            increment: step,
        };
        Self::new(base, repetition)
    }

    /// Returns the periodic part; `None` if the curve ends in a line.
    pub fn repetition(&self) -> Option<&Repetition> {
        self.repetition.as_ref()
    }

    /// Returns the slope in the long run; `None` if the curve becomes infinite.
    pub fn long_term_rate(&self) -> Option<Rational> {
        match &self.repetition {
            Some(repetition) => Some(repetition.rate()),
            None => self.base.long_term_rate().cloned(),
        }
    }

    /// Returns the value at a time; before 0, that at 0.
    pub fn value(&self, time: &Rational) -> Extended {
        match &self.repetition {
            Some(repetition) if *time >= repetition.end() => {
                let periods = ((time - &repetition.rank) / &repetition.period).floor();
                let periods = Rational::from(periods);
                let first = self.base.value(&(time - &periods * &repetition.period));
                first.plus(&(periods * &repetition.increment))
            }
            _ => self.base.value(time),
        }
    }

    /// Returns a curve that equals this one up to `horizon`. Behind that it is undefined.
    pub(crate) fn unrolled(&self, horizon: &Rational) -> Result<Curve, PeriodicError> {
        let Some(repetition) = &self.repetition else {
            return Ok(self.base.clone());
        };
        if *horizon <= repetition.end() {
            return Ok(self.base.clone());
        }
        let window = self.base.advanced(&repetition.rank).pieces;
        let periods = (horizon - &repetition.rank) / &repetition.period;
        // The limit is checked before anything is allocated: the common period of two curves can have very many of these periods.
        limited(&periods * Rational::from(window.len()), PIECES)?;
        let mut pieces = self.base.pieces.clone();
        let (mut start, mut more) = (repetition.end(), repetition.increment.clone());
        while start < *horizon {
            pieces.extend(window.iter().map(|piece| Piece {
                start: &start + &piece.start,
                at: piece.at.plus(&more),
                after: piece.after.plus(&more),
                slope: piece.slope.clone(),
            }));
            start += &repetition.period;
            more += &repetition.increment;
        }
        Ok(Curve { pieces }.simplified())
    }

    /// Returns the curve as seen from a time that is later by `delay`: `f(t + delay)`.
    ///
    /// # Errors
    /// A delay of so many periods that the result is too long.
    pub fn advanced(&self, delay: &Rational) -> Result<Self, PeriodicError> {
        let Some(repetition) = &self.repetition else {
            return Ok(self.base.advanced(delay).into());
        };
        let rank = (&repetition.rank - delay).max(Rational::ZERO);
        let base = self.unrolled(&(&rank + &repetition.period + delay))?;
        let repetition = Repetition {
            rank,
            ..repetition.clone()
        };
        Ok(Self::normal(base.advanced(delay), repetition))
    }

    /// Returns this curve for the time `exact` at least, and behind it a line with its long-term rate that is nowhere below it:
    /// for arrivals.
    ///
    /// # Errors
    /// A time of so many periods that the result is too long.
    pub fn line_above(&self, exact: &Rational) -> Result<Curve, PeriodicError> {
        let Some(repetition) = &self.repetition else {
            return Ok(self.base.clone());
        };
        let start = exact.max(&repetition.rank);
        let (_, most) = self.distance(&repetition.rank);
        let rate = repetition.rate();
        let line = Extended::Finite(most + &rate * start);
        let last = Piece::new(start.clone(), self.value(start), line, rate);
        self.until(start, vec![last])
    }

    /// Returns this curve for the time `exact` at least, and behind it a line with its long-term rate that is nowhere above it:
    /// for service.
    ///
    /// # Errors
    /// A time of so many periods that the result is too long.
    pub fn line_below(&self, exact: &Rational) -> Result<Curve, PeriodicError> {
        let Some(repetition) = &self.repetition else {
            return Ok(self.base.clone());
        };
        let start = exact.max(&repetition.rank);
        let (least, _) = self.distance(&repetition.rank);
        let rate = repetition.rate();
        let level = self.value(start);
        // The curve stays flat until the line has reached it.
        let mut last = vec![Piece::new(
            start.clone(),
            level.clone(),
            level.clone(),
            Rational::ZERO,
        )];
        if let (Some(height), true) = (level.finite(), rate > Rational::ZERO) {
            let meets = (height - least) / &rate;
            if meets == *start {
                last.clear();
            }
            last.push(Piece::new(meets, level.clone(), level, rate));
        }
        self.until(start, last)
    }

    /// Returns the curve before `start`, followed by these pieces.
    fn until(&self, start: &Rational, last: Vec<Piece>) -> Result<Curve, PeriodicError> {
        let mut pieces = self.unrolled(start)?.pieces;
        pieces.retain(|piece| piece.start < *start);
        pieces.extend(last);
        Ok(Curve { pieces }.simplified())
    }

    /// Returns the least and the greatest value of `f(t) − r t` for `t ≥ from`, with the long-term rate `r`. `from` must not be
    /// above the rank, and the curve must not become infinite.
    pub(crate) fn distance(&self, from: &Rational) -> (Rational, Rational) {
        let rate = self.long_term_rate().unwrap_or(Rational::ZERO);
        let end = self.repetition.as_ref().map(Repetition::end);
        let seen = self.base.advanced(from).pieces;
        let mut distances = Vec::with_capacity(3 * seen.len());
        let mut add = |value: &Extended, time: &Rational| {
            distances.extend(value.finite().map(|value| value - &rate * (from + time)));
        };
        for (index, piece) in seen.iter().enumerate() {
            add(&piece.at, &piece.start);
            add(&piece.after, &piece.start);
            let end = match (seen.get(index + 1), &end) {
                (Some(next), _) => next.start.clone(),
                (None, Some(end)) => end - from,
                (None, None) => continue,
            };
            add(&piece.line(&end), &end);
        }
        let least = distances.iter().min().cloned().unwrap_or(Rational::ZERO);
        (least, distances.into_iter().max().unwrap_or(Rational::ZERO))
    }
}

/// Returns an error if the result takes too many pieces.
pub(crate) fn limited(pieces: Rational, limit: u32) -> Result<(), PeriodicError> {
    if pieces > Rational::from(limit) {
        let pieces = Rational::from(pieces.ceil());
        return Err(PeriodicError::TooLong { pieces, limit });
    }
    Ok(())
}

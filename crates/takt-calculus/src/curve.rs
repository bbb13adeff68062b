//! Piecewise linear curves: representation, constructors and values.

use crate::Rational;

/// A rational number or an infinity, in the natural order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extended {
    /// Less than every number: the initial value of a maximum.
    NegativeInfinity,
    /// A number.
    Finite(Rational),
    /// More than every number.
    Infinity,
}

impl Extended {
    /// The number 0.
    pub const ZERO: Self = Self::Finite(Rational::ZERO);

    /// Returns the number, or `None` for an infinity.
    pub fn finite(&self) -> Option<&Rational> {
        match self {
            Self::Finite(number) => Some(number),
            _ => None,
        }
    }

    /// Adds a number; an infinity stays the same.
    pub(crate) fn plus(&self, number: &Rational) -> Self {
        match self {
            Self::Finite(own) => Self::Finite(own + number),
            infinity => infinity.clone(),
        }
    }

    /// Returns the sum, in which infinity prevails.
    pub(crate) fn sum(&self, other: &Self) -> Self {
        match (self, other) {
            (_, Self::Finite(number)) => self.plus(number),
            (Self::Finite(number), _) => other.plus(number),
            _ => self.clone().max(other.clone()),
        }
    }
}

/// Reasons why a curve cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CurveError {
    /// A burst, rate, delay or step below zero.
    #[error("the {0} of a curve is negative")]
    Negative(&'static str),
    /// A staircase without a width.
    #[error("the period of a staircase is not positive")]
    Period,
    /// A grid without a width.
    #[error("a step of a grid is not positive")]
    Grid,
}

/// A value at `start`, and a line from right behind it to the start of the next piece. An infinite line has slope 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) start: Rational,
    pub(crate) at: Extended,
    pub(crate) after: Extended,
    pub(crate) slope: Rational,
}

impl Piece {
    pub(crate) fn new(start: Rational, at: Extended, after: Extended, slope: Rational) -> Self {
        Self {
            start,
            at,
            after,
            slope,
        }
    }

    /// Returns the value of the piece's line at a time behind `start`, which may lie behind the end of the piece.
    pub(crate) fn line(&self, time: &Rational) -> Extended {
        self.after.plus(&(&self.slope * (time - &self.start)))
    }

    /// Returns the value at `start`, or that of the line behind it.
    pub(crate) fn value(&self, time: &Rational) -> Extended {
        if *time <= self.start {
            self.at.clone()
        } else {
            self.line(time)
        }
    }
}

/// A function of time, from 0 on, piecewise linear with jumps. Its last piece has no end. Curves from the constructors are
/// wide-sense increasing, and so are the results of operations on such curves.
///
/// The user chooses the units, the same for all curves that are combined. This project uses seconds and bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    /// The pieces in order of time. The first starts at 0; there is always one.
    pub(crate) pieces: Vec<Piece>,
}

fn non_negative(name: &'static str, value: &Rational) -> Result<(), CurveError> {
    if *value < Rational::ZERO {
        Err(CurveError::Negative(name))
    } else {
        Ok(())
    }
}

impl Curve {
    /// Makes a curve with the same value everywhere.
    pub(crate) fn constant(value: Extended) -> Self {
        Self {
            pieces: vec![Piece::new(
                Rational::ZERO,
                value.clone(),
                value,
                Rational::ZERO,
            )],
        }
    }

    /// Makes the curve that is 0 everywhere: the arrival curve of a source that never sends.
    pub fn zero() -> Self {
        Self::constant(Extended::ZERO)
    }

    /// Makes a leaky (or token) bucket: 0 at 0, then `burst + rate · t`.
    ///
    /// # Errors
    /// A negative parameter.
    pub fn leaky_bucket(burst: Rational, rate: Rational) -> Result<Self, CurveError> {
        non_negative("burst", &burst)?;
        non_negative("rate", &rate)?;
        Ok(Self {
            pieces: vec![Piece::new(
                Rational::ZERO,
                Extended::ZERO,
                Extended::Finite(burst),
                rate,
            )],
        })
    }

    /// Makes the curve `rate · max(0, t − latency)`.
    ///
    /// # Errors
    /// A negative parameter.
    pub fn rate_latency(rate: Rational, latency: Rational) -> Result<Self, CurveError> {
        non_negative("rate", &rate)?;
        non_negative("latency", &latency)?;
        let mut pieces = Self::zero().pieces;
        let rising = Piece::new(latency.clone(), Extended::ZERO, Extended::ZERO, rate);
        // Without a latency, both pieces would begin at 0.
        if latency.is_zero() {
            pieces.clear();
        }
        pieces.push(rising);
        Ok(Self { pieces })
    }

    /// Makes the service curve of a guaranteed delay: 0 up to and including `delay`, infinite behind it.
    ///
    /// # Errors
    /// A negative delay.
    pub fn burst_delay(delay: Rational) -> Result<Self, CurveError> {
        let mut curve = Self::rate_latency(Rational::ZERO, delay)?;
        if let Some(last) = curve.pieces.last_mut() {
            last.after = Extended::Infinity;
        }
        Ok(curve)
    }

    /// Makes a staircase `step · ⌈t / period⌉` for `steps` periods, and behind them the line through the tops of the next steps,
    /// which is never less than the staircase. As an arrival curve it is sound, and it is exact where a bound is attained within
    /// those periods.
    ///
    /// # Errors
    /// A negative step, or a period that is not positive.
    pub fn staircase(step: Rational, period: Rational, steps: u32) -> Result<Self, CurveError> {
        non_negative("step", &step)?;
        if period <= Rational::ZERO {
            return Err(CurveError::Period);
        }
        let pieces = (0..=steps).map(|number| {
            let below = Rational::from(number);
            let slope = if number == steps {
                &step / &period
            } else {
                Rational::ZERO
            };
            let top = &step * Rational::from(u64::from(number) + 1);
            Piece::new(
                &period * &below,
                Extended::Finite(&step * below),
                Extended::Finite(top),
                slope,
            )
        });
        Ok(Self {
            pieces: pieces.collect(),
        })
    }

    /// Returns the corners of the curve's graph up to a time, as `(time, value)`, where it is finite. The graph is linear between
    /// two corners, and vertical at a jump.
    pub fn corners(&self, end: &Rational) -> Vec<(Rational, Rational)> {
        let mut corners = Vec::with_capacity(2 * self.pieces.len());
        let mut add = |time: &Rational, value: Extended| {
            if let Extended::Finite(value) = value {
                let corner = (time.clone(), value);
                if corners.last() != Some(&corner) {
                    corners.push(corner);
                }
            }
        };
        for (index, piece) in self.pieces.iter().enumerate() {
            if piece.start > *end {
                break;
            }
            add(&piece.start, piece.at.clone());
            add(&piece.start, piece.after.clone());
            let until = self.pieces.get(index + 1).map_or(end, |next| &next.start);
            let until = until.min(end);
            add(until, piece.line(until));
        }
        corners
    }

    /// Returns the piece at a time, which must not be negative.
    pub(crate) fn piece(&self, time: &Rational) -> &Piece {
        let behind = self.pieces.partition_point(|piece| piece.start <= *time);
        &self.pieces[behind.saturating_sub(1)]
    }

    /// Returns the value at a time; before 0, that at 0.
    pub fn value(&self, time: &Rational) -> Extended {
        self.piece(time).value(time)
    }

    /// Returns the piece right before a time, which must be positive.
    pub(crate) fn before(&self, time: &Rational) -> &Piece {
        let before = self.pieces.partition_point(|piece| piece.start < *time);
        &self.pieces[before.saturating_sub(1)]
    }

    /// Returns the limit from below at a time, which must be positive.
    pub(crate) fn left(&self, time: &Rational) -> Extended {
        self.before(time).line(time)
    }

    /// Returns the value right behind a time, and the slope there.
    pub(crate) fn right(&self, time: &Rational) -> (Extended, Rational) {
        let piece = self.piece(time);
        (piece.line(time), piece.slope.clone())
    }

    /// Returns the slope in the long run; `None` if the curve becomes infinite.
    pub fn long_term_rate(&self) -> Option<&Rational> {
        let last = self.last();
        last.after.finite().map(|_| &last.slope)
    }

    pub(crate) fn last(&self) -> &Piece {
        &self.pieces[self.pieces.len() - 1]
    }

    /// Returns the curve as seen from a time that is later by `delay`: `f(t + delay)`.
    #[must_use]
    pub fn advanced(&self, delay: &Rational) -> Self {
        let (after, slope) = self.right(delay);
        let first = Piece::new(Rational::ZERO, self.value(delay), after, slope);
        let later = self.pieces.iter().filter(|piece| piece.start > *delay);
        let later = later.map(|piece| Piece {
            start: &piece.start - delay,
            ..piece.clone()
        });
        Self {
            pieces: std::iter::once(first).chain(later).collect(),
        }
    }

    /// Returns the same curve with value 0 at 0: nothing arrives in an interval without a length.
    pub(crate) fn beginning_at_zero(mut self) -> Self {
        if let Some(first) = self.pieces.first_mut() {
            first.at = Extended::ZERO;
        }
        self
    }

    /// Returns the convolution with a delay: the same service, later by the delay.
    pub(crate) fn later(&self, delay: &Rational) -> Self {
        if delay.is_zero() {
            return self.clone().simplified();
        }
        let level = self.value(&Rational::ZERO);
        let first = Piece::new(Rational::ZERO, level.clone(), level, Rational::ZERO);
        let later = self.pieces.iter().map(|piece| Piece {
            start: &piece.start + delay,
            ..piece.clone()
        });
        Self {
            pieces: std::iter::once(first).chain(later).collect(),
        }
        .simplified()
    }

    /// Removes pieces that continue the line of the piece before them.
    pub(crate) fn simplified(self) -> Self {
        let mut pieces: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        for piece in self.pieces {
            let same = pieces.last().is_some_and(|last: &Piece| {
                let value = last.line(&piece.start);
                last.slope == piece.slope && value == piece.at && value == piece.after
            });
            if !same {
                pieces.push(piece);
            }
        }
        Self { pieces }
    }
}

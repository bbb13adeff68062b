//! The least concave curve above a curve and the greatest convex one below it: lines instead of steps.

use std::cmp::Ordering;

use crate::Rational;
use crate::curve::{Curve, CurveError, Extended, Piece};

/// A corner of a hull.
struct Corner {
    time: Rational,
    value: Rational,
}

impl Corner {
    fn slope_to(&self, other: &Self) -> Rational {
        (&other.value - &self.value) / (&other.time - &self.time)
    }
}

impl Curve {
    /// Returns the least curve that is nowhere below this one and concave behind 0: the minimum of all leaky buckets above it.
    /// Infinite behind 0 if this curve becomes infinite.
    #[must_use]
    pub fn concave_above(&self) -> Self {
        let mut corners = Vec::with_capacity(self.pieces.len());
        let mut before: Option<&Piece> = None;
        for piece in &self.pieces {
            let left = before.map_or(Extended::NegativeInfinity, |before| {
                before.line(&piece.start).max(piece.at.clone())
            });
            let Extended::Finite(value) = left.max(piece.after.clone()) else {
                return Self::constant(Extended::Infinity).beginning_at_zero();
            };
            let time = piece.start.clone();
            add(&mut corners, Corner { time, value }, Ordering::Less);
            before = Some(piece);
        }
        lines(corners, &self.last().slope, Ordering::Less).beginning_at_zero()
    }

    /// Returns the greatest convex curve that is nowhere above this one: the maximum of all rate-latency curves below it.
    #[must_use]
    pub fn convex_below(&self) -> Self {
        let mut corners = Vec::with_capacity(self.pieces.len());
        let mut before: Option<&Piece> = None;
        for piece in &self.pieces {
            let left = before.map_or(Extended::Infinity, |before| before.line(&piece.start));
            let Extended::Finite(value) = left.min(piece.at.clone()).min(piece.after.clone())
            else {
                break;
            };
            let time = piece.start.clone();
            add(&mut corners, Corner { time, value }, Ordering::Greater);
            before = Some(piece);
        }
        let Some(end) = corners.last() else {
            return Self::constant(Extended::Infinity);
        };
        if self.last().after.finite().is_some() {
            return lines(corners, &self.last().slope, Ordering::Greater);
        }
        // Behind the last finite value it becomes infinite.
        let end = Piece::new(
            end.time.clone(),
            Extended::Finite(end.value.clone()),
            Extended::Infinity,
            Rational::ZERO,
        );
        let mut curve = lines(corners, &Rational::ZERO, Ordering::Equal);
        // The last piece begins at the same time, and is replaced by the infinite one.
        curve.pieces.pop();
        curve.pieces.push(end);
        curve
    }
}

impl Curve {
    /// Returns the least latency of a rate-latency curve of this rate that is nowhere above the curve. `None` for a rate that is
    /// 0, or above the long-term rate.
    pub(crate) fn latency_below(&self, rate: &Rational) -> Option<Rational> {
        if rate.is_zero() || self.long_term_rate().is_some_and(|own| own < rate) {
            return None;
        }
        let corners = self.pieces.iter().filter_map(|piece| {
            let value = piece.at.finite()?;
            Some(&piece.start - value / rate)
        });
        Some(corners.max().unwrap_or(Rational::ZERO).max(Rational::ZERO))
    }

    /// Returns the rate-latency curve below the curve, with its long-term rate.
    pub(crate) fn rate_latency_below(&self) -> Result<Self, CurveError> {
        let Some(rate) = self.long_term_rate() else {
            return Ok(Self::zero());
        };
        match self.latency_below(rate) {
            Some(latency) => Self::rate_latency(rate.clone(), latency),
            None => Ok(Self::zero()),
        }
    }

    /// Returns rate-latency curves `(rate, latency)` that are nowhere above this one, the slowest first.
    pub(crate) fn rate_latencies(&self) -> Vec<(Rational, Rational)> {
        let hull = self.convex_below();
        let rising = hull.pieces.iter().filter_map(|piece| {
            let after = piece.after.finite()?;
            let rises = piece.slope > Rational::ZERO;
            rises.then(|| {
                let latency = (&piece.start - after / &piece.slope).max(Rational::ZERO);
                (piece.slope.clone(), latency)
            })
        });
        rising.collect()
    }

    /// Returns leaky buckets `(burst, rate)` that are nowhere below this curve, the fastest first. None if it becomes infinite.
    pub(crate) fn leaky_buckets(&self) -> Vec<(Rational, Rational)> {
        let hull = self.concave_above();
        let finite = hull.pieces.iter().filter_map(|piece| {
            let burst = piece.after.finite()? - &piece.slope * &piece.start;
            Some((burst, piece.slope.clone()))
        });
        finite.collect()
    }

    /// Returns the line `burst + rate · t` above this curve with the curve's long-term rate; `None` if there is none.
    pub(crate) fn line_above(&self) -> Result<Option<Self>, CurveError> {
        let Some(rate) = self.long_term_rate() else {
            return Ok(None);
        };
        let line = Self::rate_latency(rate.clone(), Rational::ZERO)?;
        match self.vertical_deviation(&line) {
            Extended::Finite(burst) => Self::leaky_bucket(burst, rate.clone()).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the min-plus convolution of two convex curves: their lines in order of slope, the slowest first.
    pub(crate) fn convolution_of_convex(&self, other: &Self) -> Self {
        let (mut own, mut others) = (
            self.pieces.iter().peekable(),
            other.pieces.iter().peekable(),
        );
        let value = self
            .value(&Rational::ZERO)
            .sum(&other.value(&Rational::ZERO));
        let mut corner = (Rational::ZERO, value);
        let mut pieces = Vec::with_capacity(self.pieces.len() + other.pieces.len());
        loop {
            // An infinite line comes after all finite ones.
            let rises = |piece: &Piece| (piece.after == Extended::Infinity, piece.slope.clone());
            let from_own = match (own.peek(), others.peek()) {
                (Some(one), Some(two)) => rises(one) <= rises(two),
                (one, _) => one.is_some(),
            };
            let line = if from_own { own.next() } else { others.next() };
            let Some(line) = line else { break };
            let (start, value) = corner;
            let is_infinite = line.after == Extended::Infinity;
            let after = if is_infinite {
                Extended::Infinity
            } else {
                value.clone()
            };
            pieces.push(Piece::new(
                start.clone(),
                value.clone(),
                after,
                line.slope.clone(),
            ));
            let next = if from_own { own.peek() } else { others.peek() };
            let Some(next) = next else { break };
            let length = &next.start - &line.start;
            corner = (start + &length, value.plus(&(&line.slope * length)));
        }
        Self { pieces }.simplified()
    }
}

/// Adds a corner, and removes the corners before it that are inside the hull then. Slopes are `Less` from one line to the next,
/// or `Greater`.
fn add(corners: &mut Vec<Corner>, corner: Corner, slopes: Ordering) {
    // Corners in the middle of a line are removed as well: slopes must differ.
    while let [.., first, second] = corners.as_slice()
        && second.slope_to(&corner).cmp(&first.slope_to(second)) != slopes
    {
        corners.pop();
    }
    corners.push(corner);
}

/// Returns the lines from corner to corner, and behind the last corner a line of this slope.
fn lines(mut corners: Vec<Corner>, last: &Rational, slopes: Ordering) -> Curve {
    // `Equal` stands for a hull that becomes infinite there: no corner is inside because of its last line.
    while let [.., first, second] = corners.as_slice()
        && slopes != Ordering::Equal
        && last.cmp(&first.slope_to(second)) != slopes
    {
        corners.pop();
    }
    let pieces = corners.iter().enumerate().map(|(index, corner)| {
        let slope = match corners.get(index + 1) {
            Some(next) => corner.slope_to(next),
            None => last.clone(),
        };
        let value = Extended::Finite(corner.value.clone());
        Piece::new(corner.time.clone(), value.clone(), value, slope)
    });
    Curve {
        pieces: pieces.collect(),
    }
}

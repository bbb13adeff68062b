//! The sum of many curves in one pass over all pieces in the order of time.

use std::iter::Sum;

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

/// A time at which one of the curves begins a new piece, with the changes of the sum there.
struct Step {
    time: Rational,
    at: Rational,
    after: Rational,
    slope: Rational,
}

impl Sum for Curve {
    /// Returns the same as repeated [`Curve::sum`], in a time that is almost linear in the number of all pieces.
    fn sum<I: Iterator<Item = Self>>(curves: I) -> Self {
        let mut steps = Vec::new();
        // The earliest time from which one of them is infinite, and whether it is finite at that time itself.
        let mut end: Option<(Rational, bool)> = None;
        let nothing = Rational::ZERO;
        for curve in curves {
            let mut before: Option<&Piece> = None;
            for piece in &curve.pieces {
                let line = before.map(|before| before.line(&piece.start));
                let so_far = line.as_ref().and_then(Extended::finite);
                let so_far = so_far.unwrap_or(&nothing);
                let (at, after) = (piece.at.finite(), piece.after.finite());
                if after.is_none() {
                    let infinite = (piece.start.clone(), at.is_some());
                    end = Some(end.map_or(infinite.clone(), |end| end.min(infinite)));
                }
                let jump =
                    |value: Option<&Rational>| value.map_or(Rational::ZERO, |value| value - so_far);
                steps.push(Step {
                    time: piece.start.clone(),
                    at: jump(at),
                    after: jump(after),
                    slope: before.map_or_else(
                        || piece.slope.clone(),
                        |before| &piece.slope - &before.slope,
                    ),
                });
                if after.is_none() {
                    break;
                }
                before = Some(piece);
            }
        }
        steps.sort_by(|one, other| one.time.cmp(&other.time));
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut value, mut slope, mut now) = (Rational::ZERO, Rational::ZERO, Rational::ZERO);
        for together in steps.chunk_by(|one, other| one.time == other.time) {
            let time = &together[0].time;
            if end.as_ref().is_some_and(|(end, _)| end < time) {
                break;
            }
            value += &slope * (time - &now);
            now = time.clone();
            let mut at = value.clone();
            for step in together {
                at += &step.at;
                value += &step.after;
                slope += &step.slope;
            }
            let (mut at, mut after) = (Extended::Finite(at), Extended::Finite(value.clone()));
            let mut slope = slope.clone();
            if let Some((end, at_is_finite)) = &end
                && end == time
            {
                at = if *at_is_finite {
                    at
                } else {
                    Extended::Infinity
                };
                (after, slope) = (Extended::Infinity, Rational::ZERO);
            }
            pieces.push(Piece::new(now.clone(), at, after, slope));
        }
        if pieces.is_empty() {
            return Self::zero();
        }
        Self { pieces }.simplified()
    }
}

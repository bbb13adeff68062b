//! The sum of many curves at once: all pieces in the order of time, one pass.

use std::iter::Sum;

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

/// Where one of the curves begins a new piece: what that adds to the sum.
struct Step {
    time: Rational,
    at: Rational,
    after: Rational,
    slope: Rational,
}

impl Sum for Curve {
    /// The same as [`Curve::sum`] one after the other, in a time that grows with the number of all pieces, and hardly faster.
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

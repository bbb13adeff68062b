//! Operations point by point: minimum, maximum, sum, difference.

use std::cmp::Ordering;

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

impl Curve {
    /// The lower of both, everywhere.
    #[must_use]
    pub fn minimum(&self, other: &Self) -> Self {
        self.envelope(other, Ordering::Less)
    }

    /// The higher of both, everywhere.
    #[must_use]
    pub fn maximum(&self, other: &Self) -> Self {
        self.envelope(other, Ordering::Greater)
    }

    /// The sum: the arrival curve of two flows together.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        let pieces = self.starts(other).into_iter().map(|start| {
            let (own, own_slope) = self.right(&start);
            let (others, others_slope) = other.right(&start);
            let (at, after) = (
                self.value(&start).sum(&other.value(&start)),
                own.sum(&others),
            );
            let slope = if after.finite().is_some() {
                own_slope + others_slope
            } else {
                Rational::ZERO
            };
            Piece::new(start, at, after, slope)
        });
        Self {
            pieces: pieces.collect(),
        }
        .simplified()
    }

    /// What a server with this service curve has left while it also serves what arrives by `arrival`: 0 up to and including `from`, and
    /// `β(t) − α(t − from)` behind it, where that is positive and never less later. With `from` = 0 it is what remains under arbitrary multiplexing
    /// of a strict server; with others, one of the curves that remain in a FIFO server (Le Boudec and Thiran, Network Calculus, Prop. 6.2.1).
    #[must_use]
    pub fn residual(&self, arrival: &Self, from: &Rational) -> Self {
        let later = self.advanced(from);
        let pieces = later.starts(arrival).into_iter().map(|start| {
            let difference = |own: Extended, others: Extended| match (own, others) {
                (_, Extended::Infinity) => Extended::ZERO,
                (own, Extended::Finite(others)) => own.plus(&-others),
                (own, Extended::NegativeInfinity) => own,
            };
            let (own, own_slope) = later.right(&start);
            let (others, others_slope) = arrival.right(&start);
            let finite = own.finite().is_some() && others.finite().is_some();
            let slope = if finite {
                own_slope - others_slope
            } else {
                Rational::ZERO
            };
            let at = difference(later.value(&start), arrival.value(&start));
            Piece::new(start, at, difference(own, others), slope)
        });
        let left = Self {
            pieces: pieces.collect(),
        }
        .maximum(&Self::zero())
        .never_less_later();
        let mut pieces = left.pieces;
        for piece in &mut pieces {
            piece.start = &piece.start + from;
        }
        if let Some(first) = pieces.first_mut() {
            first.at = Extended::ZERO;
            if !from.is_zero() {
                pieces.insert(
                    0,
                    Piece::new(
                        Rational::ZERO,
                        Extended::ZERO,
                        Extended::ZERO,
                        Rational::ZERO,
                    ),
                );
            }
        }
        Self { pieces }.simplified()
    }

    /// The greatest wide-sense increasing function that is nowhere above this one. Its last piece must not fall.
    fn never_less_later(self) -> Self {
        let mut pieces: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        let mut least = Extended::Infinity;
        let mut end: Option<Rational> = None;
        for piece in self.pieces.into_iter().rev() {
            let level = |value| (value, Rational::ZERO);
            let at_end = end
                .as_ref()
                .map_or(Extended::Infinity, |end| piece.line(end));
            let (after, slope) = if piece.slope < Rational::ZERO {
                level(at_end.min(least.clone()))
            } else if piece.after >= least {
                level(least.clone())
            } else {
                if let (true, Some(least), Some(after)) =
                    (at_end > least, least.finite(), piece.after.finite())
                {
                    let time = &piece.start + (least - after) / &piece.slope;
                    let value = Extended::Finite(least.clone());
                    pieces.push(Piece::new(time, value.clone(), value, Rational::ZERO));
                }
                (piece.after, piece.slope)
            };
            least = piece.at.min(after.clone());
            end = Some(piece.start.clone());
            pieces.push(Piece::new(piece.start, least.clone(), after, slope));
        }
        pieces.reverse();
        Self { pieces }.simplified()
    }

    /// The times at which a piece of either starts, in order.
    fn starts(&self, other: &Self) -> Vec<Rational> {
        let pieces = self.pieces.iter().chain(&other.pieces);
        let mut starts: Vec<Rational> = pieces.map(|piece| piece.start.clone()).collect();
        starts.sort();
        starts.dedup();
        starts
    }

    /// The function that is, everywhere, the one of both that compares to the other as `side` says.
    pub(crate) fn envelope(&self, other: &Self, side: Ordering) -> Self {
        let starts = self.starts(other);
        let mut pieces = Vec::with_capacity(starts.len() + 2);
        for (index, start) in starts.iter().enumerate() {
            let (own, others) = (self.value(start), other.value(start));
            let at = if own.cmp(&others) == side {
                own
            } else {
                others
            };
            let (mut chosen, mut left) = (self.right(start), other.right(start));
            if chosen.cmp(&left) != side {
                std::mem::swap(&mut chosen, &mut left);
            }
            pieces.push(Piece::new(
                start.clone(),
                at,
                chosen.0.clone(),
                chosen.1.clone(),
            ));
            // The lines cross if the one that was left moves to that side.
            if let (Some(value), Some(other_value)) = (chosen.0.finite(), left.0.finite())
                && left.1.cmp(&chosen.1) == side
            {
                let time = start + (other_value - value) / (&chosen.1 - &left.1);
                if starts.get(index + 1).is_none_or(|end| time < *end) {
                    let value = Extended::Finite(value + &chosen.1 * (&time - start));
                    pieces.push(Piece::new(time, value.clone(), value, left.1));
                }
            }
        }
        Self { pieces }.simplified()
    }
}

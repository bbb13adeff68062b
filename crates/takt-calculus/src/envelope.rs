//! Operations point by point: minimum, maximum, sum, difference.

use std::cmp::Ordering;

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

impl Curve {
    /// Returns the lower of both at each time.
    #[must_use]
    pub fn minimum(&self, other: &Self) -> Self {
        self.envelope(other, Ordering::Less)
    }

    /// Returns the higher of both at each time.
    #[must_use]
    pub fn maximum(&self, other: &Self) -> Self {
        self.envelope(other, Ordering::Greater)
    }

    /// Returns the sum: the arrival curve of two flows together.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        let pieces = self.beside(other).into_iter().map(|(start, own, others)| {
            let at = own.value(start).sum(&others.value(start));
            let after = own.line(start).sum(&others.line(start));
            let slope = if after.finite().is_some() {
                &own.slope + &others.slope
            } else {
                Rational::ZERO
            };
            Piece::new(start.clone(), at, after, slope)
        });
        Self {
            pieces: pieces.collect(),
        }
        .simplified()
    }

    /// Returns the remaining service of a server with this service curve that also serves arrivals by `arrival`: 0 up to and
    /// including `from`, and behind it the running maximum of `β(t) − α(t − from)` where that is positive. With `from` = 0 it is
    /// the remaining service of a strict server under arbitrary multiplexing. With other values it is one of the curves that
    /// remain in a FIFO server (Le Boudec and Thiran, Network Calculus, Prop. 6.2.1).
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
        // The maximum with 0 also keeps the last piece from falling, as `never_less_later` demands.
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

    /// Returns the greatest wide-sense increasing function that is nowhere above this one. Its last piece must not fall.
    fn never_less_later(self) -> Self {
        let mut pieces: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        let mut least = Extended::Infinity;
        let mut end: Option<Rational> = None;
        // The loop begins at the end, so that the least of all later values is known.
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

    /// Returns the times at which a piece of either starts, in order.
    fn starts(&self, other: &Self) -> Vec<Rational> {
        let pieces = self.pieces.iter().chain(&other.pieces);
        let mut starts: Vec<Rational> = pieces.map(|piece| piece.start.clone()).collect();
        starts.sort();
        starts.dedup();
        starts
    }

    /// Returns the times at which a piece of either starts, in order, with the pieces at these times.
    pub(crate) fn beside<'a>(
        &'a self,
        other: &'a Self,
    ) -> Vec<(&'a Rational, &'a Piece, &'a Piece)> {
        let mut beside = Vec::with_capacity(self.pieces.len() + other.pieces.len());
        let (mut own, mut others) = (
            self.pieces.iter().peekable(),
            other.pieces.iter().peekable(),
        );
        let mut holding = (&self.pieces[0], &other.pieces[0]);
        while let Some(start) = match (own.peek(), others.peek()) {
            (Some(own), Some(other)) => Some((&own.start).min(&other.start)),
            (Some(piece), None) | (None, Some(piece)) => Some(&piece.start),
            (None, None) => None,
        } {
            let begins = |piece: &&Piece| piece.start == *start;
            holding.0 = own.next_if(begins).unwrap_or(holding.0);
            holding.1 = others.next_if(begins).unwrap_or(holding.1);
            beside.push((start, holding.0, holding.1));
        }
        beside
    }

    /// Returns the lower or the higher of both at each time, as `side` says.
    pub(crate) fn envelope(&self, other: &Self, side: Ordering) -> Self {
        let beside = self.beside(other);
        let mut pieces = Vec::with_capacity(beside.len() + 2);
        for (index, (start, own, others)) in beside.iter().copied().enumerate() {
            let (own_value, others_value) = (own.value(start), others.value(start));
            let at = if own_value.cmp(&others_value) == side {
                own_value
            } else {
                others_value
            };
            let right = |piece: &Piece| (piece.line(start), piece.slope.clone());
            let (mut chosen, mut left) = (right(own), right(others));
            // Of equal values, the slope decides which line is on that side right behind.
            if chosen.cmp(&left) != side {
                std::mem::swap(&mut chosen, &mut left);
            }
            pieces.push(Piece::new(
                start.clone(),
                at,
                chosen.0.clone(),
                chosen.1.clone(),
            ));
            // The lines cross if the curve that was not chosen moves to that side.
            if let (Some(value), Some(other_value)) = (chosen.0.finite(), left.0.finite())
                && left.1.cmp(&chosen.1) == side
            {
                let time = start + (other_value - value) / (&chosen.1 - &left.1);
                if beside.get(index + 1).is_none_or(|(end, ..)| time < **end) {
                    let value = Extended::Finite(value + &chosen.1 * (&time - start));
                    pieces.push(Piece::new(time, value.clone(), value, left.1));
                }
            }
        }
        Self { pieces }.simplified()
    }
}

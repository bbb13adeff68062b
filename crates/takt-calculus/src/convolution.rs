//! Min-plus convolution and deconvolution. Both curves are divided into points and open segments, each pair of these is combined,
//! and the envelope of all combinations is the result (Bouillard and Thiry, An Algorithmic Toolbox for Network Calculus, 2008).

use std::cmp::Ordering;

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};

/// A point (length 0), or an open segment behind `start`. Without a length, the segment has no end.
struct Element {
    start: Rational,
    value: Extended,
    slope: Rational,
    length: Option<Rational>,
}

impl Curve {
    /// Returns `(f ⊗ g)(t) = inf f(s) + g(t − s)` over 0 ≤ s ≤ t: the service curve of two servers in a row.
    #[must_use]
    pub fn convolution(&self, other: &Self) -> Self {
        self.convolution_before(other, None)
    }

    /// Returns the same before `end`. The result at `end` and behind it is undefined.
    pub(crate) fn convolution_before(&self, other: &Self, end: Option<&Rational>) -> Self {
        let others = other.elements();
        let mut parts = Vec::new();
        // A part that is infinite never makes the infimum less.
        for own in self
            .elements()
            .iter()
            .filter(|own| own.value.finite().is_some())
        {
            for other in others.iter().filter(|other| other.value.finite().is_some()) {
                let (start, value) = (&own.start + &other.start, own.value.sum(&other.value));
                if end.is_some_and(|end| start >= *end) {
                    continue;
                }
                // The sum is least if all of the flatter line comes first.
                let (low, high) = if own.slope <= other.slope {
                    (own, other)
                } else {
                    (other, own)
                };
                parts.push(partial(
                    start,
                    value,
                    [low, high].map(line),
                    Extended::Infinity,
                ));
            }
        }
        envelope_of(parts, Ordering::Less, Extended::Infinity)
    }

    /// Returns `(f ⊘ g)(t) = sup f(t + u) − g(u)` over u ≥ 0: the arrival curve behind a server with service curve g, for
    /// arrivals by f. Infinite if f outgrows g. `other` must be finite at 0.
    #[must_use]
    pub fn deconvolution(&self, other: &Self) -> Self {
        let others = other.elements();
        let mut parts = Vec::new();
        for own in &self.elements() {
            for other in &others {
                // Where the service is infinite, nothing is left of the arrivals.
                let Some(subtracted) = other.value.finite() else {
                    continue;
                };
                let distance = &own.start - &other.start;
                // Only times from 0 on count, so that the segments of the other curve that have no end can be shortened.
                let length = match (&other.length, &own.length) {
                    (Some(length), _) => length.clone(),
                    (None, Some(length)) if &distance + length > Rational::ZERO => {
                        &distance + length
                    }
                    (None, Some(_)) => continue,
                    (None, None) if own.slope > other.slope => {
                        return Self::constant(Extended::Infinity);
                    }
                    // Long enough to begin before time 0.
                    (None, None) => distance.clone().max(Rational::ZERO) + Rational::ONE,
                };
                // The part begins at the end of the other segment, where the most is subtracted.
                let value = own.value.plus(&-(subtracted + &other.slope * &length));
                let other_line = (other.slope.clone(), Some(length.clone()));
                // The difference is greatest if the steeper line comes first.
                let lines = if own.value == Extended::Infinity {
                    [
                        (Rational::ZERO, Some(length.clone())),
                        (Rational::ZERO, own.length.clone()),
                    ]
                } else if own.slope >= other.slope {
                    [line(own), other_line]
                } else {
                    [other_line, line(own)]
                };
                parts.push(partial(
                    distance - length,
                    value,
                    lines,
                    Extended::NegativeInfinity,
                ));
            }
        }
        envelope_of(parts, Ordering::Greater, Extended::NegativeInfinity)
    }

    fn elements(&self) -> Vec<Element> {
        let mut elements = Vec::with_capacity(2 * self.pieces.len());
        for (index, piece) in self.pieces.iter().enumerate() {
            let (start, end) = (piece.start.clone(), self.pieces.get(index + 1));
            elements.push(Element {
                start: start.clone(),
                value: piece.at.clone(),
                slope: Rational::ZERO,
                length: Some(Rational::ZERO),
            });
            let length = end.map(|end| &end.start - &start);
            elements.push(Element {
                start,
                value: piece.after.clone(),
                slope: piece.slope.clone(),
                length,
            });
        }
        elements
    }
}

fn line(element: &Element) -> (Rational, Option<Rational>) {
    (element.slope.clone(), element.length.clone())
}

/// Makes a function with values in an open interval only, or at a point if all lengths are 0. Elsewhere it is `outside`. Values
/// before time 0 are cut off. A line without end is the last piece.
fn partial(
    start: Rational,
    value: Extended,
    lines: [(Rational, Option<Rational>); 2],
    outside: Extended,
) -> Curve {
    let mut pieces = Vec::with_capacity(4);
    if start > Rational::ZERO {
        pieces.push(Piece::new(
            Rational::ZERO,
            outside.clone(),
            outside.clone(),
            Rational::ZERO,
        ));
    }
    let is_point = lines
        .iter()
        .all(|(_, length)| length.as_ref().is_some_and(Rational::is_zero));
    let (mut start, mut value) = (start, value);
    // True if the function has a value at `start`: not at the beginning of the interval, but at points where two lines meet.
    let mut inside = is_point;
    let mut ends = true;
    for (slope, length) in lines
        .into_iter()
        .filter(|(_, length)| length.as_ref().is_none_or(|it| !it.is_zero()))
    {
        let end = length.map(|length| &start + length);
        if end.as_ref().is_none_or(|end| *end > Rational::ZERO) {
            if start < Rational::ZERO {
                value = value.plus(&(&slope * -&start));
                (start, inside) = (Rational::ZERO, true);
            }
            let at = if inside {
                value.clone()
            } else {
                outside.clone()
            };
            pieces.push(Piece::new(start.clone(), at, value.clone(), slope.clone()));
        }
        let Some(end) = end else {
            ends = false;
            break;
        };
        value = value.plus(&(slope * (&end - start)));
        (start, inside) = (end, true);
    }
    if ends && start >= Rational::ZERO {
        let at = if is_point { value } else { outside.clone() };
        pieces.push(Piece::new(start, at, outside.clone(), Rational::ZERO));
    }
    if pieces.is_empty() {
        Curve::constant(outside)
    } else {
        Curve { pieces }
    }
}

/// Returns the envelope of all parts. They are merged in pairs, so that few pieces are rarely compared with many.
fn envelope_of(mut parts: Vec<Curve>, side: Ordering, outside: Extended) -> Curve {
    while parts.len() > 1 {
        let pairs = parts.chunks(2);
        parts = pairs
            .map(|pair| match pair {
                [one, other] => one.envelope(other, side),
                rest => rest[0].clone(),
            })
            .collect();
    }
    parts.pop().unwrap_or_else(|| Curve::constant(outside))
}

//! The normal form of a periodic curve: the earliest rank, the shortest period, and a line instead of a period where possible.

use crate::Rational;
use crate::curve::{Curve, Extended, Piece};
use crate::periodic::{PeriodicCurve, Repetition};

impl PeriodicCurve {
    /// Makes the normal form of the curve that is `base` until the end of the first period, and periodic from there.
    pub(crate) fn normal(base: Curve, repetition: Repetition) -> Self {
        let (base, repetition) = shorter_period(base, repetition);
        let (base, repetition) = sooner(base, repetition);
        let base = trimmed(base, &repetition.end());
        let window = base.advanced(&repetition.rank).pieces;
        if let [only] = &window[..]
            && only.at == only.after
            && (only.at.finite().is_none() || only.slope == repetition.rate())
        {
            return base.into();
        }
        Self {
            base,
            repetition: Some(repetition),
        }
    }
}

/// Returns the curve without the pieces that begin at `end` or behind it.
pub(crate) fn trimmed(curve: Curve, end: &Rational) -> Curve {
    let mut curve = curve.simplified();
    curve.pieces.retain(|piece| piece.start < *end);
    curve
}

/// Finds the shortest period: the smallest fraction of this one after which the curve repeats itself.
fn shorter_period(base: Curve, repetition: Repetition) -> (Curve, Repetition) {
    let window = trimmed(base.advanced(&repetition.rank), &repetition.period);
    let number = window.pieces.len();
    // The most parts come first: they give the shortest period.
    for parts in (2..=number).rev() {
        // Two pieces that meet at the end of a period are one within the curve.
        if !number.is_multiple_of(parts) && !(number - 1).is_multiple_of(parts) {
            continue;
        }
        let parts = Rational::from(parts);
        let shorter = Repetition {
            rank: repetition.rank.clone(),
            period: &repetition.period / &parts,
            increment: &repetition.increment / &parts,
        };
        let rest = &repetition.period - &shorter.period;
        if repeats(&window, &shorter.period, &shorter.increment, &rest) {
            return (base, shorter);
        }
    }
    (base, repetition)
}

/// Returns true if the curve one period later equals the curve now plus `increment`, for the time `length`.
pub(crate) fn repeats(
    curve: &Curve,
    period: &Rational,
    increment: &Rational,
    length: &Rational,
) -> bool {
    let raised = |value: &Extended| value.plus(increment);
    let pieces = curve.pieces.iter().map(|piece| Piece {
        at: raised(&piece.at),
        after: raised(&piece.after),
        ..piece.clone()
    });
    let now = Curve {
        pieces: pieces.collect(),
    };
    trimmed(now, length) == trimmed(curve.advanced(period), length)
}

/// Finds the earliest rank: the curve repeats itself earlier if its part before the rank equals the end of the first period.
fn sooner(base: Curve, mut repetition: Repetition) -> (Curve, Repetition) {
    while repetition.rank > Rational::ZERO {
        let Repetition {
            rank,
            period,
            increment,
        } = &repetition;
        let end = repetition.end();
        let (before, later) = (base.before(rank), base.before(&end));
        if before.slope != later.slope || before.line(rank).plus(increment) != later.line(&end) {
            break;
        }
        let start = (&later.start - period).max(before.start.clone());
        if base.value(&start).plus(increment) != base.value(&(&start + period)) {
            break;
        }
        repetition.rank = start;
    }
    (base, repetition)
}

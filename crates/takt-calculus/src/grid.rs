//! Outward rounding: numbers on a grid stay short after any number of operations, and rounded bounds still hold.

use crate::Rational;
use crate::curve::{Curve, CurveError, Extended, Piece};

/// Steps for rounding numbers to the safe side: arrivals, delays and backlogs up, service down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    time: Rational,
    bits: Rational,
    rate: Rational,
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

impl Direction {
    /// Returns the multiple of `step` next to `value` in this direction, or `value` if it is a multiple itself.
    fn number(self, value: &Rational, step: &Rational) -> Rational {
        let steps = value / step;
        let whole = match self {
            Self::Up => steps.ceil(),
            Self::Down => steps.floor(),
        };
        Rational::from(whole) * step
    }

    fn value(self, value: &Extended, step: &Rational) -> Extended {
        match value {
            Extended::Finite(value) => Extended::Finite(self.number(value, step)),
            infinity => infinity.clone(),
        }
    }
}

impl Grid {
    /// Makes a grid from steps of time, of amounts and of rates, in the units of the curves: in this project seconds, bits, and
    /// bits per second.
    ///
    /// # Errors
    /// A step that is not positive.
    pub fn new(time: Rational, bits: Rational, rate: Rational) -> Result<Self, CurveError> {
        if [&time, &bits, &rate]
            .into_iter()
            .any(|step| *step <= Rational::ZERO)
        {
            return Err(CurveError::Grid);
        }
        Ok(Self { time, bits, rate })
    }

    /// Rounds a delay up.
    pub fn delay_up(&self, delay: &Extended) -> Extended {
        Direction::Up.value(delay, &self.time)
    }

    /// Rounds a backlog or burst up.
    pub fn bits_up(&self, bits: &Extended) -> Extended {
        Direction::Up.value(bits, &self.bits)
    }
}

impl Curve {
    /// Returns a curve nowhere below this one, for arrivals. Its slope changes only at multiples of the grid's time. Its values
    /// there are multiples of the grid's bits, and its rate in the long run is a multiple of the grid's rate. A curve on the grid
    /// is unchanged.
    #[must_use]
    pub fn rounded_up(&self, grid: &Grid) -> Self {
        self.rounded(grid, Direction::Up)
    }

    /// Returns a curve nowhere above this one, for service; otherwise as [`Self::rounded_up`].
    #[must_use]
    pub fn rounded_down(&self, grid: &Grid) -> Self {
        self.rounded(grid, Direction::Down)
    }

    /// Rounds the curve in this direction. Between two times on the grid without a corner between them the curve is a line, of
    /// which the ends are rounded. Times with a corner between them are one step apart, and the curve becomes flat there: at its
    /// value at the end, or at that at the beginning.
    fn rounded(&self, grid: &Grid, direction: Direction) -> Self {
        let mut knots = Vec::with_capacity(2 * self.pieces.len());
        for piece in &self.pieces {
            for towards in [Direction::Down, Direction::Up] {
                knots.push(towards.number(&piece.start, &grid.time));
            }
        }
        // The order may be lost, since two corners can be in one step.
        knots.sort();
        knots.dedup();
        let mut pieces = Vec::with_capacity(knots.len());
        for (index, knot) in knots.iter().enumerate() {
            let at = direction.value(&self.value(knot), &grid.bits);
            let (right, rate) = self.right(knot);
            let after = direction.value(&right, &grid.bits);
            let Some(end) = knots.get(index + 1) else {
                let slope = direction.number(&rate, &grid.rate);
                pieces.push(Piece::new(knot.clone(), at, after, slope));
                break;
            };
            let left = self.left(end);
            let corner = self.piece(knot) != self.before(end);
            let end_value = direction.value(&left, &grid.bits);
            let (after, slope) = match (direction, corner) {
                (Direction::Up, true) => (end_value, Rational::ZERO),
                (Direction::Down, true) => (after, Rational::ZERO),
                (_, false) => match (after.finite(), end_value.finite()) {
                    (Some(from), Some(to)) => {
                        let slope = (to - from) / (end - knot);
                        (after, slope)
                    }
                    _ => (after, Rational::ZERO),
                },
            };
            pieces.push(Piece::new(knot.clone(), at, after, slope));
        }
        Self { pieces }.simplified()
    }
}

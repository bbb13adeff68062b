//! Outward rounding: numbers on a grid stay short however often they meet, and a bound stays a bound.

use crate::Rational;
use crate::curve::{Curve, CurveError, Extended, Piece};

/// Steps that numbers are rounded to, away from what would be too good: arrivals, delays and backlogs up, service down.
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
    /// The multiple of `step` next to `value` in this direction, or `value`, if it is one.
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
    /// Steps of time, of amounts and of rates, in the units of the curves: in this project seconds, bits, and bits per second.
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

    /// A delay, not less than it is.
    pub fn delay_up(&self, delay: &Extended) -> Extended {
        Direction::Up.value(delay, &self.time)
    }

    /// A backlog or burst, not less than it is.
    pub fn bits_up(&self, bits: &Extended) -> Extended {
        Direction::Up.value(bits, &self.bits)
    }
}

impl Curve {
    /// A curve nowhere below this one, for arrivals: it changes its slope only at multiples of the grid's time, its values there are multiples
    /// of the grid's bits, and its rate in the long run is one of the grid's rate. What is on the grid stays as it is.
    #[must_use]
    pub fn rounded_up(&self, grid: &Grid) -> Self {
        self.rounded(grid, Direction::Up)
    }

    /// A curve nowhere above this one, for service; otherwise as [`Self::rounded_up`].
    #[must_use]
    pub fn rounded_down(&self, grid: &Grid) -> Self {
        self.rounded(grid, Direction::Down)
    }

    /// Between two times on the grid that have no corner between them the curve is a line: its ends are rounded. Those with a corner between them
    /// are one step apart, and the curve becomes flat there: as much as it is at the end, or as little as at the beginning.
    fn rounded(&self, grid: &Grid, direction: Direction) -> Self {
        let mut knots = Vec::with_capacity(2 * self.pieces.len());
        for piece in &self.pieces {
            for towards in [Direction::Down, Direction::Up] {
                knots.push(towards.number(&piece.start, &grid.time));
            }
        }
        // Not sorted as they are: two corners can be in one step.
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

//! Values of expressions.

/// A value of an expression. Times are in nanoseconds.
///
/// A number that no result can have, such as the mean of no messages, is `NaN`: no comparison with it holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionValue {
    /// A number, or a time.
    Number(f64),
    /// Numbers or times of several cells, with the names of the cells.
    Numbers(Vec<(String, f64)>),
    /// A text.
    Text(String),
    /// True or false.
    Truth(bool),
    /// True or false for each of several cells.
    Truths(Vec<(String, bool)>),
}

impl ExpressionValue {
    /// Returns a number; `NaN` if it is none.
    #[must_use]
    pub fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            _ => f64::NAN,
        }
    }

    /// Returns true if it is true.
    #[must_use]
    pub fn truth(&self) -> bool {
        matches!(self, Self::Truth(true))
    }

    /// Returns the numbers of a series; those of a single number have no name.
    #[must_use]
    pub fn series(self) -> Vec<(String, f64)> {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Number(number) => vec![(String::new(), number)],
            Self::Text(_) | Self::Truth(_) | Self::Truths(_) => Vec::new(),
        }
    }
}

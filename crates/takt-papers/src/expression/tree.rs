//! The tree of an expression. Each part has its position in the text.

use std::ops::Range;

use super::function::Function;

/// A mistake in an expression, with its position in bytes of the expression's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionMistake {
    /// Description of the mistake.
    pub message: String,
    /// Position in bytes.
    pub span: Range<usize>,
}

impl ExpressionMistake {
    pub(super) fn new(message: impl Into<String>, span: &Range<usize>) -> Self {
        Self {
            message: message.into(),
            span: span.clone(),
        }
    }
}

/// Origin of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellSide {
    /// Results of a campaign.
    Ours,
    /// Figures of the paper.
    Paper,
}

impl CellSide {
    /// Returns the name in expressions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Paper => "paper",
        }
    }
}

/// Comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// Operator between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times,
    Divided,
}

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    /// A number without a unit; a share is one.
    Number(f64),
    /// Nanoseconds.
    Time(f64),
    Text(String),
    /// Quantity of a campaign's row.
    Quantity(String),
    /// Cells of a table; `None` stands for all rows or columns.
    Cells(CellSide, Option<Name>, Option<Name>),
    Call(Function, Vec<Node>),
    Not(Box<Node>),
    Negative(Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
    /// `value within tolerance of other`.
    Within {
        value: Box<Node>,
        tolerance: Box<Node>,
        of: Box<Node>,
    },
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
}

/// Name of a row or column, with its position.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

impl Node {
    /// Calls a function with this part and all parts of it.
    pub(super) fn visit<'a>(&'a self, each: &mut impl FnMut(&'a Self)) {
        each(self);
        match &self.kind {
            NodeKind::Number(_)
            | NodeKind::Time(_)
            | NodeKind::Text(_)
            | NodeKind::Quantity(_)
            | NodeKind::Cells(..) => {}
            NodeKind::Call(_, arguments) => arguments.iter().for_each(|it| it.visit(each)),
            NodeKind::Not(of) | NodeKind::Negative(of) => of.visit(each),
            NodeKind::Arithmetic(_, one, other)
            | NodeKind::Compare(_, one, other)
            | NodeKind::And(one, other)
            | NodeKind::Or(one, other) => {
                one.visit(each);
                other.visit(each);
            }
            NodeKind::Within {
                value,
                tolerance,
                of,
            } => {
                value.visit(each);
                tolerance.visit(each);
                of.visit(each);
            }
        }
    }
}

//! The tree of an expression. Each part has its position in the text.

use std::ops::Range;

use super::check::{ExpressionType, KnownNames};
use super::evaluate::{ExpressionCells, Undecided, evaluate};
use super::function::Function;
use super::value::ExpressionValue;
use super::{check, parser};

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

/// An expression that has a type: all names in it are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    root: Node,
    result: ExpressionType,
    text: String,
}

impl Expression {
    /// Reads an expression and finds its type.
    ///
    /// # Errors
    /// The first mistake, with its position.
    pub fn parse(text: &str, known: &KnownNames<'_>) -> Result<Self, ExpressionMistake> {
        let root = parser::parse(text)?;
        let result = check::check(&root, known)?;
        Ok(Self {
            root,
            result,
            text: text.to_owned(),
        })
    }

    /// Returns the type of the result.
    #[must_use]
    pub fn result(&self) -> ExpressionType {
        self.result
    }

    /// Returns the text without breaks of lines.
    #[must_use]
    pub fn text(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Computes the expression.
    ///
    /// # Errors
    /// A cell that it needs has no value.
    pub fn evaluate(&self, cells: &dyn ExpressionCells) -> Result<ExpressionValue, Undecided> {
        evaluate(&self.root, cells)
    }

    /// Returns the quantities that it uses.
    #[must_use]
    pub fn quantities(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.root.visit(&mut |node| {
            if let NodeKind::Quantity(name) = &node.kind {
                found.push(name.as_str());
            }
        });
        found
    }

    /// Returns the rows that it uses: names, or `None` for all rows.
    #[must_use]
    pub fn rows(&self, side: CellSide) -> Vec<Option<&str>> {
        let mut found = Vec::new();
        self.root.visit(&mut |node| {
            if let NodeKind::Cells(of, row, _) = &node.kind
                && *of == side
            {
                found.push(row.as_ref().map(|row| row.text.as_str()));
            }
        });
        found
    }
}

impl Node {
    /// Calls a function with this part and all parts of it.
    fn visit<'a>(&'a self, each: &mut impl FnMut(&'a Self)) {
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

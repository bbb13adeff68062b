//! Expressions that have a type.

use super::check::{KnownNames, check};
use super::evaluate::{ExpressionCells, Undecided, evaluate};
use super::parser::parse;
use super::tree::{CellSide, ExpressionMistake, Node, NodeKind};
use super::types::ExpressionType;
use super::value::ExpressionValue;

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
        let root = parse(text)?;
        let result = check(&root, known)?;
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

//! The language of findings: typed expressions over the cells of a table, or over the quantities of a row.
//!
//! `docs/papers.md` is its reference. `lexer` makes tokens of a text, `parser` a tree of the tokens, `check` finds the type of each part,
//! and `evaluate` computes it.

mod check;
mod evaluate;
mod function;
mod lexer;
mod parser;
mod tree;
mod typed;
mod types;
mod value;

pub use check::KnownNames;
pub use evaluate::{ExpressionCells, Undecided};
pub use tree::{CellSide, ExpressionMistake};
pub use typed::Expression;
pub use types::{ExpressionType, ValueKind};
pub use value::ExpressionValue;

//! Evaluation of expressions.

use super::function::each;
use super::tree::{Arithmetic, CellSide, Comparison, Name, Node, NodeKind};
use super::value::ExpressionValue;

/// A cell has no value, for example because its backend did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undecided(pub String);

/// Source of the values of an expression.
pub trait ExpressionCells {
    /// Returns the value of a quantity; `NaN` if it is null.
    ///
    /// # Errors
    /// There is none.
    fn quantity(&self, name: &str) -> Result<f64, Undecided>;

    /// Returns the cells of a row and a column, or of all rows or columns, with their names.
    ///
    /// # Errors
    /// One of them has no value.
    fn cells(
        &self,
        side: CellSide,
        row: Option<&str>,
        column: Option<&str>,
    ) -> Result<Vec<(String, f64)>, Undecided>;
}

/// Computes a tree, whose types were checked.
pub(super) fn evaluate(
    node: &Node,
    cells: &dyn ExpressionCells,
) -> Result<ExpressionValue, Undecided> {
    use ExpressionValue::{Number, Numbers, Text, Truth};
    Ok(match &node.kind {
        NodeKind::Number(number) | NodeKind::Time(number) => Number(*number),
        NodeKind::Text(text) => Text(text.clone()),
        NodeKind::Quantity(name) => Number(cells.quantity(name)?),
        NodeKind::Cells(side, row, column) => {
            let name = |name: &Option<Name>| name.as_ref().map(|it| it.text.clone());
            let (row, column) = (name(row), name(column));
            let found = cells.cells(*side, row.as_deref(), column.as_deref())?;
            match (row, column) {
                (Some(_), Some(_)) => Number(found.first().map_or(f64::NAN, |cell| cell.1)),
                _ => Numbers(found),
            }
        }
        NodeKind::Call(function, arguments) => {
            let Some((first, names)) = arguments.split_first() else {
                return Ok(Number(f64::NAN));
            };
            let names = names.iter().map(|name| match &name.kind {
                NodeKind::Text(text) => text.clone(),
                _ => String::new(),
            });
            let names: Vec<String> = names.collect();
            function.compute(evaluate(first, cells)?, &names)
        }
        NodeKind::Not(of) => Truth(!evaluate(of, cells)?.truth()),
        NodeKind::Negative(of) => match evaluate(of, cells)? {
            Numbers(numbers) => Numbers(each(numbers, |number| -number)),
            of => Number(-of.number()),
        },
        NodeKind::Arithmetic(operator, one, other) => {
            let compute = |one: f64, other: f64| match operator {
                Arithmetic::Plus => one + other,
                Arithmetic::Minus => one - other,
                Arithmetic::Times => one * other,
                Arithmetic::Divided => one / other,
            };
            match paired(evaluate(one, cells)?, evaluate(other, cells)?) {
                Paired::One(one, other) => Number(compute(one, other)),
                Paired::Several(all) => {
                    let all = all.into_iter();
                    Numbers(
                        all.map(|(name, one, other)| (name, compute(one, other)))
                            .collect(),
                    )
                }
            }
        }
        NodeKind::Compare(comparison, one, other) => {
            let (one, other) = (evaluate(one, cells)?, evaluate(other, cells)?);
            if let (Text(one), Text(other)) = (&one, &other) {
                return Ok(Truth((one == other) == (*comparison == Comparison::Equal)));
            }
            compared(one, other, |one, other| match comparison {
                Comparison::Less => one < other,
                Comparison::LessOrEqual => one <= other,
                Comparison::Greater => one > other,
                Comparison::GreaterOrEqual => one >= other,
                Comparison::Equal => one == other,
                // No comparison with a NaN holds, not even this one.
                Comparison::NotEqual => one != other && !one.is_nan() && !other.is_nan(),
            })
        }
        NodeKind::Within {
            value,
            tolerance,
            of,
        } => {
            let is_share = matches!(tolerance.kind, NodeKind::Number(_));
            let width = evaluate(tolerance, cells)?.number();
            compared(
                evaluate(value, cells)?,
                evaluate(of, cells)?,
                |one, other| {
                    let width = if is_share { width * other.abs() } else { width };
                    one == other || (one - other).abs() <= width
                },
            )
        }
        // Both sides are computed: whether a finding is decidable must not depend on its truth.
        NodeKind::And(one, other) => {
            let (one, other) = (evaluate(one, cells)?, evaluate(other, cells)?);
            Truth(one.truth() && other.truth())
        }
        NodeKind::Or(one, other) => {
            let (one, other) = (evaluate(one, cells)?, evaluate(other, cells)?);
            Truth(one.truth() || other.truth())
        }
    })
}

/// Two values side by side.
enum Paired {
    One(f64, f64),
    Several(Vec<(String, f64, f64)>),
}

/// Puts two values side by side: cells of two series by their names, and a single number beside each cell.
fn paired(one: ExpressionValue, other: ExpressionValue) -> Paired {
    use ExpressionValue::Numbers;
    match (one, other) {
        (Numbers(one), Numbers(other)) => {
            let pairs = one.into_iter().filter_map(|(name, value)| {
                let beside = other.iter().find(|(known, _)| *known == name)?.1;
                Some((name, value, beside))
            });
            Paired::Several(pairs.collect())
        }
        (Numbers(one), other) => {
            let beside = other.number();
            let pairs = one.into_iter();
            Paired::Several(pairs.map(|(name, value)| (name, value, beside)).collect())
        }
        (one, Numbers(other)) => {
            let value = one.number();
            let pairs = other.into_iter();
            Paired::Several(pairs.map(|(name, beside)| (name, value, beside)).collect())
        }
        (one, other) => Paired::One(one.number(), other.number()),
    }
}

fn compared(
    one: ExpressionValue,
    other: ExpressionValue,
    holds: impl Fn(f64, f64) -> bool,
) -> ExpressionValue {
    match paired(one, other) {
        Paired::One(one, other) => ExpressionValue::Truth(holds(one, other)),
        Paired::Several(all) => {
            let all = all.into_iter();
            let truths = all.map(|(name, one, other)| (name, holds(one, other)));
            ExpressionValue::Truths(truths.collect())
        }
    }
}

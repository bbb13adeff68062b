//! Types of expressions.

use super::tree::{Arithmetic, Comparison, ExpressionMistake, Node, NodeKind};
use super::types::{ExpressionType, ValueKind};

/// Names that an expression can use.
#[derive(Debug, Clone)]
pub enum KnownNames<'a> {
    /// Quantities of a campaign's row. Those with `_ns` at the end are times.
    Quantities,
    /// Cells of a table: rows with their kinds, and columns.
    Cells {
        /// Names and kinds of the rows.
        rows: &'a [(String, ValueKind)],
        /// Names of the columns.
        columns: &'a [String],
    },
}

/// Returns the type of a tree.
pub(super) fn check(
    node: &Node,
    known: &KnownNames<'_>,
) -> Result<ExpressionType, ExpressionMistake> {
    let scalar = |kind| ExpressionType {
        kind,
        is_series: false,
    };
    match &node.kind {
        NodeKind::Number(_) => Ok(scalar(ValueKind::Number)),
        NodeKind::Time(_) => Ok(scalar(ValueKind::Time)),
        NodeKind::Text(_) => Ok(scalar(ValueKind::Text)),
        NodeKind::Quantity(name) => match known {
            KnownNames::Quantities if name.ends_with("_ns") => Ok(scalar(ValueKind::Time)),
            KnownNames::Quantities if name.contains('.') => Ok(scalar(ValueKind::Number)),
            KnownNames::Quantities => Err(mistake(
                node,
                format!("`{name}` is no quantity: `control.round_trip.mean_ns` is one"),
            )),
            KnownNames::Cells { .. } => Err(mistake(
                node,
                format!("`{name}` has no meaning here; texts are in quotes"),
            )),
        },
        NodeKind::Cells(_, row, column) => match known {
            KnownNames::Quantities => Err(mistake(
                node,
                "a value is made of quantities, not of cells".to_owned(),
            )),
            KnownNames::Cells { rows, columns } => {
                if let Some(column) = column
                    && !columns.contains(&column.text)
                {
                    return Err(unknown("column", &column.text, &column.span, columns));
                }
                let kind = match row {
                    Some(row) => rows.iter().find(|(name, _)| *name == row.text),
                    None => rows.first(),
                };
                let Some((_, kind)) = kind else {
                    let names: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
                    let (name, span) = row
                        .as_ref()
                        .map_or(("", &node.span), |row| (row.text.as_str(), &row.span));
                    return Err(unknown("row", name, span, &names));
                };
                if row.is_none() && rows.iter().any(|(_, other)| other != kind) {
                    let message = "rows with and without a unit of time: name the row".to_owned();
                    return Err(mistake(node, message));
                }
                Ok(ExpressionType {
                    kind: *kind,
                    is_series: row.is_none() || column.is_none(),
                })
            }
        },
        NodeKind::Call(function, arguments) => {
            let types = arguments.iter().map(|argument| check(argument, known));
            let types = types.collect::<Result<Vec<_>, _>>()?;
            let result = function.result(&types);
            result.map_err(|wanted| mistake(node, format!("expected {wanted}")))
        }
        NodeKind::Not(of) => {
            let found = check(of, known)?;
            truth(found, of)?;
            Ok(found)
        }
        NodeKind::Negative(of) => {
            let found = check(of, known)?;
            number(found, of)?;
            Ok(found)
        }
        NodeKind::Arithmetic(operator, one, other) => {
            let (left, right) = (check(one, known)?, check(other, known)?);
            number(left, one)?;
            number(right, other)?;
            let kind = product(*operator, left.kind, right.kind).ok_or_else(|| {
                let message = format!("{left} and {right} do not fit together here");
                mistake(node, message)
            })?;
            Ok(ExpressionType {
                kind,
                is_series: left.is_series || right.is_series,
            })
        }
        NodeKind::Compare(comparison, one, other) => {
            let (left, right) = (check(one, known)?, check(other, known)?);
            let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            let is_text = left.kind == ValueKind::Text && is_equality;
            if !is_text {
                number(left, one)?;
                number(right, other)?;
            }
            compared(node, left, right)
        }
        NodeKind::Within {
            value,
            tolerance,
            of,
        } => {
            let (left, right) = (check(value, known)?, check(of, known)?);
            number(left, value)?;
            number(right, of)?;
            let width = check(tolerance, known)?;
            let is_fitting = width.kind == ValueKind::Number || width.kind == left.kind;
            if !is_fitting || width.is_series {
                let message = format!(
                    "a tolerance is a share, such as `5 %`, or a {}, not {width}",
                    left.kind.name()
                );
                return Err(mistake(tolerance, message));
            }
            compared(node, left, right)
        }
        NodeKind::And(one, other) | NodeKind::Or(one, other) => {
            for part in [one, other] {
                truth(check(part, known)?, part)?;
            }
            Ok(scalar(ValueKind::Truth))
        }
    }
}

/// Returns the kind of the result of an operator.
fn product(operator: Arithmetic, one: ValueKind, other: ValueKind) -> Option<ValueKind> {
    use ValueKind::{Number, Time};
    match (operator, one, other) {
        (Arithmetic::Plus | Arithmetic::Minus, one, other) => (one == other).then_some(one),
        (Arithmetic::Times, Time, Number) | (Arithmetic::Times, Number, Time) => Some(Time),
        (Arithmetic::Times, Number, Number) => Some(Number),
        (Arithmetic::Divided, Time, Number) => Some(Time),
        (Arithmetic::Divided, one, other) => (one == other).then_some(Number),
        (Arithmetic::Times, ..) => None,
    }
}

fn compared(
    node: &Node,
    one: ExpressionType,
    other: ExpressionType,
) -> Result<ExpressionType, ExpressionMistake> {
    match one.kind == other.kind {
        true => Ok(ExpressionType {
            kind: ValueKind::Truth,
            is_series: one.is_series || other.is_series,
        }),
        false => Err(mistake(
            node,
            format!("{one} cannot be compared with {other}"),
        )),
    }
}

fn number(found: ExpressionType, node: &Node) -> Result<(), ExpressionMistake> {
    match found.kind {
        ValueKind::Number | ValueKind::Time => Ok(()),
        ValueKind::Text | ValueKind::Truth => {
            Err(mistake(node, format!("expected a number, not {found}")))
        }
    }
}

fn truth(found: ExpressionType, node: &Node) -> Result<(), ExpressionMistake> {
    match (found.kind, found.is_series) {
        (ValueKind::Truth, false) => Ok(()),
        (ValueKind::Truth, true) => Err(mistake(
            node,
            "this is true or false for each cell: use `every(...)` or `some(...)`".to_owned(),
        )),
        _ => Err(mistake(node, format!("expected a comparison, not {found}"))),
    }
}

fn unknown(
    what: &str,
    name: &str,
    span: &std::ops::Range<usize>,
    known: &[String],
) -> ExpressionMistake {
    let known = known.join(", ");
    ExpressionMistake::new(format!("there is no {what} `{name}`; known: {known}"), span)
}

fn mistake(node: &Node, message: String) -> ExpressionMistake {
    ExpressionMistake::new(message, &node.span)
}

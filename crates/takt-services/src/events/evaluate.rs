//! Evaluation of a WHERE clause (OPC 10000-4, 7.7.3), with three-valued logic: true, false, and null for what is not known.
//!
//! Elements refer to later elements only, so one pass from the last to the first element evaluates each of them once, without
//! recursion.

use std::cmp::Ordering;

use takt_space::{Event, View};
use takt_ua::{BuiltInType, Variant};

use super::convert::{convert, equals, integer, integer_as, order, text, wider};
use super::like;
use super::operand::Operand;
use super::steps::Steps;

/// An element of a WHERE clause.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) operator: Operator,
    pub(super) operands: Vec<Operand>,
}

/// Operator of an element (FilterOperator).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the standard's")]
pub(super) enum Operator {
    Equals,
    IsNull,
    GreaterThan,
    LessThan,
    GreaterThanOrEqual,
    LessThanOrEqual,
    Like,
    Not,
    Between,
    InList,
    And,
    Or,
    /// Conversion to a built-in type.
    Cast(BuiltInType),
    OfType,
    BitwiseAnd,
    BitwiseOr,
}

/// Returns true if the first element is true for an Event, or there is no element.
pub(super) fn passes(
    elements: &[Element],
    event: &Event,
    view: &View<'_>,
    steps: &mut Steps,
) -> bool {
    if elements.is_empty() {
        return true;
    }
    let mut evaluation = Evaluation {
        event,
        view,
        steps,
        results: vec![Variant::Empty; elements.len()],
    };
    for (index, element) in elements.iter().enumerate().rev() {
        let result = evaluation.element(element);
        if let Some(place) = evaluation.results.get_mut(index) {
            *place = result;
        }
    }
    evaluation.results.first() == Some(&Variant::Boolean(true))
}

struct Evaluation<'e> {
    event: &'e Event,
    view: &'e View<'e>,
    steps: &'e mut Steps,
    /// Results of the elements so far; null for the others.
    results: Vec<Variant>,
}

impl Evaluation<'_> {
    fn element(&mut self, element: &Element) -> Variant {
        let operand =
            |evaluation: &mut Self, index| evaluation.operand(element.operands.get(index));
        let first = operand(self, 0);
        match element.operator {
            Operator::IsNull => matches!(first, Variant::Empty | Variant::StatusCode(_)).into(),
            Operator::Not => boolean(&first).map_or(Variant::Empty, |value| (!value).into()),
            Operator::OfType => match &first {
                Variant::NodeId(wanted) => {
                    let is = self.view.is_subtype_of(self.event.event_type(), &**wanted);
                    is.into()
                }
                _ => Variant::Empty,
            },
            Operator::Cast(to) => convert(&first, to, self.steps).unwrap_or_default(),
            Operator::Between => {
                let (low, high) = (operand(self, 1), operand(self, 2));
                let above = self.ordered(&first, &low, Ordering::is_ge);
                let below = self.ordered(&first, &high, Ordering::is_le);
                from_truth(and(above, below))
            }
            Operator::InList => {
                let mut found = Some(false);
                for index in 1..element.operands.len() {
                    let other = operand(self, index);
                    found = or(found, self.equal(&first, &other));
                }
                from_truth(found)
            }
            operator => {
                let second = operand(self, 1);
                self.binary(operator, &first, &second)
            }
        }
    }

    fn binary(&mut self, operator: Operator, first: &Variant, second: &Variant) -> Variant {
        from_truth(match operator {
            Operator::Equals => self.equal(first, second),
            Operator::GreaterThan => self.ordered(first, second, Ordering::is_gt),
            Operator::LessThan => self.ordered(first, second, Ordering::is_lt),
            Operator::GreaterThanOrEqual => self.ordered(first, second, Ordering::is_ge),
            Operator::LessThanOrEqual => self.ordered(first, second, Ordering::is_le),
            Operator::And => and(boolean(first), boolean(second)),
            Operator::Or => or(boolean(first), boolean(second)),
            Operator::Like => self.like(first, second),
            Operator::BitwiseAnd => return bitwise(first, second, |left, right| left & right),
            Operator::BitwiseOr => return bitwise(first, second, |left, right| left | right),
            _ => None,
        })
    }

    fn operand(&mut self, operand: Option<&Operand>) -> Variant {
        match operand {
            Some(Operand::Literal(value)) => {
                // A long text costs more, because it is copied.
                self.steps.take(1 + size_of_text(value) / 64);
                value.clone()
            }
            Some(Operand::Element(index)) => self.results.get(*index).cloned().unwrap_or_default(),
            Some(Operand::Field(field)) => {
                let value = field.value(self.event, self.view);
                self.steps.take(1 + size_of_text(&value) / 64);
                value
            }
            None => Variant::Empty,
        }
    }

    fn equal(&mut self, first: &Variant, second: &Variant) -> Option<bool> {
        match first.is_empty() || second.is_empty() {
            true => None,
            false => Some(equals(first, second, self.steps)),
        }
    }

    fn ordered(
        &mut self,
        first: &Variant,
        second: &Variant,
        is: fn(Ordering) -> bool,
    ) -> Option<bool> {
        if first.is_empty() || second.is_empty() {
            return None;
        }
        // Values without a common order are known, so that the result is false and not null.
        Some(order(first, second, self.steps).is_some_and(is))
    }

    fn like(&mut self, first: &Variant, second: &Variant) -> Option<bool> {
        if first.is_empty() || second.is_empty() {
            return None;
        }
        match (text(first), text(second)) {
            (Some(text), Some(pattern)) => like::matches(text, pattern, self.steps),
            _ => Some(false),
        }
    }
}

fn size_of_text(value: &Variant) -> usize {
    text(value).map_or(0, str::len)
}

/// Returns the truth of a value; `None` if it is null or no Boolean.
fn boolean(value: &Variant) -> Option<bool> {
    match value {
        Variant::Boolean(value) => Some(*value),
        _ => None,
    }
}

fn from_truth(truth: Option<bool>) -> Variant {
    truth.map_or(Variant::Empty, Variant::from)
}

/// Returns the conjunction: false if one side is false, whatever the other one is.
fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// Returns the disjunction: true if one side is true, whatever the other one is.
fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Returns the result of an operation on the bits of two integers; null if one of them is none.
fn bitwise(left: &Variant, right: &Variant, operate: fn(i128, i128) -> i128) -> Variant {
    let result = || {
        let to = wider(left.built_in_type()?, right.built_in_type()?);
        integer_as(operate(integer(left)?, integer(right)?), to)
    };
    result().unwrap_or_default()
}

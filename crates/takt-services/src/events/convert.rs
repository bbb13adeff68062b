//! Conversions between DataTypes, and comparisons, in filters (OPC 10000-4, 7.7.3).

use std::cmp::Ordering;

use takt_ua::{
    BuiltInType, DateTime, ExpandedNodeId, Guid, LocalizedText, NodeId, StatusCode, UaString,
    Variant,
};

use super::steps::Steps;

/// Returns the precedence of a DataType in implicit conversions: the operand with the larger number is converted.
fn precedence(kind: BuiltInType) -> Option<u8> {
    use BuiltInType as B;
    Some(match kind {
        B::Double => 1,
        B::Float => 2,
        B::Int64 => 3,
        B::UInt64 => 4,
        B::Int32 => 5,
        B::UInt32 => 6,
        B::StatusCode => 7,
        B::Int16 => 8,
        B::UInt16 => 9,
        B::SByte => 10,
        B::Byte => 11,
        B::Boolean => 12,
        B::Guid => 13,
        B::String => 14,
        B::ExpandedNodeId => 15,
        B::NodeId => 16,
        B::LocalizedText => 17,
        B::QualifiedName => 18,
        _ => return None,
    })
}

/// Returns true if values are converted without a Cast.
fn is_implicit(from: BuiltInType, to: BuiltInType) -> bool {
    use BuiltInType as B;
    // 7 is StatusCode, which has conversions of its own.
    let is_number = |kind| precedence(kind).is_some_and(|rank| rank <= 12 && rank != 7);
    match (from, to) {
        (B::StatusCode, B::Int32 | B::UInt32 | B::Int64 | B::UInt64) => true,
        (B::UInt16, B::StatusCode) => true,
        (B::String, B::Guid) => true,
        (B::String, to) => is_number(to),
        (B::NodeId, B::ExpandedNodeId | B::String) | (B::ExpandedNodeId, B::String) => true,
        (B::LocalizedText, B::String) => true,
        (B::QualifiedName, B::String | B::LocalizedText) => true,
        (from, to) => is_number(from) && is_number(to),
    }
}

/// Returns the text of a String, LocalizedText or QualifiedName.
pub(super) fn text(value: &Variant) -> Option<&str> {
    match value {
        Variant::String(text) => text.as_option(),
        Variant::LocalizedText(text) => text.text.as_option(),
        Variant::QualifiedName(name) => name.name.as_option(),
        _ => None,
    }
}

/// Returns true if two values are equal after an implicit conversion. Values without a common DataType are not equal.
pub(super) fn equals(left: &Variant, right: &Variant, steps: &mut Steps) -> bool {
    compare_with(left, right, steps, |left, right| left == right).unwrap_or(false)
}

/// Returns the order of two values after an implicit conversion; `None` if they have none.
pub(super) fn order(left: &Variant, right: &Variant, steps: &mut Steps) -> Option<Ordering> {
    compare_with(left, right, steps, order_of_same_type)?
}

fn compare_with<R>(
    left: &Variant,
    right: &Variant,
    steps: &mut Steps,
    compare: impl FnOnce(&Variant, &Variant) -> R,
) -> Option<R> {
    steps.take(1);
    // Elements of arrays are not converted.
    if left.is_array() || right.is_array() {
        return (left.is_array() && right.is_array()).then(|| compare(left, right));
    }
    let (from, to) = (left.built_in_type()?, right.built_in_type()?);
    if from == to {
        return Some(compare(left, right));
    }
    if precedence(from)? > precedence(to)? {
        let left = is_implicit(from, to).then(|| convert(left, to, steps))??;
        Some(compare(&left, right))
    } else {
        let right = is_implicit(to, from).then(|| convert(right, from, steps))??;
        Some(compare(left, &right))
    }
}

fn order_of_same_type(left: &Variant, right: &Variant) -> Option<Ordering> {
    match (left, right) {
        (Variant::Boolean(left), Variant::Boolean(right)) => Some(left.cmp(right)),
        (Variant::Double(left), Variant::Double(right)) => left.partial_cmp(right),
        (Variant::Float(left), Variant::Float(right)) => left.partial_cmp(right),
        (Variant::DateTime(left), Variant::DateTime(right)) => Some(left.0.cmp(&right.0)),
        (Variant::Guid(_), _) | (Variant::StatusCode(_), _) => None,
        _ => match (integer(left), integer(right)) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => Some(text(left)?.cmp(text(right)?)),
        },
    }
}

/// Returns the value of an integer type.
pub(super) fn integer(value: &Variant) -> Option<i128> {
    // i128 holds each Int64 and each UInt64, so signed and unsigned values compare correctly.
    Some(match value {
        Variant::SByte(value) => i128::from(*value),
        Variant::Byte(value) => i128::from(*value),
        Variant::Int16(value) => i128::from(*value),
        Variant::UInt16(value) => i128::from(*value),
        Variant::Int32(value) => i128::from(*value),
        Variant::UInt32(value) => i128::from(*value),
        Variant::Int64(value) => i128::from(*value),
        Variant::UInt64(value) => i128::from(*value),
        _ => return None,
    })
}

/// Returns an integer as this type; `None` if it does not fit.
pub(super) fn integer_as(value: i128, to: BuiltInType) -> Option<Variant> {
    use BuiltInType as B;
    Some(match to {
        B::SByte => i8::try_from(value).ok()?.into(),
        B::Byte => u8::try_from(value).ok()?.into(),
        B::Int16 => i16::try_from(value).ok()?.into(),
        B::UInt16 => u16::try_from(value).ok()?.into(),
        B::Int32 => i32::try_from(value).ok()?.into(),
        B::UInt32 => u32::try_from(value).ok()?.into(),
        B::Int64 => i64::try_from(value).ok()?.into(),
        B::UInt64 => u64::try_from(value).ok()?.into(),
        _ => return None,
    })
}

/// Returns the integer type of higher precedence.
pub(super) fn wider(left: BuiltInType, right: BuiltInType) -> BuiltInType {
    if precedence(left) <= precedence(right) {
        left
    } else {
        right
    }
}

/// Converts a value, as Cast does; `None` if that is not possible.
pub(super) fn convert(value: &Variant, to: BuiltInType, steps: &mut Steps) -> Option<Variant> {
    use BuiltInType as B;
    if value.is_array() {
        return None;
    }
    if value.built_in_type() == Some(to) {
        return Some(value.clone());
    }
    // A filter is evaluated for each Event, so a long text has to count as work.
    if let Some(text) = text(value)
        && !steps.take_text(text.len())
    {
        return None;
    }
    match to {
        B::String => to_text(value).map(Variant::from),
        B::LocalizedText => text(value).map(|text| LocalizedText::from(text).into()),
        B::Boolean => to_boolean(value).map(Variant::from),
        B::Double => to_double(value).map(Variant::from),
        B::Float => to_float(value).map(Variant::from),
        B::DateTime => parse::<DateTime>(value).map(Variant::from),
        B::Guid => parse::<Guid>(value).map(Variant::from),
        B::NodeId => match value {
            // A node of another server has no NodeId here.
            Variant::ExpandedNodeId(node) if node.is_local() => Some(node.node_id.clone().into()),
            _ => parse::<NodeId>(value).map(Variant::from),
        },
        B::ExpandedNodeId => match value {
            Variant::NodeId(node) => Some(ExpandedNodeId::from(NodeId::clone(node)).into()),
            _ => parse::<ExpandedNodeId>(value).map(Variant::from),
        },
        B::StatusCode => match value {
            Variant::UInt16(code) => Some(StatusCode(u32::from(*code) << 16).into()),
            _ => {
                let code = u32::try_from(integer(value)?).ok()?;
                Some(StatusCode(code).into())
            }
        },
        _ => integer_as(to_integer(value)?, to),
    }
}

fn parse<T: std::str::FromStr>(value: &Variant) -> Option<T> {
    match value {
        Variant::String(text) => text.as_option()?.parse().ok(),
        _ => None,
    }
}

fn to_text(value: &Variant) -> Option<UaString> {
    Some(match value {
        Variant::LocalizedText(_) | Variant::QualifiedName(_) => text(value)?.into(),
        Variant::Boolean(value) => value.to_string().into(),
        Variant::Double(value) => value.to_string().into(),
        Variant::Float(value) => value.to_string().into(),
        Variant::DateTime(value) => value.to_iso8601().into(),
        Variant::Guid(value) => value.to_string().into(),
        Variant::NodeId(value) => value.to_string().into(),
        Variant::ExpandedNodeId(value) => value.to_string().into(),
        Variant::StatusCode(value) => value.0.to_string().into(),
        _ => integer(value)?.to_string().into(),
    })
}

fn to_boolean(value: &Variant) -> Option<bool> {
    match value {
        Variant::String(text) => match text.as_option()? {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        Variant::Double(value) => (!value.is_nan()).then_some(*value != 0.0),
        Variant::Float(value) => (!value.is_nan()).then_some(*value != 0.0),
        _ => Some(integer(value)? != 0),
    }
}

fn to_double(value: &Variant) -> Option<f64> {
    match value {
        Variant::Float(value) => Some(f64::from(*value)),
        Variant::Boolean(value) => Some(f64::from(u8::from(*value))),
        Variant::String(text) => text.as_option()?.trim().parse().ok(),
        Variant::Int64(value) => Some(*value as f64),
        Variant::UInt64(value) => Some(*value as f64),
        _ => {
            let value = i64::try_from(integer(value)?).ok()?;
            Some(value as f64)
        }
    }
}

fn to_float(value: &Variant) -> Option<f32> {
    let value = match value {
        Variant::Double(value) => *value,
        Variant::String(text) => return text.as_option()?.trim().parse().ok(),
        other => to_double(other)?,
    };
    let narrow = value as f32;
    // A finite Double beyond the range of Float does not fit.
    (narrow.is_finite() || !value.is_finite()).then_some(narrow)
}

fn to_integer(value: &Variant) -> Option<i128> {
    /// Numbers beyond fit into no integer type.
    const LIMIT: f64 = 1e20;
    let rounded = |value: f64| (value.abs() < LIMIT).then(|| value.round() as i128);
    match value {
        Variant::Boolean(value) => Some(i128::from(*value)),
        Variant::StatusCode(code) => Some(i128::from(code.0)),
        Variant::Double(value) => rounded(*value),
        Variant::Float(value) => rounded(f64::from(*value)),
        Variant::String(text) => text.as_option()?.trim().parse().ok(),
        _ => integer(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Steps {
        Steps::new(10_000)
    }

    #[test]
    fn values_of_different_types_are_compared_as_the_one_of_higher_precedence() {
        let equal = |left: Variant, right: Variant| equals(&left, &right, &mut steps());
        assert!(equal(5_u16.into(), 5.0_f64.into()));
        assert!(equal("5".into(), 5_i32.into()));
        assert!(equal(LocalizedText::from("hot").into(), "hot".into()));
        assert!(equal(true.into(), 1_u8.into()));
        assert!(equal(NodeId::numeric(0, 5).into(), "i=5".into()));
        assert!(!equal("five".into(), 5_i32.into()));
        assert!(!equal(u64::MAX.into(), (-1_i64).into()));
        assert!(!equal(DateTime(5).into(), 5_i32.into()));
        assert!(!equal(f64::NAN.into(), f64::NAN.into()));
    }

    #[test]
    fn order_needs_ordered_values() {
        let order = |left: Variant, right: Variant| order(&left, &right, &mut steps());
        assert_eq!(
            order(700_u16.into(), 500_i32.into()),
            Some(Ordering::Greater)
        );
        assert_eq!(order("a".into(), "b".into()), Some(Ordering::Less));
        assert_eq!(
            order(DateTime(1).into(), DateTime(1).into()),
            Some(Ordering::Equal)
        );
        assert_eq!(order(Guid::NULL.into(), Guid::NULL.into()), None);
        assert_eq!(order(f64::NAN.into(), 1.0.into()), None);
    }

    #[test]
    fn casts_fail_where_values_do_not_fit() {
        let cast = |value: Variant, to| convert(&value, to, &mut steps());
        assert_eq!(cast(300_i32.into(), BuiltInType::Byte), None);
        assert_eq!(cast(2.5_f64.into(), BuiltInType::Int32), Some(3_i32.into()));
        assert_eq!(cast(f64::NAN.into(), BuiltInType::Int64), None);
        assert_eq!(cast("0x".into(), BuiltInType::Int64), None);
        assert_eq!(cast(1e300.into(), BuiltInType::Float), None);
        assert_eq!(cast(7_i32.into(), BuiltInType::String), Some("7".into()));
        assert_eq!(cast("a".repeat(1 << 20).into(), BuiltInType::Double), None);
    }
}

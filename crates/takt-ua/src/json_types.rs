//! Types of JSON values without a type of their own, as both JSON forms read them.

use serde_json::{Number, Value};

use crate::BuiltInType;

/// Returns the smallest type of 64 bits that holds a number.
pub(crate) fn number_type(number: &Number) -> BuiltInType {
    if number.is_i64() {
        BuiltInType::Int64
    } else if number.is_u64() {
        BuiltInType::UInt64
    } else {
        BuiltInType::Double
    }
}

/// Returns the common type of elements. Without elements, and for those that have none in common, it is Variant.
pub(crate) fn common_type(elements: &[Value]) -> BuiltInType {
    let all = |matches: fn(&Value) -> bool| elements.iter().all(matches);
    if elements.is_empty() {
        BuiltInType::Variant
    } else if all(Value::is_boolean) {
        BuiltInType::Boolean
    } else if all(Value::is_i64) {
        BuiltInType::Int64
    } else if all(Value::is_u64) {
        BuiltInType::UInt64
    } else if all(Value::is_number) {
        BuiltInType::Double
    } else if all(Value::is_string) {
        BuiltInType::String
    } else {
        BuiltInType::Variant
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_have_the_smallest_common_type() {
        let types = [
            (json!([]), BuiltInType::Variant),
            (json!([true]), BuiltInType::Boolean),
            (json!([-1, 2]), BuiltInType::Int64),
            (json!([u64::MAX, 2]), BuiltInType::UInt64),
            (json!([u64::MAX, -2]), BuiltInType::Double),
            (json!([1, 0.5]), BuiltInType::Double),
            (json!(["a"]), BuiltInType::String),
            (json!(["a", 1]), BuiltInType::Variant),
        ];
        for (elements, expected) in types {
            assert_eq!(
                common_type(elements.as_array().unwrap()),
                expected,
                "{elements}"
            );
        }
    }
}

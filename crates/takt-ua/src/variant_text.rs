//! Variants as text for people.

use std::fmt::{self, Debug, Display, Formatter};

use serde_json::Value;

use crate::json::{DescribedValues, to_value};
use crate::{Array, NodeId, Variant};

/// Largest number of elements of a dimension that are written.
const SHOWN: usize = 8;

/// Writes the value without its type: a text as it is, an array with at most 8 elements of each dimension and its
/// length, a structure as JSON.
impl Display for Variant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(f, self, &to_value)
    }
}

impl DescribedValues<'_> {
    /// Returns the text form of a value: as [`Display`] of [`Variant`] writes it, structures and enumerations by descriptions.
    #[must_use]
    pub fn text(&self, value: &Variant, data_type: Option<&NodeId>) -> String {
        let json = |value: &Variant| self.value(value, data_type);
        Described { value, json: &json }.to_string()
    }
}

struct Described<'v> {
    value: &'v Variant,
    json: &'v dyn Fn(&Variant) -> Value,
}

impl Display for Described<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(f, self.value, self.json)
    }
}

/// Writes a value whose parts `json` writes.
fn write(f: &mut Formatter<'_>, value: &Variant, json: &dyn Fn(&Variant) -> Value) -> fmt::Result {
    let Variant::Array(array) = value else {
        return match json(value) {
            Value::String(text) => f.pad(&text),
            value => f.pad(&value.to_string()),
        };
    };
    write_beginning(f, &beginning(array, json))?;
    if array.lengths().iter().any(|length| is_long(*length)) {
        f.write_str(" (")?;
        for (index, length) in array.lengths().iter().enumerate() {
            let times = if index == 0 { "" } else { "×" };
            write!(f, "{times}{length}")?;
        }
        f.write_str(" elements)")?;
    }
    Ok(())
}

/// Writes the type, the lengths of an array, and the value, for example `Double(1.5)` or `Byte[2]([1,2])`.
impl Debug for Variant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(built_in_type) = self.built_in_type() else {
            return f.write_str("Empty");
        };
        f.write_str(built_in_type.name())?;
        if let Variant::Array(array) = self {
            for length in array.lengths() {
                write!(f, "[{length}]")?;
            }
        }
        f.write_str("(")?;
        match self {
            Variant::Array(array) => write_beginning(f, &beginning(array, &to_value))?,
            // As JSON, whose quotation marks show where the text begins and ends.
            Variant::String(_)
            | Variant::XmlElement(_)
            | Variant::QualifiedName(_)
            | Variant::LocalizedText(_) => write!(f, "{}", to_value(self))?,
            scalar => Display::fmt(scalar, f)?,
        }
        f.write_str(")")
    }
}

fn is_long(length: u32) -> bool {
    usize::try_from(length).is_ok_and(|length| length > SHOWN)
}

/// Returns the JSON of the first elements of an array; there is one more than are written if there are more.
fn beginning(array: &Array, json: &dyn Fn(&Variant) -> Value) -> Value {
    // Only the first dimension is cut: the others are shorter as a rule.
    let mut dimensions = array.dimensions.clone();
    let row = dimensions
        .iter()
        .skip(1)
        .fold(1_usize, |row, length| row.saturating_mul(*length as usize));
    if let Some(first) = dimensions.first_mut() {
        *first = (*first).min(SHOWN as u32 + 1);
    }
    // One row more tells `write_beginning` that there are more.
    let count = row.saturating_mul(SHOWN + 1);
    json(&Variant::Array(Box::new(Array {
        elements: array.elements.select(0..count.min(array.len())),
        dimensions,
    })))
}

/// Writes JSON with at most the first elements of each array.
fn write_beginning(f: &mut Formatter<'_>, value: &Value) -> fmt::Result {
    let Value::Array(elements) = value else {
        return write!(f, "{value}");
    };
    let is_cut = elements.len() > SHOWN;
    f.write_str("[")?;
    for (index, element) in elements.iter().take(SHOWN).enumerate() {
        if index > 0 {
            f.write_str(if is_cut { ", " } else { "," })?;
        }
        write_beginning(f, element)?;
    }
    f.write_str(if is_cut { ", …]" } else { "]" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structures::Range;
    use crate::{DateTime, ExtensionObject, LocalizedText, NodeId, StatusCode, UaString};

    fn matrix(rows: u32, columns: u32) -> Variant {
        let elements: Vec<u32> = (0..rows * columns).collect();
        Array::matrix(elements, &[rows, columns]).unwrap().into()
    }

    #[test]
    fn values_are_written_for_people() {
        let range = Range {
            low: 0.0,
            high: 2.5,
        };
        let cases: [(Variant, &str, &str); 15] = [
            (Variant::Empty, "null", "Empty"),
            (true.into(), "true", "Boolean(true)"),
            (1.5.into(), "1.5", "Double(1.5)"),
            (f64::NAN.into(), "NaN", "Double(NaN)"),
            (0.1_f32.into(), "0.1", "Float(0.1)"),
            ("a \"b\"".into(), "a \"b\"", "String(\"a \\\"b\\\"\")"),
            (UaString::null().into(), "null", "String(null)"),
            (
                LocalizedText::from("Off").into(),
                "Off",
                "LocalizedText(\"Off\")",
            ),
            (
                NodeId::string(2, "A").into(),
                "ns=2;s=A",
                "NodeId(ns=2;s=A)",
            ),
            (
                StatusCode::BadTimeout.into(),
                "BadTimeout",
                "StatusCode(BadTimeout)",
            ),
            (
                DateTime::from_unix_nanos(500_000_000).into(),
                "1970-01-01T00:00:00.5Z",
                "DateTime(1970-01-01T00:00:00.5Z)",
            ),
            (
                ExtensionObject::from_structure(&range).into(),
                r#"{"$type":"Range","Low":0.0,"High":2.5}"#,
                r#"ExtensionObject({"$type":"Range","Low":0.0,"High":2.5})"#,
            ),
            (vec![1_u8, 2].into(), "[1,2]", "Byte[2]([1,2])"),
            (
                vec![UaString::from("a")].into(),
                "[\"a\"]",
                "String[1]([\"a\"])",
            ),
            (matrix(2, 2), "[[0,1],[2,3]]", "UInt32[2][2]([[0,1],[2,3]])"),
        ];
        for (value, display, debug) in cases {
            assert_eq!(value.to_string(), display);
            assert_eq!(format!("{value:?}"), debug);
        }
    }

    #[test]
    fn long_arrays_are_cut() {
        let long: Variant = vec![7_i32; 1_000_000].into();
        let shown = "[7, 7, 7, 7, 7, 7, 7, 7, …]";
        assert_eq!(long.to_string(), format!("{shown} (1000000 elements)"));
        assert_eq!(format!("{long:?}"), format!("Int32[1000000]({shown})"));
        let shown = "[[0, 1, 2, 3, 4, 5, 6, 7, …],[9, 10, 11, 12, 13, 14, 15, 16, …]]";
        assert_eq!(matrix(2, 9).to_string(), format!("{shown} (2×9 elements)"));
        let shown = "[[0], [1], [2], [3], [4], [5], [6], [7], …]";
        assert_eq!(matrix(9, 1).to_string(), format!("{shown} (9×1 elements)"));
        let lengths = [0, u32::MAX, u32::MAX, u32::MAX];
        let empty = Variant::from(Array::matrix(Vec::<u32>::new(), &lengths).unwrap());
        assert!(empty.to_string().starts_with("[]"), "{empty}");
    }

    #[test]
    fn a_width_applies_to_scalars() {
        assert_eq!(format!("[{:>6}]", Variant::from(1.5)), "[   1.5]");
    }
}

//! Derived fields: values that follow from other values.

use std::ops::Range;

use crate::quantity::{Duration, Rate, Share, Size};

/// A field whose value is that of another one, times a factor, plus a summand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedField {
    /// Path of the field.
    pub field: String,
    /// Swept field, variable, or derived field that it follows from.
    pub of: String,
    /// Factor.
    pub times: Share,
    /// Summand, as it is written.
    pub plus: Option<String>,
    /// Position of the field's path in bytes.
    pub span: Range<usize>,
}

/// Reason why a derived field has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotDerived {
    /// The other value is no quantity.
    #[error("`{0}` is no size, time, rate or integer")]
    Quantity(String),
    /// The summand has another unit.
    #[error("`{plus}` and `{of}` have different units")]
    Unit {
        /// The summand.
        plus: String,
        /// The value that it is added to.
        of: String,
    },
    /// The result is no multiple of the smallest unit.
    #[error("the value that follows from `{0}` is finer than the smallest unit")]
    Fraction(String),
    /// The result is negative or too large.
    #[error("the value that follows from `{0}` is negative or too large")]
    Range(String),
}

/// Unit of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Picosecond,
    Byte,
    BitPerSecond,
    One,
}

/// Returns an amount and its unit.
fn amount(text: &str) -> Option<(i128, Unit)> {
    let text = text.trim();
    if let Ok(number) = text.parse::<i64>() {
        return Some((number.into(), Unit::One));
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (amount, unit) = if let Ok(Duration(picoseconds)) = digits.parse() {
        (picoseconds, Unit::Picosecond)
    } else if let Ok(Size(bytes)) = digits.parse() {
        (bytes, Unit::Byte)
    } else if let Ok(Rate(bits)) = digits.parse() {
        (bits, Unit::BitPerSecond)
    } else {
        return None;
    };
    Some((sign * i128::from(amount), unit))
}

impl DerivedField {
    /// Returns the value that follows from another one, as both are written in a scenario.
    ///
    /// # Errors
    /// [`NotDerived`].
    pub fn value(&self, of: &str) -> Result<String, NotDerived> {
        let (number, unit) = amount(of).ok_or_else(|| NotDerived::Quantity(of.to_owned()))?;
        let mut sum = number * i128::from(self.times.0);
        if let Some(plus) = &self.plus {
            let (summand, other) =
                amount(plus).ok_or_else(|| NotDerived::Quantity(plus.clone()))?;
            if other != unit {
                let (plus, of) = (plus.clone(), of.to_owned());
                return Err(NotDerived::Unit { plus, of });
            }
            // Less than 2⁹⁴. The product of a `u64` and an `i64` is within an `i128`, but perhaps at its end.
            sum = sum.saturating_add(summand * i128::from(Share::ONE.0));
        }
        if sum % i128::from(Share::ONE.0) != 0 {
            return Err(NotDerived::Fraction(of.to_owned()));
        }
        let sum = sum / i128::from(Share::ONE.0);
        let out_of_range = |_| NotDerived::Range(of.to_owned());
        let natural = || u64::try_from(sum).map_err(out_of_range);
        Ok(match unit {
            Unit::Picosecond => Duration(natural()?).to_string(),
            Unit::Byte => Size(natural()?).to_string(),
            Unit::BitPerSecond => Rate(natural()?).to_string(),
            Unit::One => i64::try_from(sum).map_err(out_of_range)?.to_string(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn derived(times: &str, plus: &str) -> DerivedField {
        DerivedField {
            field: "payload".to_owned(),
            of: "frame".to_owned(),
            times: times.parse().unwrap(),
            plus: (!plus.is_empty()).then(|| plus.to_owned()),
            span: 0..0,
        }
    }

    #[test]
    fn values_keep_their_units() {
        let value = |times, plus, of| derived(times, plus).value(of).unwrap();
        assert_eq!(value("1", "-22 B", "128 B"), "106 B");
        assert_eq!(value("0.5", "", "1 ms"), "500 us");
        assert_eq!(value("0.5", "1 us", "1 ms"), "501 us");
        assert_eq!(value("10%", "", "1 Gbit/s"), "100 Mbit/s");
        assert_eq!(value("2", "-1", "160"), "319");
        assert_eq!(value("1", "-3", "1"), "-2");
    }

    #[test]
    fn impossible_values_are_mistakes() {
        let error = |times, plus, of| derived(times, plus).value(of).unwrap_err();
        assert_eq!(
            error("1", "", "cbs"),
            NotDerived::Quantity("cbs".to_owned())
        );
        assert!(matches!(
            error("1", "1 us", "64 B"),
            NotDerived::Unit { .. }
        ));
        assert!(matches!(error("0.3", "", "64 B"), NotDerived::Fraction(_)));
        assert!(matches!(error("1", "-65 B", "64 B"), NotDerived::Range(_)));
        let largest = i64::MAX.to_string();
        assert!(matches!(error("9", "", &largest), NotDerived::Range(_)));
    }
}

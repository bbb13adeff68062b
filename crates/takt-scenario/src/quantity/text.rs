//! Quantities as text: parsing, formatting and error messages.

use std::fmt;

/// Error for a text that is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}: {flaw}")]
pub struct QuantityError {
    /// Text as it is written.
    pub text: String,
    /// Expected quantity.
    pub what: &'static str,
    /// Flaw of the text.
    pub flaw: QuantityFlaw,
}

/// Reasons why a text is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityFlaw {
    /// A text that does not begin with a decimal number, or an unknown unit that resembles none.
    #[error("write for example {example}")]
    Form {
        /// Example of a valid text.
        example: &'static str,
    },
    /// A number without a unit.
    #[error("its unit is missing, write for example {example}")]
    NoUnit {
        /// Example of a valid text.
        example: &'static str,
    },
    /// An unknown unit that resembles a known one.
    #[error("did you mean \"{meant}\"?")]
    Unit {
        /// Text with the known unit.
        meant: String,
    },
    /// A sign, for a quantity that cannot be negative.
    #[error("it cannot be negative")]
    Negative,
    /// A number that is not a multiple of the smallest unit.
    #[error("it is not a multiple of the smallest unit, {smallest}")]
    TooFine {
        /// Smallest unit.
        smallest: &'static str,
    },
    /// A number that exceeds the range.
    #[error("it is too large")]
    TooGreat,
}

/// Units of a quantity and their values in the smallest unit; `""` stands for no unit.
pub(crate) type Units = &'static [(&'static str, u64)];

/// Flaw of a text, before the example of a valid text is known.
pub(super) enum Flaw {
    Form,
    Unit,
    NoUnit,
    Negative,
    TooFine,
    TooGreat,
}

/// Splits a text into a sign, a decimal number, and a unit.
fn split(text: &str) -> (bool, &str, &str) {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest.trim_start()),
        None => (false, text),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (negative, number, unit.trim_start())
}

/// Converts a decimal number with its unit to the smallest unit.
pub(super) fn parse(text: &str, units: Units) -> Result<i128, Flaw> {
    let (negative, number, unit) = split(text);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_empty = whole.is_empty() || (fraction.is_empty() && number.contains('.'));
    if is_empty || fraction.contains('.') {
        return Err(Flaw::Form);
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(if unit.is_empty() {
            Flaw::NoUnit
        } else {
            Flaw::Unit
        });
    };
    let digits = format!("{whole}{fraction}");
    if digits.len() > 20 {
        // Leading and trailing zeros count as well: real texts have few.
        return Err(if fraction.len() > whole.len() {
            Flaw::TooFine
        } else {
            Flaw::TooGreat
        });
    }
    let product = digits.parse::<i128>().map_err(|_| Flaw::Form)?;
    let product = product
        .checked_mul((*factor).into())
        .ok_or(Flaw::TooGreat)?;
    let scale = 10i128.pow(u32::try_from(fraction.len()).unwrap_or(20));
    if product % scale != 0 {
        return Err(Flaw::TooFine);
    }
    let value = product / scale;
    Ok(if negative { -value } else { value })
}

/// Returns the text with the unit that was probably meant.
fn meant(text: &str, units: Units) -> Option<String> {
    let (negative, number, unit) = split(text);
    // Bytes in a second are eight times as many bits, not a misspelling.
    if unit.ends_with("B/s") || unit.ends_with("Bps") {
        return None;
    }
    let names = units
        .iter()
        .map(|(name, _)| *name)
        .filter(|it| !it.is_empty());
    let near = crate::error::near(unit, names)?;
    let sign = if negative { "-" } else { "" };
    let space = if near == "%" { "" } else { " " };
    Some(format!("{sign}{number}{space}{near}"))
}

pub(super) fn quantity_error(
    text: &str,
    flaw: Flaw,
    units: Units,
    what: &'static str,
    example: &'static str,
) -> QuantityError {
    let flaw = match flaw {
        Flaw::Form => QuantityFlaw::Form { example },
        Flaw::NoUnit => QuantityFlaw::NoUnit { example },
        Flaw::Unit => match meant(text, units) {
            Some(meant) => QuantityFlaw::Unit { meant },
            None => QuantityFlaw::Form { example },
        },
        Flaw::Negative => QuantityFlaw::Negative,
        Flaw::TooFine => QuantityFlaw::TooFine {
            smallest: match units.iter().find(|(_, factor)| *factor == 1) {
                Some((name, _)) => name,
                None => "10^-9",
            },
        },
        Flaw::TooGreat => QuantityFlaw::TooGreat,
    };
    QuantityError {
        text: text.to_owned(),
        what,
        flaw,
    }
}

/// Writes the number as a decimal in the greatest unit that does not exceed it.
pub(super) fn write(f: &mut fmt::Formatter<'_>, value: i128, units: Units) -> fmt::Result {
    const UNUSUAL: [&str; 8] = ["\u{b5}s", "\u{3bc}s", "min", "kB", "MB", "KiB", "MiB", "cm"];
    let usual = units.iter().filter(|(name, _)| !UNUSUAL.contains(name));
    let size = value.unsigned_abs();
    let fitting = usual
        .filter(|(_, factor)| u128::from(*factor) <= size)
        .max_by_key(|(_, factor)| *factor);
    let Some((unit, factor)) = fitting else {
        return write!(f, "{value} {}", units.first().map_or("", |unit| unit.0));
    };
    let (factor, sign) = (u128::from(*factor), if value < 0 { "-" } else { "" });
    let digits = usize::try_from(factor.ilog10()).unwrap_or(0);
    let fraction = format!("{:0digits$}", size % factor);
    let fraction = if digits == 0 {
        ""
    } else {
        fraction.trim_end_matches('0')
    };
    let point = if fraction.is_empty() { "" } else { "." };
    write!(f, "{sign}{}{point}{fraction} {unit}", size / factor)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::quantity::{Duration, Rate, SignedDuration, Size};

    #[test]
    fn suggestions_for_mistyped_quantities() {
        fn said<T: std::str::FromStr<Err = QuantityError>>(text: &str) -> String {
            let error = text.parse::<T>().err().unwrap().to_string();
            error.split_once(": ").unwrap().1.to_owned()
        }
        for (text, meant) in [
            ("250 usec", "250 us"),
            ("1.5 sec", "1.5 s"),
            ("250 US", "250 us"),
            ("3 minutes", "3 min"),
        ] {
            assert_eq!(said::<Duration>(text), format!("did you mean \"{meant}\"?"));
        }
        for text in ["1 Gb", "1 Gbps", "1Gb/s", "1 gbit/s", "1 Gbit"] {
            assert_eq!(said::<Rate>(text), "did you mean \"1 Gbit/s\"?");
        }
        let example = "write for example \"1 Gbit/s\" or \"100 Mbit/s\"";
        assert_eq!(said::<Rate>("1 GB/s"), example);
        assert_eq!(
            said::<Rate>("1000"),
            format!("its unit is missing, {example}")
        );
        assert_eq!(said::<Size>("100 bytes"), "did you mean \"100 B\"?");
        assert_eq!(said::<Size>("1 KB"), "did you mean \"1 kB\"?");
        assert_eq!(said::<Size>("-5 B"), "it cannot be negative");
        assert_eq!(
            said::<Size>("0.5 B"),
            "it is not a multiple of the smallest unit, B"
        );
        assert_eq!(said::<Duration>("999999999 min"), "it is too large");
        assert_eq!(said::<SignedDuration>("-99999999999 s"), "it is too large");
        assert_eq!(
            said::<Duration>("fast"),
            "write for example \"250 us\", \"1.5 ms\" or \"100 ns\""
        );
    }
}

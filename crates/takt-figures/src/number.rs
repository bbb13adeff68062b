//! Numbers as text.

/// Formats a measured number with its significant digits: three decimals below 100, one below 100 000, and none above.
#[must_use]
pub fn measured(value: f64) -> String {
    // A number that is rounded to nothing has no sign.
    let value = if value.abs() < 0.0005 { 0.0 } else { value };
    // The limits are those of the rounded number: 99.9996 with three decimals would be 100.000.
    if value.abs() < 99.9995 {
        format!("{value:.3}")
    } else if value.abs() < 99_999.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Largest number of decimals that a number of 64 bits needs, and more than it has.
const MAX_DECIMALS: usize = 20;

/// Formats a number with at most this number of decimals, 20 at most, without zeros at the end.
#[must_use]
pub fn trimmed(value: f64, decimals: usize) -> String {
    let decimals = decimals.min(MAX_DECIMALS);
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_have_a_meaning() {
        let texts = [0.5, 12.3456, 99.9999, 123.456, 7e6, -0.0004].map(measured);
        assert_eq!(
            texts,
            ["0.500", "12.346", "100.0", "123.5", "7000000", "0.000"]
        );
        let texts = [(0.5, 2), (100.0, 0), (100.0, 3), (-0.001, 2), (2.25, 1)];
        let texts = texts.map(|(value, decimals)| trimmed(value, decimals));
        assert_eq!(texts, ["0.5", "100", "100", "0", "2.2"]);
        let extremes = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE];
        for value in extremes {
            assert!(trimmed(value, usize::MAX).len() < 400);
        }
    }
}

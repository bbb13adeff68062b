//! Division of numbers of any size that an `i128` holds.

/// Returns the quotient, limited to the range of the result. Division of long numbers is slow, and rarely needed.
pub(super) fn quotient(dividend: i128, divisor: i128) -> i64 {
    match (i64::try_from(dividend), i64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => dividend / divisor,
        _ => i64::try_from(dividend / divisor).unwrap_or(i64::MAX),
    }
}

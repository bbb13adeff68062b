//! Numbers of charts.

use takt_calculus::{Extended, Rational};

/// Returns a rational number, rounded for a chart.
pub(super) fn near(number: &Rational) -> f64 {
    number.to_f64().value()
}

/// Returns a delay in microseconds; `None` if infinite.
pub(super) fn micros(delay: &Extended) -> Option<f64> {
    delay.finite().map(|delay| near(delay) * 1e6)
}

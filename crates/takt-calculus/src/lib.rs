//! Network calculus in exact arithmetic: worst-case delays and backlogs that are proven, not measured.
//!
//! * [`Curve`]: piecewise linear curves over [`Rational`] numbers, with minimum, maximum, sum, min-plus convolution and
//!   deconvolution, horizontal and vertical deviation. Nothing is rounded.

#[cfg(test)]
mod brute_force;
mod convolution;
mod curve;
mod deviation;
mod envelope;

/// A fraction of integers of any size, always in lowest terms; small ones are kept without an allocation.
pub use dashu_ratio::RBig as Rational;

pub use curve::{Curve, CurveError, Extended};

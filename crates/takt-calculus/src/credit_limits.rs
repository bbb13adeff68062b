//! Limits of the credit of a class with a Credit-Based Shaper, and its service (IEEE 802.1Q, 8.6.8.2; curves: Azua and Boyer, RTNS
//! 2014).

use crate::Rational;
use crate::curve::{Curve, CurveError};

/// Limits of the credit of a class, in bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CreditLimits {
    pub(crate) idle_slope: Rational,
    /// Highest credit.
    pub(crate) high: Rational,
    /// Lowest credit, which is negative.
    pub(crate) low: Rational,
}

/// Returns the credit that a frame costs, in bits. Credit is gained while the frame is sent.
pub(crate) fn cost(frame: &Rational, idle_slope: &Rational, link_rate: &Rational) -> Rational {
    frame * (Rational::ONE - idle_slope / link_rate)
}

impl CreditLimits {
    /// Makes the limits of a class with frames of at most `longest` bits that wait at most `waiting` seconds for other classes.
    pub(crate) fn new(
        idle_slope: Rational,
        link_rate: &Rational,
        longest: &Rational,
        waiting: &Rational,
    ) -> Self {
        Self {
            high: &idle_slope * waiting,
            low: -cost(longest, &idle_slope, link_rate),
            idle_slope,
        }
    }

    /// Returns the minimum service of the class.
    pub(crate) fn minimum_service(&self) -> Result<Curve, CurveError> {
        let latency = &self.high / &self.idle_slope;
        Curve::rate_latency(self.idle_slope.clone(), latency)
    }

    /// Returns the strict service. An interval in which frames wait may begin with the lowest credit.
    pub(crate) fn strict_service(&self) -> Result<Curve, CurveError> {
        let latency = (&self.high - &self.low) / &self.idle_slope;
        Curve::rate_latency(self.idle_slope.clone(), latency)
    }

    /// Returns the maximum service in an interval that begins without credit.
    pub(crate) fn maximum_service(&self) -> Result<Curve, CurveError> {
        Curve::leaky_bucket(-&self.low, self.idle_slope.clone())
    }

    /// Returns the most bits that leave in any interval, for any arrivals: the credit then falls from its highest to its lowest
    /// value.
    pub(crate) fn shaping(&self) -> Result<Curve, CurveError> {
        Curve::leaky_bucket(&self.high - &self.low, self.idle_slope.clone())
    }
}

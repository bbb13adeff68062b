//! The Credit-Based Shaper of the highest class at a port (IEEE 802.1Q, 8.6.8.2; curves: Azua and Boyer, RTNS 2014).

use crate::credit_limits::CreditLimits;
use crate::curve::{Curve, CurveError};
use crate::{Extended, Rational};

/// Reasons why a port with a Credit-Based Shaper cannot be described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShaperError {
    /// An idleSlope that is not positive, or not less than the link's rate.
    #[error("an idleSlope of {idle_slope} bit/s is not between 0 and the link's {link_rate} bit/s")]
    IdleSlope {
        /// The idleSlope in bit/s.
        idle_slope: Rational,
        /// The rate of the link in bit/s.
        link_rate: Rational,
    },
    /// A negative size.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

/// A Credit-Based Shaper at a port whose link it shares with lower priorities only. Sizes in bits, rates in bit/s, all of them in the
/// same unit (L2 or on the wire).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditBasedShaper {
    limits: CreditLimits,
}

/// Arrivals at a port with a shaper, and the bounds that follow from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapedPort {
    /// Arrival curve, in bits over seconds.
    pub arrival: Curve,
    /// The minimum service.
    pub service: Curve,
    /// The longest delay from arrival to the last bit on the link, in seconds.
    pub delay: Extended,
    /// The greatest backlog, in bits.
    pub backlog: Extended,
    /// The arrivals' long-term rate divided by the service's; above 1, delay and backlog are infinite.
    pub utilisation: Extended,
}

impl CreditBasedShaper {
    /// Makes a shaper of `idle_slope` on a link of `link_rate`, for frames of at most `longest` bits. Frames of lower priority
    /// have at most `lower` bits: 0 if there are none.
    ///
    /// # Errors
    /// The idleSlope is not between 0 and the link's rate, or a size is negative.
    pub fn new(
        idle_slope: Rational,
        link_rate: Rational,
        longest: Rational,
        lower: Rational,
    ) -> Result<Self, ShaperError> {
        // Credit falls with the rate of the link minus the idleSlope. From the link's rate on, no frame costs credit.
        if idle_slope <= Rational::ZERO || idle_slope >= link_rate {
            return Err(ShaperError::IdleSlope {
                idle_slope,
                link_rate,
            });
        }
        for size in [&longest, &lower] {
            if *size < Rational::ZERO {
                return Err(CurveError::Negative("frame size").into());
            }
        }
        // The class waits for one frame of lower priority, and for nothing else.
        let waiting = lower / &link_rate;
        let limits = CreditLimits::new(idle_slope, &link_rate, &longest, &waiting);
        Ok(Self { limits })
    }

    /// Returns the highest credit, in bits: the credit gained during one frame of lower priority.
    pub fn high_credit(&self) -> Rational {
        self.limits.high.clone()
    }

    /// Returns the lowest credit, in bits, which is negative: the cost of one frame of the class.
    pub fn low_credit(&self) -> Rational {
        self.limits.low.clone()
    }

    /// Returns the minimum service of the class: idleSlope after one frame of lower priority.
    ///
    /// # Errors
    /// None after [`Self::new`].
    pub fn minimum_service(&self) -> Result<Curve, CurveError> {
        self.limits.minimum_service()
    }

    /// Returns the maximum service of the class in an interval that begins without credit.
    ///
    /// # Errors
    /// None after [`Self::new`].
    pub fn maximum_service(&self) -> Result<Curve, CurveError> {
        self.limits.maximum_service()
    }

    /// Returns the most bits that leave in any interval, for any arrivals: the credit then falls from its highest to its lowest
    /// value.
    ///
    /// # Errors
    /// None after [`Self::new`].
    pub fn shaping(&self) -> Result<Curve, CurveError> {
        self.limits.shaping()
    }

    /// Returns the bounds for arrivals that follow this curve.
    ///
    /// # Errors
    /// None after [`Self::new`].
    pub fn port(&self, arrival: Curve) -> Result<ShapedPort, CurveError> {
        let service = self.minimum_service()?;
        let utilisation = arrival.long_term_rate().map_or(Extended::Infinity, |rate| {
            Extended::Finite(rate / &self.limits.idle_slope)
        });
        let delay = arrival.horizontal_deviation(&service);
        let backlog = arrival.vertical_deviation(&service);
        Ok(ShapedPort {
            arrival,
            service,
            delay,
            backlog,
            utilisation,
        })
    }

    /// Returns the bits that leave, bit by bit, if arrivals follow this curve.
    ///
    /// # Errors
    /// None after [`Self::new`].
    pub fn output(&self, arrival: &Curve) -> Result<Curve, CurveError> {
        let served = arrival
            .convolution(&self.maximum_service()?)
            .deconvolution(&self.minimum_service()?);
        Ok(served.minimum(&self.shaping()?))
    }
}

/// Computes Total Flow Analysis of shapers in a row, up to the first with an infinite delay. Returns the ports and the arrivals
/// behind the last one. `received` turns the bits that leave one port into the arrivals at the next.
pub(crate) fn in_a_row(
    arrival: Curve,
    shapers: impl IntoIterator<Item = CreditBasedShaper>,
    received: impl Fn(Curve) -> Curve,
) -> Result<(Vec<ShapedPort>, Curve), CurveError> {
    let mut arrival = arrival;
    let mut ports = Vec::new();
    for shaper in shapers {
        let port = shaper.port(arrival)?;
        arrival = received(shaper.output(&port.arrival)?);
        let is_infinite = port.delay == Extended::Infinity;
        ports.push(port);
        if is_infinite {
            break;
        }
    }
    Ok((ports, arrival))
}

/// Returns the arrival curve of a source that puts one `message`, in bits, on a link bit by bit in each interval. The next
/// message comes after this one has left the link, so that the bucket is lower by the bits of the next message that would come in
/// the meantime.
pub(crate) fn bit_by_bit(
    message: &Rational,
    interval: &Rational,
    link_rate: &Rational,
) -> Result<Curve, CurveError> {
    let rate = message / interval;
    let burst = message * (Rational::ONE - &rate / link_rate);
    let link = Curve::leaky_bucket(Rational::ZERO, link_rate.clone())?;
    Ok(Curve::leaky_bucket(burst, rate)?.minimum(&link))
}

//! The round trip of a PubSub message over a line of bridges: out, through the loopback application, and back. It is here, beside
//! the analyses of ports, because each assumption of the paper that is not sound can be switched separately ([`RoundTripModel`]).
//! `docs/bounds.md` derives the model and lists the differences from the paper.

use crate::cbs::{CreditBasedShaper, ShapedPort, ShaperError, bit_by_bit, in_a_row};
use crate::curve::{Curve, CurveError, Extended};
use crate::{Frame, FrameBits, Rational};

/// Assumptions of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTripModel {
    /// True if arrivals are counted in bits of L2 frames, and idleSlope in bits on the wire; otherwise both are counted on the
    /// wire.
    pub mixed_units: bool,
    /// True if a frame is forwarded after its last bit has arrived, and is given to the first port at once; otherwise bits are,
    /// at the link's rate.
    pub store_and_forward: bool,
    /// True if the variation of the loopback's delay, and bunched arrivals there, are carried on; otherwise messages leave the
    /// loopback as from a new publisher.
    pub loopback_jitter: bool,
}

impl RoundTripModel {
    /// Assumptions of "Assessment of OPC UA PubSub at Scale using TSN Infrastructure and Network Calculus".
    pub const PAPER: Self = Self {
        mixed_units: true,
        store_and_forward: false,
        loopback_jitter: false,
    };
    /// Assumptions under which bounds hold.
    pub const SOUND: Self = Self {
        mixed_units: false,
        store_and_forward: true,
        loopback_jitter: true,
    };
}

/// A publisher, a number of links with a Credit-Based Shaper at each port, and the loopback. One message in each cycle; times in
/// seconds, rates in bit/s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineNetwork {
    /// Links in one direction.
    pub hops: u32,
    /// The frame of the message.
    pub frame: Frame,
    /// The cycle of both applications.
    pub cycle: Rational,
    /// Time from the end of a cycle until the messages published in it are sent.
    pub offset: Rational,
    /// The rate of each link.
    pub link_rate: Rational,
    /// Change of idleSlope: 0.03 is 3 % more than one frame per cycle.
    pub provisioning: Rational,
    /// The longest frame of lower priority that can occupy a port.
    pub lower_priority: Option<Frame>,
    /// Longest time of each bridge, besides its queue and the link, until a frame is in the next queue.
    pub forwarding_delay: Rational,
    /// Assumptions of the model.
    pub model: RoundTripModel,
}

/// The bound and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTrip {
    /// Time from publishing to the return of the last bit, in seconds.
    pub delay: Extended,
    /// The ports in the order of the message's way, up to the first with an infinite delay.
    pub ports: Vec<ShapedPort>,
}

/// Reasons why a line cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// A line without a hop.
    #[error("a line needs at least one hop")]
    NoHops,
    /// A cycle that is not positive.
    #[error("the cycle is not positive")]
    Cycle,
    /// A negative offset or forwarding delay.
    #[error("a delay is negative")]
    Delay,
    /// Frames of one cycle that do not fit in the link.
    #[error(transparent)]
    Shaper(#[from] ShaperError),
    /// A negative size or rate.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

impl LineNetwork {
    /// Makes a line as in the paper: cycle 250 µs, offset 150 µs, 1 Gbit/s, and nothing else on the links.
    pub fn new(hops: u32, frame: Frame, model: RoundTripModel) -> Self {
        let micro = |value: u32| Rational::from_parts(value.into(), 1_000_000u32.into());
        Self {
            hops,
            frame,
            cycle: micro(250),
            offset: micro(150),
            link_rate: 1_000_000_000.into(),
            provisioning: Rational::ZERO,
            lower_priority: None,
            forwarding_delay: Rational::ZERO,
            model,
        }
    }

    /// Returns the longest delay in the loopback: 1.7 cycles and the offset. A message that has just missed the cycle's reception
    /// waits for the next.
    pub fn loopback_delay(&self) -> Rational {
        &self.cycle * Rational::from_parts(17.into(), 10u32.into()) + &self.offset
    }

    /// Returns the bound by Total Flow Analysis: the sum of the ports' bounds, twice the hops, and once the loopback's.
    ///
    /// # Errors
    /// Invalid parameters. An overloaded port is no error; its delay is infinite.
    pub fn round_trip(&self) -> Result<RoundTrip, LineError> {
        if self.hops == 0 {
            return Err(LineError::NoHops);
        }
        if self.cycle <= Rational::ZERO {
            return Err(LineError::Cycle);
        }
        if self.offset < Rational::ZERO || self.forwarding_delay < Rational::ZERO {
            return Err(LineError::Delay);
        }
        let shaper = self.shaper()?;
        let shapers = || (0..self.hops).map(|_| shaper.clone());
        let received = |output: Curve| self.received(&output);
        let published = self.published()?;
        let (mut ports, arrived) = in_a_row(published.clone(), shapers(), received)?;
        let returned = if self.model.loopback_jitter {
            // A message waits between nothing and a cycle for the loopback's thread.
            arrived.advanced(&self.cycle)
        } else {
            published
        };
        // Behind an infinite delay, no arrivals are known.
        if ports.iter().all(|port| port.delay != Extended::Infinity) {
            ports.extend(in_a_row(returned, shapers(), received)?.0);
        }
        let delay = ports
            .iter()
            .fold(Extended::Finite(self.loopback_delay()), |sum, port| {
                sum.sum(&port.delay).plus(&self.forwarding_delay)
            });
        Ok(RoundTrip { delay, ports })
    }

    /// Returns the size of a message in the unit of arrivals, in bits.
    fn message(&self) -> Rational {
        if self.model.mixed_units {
            self.frame.l2_bits()
        } else {
            self.frame.physical_bits()
        }
    }

    fn shaper(&self) -> Result<CreditBasedShaper, ShaperError> {
        let idle_slope =
            self.frame.physical_bits() / &self.cycle * (Rational::ONE + &self.provisioning);
        let lower = self
            .lower_priority
            .map_or(Rational::ZERO, Frame::physical_bits);
        CreditBasedShaper::new(idle_slope, self.link_rate.clone(), self.message(), lower)
    }

    /// Returns the arrivals from the publisher at its port.
    fn published(&self) -> Result<Curve, CurveError> {
        if self.model.store_and_forward {
            return Curve::leaky_bucket(self.message(), self.message() / &self.cycle);
        }
        bit_by_bit(&self.message(), &self.cycle, &self.link_rate)
    }

    /// Returns the arrivals at the next queue, from the bits that leave a port.
    fn received(&self, output: &Curve) -> Curve {
        let output = output.advanced(&self.forwarding_delay);
        if !self.model.store_and_forward {
            return output;
        }
        // A frame that is complete within an interval was on the link without a pause: it began at most its own length before.
        output.advanced(&(self.message() / &self.link_rate))
    }
}

//! The round trip of a PubSub message over a line of bridges: out, through the loopback application, and back. It is here, beside the analyses of ports,
//! because each assumption of the paper that differs from those that hold can be switched alone ([`Model`]). `docs/bounds.md` derives the model and says what differs from the paper.

use crate::cbs::{CreditBasedShaper, ShapedPort, ShaperError, bit_by_bit, in_a_row};
use crate::curve::{Curve, CurveError, Extended};
use crate::{Frame, FrameBits, Rational};

/// What is taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Arrivals are counted in bits of L2 frames, idleSlope in bits on the wire; else both are counted on the wire.
    pub mixed_units: bool,
    /// A frame is forwarded when its last bit is there, and given to the first port at once; else bits are, at the link's rate.
    pub store_and_forward: bool,
    /// What the loopback's delay varies, and what came to it bunched, is carried on; else messages leave it as from a new publisher.
    pub loopback_jitter: bool,
}

impl Model {
    /// As in "Assessment of OPC UA PubSub at Scale using TSN Infrastructure and Network Calculus".
    pub const PAPER: Self = Self {
        mixed_units: true,
        store_and_forward: false,
        loopback_jitter: false,
    };
    /// Bounds that hold.
    pub const SOUND: Self = Self {
        mixed_units: false,
        store_and_forward: true,
        loopback_jitter: true,
    };
}

/// A publisher, a number of links with a Credit-Based Shaper at each port, and the loopback. One message in each cycle; times in
/// seconds, rates in bit/s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Links in one direction.
    pub hops: u32,
    /// The frame of the message.
    pub frame: Frame,
    /// The cycle of both applications.
    pub cycle: Rational,
    /// From the end of a cycle until the messages published in it are sent.
    pub offset: Rational,
    /// The rate of each link.
    pub link_rate: Rational,
    /// What idleSlope is changed by: 0.03 is 3 % more than one frame per cycle.
    pub provisioning: Rational,
    /// The longest frame of lower priority that a port can be busy with.
    pub lower_priority: Option<Frame>,
    /// The most that each bridge needs, besides its queue and the link, until a frame is in the next queue.
    pub forwarding_delay: Rational,
    /// What is taken into account.
    pub model: Model,
}

/// The bound and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTrip {
    /// From publishing to the last bit's return, in seconds.
    pub delay: Extended,
    /// The ports in the order in which the message meets them; ends with the first whose delay is infinite.
    pub ports: Vec<ShapedPort>,
}

/// There is no such line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// No hop.
    #[error("a line needs at least one hop")]
    NoHops,
    /// A cycle that is not positive.
    #[error("the cycle is not positive")]
    Cycle,
    /// The offset or the forwarding delay is negative.
    #[error("a negative delay")]
    Delay,
    /// The frames of one cycle do not fit in the link.
    #[error(transparent)]
    Shaper(#[from] ShaperError),
    /// A negative size or rate.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

impl Line {
    /// A line as in the paper: cycle 250 µs, offset 150 µs, 1 Gbit/s, and nothing else on the links.
    pub fn new(hops: u32, frame: Frame, model: Model) -> Self {
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

    /// The longest delay in the loopback: 1.7 cycles and the offset. A message that has just missed the cycle's reception waits for that.
    pub fn loopback_delay(&self) -> Rational {
        &self.cycle * Rational::from_parts(17.into(), 10u32.into()) + &self.offset
    }

    /// The bound by Total Flow Analysis: the sum of the ports' bounds, twice the hops, and once the loopback's.
    ///
    /// # Errors
    /// The line makes no sense; an overloaded port is no error, its delay is infinite.
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
            arrived.advanced(&self.cycle)
        } else {
            published
        };
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

    /// The bits of a message as arrivals are counted.
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

    /// What the publisher sends to its port.
    fn published(&self) -> Result<Curve, CurveError> {
        if self.model.store_and_forward {
            return Curve::leaky_bucket(self.message(), self.message() / &self.cycle);
        }
        bit_by_bit(&self.message(), &self.cycle, &self.link_rate)
    }

    /// What the next queue gets of what leaves a port.
    fn received(&self, output: &Curve) -> Curve {
        let output = output.advanced(&self.forwarding_delay);
        if !self.model.store_and_forward {
            return output;
        }
        // A frame that is complete within an interval was on the link without a pause: it began at most its own length before.
        output.advanced(&(self.message() / &self.link_rate))
    }
}

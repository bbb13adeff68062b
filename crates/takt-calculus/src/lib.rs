//! Network calculus in exact arithmetic: worst-case delays and backlogs that are proven, not measured.
//!
//! * [`Curve`]: piecewise linear curves over [`Rational`] numbers, with minimum, maximum, sum, min-plus convolution and
//!   deconvolution, horizontal and vertical deviation. Nothing is rounded by itself.
//! * [`PeriodicCurve`]: ultimately periodic curves, such as staircases without end, with the same operations and the sub-additive
//!   closure.
//! * [`Grid`]: outward rounding, which keeps numbers short where many servers depend on each other. Rounded bounds still hold.
//! * [`Frame`], of `takt-scenario`: sizes of payload, of the L2 frame and on the wire.
//! * [`CreditBasedShaper`] and [`LineNetwork`]: the bound on the round trip of a PubSub message, by the paper's model
//!   ([`RoundTripModel::PAPER`]) and by a sound one ([`RoundTripModel::SOUND`]).
//! * [`scenario_bounds`]: the bounds of a scenario, by name.
//! * [`EgressPort`] and [`PortNetwork`]: traffic classes with strict priority, Credit-Based Shapers, gates, ETF or FQ_CoDel, the
//!   streams that pass them, and the bounds of each [`Analysis`] on their delays.
//! * [`Network`]: servers and flows in general, with Total Flow Analysis, Separate Flow Analysis, Pay Multiplexing Only Once, and
//!   a linear programme.
//!
//! # Example
//!
//! A port of 1 Gbit/s has two traffic classes with strict priority. A controller sends a frame of 1000 B in the higher class every
//! 250 µs; the lower class has frames of up to 1542 B.
//!
//! ```
//! use takt_calculus::{
//!     Curve, EgressPort, Extended, FixedPoint, PortNetwork, QueueId, Rational, Step, Stream, PortClass,
//!     TransmissionSelection,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bits = |bytes: u32| Rational::from(8 * bytes);
//! let nanoseconds = |number: u32| Rational::from_parts(number.into(), 1_000_000_000u32.into());
//! let class = |shortest, longest| PortClass {
//!     selection: TransmissionSelection::StrictPriority,
//!     shortest: bits(shortest),
//!     longest: bits(longest),
//! };
//! let classes = vec![class(1000, 1000), class(84, 1542)];
//! let port = EgressPort::new(Rational::from(1_000_000_000u32), classes)?;
//! let control = Stream {
//!     arrival: Curve::leaky_bucket(bits(1000), bits(1000) / nanoseconds(250_000))?,
//!     shortest: bits(1000),
//!     longest: bits(1000),
//!     path: vec![Step::Queue(QueueId { port: 0, class: 0 })],
//!     branch: None,
//! };
//! let network = PortNetwork::new(vec![port], vec![control])?;
//! let bounds = network.total_flow(true, &FixedPoint::default())?;
//!
//! // By hand: a frame waits at most until the end of one lower frame, whose first bit was sent just before the frame arrived,
//! // 8 · 1542 ns = 12 336 ns. Its own transmission takes 8 · 1000 ns = 8000 ns.
//! assert_eq!(bounds.streams[0].delay, Extended::Finite(nanoseconds(12_336 + 8_000)));
//! // Without a frame in its way it only needs its own transmission: jitter is the difference.
//! assert_eq!(bounds.streams[0].jitter, Extended::Finite(nanoseconds(12_336)));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod analysis;
#[cfg(test)]
mod brute_force;
mod cbs;
mod closure;
mod convolution;
mod credit_limits;
mod curve;
mod deviation;
mod envelope;
mod frame_bits;
mod grid;
mod hull;
mod linear_program;
mod network;
mod periodic;
#[cfg(test)]
mod periodic_brute_force;
mod periodic_normal;
mod periodic_operations;
mod pmoo;
mod polynomial;
mod port;
mod round_trip;
mod scenario;
mod sum;
mod total_flow;

/// A fraction of integers of any size, always in lowest terms; small ones are kept without an allocation.
pub use dashu_ratio::RBig as Rational;

pub use cbs::{CreditBasedShaper, ShapedPort, ShaperError};
pub use curve::{Curve, CurveError, Extended};
pub use deviation::{Backlog, FrameDelay};
pub use frame_bits::FrameBits;
pub use grid::Grid;
pub use network::{Network, NetworkError, NetworkFlow, NetworkServer};
pub use periodic::{PeriodicCurve, PeriodicError, Repetition};
pub use port::{
    Answer, Branch, ClassService, ClassTraffic, EgressPort, FixedPoint, GateControlEntry,
    GateControlList, GateError, LoopbackStage, NoService, NotApplicable, NotScheduled,
    PortAnalyses, PortBounds, PortClass, PortError, PortNetwork, PortNetworkError, QueueBounds,
    QueueId, ReleaseTimes, Scheduled, SoftwarePort, SoftwareShaper, Step, Stream, StreamBounds,
    TransmissionSelection, Unbounded,
};
pub use round_trip::{LineError, LineNetwork, RoundTrip, RoundTripModel};
pub use scenario::{
    FlowBound, Infinite, OneWayTimes, QueueBound, Realisation, ScenarioBounds, ScenarioBoundsError,
    scenario_bounds, scenario_bounds_with,
};
pub use takt_scenario::{Analysis, Frame, FrameTooLong, REPEATED_NODE_COUNTS};
pub use total_flow::{OutputBound, TotalFlow};

//! Comparison of an application of a case.

use super::bound::ComparedBound;
use super::late::LateAtEnd;
use super::loss::LossShares;
use super::measured::{MeasuredPoint, MeasuredTimes};
use super::samples::LongDelay;
use super::simulated::SimulatedTimes;
use super::times::RoundTripKind;

/// Bound, simulation and measurement of a delay: of a kind of round trip, or of one way.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedDelay {
    /// Sound bound.
    pub bound: ComparedBound,
    /// Simulation; `None` if no message arrived.
    pub simulated: Option<SimulatedTimes>,
    /// Measurement without the messages at both ends; `None` if no message arrived, and for one way without synchronized clocks.
    pub measured: Option<MeasuredTimes>,
    /// Longest measured delays of all messages, those at both ends included, the longest first.
    pub longest: Vec<LongDelay>,
    /// Number of measured delays above the bound, of all messages.
    pub above_bound: u64,
    /// Number of measured delays, of all messages.
    pub count: u64,
    /// Nanoseconds by which a measured delay may exceed the bound ([`Resolution`](super::Resolution)).
    pub resolution: i64,
}

impl ComparedDelay {
    /// Returns the longest measured delay of all messages, in nanoseconds.
    #[must_use]
    pub fn longest_nanos(&self) -> Option<f64> {
        self.longest.first().map(|it| it.nanos as f64)
    }

    /// Returns true if the worst simulated delay of all messages is above the bound.
    #[must_use]
    pub fn is_simulation_above(&self) -> bool {
        // Simulated times are rounded up to picoseconds at each port.
        self.simulated
            .zip(self.bound.nanos())
            .is_some_and(|(simulated, bound)| simulated.longest > bound + 0.1)
    }
}

/// Comparison of one kind of round trip.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundTripComparison {
    /// Kind.
    pub kind: RoundTripKind,
    /// Bound, simulation and measurement.
    pub delay: ComparedDelay,
}

/// Comparison of one way on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct OneWayComparison {
    /// Way: `one way on the wire` or `one way back on the wire`.
    pub name: &'static str,
    /// Bound, simulation and measurement.
    pub delay: ComparedDelay,
}

/// Comparison of an application of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedApplication {
    /// Name in the scenario.
    pub name: String,
    /// Number of links on the longer one of its ways.
    pub hops: usize,
    /// Payload of a message in bytes.
    pub payload: u32,
    /// Cycle in nanoseconds.
    pub cycle_nanos: f64,
    /// Round trip on the wire, and of the application.
    pub round_trips: [RoundTripComparison; 2],
    /// Way there and way back, on the wire.
    pub one_way: Vec<OneWayComparison>,
    /// Measured delays of all other intervals.
    pub parts: Vec<MeasuredTimes>,
    /// Losses of the simulation.
    pub simulated_losses: LossShares,
    /// Losses of the measurement.
    pub measured_losses: LossShares,
    /// Missed and repeated counters of the simulation, at the Publisher.
    pub simulated_counters: Option<[u64; 2]>,
    /// Quantities at each trace point.
    pub points: Vec<MeasuredPoint>,
    /// Longest recorded wake-up latency of its threads, in nanoseconds.
    pub wake_up_latency_nanos: Option<f64>,
    /// Longest wake-up latency of the scenario for its nodes, in nanoseconds.
    pub allowed_latency_nanos: f64,
    /// Beginning of the first round trip, in nanoseconds since 1970, UTC.
    pub began: Option<i64>,
    /// Events of the run that can have delayed its messages, each with its place and count.
    pub delayed_by: Vec<String>,
    /// Late wake-ups of its threads, of traces that have their causes.
    pub late_wake_ups: Vec<LateAtEnd>,
    /// Remarks on the files: what makes a quantity doubtful.
    pub remarks: Vec<String>,
    /// True if a file ends with damage.
    pub is_damaged: bool,
}

impl ComparedApplication {
    /// Returns the round trip of a kind.
    #[must_use]
    pub const fn round_trip(&self, kind: RoundTripKind) -> &RoundTripComparison {
        let [wire, application] = &self.round_trips;
        match kind {
            RoundTripKind::Wire => wire,
            RoundTripKind::Application => application,
        }
    }

    /// Returns all delays that have bounds, with their names.
    pub(crate) fn delays(&self) -> impl Iterator<Item = (String, &ComparedDelay)> {
        let trips = self.round_trips.iter();
        let trips = trips.map(|it| (format!("round trip ({})", it.kind.name()), &it.delay));
        let ways = self.one_way.iter();
        trips.chain(ways.map(|it| (it.name.to_owned(), &it.delay)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns an application without any times.
    pub(crate) fn application() -> ComparedApplication {
        let trip = |kind| RoundTripComparison {
            kind,
            delay: ComparedDelay {
                bound: ComparedBound::Finite(2_000_000_000),
                simulated: None,
                measured: None,
                longest: Vec::new(),
                above_bound: 0,
                count: 0,
                resolution: 1,
            },
        };
        ComparedApplication {
            name: "control".to_owned(),
            hops: 1,
            payload: 59,
            cycle_nanos: 250_000.0,
            round_trips: RoundTripKind::ALL.map(trip),
            one_way: Vec::new(),
            parts: Vec::new(),
            simulated_losses: LossShares::default(),
            measured_losses: LossShares::default(),
            simulated_counters: None,
            points: Vec::new(),
            wake_up_latency_nanos: None,
            allowed_latency_nanos: 0.0,
            began: None,
            delayed_by: Vec::new(),
            late_wake_ups: Vec::new(),
            remarks: Vec::new(),
            is_damaged: false,
        }
    }

    #[test]
    fn each_kind_is_at_its_place() {
        let application = application();
        for kind in RoundTripKind::ALL {
            assert_eq!(application.round_trip(kind).kind, kind);
        }
    }
}

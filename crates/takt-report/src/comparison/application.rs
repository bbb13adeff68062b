//! Comparison of an application of a case.

use takt_lab::EndRecord;

use super::bound::ComparedBound;
use super::late::LateAtEnd;
use super::loss::LossShares;
use super::measured::{MeasuredPoint, MeasuredTimes};
use super::samples::{ClockedTimes, LongDelay};
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
    /// Nanoseconds by which a measured delay may exceed the bound ([`Resolution`](super::Resolution)). For one way, the margin of the
    /// clocks is part of it.
    pub resolution: i64,
    /// Nanoseconds by which the clocks of both ends of the delay differ at most; `None` if nothing tells. 0 for round trips, which have
    /// one clock.
    pub clock_margin: Option<i64>,
}

impl ComparedDelay {
    /// Returns the longest measured delay of all messages, in nanoseconds.
    #[must_use]
    pub fn longest_nanos(&self) -> Option<f64> {
        self.longest.first().map(|it| it.nanos as f64)
    }

    /// Returns true if the clocks of both ends allow a verdict on the measurement: it is above the bound, or below it, whatever the
    /// clocks differ.
    #[must_use]
    pub fn is_decidable(&self) -> bool {
        let Some(margin) = self.clock_margin else {
            return false;
        };
        let longest = self.longest.first();
        let longest = longest.map(|it| it.nanos.saturating_add(margin));
        // A delay above the bound is so by more than the margin.
        margin == 0 || self.above_bound > 0 || longest.is_none_or(|it| !self.bound.is_below(it, 0))
    }

    /// Returns a measured value if the clocks of both ends allow to compare it with a limit, both in nanoseconds.
    pub(crate) fn decided(&self, value: f64, limit: f64) -> Option<f64> {
        let margin = self.clock_margin? as f64;
        let is_clear = margin == 0.0 || (value - limit).abs() >= margin;
        is_clear.then_some(value)
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
    /// Counts of its ends.
    pub ends: Vec<EndRecord>,
    /// Beginning of the first round trip, in nanoseconds since 1970, UTC, by the clock of the system and by that of the network card,
    /// which may be far from it.
    pub began: ClockedTimes,
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
    /// Returns the time from the beginning of the first round trip to that of a delay, in nanoseconds. Both have one clock.
    #[must_use]
    pub fn since_the_first(&self, delay: &LongDelay) -> i64 {
        let first = self.began.of(delay.is_of_card);
        delay.began.saturating_sub(first.unwrap_or(delay.began))
    }

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
                clock_margin: Some(0),
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
            ends: Vec::new(),
            began: ClockedTimes::default(),
            delayed_by: Vec::new(),
            late_wake_ups: Vec::new(),
            remarks: Vec::new(),
            is_damaged: false,
        }
    }

    #[test]
    fn a_margin_of_clocks_leaves_delays_near_the_bound_without_a_verdict() {
        let mut delay = application().round_trips[0].delay.clone();
        let of = |delay: &mut ComparedDelay, nanos: i64, margin: Option<i64>| {
            delay.clock_margin = margin;
            delay.longest = vec![LongDelay {
                nanos,
                began: 0,
                counter: 1,
                is_of_card: false,
            }];
            let resolution = margin.map_or(i64::MAX, |margin| margin + 1);
            delay.above_bound = u64::from(delay.bound.is_below(nanos, resolution));
            (delay.is_decidable(), delay.above_bound)
        };
        // The bound is 2 ms.
        assert_eq!(of(&mut delay, 1_899_000, Some(100_000)), (true, 0));
        assert_eq!(of(&mut delay, 1_901_000, Some(100_000)), (false, 0));
        assert_eq!(of(&mut delay, 2_099_000, Some(100_000)), (false, 0));
        assert_eq!(of(&mut delay, 2_101_000, Some(100_000)), (true, 1));
        assert_eq!(of(&mut delay, 9_000_000, None), (false, 0));
        assert_eq!(of(&mut delay, 1, None), (false, 0));
        assert_eq!(of(&mut delay, 2_000_000, Some(0)), (true, 0));
        assert_eq!(delay.decided(5.0, 4.0), Some(5.0));
        delay.clock_margin = Some(2);
        assert_eq!(
            (delay.decided(5.0, 4.0), delay.decided(5.0, 2.0)),
            (None, Some(5.0))
        );
    }

    #[test]
    fn each_kind_is_at_its_place() {
        let application = application();
        for kind in RoundTripKind::ALL {
            assert_eq!(application.round_trip(kind).kind, kind);
        }
    }
}

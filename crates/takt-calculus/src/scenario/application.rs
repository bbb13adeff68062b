//! The round trip of an application, from trace point T1 to T8: what its threads add to the round trip on the wire.

use takt_scenario::{FlowSource, Scenario};

use super::loopback::part;
use super::quantities::{seconds, seconds_by};
use crate::Rational;
use crate::curve::Extended;

/// Returns a bound on the time from the Publisher's thread that hands a message over (T1) to the one that takes it when it is
/// back (T8). `wire` is the bound from the first port's queue, or from the time at which that port may send the message.
///
/// With a txtime, the thread hands the message over at most that time before. A message that comes when the subscriber thread has
/// just stopped receiving waits for the rest of the cycle, until the thread begins again, and then for its lateness. The thread then
/// verifies the message.
pub(super) fn round_trip(
    scenario: &Scenario,
    source: FlowSource,
    wire: &Extended,
) -> Option<Extended> {
    let FlowSource::Publish(id) = source else {
        return None;
    };
    let application = scenario.applications.get(id.0)?;
    let node = scenario.nodes.get(application.publisher.0)?;
    let ahead = application.txtime.unwrap_or_default();
    let receiving = part(application.phases.user) - part(application.phases.subscriber);
    let cycle = seconds_by(application.cycle, node.clock);
    let pause = &cycle * (Rational::from(1) - receiving);
    // By a clock that drifts, a thread runs up to a picosecond late: the first whole picosecond at which the clock shows its time.
    let rounding = match node.clock.drift.billionths() {
        0 => Rational::ZERO,
        _ => Rational::from_parts(2.into(), 1_000_000_000_000u64.into()),
    };
    let late = seconds(node.wake_up_latency.most()) + seconds(application.security.verify);
    let threads = seconds_by(ahead, node.clock) + pause + late + rounding;
    Some(wire.plus(&threads))
}

//! Names of trace points for people.

use takt_analysis::SentStamp;
use takt_control::TracePoint;

use crate::comparison::RoundTripKind;

/// Returns a kind of round trip, with the time that T2 is: `wire from the first bit`. The three answers begin there.
pub(crate) const fn round_trip(kind: RoundTripKind, stamp: SentStamp) -> &'static str {
    match (kind, stamp) {
        (RoundTripKind::Wire, SentStamp::FirstBit) => "wire from the first bit",
        (RoundTripKind::Wire, SentStamp::Driver) => "wire from the driver",
        (RoundTripKind::Wire, SentStamp::Unknown) => "wire, time stamp unknown",
        (RoundTripKind::Application, _) => RoundTripKind::Application.name(),
    }
}

/// Returns a trace point in words.
pub(crate) const fn place(point: TracePoint) -> &'static str {
    match point {
        TracePoint::T1 => "Publisher sends",
        TracePoint::T2 => "leaves Publisher",
        TracePoint::T3 => "at loopback",
        TracePoint::T4 => "loopback takes",
        TracePoint::T5 => "loopback sends",
        TracePoint::T6 => "leaves loopback",
        TracePoint::T7 => "back at Publisher",
        TracePoint::T8 => "Publisher takes",
    }
}

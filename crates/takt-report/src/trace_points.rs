//! Names of trace points for people.

use takt_control::TracePoint;
use takt_lab::SentStamp;

use crate::comparison::RoundTripKind;

/// Returns a kind of round trip, with the time that T2 is: `wire from the first bit`. The three answers begin there.
pub(crate) const fn round_trip(kind: RoundTripKind, stamp: SentStamp) -> &'static str {
    match (kind, stamp) {
        (RoundTripKind::Wire, SentStamp::FirstBit) => "wire from the first bit",
        (RoundTripKind::Wire, SentStamp::Driver) => "wire from the driver",
        (RoundTripKind::Application, _) => RoundTripKind::Application.name(),
    }
}

/// Returns the time at which sent frames are stamped (T2 and T6), in words.
pub(crate) const fn sent_stamp(stamp: SentStamp) -> &'static str {
    match stamp {
        SentStamp::FirstBit => "first bit on the wire, by the clock of the device",
        SentStamp::Driver => "the driver gets the frame, by the clock of the kernel",
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

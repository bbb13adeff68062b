//! Names of trace points for people.

use takt_control::TracePoint;

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

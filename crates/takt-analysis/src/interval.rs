//! Intervals between trace points (`docs/measurements.md`, "Trace points").

use takt_control::TracePoint;
use takt_control::TracePoint::{T1, T2, T3, T4, T5, T6, T7, T8};

/// Part of a message's way, between two trace points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceInterval {
    /// First trace point.
    pub from: TracePoint,
    /// Last trace point.
    pub to: TracePoint,
    /// Name of the quantity. A round trip has its kind in the name.
    pub name: &'static str,
}

impl TraceInterval {
    /// All intervals: the two kinds of round trip first, then the parts of the way.
    pub const ALL: [Self; 12] = [
        Self::new(T1, T8, "application round trip"),
        Self::new(T2, T7, "wire round trip"),
        Self::new(T1, T2, "sending"),
        Self::new(T2, T3, "one way on the wire"),
        Self::new(T3, T4, "receiving"),
        Self::new(T4, T5, "loopback"),
        Self::new(T5, T6, "sending of the answer"),
        Self::new(T6, T7, "one way back on the wire"),
        Self::new(T7, T8, "receiving of the answer"),
        Self::new(T3, T6, "loopback with its kernel"),
        Self::new(T1, T4, "one way between applications"),
        Self::new(T5, T8, "one way back between applications"),
    ];

    const fn new(from: TracePoint, to: TracePoint, name: &'static str) -> Self {
        Self { from, to, name }
    }

    /// Returns true if the clocks of two hosts are compared.
    #[must_use]
    pub const fn crosses_hosts(&self) -> bool {
        is_at_publisher(self.from) != is_at_publisher(self.to)
    }
}

/// Returns true for trace points of the Publisher's host, false for those of the loopback's.
pub(crate) const fn is_at_publisher(point: TracePoint) -> bool {
    matches!(point, T1 | T2 | T7 | T8)
}

/// Returns the place of a trace point in arrays.
pub(crate) const fn index(point: TracePoint) -> usize {
    point.number() as usize - 1
}

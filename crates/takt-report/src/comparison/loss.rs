//! Losses of messages by place (`docs/measurements.md`, "Losses").

use takt_analysis::RunAnalysis;
use takt_control::TracePoint::{self, T1, T2, T3, T4, T5, T6, T7, T8};

/// Lost messages by place; `None` where they are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LossShares {
    /// Number of published messages.
    pub messages: u64,
    /// Lost at the port of the Publisher.
    pub publisher: Option<u64>,
    /// Lost on the way to the loopback.
    pub way_there: Option<u64>,
    /// Lost at the loopback: overwritten, or dropped at its port.
    pub loopback: Option<u64>,
    /// Lost on the way back, up to the Publisher's thread.
    pub way_back: Option<u64>,
    /// All lost messages.
    pub all: Option<u64>,
}

impl LossShares {
    /// Returns the losses of a measured run.
    pub(crate) fn of_measured(run: &RunAnalysis) -> Self {
        let points: Vec<TracePoint> = run.points.iter().map(|it| it.point).collect();
        // A loss between two trace points is known if both are, and if no place between them is another one.
        let between = |from: TracePoint, to: TracePoint| -> Option<u64> {
            let losses = run.losses.as_ref()?;
            let is_known = points.contains(&from) && points.contains(&to);
            let inside = losses
                .iter()
                .filter(|it| it.after >= from && it.before <= to);
            is_known.then(|| inside.map(|it| it.count).sum())
        };
        let has_end = points.contains(&T7) || points.contains(&T8);
        Self {
            messages: run.messages,
            publisher: between(T1, T2),
            way_there: between(T2, T3),
            loopback: between(T3, T6).or_else(|| between(T4, T5)),
            way_back: between(T6, T8).or_else(|| between(T6, T7)),
            all: run.lost().filter(|_| has_end),
        }
    }

    /// Returns a share of all published messages in percent.
    #[must_use]
    pub fn percent(&self, count: Option<u64>) -> Option<f64> {
        Some(count? as f64 / self.messages.max(1) as f64 * 100.0)
    }
}

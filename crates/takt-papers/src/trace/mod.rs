//! Traces: a simulation of one case whose frames are observed at a port, for pictures and for quantities that a campaign's row lacks.
//!
//! Each trace makes a row, like one of a campaign. Its settings are those of the trace, with its name as `trace` and its `port`.

mod compute;
mod credit;
mod curve;
mod observer;
mod positions;
mod spacing;

pub use compute::TracedCase;
#[cfg(test)]
pub(crate) use credit::{CreditCourse, ShapedFrame, credit, extremes};
pub use curve::TraceCurve;

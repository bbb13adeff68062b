//! Bound, simulation and measurement of a run side by side: the same settings, seed and number of messages for all three.
//!
//! These files join `takt-calculus`, `takt-sim` and `takt-analysis`, and compute nothing that one of them has. They know no picture.

mod application;
mod bound;
mod case;
mod comparable;
mod delays;
mod late;
mod loss;
mod measured;
mod requirement;
mod resolution;
mod run;
mod samples;
mod settings;
mod simulated;
mod times;
mod violation;

pub use application::{ComparedApplication, ComparedDelay, OneWayComparison, RoundTripComparison};
pub use bound::ComparedBound;
pub use case::ComparedCase;
pub use comparable::NotComparable;
pub use late::LateAtEnd;
pub(crate) use late::worst_during;
pub use loss::LossShares;
pub use measured::{MeasuredPoint, MeasuredTimes};
pub use requirement::{Criterion, Requirement, Verdict};
pub use resolution::Resolution;
pub use run::{ComparedRun, ComparisonError, ComparisonOptions, RunSample};
pub use samples::{ClockedTimes, LongDelay};
pub use simulated::{SimulatedMessage, SimulatedTimes};
pub use times::{RoundTripKind, TimeSummary};
pub use violation::Violation;

#[cfg(test)]
pub(crate) use application::tests::application as application_for_tests;
#[cfg(test)]
pub(crate) use late::tests::late as late_for_tests;

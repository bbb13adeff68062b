//! Bound, simulation and measurement of the runs of a scenario, side by side (`docs/report.md`).
//!
//! * [`ComparedRun`]: the directory of a run, with all of its cases.
//! * [`ComparedCase`]: one combination of settings; [`ComparedApplication`] has both kinds of round trip, which are never mixed.
//! * [`ComparedBound`], [`SimulatedTimes`], [`MeasuredTimes`]: the three answers, all for the same settings, seed and number of
//!   messages.
//! * [`NotComparable`]: reasons why a measurement says nothing about a bound.
//! * [`Requirement`]: named requirements of the papers, with verdict and margin.
//!
//! This crate joins `takt-calculus`, `takt-sim` and `takt-analysis`, and computes nothing that one of them has. It knows no command
//! and no picture.

#![forbid(unsafe_code)]

mod application;
mod bound;
mod case;
mod comparable;
mod loss;
mod measured;
mod requirement;
mod run;
mod samples;
mod settings;
mod simulated;
mod times;

pub use application::{ComparedApplication, OneWayComparison, RoundTripComparison};
pub use bound::ComparedBound;
pub use case::ComparedCase;
pub use comparable::NotComparable;
pub use loss::LossShares;
pub use measured::{MeasuredPoint, MeasuredTimes};
pub use requirement::{Criterion, Requirement, Verdict};
pub use run::{ComparedRun, ComparisonError, ComparisonOptions, RunSample};
pub use samples::LongDelay;
pub use simulated::SimulatedTimes;
pub use times::{RoundTripKind, TimeSummary};

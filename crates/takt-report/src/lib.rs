//! The report of runs of a scenario: bound, simulation and measurement side by side (`docs/report.md`).
//!
//! * [`ComparedRun`]: the directory of a run, with all of its cases.
//! * [`ComparedCase`]: one combination of settings; [`ComparedApplication`] has both kinds of round trip, which are never mixed.
//! * [`ComparedBound`], [`SimulatedTimes`], [`MeasuredTimes`]: the three answers, all for the same settings, seed and number of
//!   messages.
//! * [`NotComparable`]: reasons why a measurement says nothing about a bound.
//! * [`Requirement`]: named requirements of the papers, with verdict and margin.
//! * [`RunReport`]: the HTML page of runs with its pictures; [`print()`] writes their tables or rows; [`ReportFailure`] is the reason why
//!   runs have failed.
//!
//! `comparison/` has the numbers, and the other files how they are shown. This crate knows no command.

#![forbid(unsafe_code)]

mod charts;
mod comparison;
mod entries;
mod failure;
mod json;
mod late_table;
mod page;
mod printed;
mod run_report;
mod tables;
mod trace_points;

pub use comparison::{
    ClockedTimes, ComparedApplication, ComparedBound, ComparedCase, ComparedDelay, ComparedRun,
    ComparisonError, ComparisonOptions, Criterion, LateAtEnd, LongDelay, LossShares, MeasuredPoint,
    MeasuredTimes, NotComparable, OneWayComparison, Requirement, Resolution, RoundTripComparison,
    RoundTripKind, RunSample, SimulatedMessage, SimulatedTimes, TimeSummary, Verdict, Violation,
};
pub use failure::ReportFailure;
pub use printed::{print, requirements};
pub use run_report::{ReportFileError, RunReport};

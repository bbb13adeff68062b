//! Statistics of measured times: one definition of each quantity, for all rooms that measure, simulate or compare.
//!
//! * [`Quantile`]: a quantile by the nearest rank (`docs/analysis.md`).
//! * [`SortedTimes`]: quantiles of few times, and their median with its confidence interval ([`Estimate`]).
//! * [`RunningMean`]: the mean of repetitions with its confidence interval, by Student's t-distribution.
//! * [`GoalVerdict`]: what an interval says about a goal.
//! * [`TimeHistogram`]: quantiles of very many times in little memory, to two or three significant digits.
//!
//! Statistics of a run that are exact to the nanosecond are in `takt-analysis`. This crate knows no unit but the nanosecond, no table and
//! no file.

#![forbid(unsafe_code)]

mod goal_verdict;
mod histogram;
mod quantile;
mod running_mean;
mod sorted_times;

pub use goal_verdict::GoalVerdict;
pub use histogram::{TimeBin, TimeHistogram};
pub use quantile::Quantile;
pub use running_mean::RunningMean;
pub use sorted_times::{Estimate, SortedTimes, median_ranks};

//! The aggregates (OPC 10000-13). A new one is a variant of `takt_ua::Aggregate`, which clients name too, an arm in `result`, and
//! sums in `accumulator` if those that are there do not suffice.

mod accumulator;
mod result;

pub(crate) use accumulator::{Accumulator, ticks};
pub(crate) use result::{Calculation, Outcome};
pub(crate) use takt_ua::Aggregate;

//! The aggregates (OPC 10000-13). A new one is a variant in `function`, an arm in `result`, and sums in `accumulator` if those that
//! are there do not suffice.

mod accumulator;
mod function;
mod result;

pub(crate) use accumulator::{Accumulator, ticks};
pub use function::Aggregate;
pub(crate) use result::{Calculation, Outcome};

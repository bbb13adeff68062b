//! Quantities of rows: the same names for simulations, bounds and runs of the lab.

mod of_bounds;
mod of_run;
mod of_simulation;
mod times;

pub(crate) use of_bounds::of_bounds;
pub(crate) use of_run::of_run;
pub(crate) use of_simulation::of_simulation;

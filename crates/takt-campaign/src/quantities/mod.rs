//! Quantities of rows: the same names for simulations and bounds.

mod of_bounds;
mod of_simulation;

pub(crate) use of_bounds::of_bounds;
pub(crate) use of_simulation::of_simulation;

//! Control loops of a scenario on the links of this machine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bundled;
mod causality;
mod collected;
mod files;
mod loops;
mod prepared;

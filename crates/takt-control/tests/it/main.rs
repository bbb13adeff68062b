//! Control loops over links of this machine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod loops;
mod quiet;

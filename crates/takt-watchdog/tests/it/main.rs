//! Configurations beside scenarios.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod names;
mod plant;
mod refusals;
mod support;
mod times;

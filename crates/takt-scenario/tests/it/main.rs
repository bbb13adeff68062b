//! Scenarios from their files.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod extremes;
mod mistakes;
mod receivers;
mod reference;
mod scenarios;

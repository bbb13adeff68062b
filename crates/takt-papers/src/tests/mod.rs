//! Tests of the crate.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod language;
mod places;
mod shipped;
mod stored;
mod traces;
mod verdicts;

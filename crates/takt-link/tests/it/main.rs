//! Links of every kind, through the interface that all have in common.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod common;
mod conformance;
mod counting;

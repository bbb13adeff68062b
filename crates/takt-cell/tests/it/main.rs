//! Cells as a program uses them.

#![cfg(not(loom))]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod stress;
mod typed;
mod values;

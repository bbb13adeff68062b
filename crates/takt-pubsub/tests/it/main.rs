//! Publishers and Subscribers as a program uses them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod action;
mod allocations;
mod discovery;
mod drill;
mod memory;
mod monitor;
mod pubsub;
mod runtime;
mod security_allocations;
mod soak;
mod support;
